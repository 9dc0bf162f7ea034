//go:build unix

package process

import (
	"bytes"
	"os"
	"slices"
	"syscall"
	"time"
)

// Sweep kills every process, other than this one and its ancestors, whose
// environment holds one of the variables with a value that begins with prefix,
// and all descendants of such processes, and waits until they are gone. It finds
// what a ralph that was killed left running, and returns how many it killed. It
// finds nothing where there is no /proc.
func Sweep(prefix string, names ...string) int {
	killed := map[proc]bool{}
	for range 2000 { // one that hangs in the kernel cannot be waited for
		found := marked(prefix, names)
		if len(found) == 0 && allGone(killed) {
			break
		}
		for _, p := range found {
			if signal(p, syscall.SIGKILL) {
				p.dead = false
				killed[p] = true
			}
		}
		time.Sleep(time.Millisecond)
	}
	return len(killed)
}

// allGone reports whether none of them lives: what lost its parent is not found as
// a descendant any more.
func allGone(killed map[proc]bool) bool {
	for p := range killed {
		if now, ok := read(p.pid); ok && now.start == p.start && !now.dead {
			return false
		}
	}
	return true
}

// marked lists the living processes that carry a mark, and their descendants.
func marked(prefix string, names []string) []proc {
	all := readTable()
	mine := map[int]bool{}
	for pid := os.Getpid(); pid > 1 && !mine[pid]; pid = all[pid].parent {
		mine[pid] = true
	}
	carries := func(v []byte) bool {
		name, value, _ := bytes.Cut(v, []byte{'='})
		return bytes.HasPrefix(value, []byte(prefix)) && slices.Contains(names, string(name))
	}
	children := map[int][]proc{}
	taken := map[int]bool{}
	var out []proc
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
		if mine[p.pid] || p.dead {
			continue
		}
		if vars, ok := environment(p.pid); ok && slices.ContainsFunc(vars, carries) {
			taken[p.pid] = true
			out = append(out, p)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, c := range children[out[i].pid] {
			if !taken[c.pid] && !mine[c.pid] && !c.dead {
				taken[c.pid] = true
				out = append(out, c)
			}
		}
	}
	return out
}
