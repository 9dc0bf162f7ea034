// Package wall says what a program in a sandbox sees and may do. It is plain data:
// executor/effects fills it in for a turn or a gate, executor/runner, executor/gate and
// executor/workspace pass it on, and internal/sandbox builds the sandbox.
//
// Besides what a Spec names, every sandbox has /usr and its links read-only, a list of
// names of /etc, a fresh /proc, a small /dev, and /tmp, /run and /dev/shm in memory.
// Nothing else of the machine is there.
package wall

import "slices"

// Kind is the mechanism that builds a sandbox.
type Kind string

// Kinds, from the strongest to none.
const (
	Namespaces Kind = "namespaces" // user, mount, pid, net, ipc, uts and cgroup namespaces of Linux, made by ralph
	Bwrap      Kind = "bwrap"      // the same, made by bubblewrap: for machines that allow them to that program alone
	Landlock   Kind = "landlock"   // less: rules of the kernel for what a program may open and reach, and no namespaces
	None       Kind = "none"
)

// Confining are the kinds that hold what kind = "auto" promises, the one that it takes first
// first.
var Confining = []Kind{Namespaces, Bwrap}

// InPlace reports whether programs in a sandbox of the kind find everything where it is on
// the machine, so that nothing can be mounted elsewhere, but for their home directory, of
// which HOME is the name.
func (k Kind) InPlace() bool { return k == Landlock }

// Spec is a sandbox for one program and its descendants.
type Spec struct {
	Name string // of the policy's block, for messages
	Kind Kind

	// Home is the directory that is mounted, writable, at the user's home directory; ""
	// is an empty one in memory, which goes with the program.
	Home string
	// Login is what the sandboxes of a runner share so that its program is logged in; nil:
	// ralph has no login for it. The runner mounts it.
	Login *Login
	// Mounts are attached in order, after Home: a later one may lie inside an earlier one.
	Mounts []Mount
	// Caches are directories that can be written to without changing the user's.
	Caches []Cache
	// Forward are addresses inside that lead to addresses outside. Everything else of
	// the machine's network, 127.0.0.1 included, is not there.
	Forward []Forward
	// Egress is what the proxy inside lets through; nil: there is no proxy, and no way
	// to any host.
	Egress *Egress
	Limits Limits
	// Groups is the directory of the kernel's control groups below which the sandbox gets
	// one of its own, which holds Limits; "": none, and Memory and CPU are refused.
	Groups string
	// OutOfMemory is called when all in the sandbox was killed because it had used up
	// Limits.Memory, before its end is told. nil: nobody is told.
	OutOfMemory func() `json:"-"`
	// Nest lets programs inside make user namespaces of their own: browsers, other sandboxes.
	Nest bool
}

// Login is a login of a runner's program that ralph keeps.
type Login struct {
	Dir string // holds it; all sandboxes of the runner write to it
	Own string // directory for what the program keeps beside it that is of one sandbox alone
}

// Mount shows a file or directory of the machine inside.
type Mount struct {
	From  string // absolute path outside
	At    string // absolute path inside; "" is From
	Write bool   // else read-only
	// Optional: it is left out if From does not exist. Otherwise that is an error.
	Optional bool
	// Cover puts something empty at At instead: a directory or file of the policy's hide.
	Cover bool
}

// Cache is a directory of the user that a program may fill and read: theirs is below, Upper above.
type Cache struct {
	Lower string // the user's, at whose path it is mounted; it need not exist
	Upper string // directory for what is written; made if it is not there. Its parent also holds overlayfs' work directory
	// Downloads: where the machine has no overlays the user's is shown, read-only.
	// Otherwise Upper alone is there.
	Downloads bool
}

// Forward is an address inside, "127.0.0.1:5432", that leads to To outside.
type Forward struct{ At, To string }

// Egress bounds which hosts may be reached, through an HTTP proxy inside.
type Egress struct {
	// Hosts are "example.com" (ports 80 and 443), "example.com:8443", "*.example.com", "*"
	// for any public host. A host that resolves to a private address is refused.
	Hosts []string
	// Private are "host:port" of Hosts that may have a private address: the model's.
	Private []string
	// Refused is told of each host that was asked for and refused. It may be called from
	// any goroutine; nil: nobody is told.
	Refused func(Denial) `json:"-"`
}

// Denial is a host that a sandbox did not let a program reach.
type Denial struct {
	Host    string // "github.com:443"
	Why     string
	Entry   string // of Egress.Hosts that would let it through; "": none is missing
	Private bool   // it has no public address; it may well be in the list
}

// Limits bound a sandbox; 0 is the default, named in each.
type Limits struct {
	Tmp    int64 // bytes of /tmp, of /run and of /dev/shm each; 2 GiB
	File   int64 // bytes of one file; 2 GiB
	Pids   int   // processes and threads; 4096. Root is held to it in a group alone
	Memory int64 // bytes, of what is in /tmp, too; none. In a group alone
	CPU    int   // percent of one processor; none. In a group alone
}

// With is a copy of a Spec with more mounts; nil for nil.
func (s *Spec) With(more ...Mount) *Spec {
	if s == nil {
		return nil
	}
	out := *s
	out.Mounts = append(slices.Clip(s.Mounts), more...)
	return &out
}
