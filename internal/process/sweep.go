//go:build unix

package process

import (
	"bytes"
	"maps"
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
	return sweep(func() []proc { return marked(prefix, names) })
}

// sweep kills what is found until nothing is, and returns how many it killed. A process whose
// program is just being started has no environment for a moment, and its parent may be among
// the killed: after these it looks again, and while there is one in a group of theirs it waits.
func sweep(find func() []proc) int {
	killed := map[proc]bool{}
	clean, waits := 0, time.Time{}
	for range 2000 { // one that hangs in the kernel cannot be waited for
		found := find()
		switch {
		case len(found) > 0 || !allGone(killed):
			clean = 0
		case len(killed) == 0:
			return 0
		case (waits.IsZero() || time.Since(waits) < 2*time.Second) && starting(killed): // else it was started without one
			if waits.IsZero() {
				waits = time.Now()
			}
		case clean >= 2:
			return len(killed)
		default:
			clean++
		}
		for _, p := range found {
			if signal(p, syscall.SIGKILL) {
				p.dead = false
				killed[p] = true
			}
		}
		time.Sleep(time.Duration(1+5*clean) * time.Millisecond)
	}
	return len(killed)
}

// starting reports whether a process in a group of the killed has no environment.
func starting(killed map[proc]bool) bool {
	groups := map[int]bool{}
	for p := range killed {
		groups[p.group] = true
	}
	for _, p := range readTable(nil) {
		if groups[p.group] && !p.dead {
			if vars, ok := environment(p.pid); !ok || len(vars) == 0 || len(vars[0]) == 0 {
				return true
			}
		}
	}
	return false
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
	all := readTable(nil)
	mine := map[int]bool{}
	for pid := os.Getpid(); pid > 1 && !mine[pid]; pid = all[pid].parent {
		mine[pid] = true
	}
	carries := func(v []byte) bool {
		name, value, _ := bytes.Cut(v, []byte{'='})
		return bytes.HasPrefix(value, []byte(prefix)) && slices.Contains(names, string(name))
	}
	taken := map[int]bool{}
	var out []proc
	for _, p := range all {
		if mine[p.pid] || p.dead {
			continue
		}
		if vars, ok := environment(p.pid); ok && slices.ContainsFunc(vars, carries) {
			taken[p.pid] = true
			out = append(out, p)
		}
	}
	return descend(out, childrenIn(all), func(_, c proc) bool {
		is := !taken[c.pid] && !mine[c.pid] && !c.dead
		taken[c.pid] = taken[c.pid] || is
		return is
	})
}

// childrenIn lists the processes of a table by their parents.
func childrenIn(all map[int]proc) map[int][]proc {
	list := slices.AppendSeq(make([]proc, 0, len(all)), maps.Values(all))
	slices.SortFunc(list, func(a, b proc) int { return a.parent - b.parent })
	children := map[int][]proc{}
	for i := 0; i < len(list); {
		from, parent := i, list[i].parent
		for i < len(list) && list[i].parent == parent {
			i++
		}
		children[parent] = list[from:i:i]
	}
	return children
}

// descend adds to a list the children of those in it, and theirs, that take says.
func descend(list []proc, children map[int][]proc, take func(parent, child proc) bool) []proc {
	for i := 0; i < len(list); i++ {
		for _, c := range children[list[i].pid] {
			if take(list[i], c) {
				list = append(list, c)
			}
		}
	}
	return list
}
