//go:build unix

package process

import (
	"bytes"
	"os"
)

// Ancestors returns the process ids of those that this process descends from,
// nearest first. It is empty where there is no /proc.
func Ancestors() []int { return AncestorsOf(os.Getpid()) }

// AncestorsOf is Ancestors of another process of this system.
func AncestorsOf(pid int) []int {
	var out []int
	for pid > 1 && len(out) < 1000 {
		p, ok := read(pid)
		if !ok || p.parent <= 0 {
			break
		}
		out = append(out, p.parent)
		pid = p.parent
	}
	return out
}

// Namespace is the pid namespace of this process; "" where there is none, or /proc
// does not say.
func Namespace() string {
	at, _ := os.Readlink("/proc/self/ns/pid")
	return at
}

// Blind says why the ancestors of this process cannot be known, for a descendant of a
// process in the pid namespace that is named ("": in an unknown one); "" if they can.
// Where the system has no /proc at all there is nothing that an agent could have taken
// away.
func Blind(namespace string) string {
	if !hasProc {
		return ""
	}
	self, ok := read(os.Getpid())
	switch own := Namespace(); {
	case !procMounted() || !ok || self.pid != os.Getpid():
		return "/proc cannot be read"
	case own == "":
		return "/proc does not say which pid namespace this is"
	case namespace != "" && own != namespace:
		return "this is another pid namespace than that of ralph apply (a container, a sandbox)"
	}
	return ""
}

// MarkedAncestor returns the first of this process and its ancestors whose
// environment holds one of the variables; 0 if there is none, or none can be seen.
func MarkedAncestor(names ...string) int {
	for _, name := range names {
		if os.Getenv(name) != "" {
			return os.Getpid()
		}
	}
	return firstMarked(Ancestors(), names)
}

// MarkedAncestorOf is MarkedAncestor of another process of this system.
func MarkedAncestorOf(pid int, names ...string) int {
	return firstMarked(append([]int{pid}, AncestorsOf(pid)...), names)
}

func firstMarked(pids []int, names []string) int {
	for _, pid := range pids {
		env, _ := environment(pid)
		for _, v := range env {
			for _, name := range names {
				if bytes.HasPrefix(v, []byte(name+"=")) {
					return pid
				}
			}
		}
	}
	return 0
}
