package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// Owner is a present or past holder of the lock.
type Owner struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"` // of the holding, UTC
	Boot    string    `json:"boot"`    // id of the system's start; "" if it has none
	Host    string    `json:"host"`
	User    string    `json:"user"`
	Command string    `json:"command"`
	Applies bool      `json:"applies,omitempty"`       // it applies an epic; others are done at once
	Space   string    `json:"pid_namespace,omitempty"` // in which PID counts; "" if it has none
}

func (o Owner) String() string {
	if o.PID == 0 {
		return "a process that has not said its name"
	}
	return fmt.Sprintf("process %d of %s on %s, since %s", o.PID, o.User, o.Host, o.Started.Local().Format(time.DateTime))
}

// Held is the error of a second writer.
type Held struct{ By Owner }

func (h *Held) Error() string { return "another ralph is at work on this epic: " + h.By.String() }

// Lock is the right to write into one state directory.
type Lock struct {
	f      *flock.Flock
	who    string
	before Owner // a holder that ended without giving the lock back
}

// Acquire takes the lock of dir, which must exist, for the owner. If another
// process has it, the error is a *Held. It only waits where that process is no more: a
// child that it was about to start has the lock until it is another program.
func Acquire(dir string, who Owner) (*Lock, error) {
	if err := own(dir); err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	l := &Lock{f: flock.New(filepath.Join(dir, "lock")), who: filepath.Join(dir, "owner.json")}
	got, err := l.f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	other, rerr := readOwner(l.who)
	for end := time.Now().Add(dyingTime); !got && other.gone(who) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
		if got, err = l.f.TryLock(); err != nil {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
	if !got {
		return nil, errors.Join(&Held{By: other}, rerr)
	}
	l.before = other
	b, err := json.Marshal(who)
	if err == nil {
		err = regular.WriteOwn(l.who, append(b, '\n'), 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), l.f.Unlock())
	}
	return l, nil
}

// dyingTime bounds how long the lock of a process that is no more is waited for.
const dyingTime = 5 * time.Second

// gone reports whether an owner is known to be no more to one that asks.
func (o Owner) gone(asks Owner) bool {
	if o.PID == 0 || o.Boot == "" || o.Boot != asks.Boot || o.Space != asks.Space || o.Host != asks.Host {
		return false
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		return false
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", o.PID))
	return errors.Is(err, os.ErrNotExist)
}

// Before returns the holder before, if it ended without releasing the lock (it
// was killed, or the machine stopped).
func (l *Lock) Before() (Owner, bool) { return l.before, l.before.PID != 0 }

// Release releases the lock.
func (l *Lock) Release() error {
	err := regular.NoLinks(filepath.Dir(l.who))
	if err == nil {
		err = os.Remove(l.who)
	}
	if errors.Is(err, os.ErrNotExist) { // the directory was taken away
		err = nil
	}
	return errors.Join(err, l.f.Unlock())
}

func readOwner(path string) (o Owner, err error) {
	b, err := regular.ReadOwn(path)
	if errors.Is(err, os.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	// A torn file only means that the owner is not known.
	_ = json.Unmarshal(b, &o)
	return o, nil
}

// BootID returns the id of the system's present boot, "" if there is none.
func BootID() string {
	b, err := regular.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
