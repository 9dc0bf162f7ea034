package group

import "context"

// Controller is what bounds one thing.
type Controller string

// Controllers.
const (
	Memory Controller = "memory"
	CPU    Controller = "cpu"
	Pids   Controller = "pids"
)

// Lacking is the error of a process that has no group to make others in.
type Lacking struct {
	Why  string // "this machine has no cgroup v2 at /sys/fs/cgroup"
	Mend string // "loginctl enable-linger"; "" if nothing is known

	elsewhere bool // systemd may make a group where this one does not do
}

func (l *Lacking) Error() string {
	if l.Mend == "" {
		return l.Why
	}
	return l.Why + ": " + l.Mend
}

// Base moves this process into a leaf of a group of its own, and returns the directory of
// that group: the one it is in, if it may write there and is alone, else one that systemd
// makes. Once that is done it returns the same. need are the controllers that limits will
// need. The error is a *Lacking if this machine is not made for it.
func Base(ctx context.Context, need ...Controller) (string, error) { return base(ctx, need) }
