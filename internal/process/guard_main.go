//go:build unix

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Who is called as a guard is nothing else. This package is initialised among the
// first, so that the guard costs neither the time nor the memory of the program.
var _ = func() bool {
	if len(os.Args) != 3 || os.Args[1] != guardCommand {
		return false
	}
	var pid, session int
	if _, err := fmt.Sscanf(os.Args[2], "%d-%d-", &pid, &session); err != nil {
		return false
	}
	guardMain(pid, session, os.Args[2])
	os.Exit(0)
	return true
}()

// guardMain waits until the process dies that it guards, and ends what that has
// left.
func guardMain(ralph, session int, name string) {
	// Ctrl-C and the end of a terminal are for ralph: who ends is ended by that.
	ossignal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2)
	closeInherited()
	g := &guard{name: name, session: session, began: map[int]*guardedFamily{}, strays: guardedFamily{seen: map[int]uint64{}}}
	if !g.listen(ralph) {
		return
	}
	g.end()
}

// closeInherited closes files that ralph was begun with, a lock of a shell, say: who
// waits for their end does not wait for the guard.
func closeInherited() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		names, err := filepath.Glob(dir + "/*")
		if err != nil || len(names) == 0 {
			continue
		}
		for _, name := range names {
			fd, err := strconv.Atoi(filepath.Base(name))
			to, _ := os.Readlink(name)
			if err == nil && fd > 2 && !strings.HasPrefix(to, "anon_inode:") { // those are the runtime's
				_ = syscall.Close(fd)
			}
		}
		return
	}
}

// guard is what the guard knows.
type guard struct {
	name    string // of who is guarded: the mark's value
	session int    // of who is guarded
	began   map[int]*guardedFamily
	strays  guardedFamily // whose program is not known
}

// guardedFamily is a program that has not ended, with its descendants.
type guardedFamily struct {
	start  uint64
	seen   map[int]uint64
	walled bool // it ends what is left itself, unless it is killed before
}

// listen receives reports until ralph is dead. It returns false if there is nothing
// left to end.
func (g *guard) listen(ralph int) bool {
	// Another process may hold the other end open: the parent is looked at, too.
	timeout := syscall.NsecToTimeval(int64(300 * time.Millisecond))
	_ = syscall.SetsockoptTimeval(0, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &timeout) // the end is still heard
	buf, rest := make([]byte, 16<<10), []byte(nil)
	for {
		dead := os.Getppid() != ralph // before it is read what it still has said
		n, err := syscall.Read(0, buf)
		switch {
		case n > 0:
			rest = append(rest, buf[:n]...)
			for {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					break
				}
				if w, ok := parseWord(rest[:i]); ok && g.hear(w) {
					return false
				}
				rest = rest[i+1:]
			}
			rest = append([]byte(nil), rest...)
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN) && !dead:
		default:
			return true
		}
	}
}

// hear takes a word; it returns true for the last one.
func (g *guard) hear(w guardWord) bool {
	switch w.verb {
	case wordBegin:
		g.began[w.pid] = &guardedFamily{start: w.start, seen: map[int]uint64{}, walled: w.root == walled}
	case wordDone:
		delete(g.began, w.pid)
	case wordSeen:
		if f := g.began[w.root]; w.root == 0 {
			g.strays.saw(w)
		} else if f != nil {
			f.saw(w)
		}
	case wordEnd:
		return true
	}
	return false
}

// saw takes a descendant. Those that are gone are forgotten when they become many.
func (f *guardedFamily) saw(w guardWord) {
	if len(f.seen) >= 2000 {
		for pid, start := range f.seen {
			if p, ok := read(pid); !ok || p.start != start {
				delete(f.seen, pid)
			}
		}
	}
	f.seen[w.pid] = w.start
}

// Times from ralph's death on.
const (
	toolTime = 500 * time.Millisecond // until git and the like are asked to end
	toolKill = 800 * time.Millisecond // until they are killed
	giveUp   = 5 * time.Second        // what hangs in the kernel cannot be waited for
)

// end kills what is left, until two looks in a row find no process.
func (g *guard) end() {
	began := time.Now()
	h := &hunt{guard: g, homes: map[int]bool{}, hit: map[int]proc{}}
	for clean := 0; clean < 2 && time.Since(began) < giveUp; {
		all := readTable(nil)
		if all == nil { // no process table: the groups alone are known
			for pid := range g.began {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
			return
		}
		left := h.find(all)
		if clean++; len(left) > 0 {
			clean = 0
		}
		since := time.Since(began)
		for p, tool := range left {
			switch {
			case !tool || since >= toolKill:
				signal(p, syscall.SIGKILL)
				h.hit[p.pid] = p
			case since >= toolTime:
				signal(p, syscall.SIGTERM)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// hunt is what is known while processes are ended.
type hunt struct {
	*guard
	latest uint64       // when the youngest of the first look began: what is younger took a number that was free
	homes  map[int]bool // sessions that belong to what was found
	hit    map[int]proc // what was killed
}

// find lists what lives and is ralph's; true is for tools and sandboxes, which may end by themselves.
func (h *hunt) find(all map[int]proc) map[proc]bool {
	if h.latest == 0 {
		for _, p := range all {
			h.latest = max(h.latest, p.start)
		}
	}
	self := os.Getpid()
	found := h.known(all, self)
	children := childrenIn(all)
	for grown := true; grown; {
		grown = false
		members := make([]proc, 0, len(found))
		for pid, tool := range found {
			p := all[pid]
			if p.session != h.session && p.session != 0 && !tool { // 0 is outside of the pid namespace
				h.homes[p.session] = true
			}
			members = append(members, p)
		}
		descend(members, children, func(p, c proc) bool {
			if _, known := found[c.pid]; known || c.pid == self {
				return false
			}
			found[c.pid], grown = found[p.pid], true
			return true
		})
		for _, p := range all {
			if _, known := found[p.pid]; !known && p.pid != self && h.homes[p.session] && all[p.session].start <= h.latest {
				found[p.pid], grown = false, true
			}
		}
	}
	out := map[proc]bool{}
	for pid, tool := range found {
		if p := all[pid]; !p.dead {
			out[p] = tool
		}
	}
	return out
}

// known are those that ralph reported, that were killed and still live, that are in a group
// which ralph made, or that carry its mark; true: a tool, or a sandbox.
func (h *hunt) known(all map[int]proc, self int) map[int]bool {
	found := map[int]bool{}
	same := func(pid int, start uint64) bool { p, ok := all[pid]; return ok && p.start == start }
	take := func(pid int, start uint64) {
		if same(pid, start) {
			found[pid] = false
		}
	}
	for root, f := range h.began {
		take(root, f.start)
		for pid, start := range f.seen {
			take(pid, start)
		}
	}
	for pid, start := range h.strays.seen {
		take(pid, start)
	}
	for pid, p := range h.hit {
		take(pid, p.start)
	}
	for _, p := range all {
		if p.pid == self {
			continue
		}
		// A group outlives its leader, and its number is not reused as long. In the
		// same session it is the group that ralph made, unless a younger leader has it.
		if f := h.began[p.group]; f != nil && p.session == h.session && p.start >= f.start && (same(p.group, f.start) || all[p.group].pid == 0) {
			found[p.pid] = false
		}
		if _, known := found[p.pid]; known || p.dead {
			continue
		}
		if tool, carries := h.marked(p.pid); carries {
			found[p.pid] = tool
		}
	}
	for root, f := range h.began {
		if f.walled && same(root, f.start) {
			found[root] = true
		}
	}
	return found
}

// marked reports whether a process carries ralph's mark, and whether as a tool.
func (h *hunt) marked(pid int) (tool, carries bool) {
	vars, ok := environment(pid)
	if !ok {
		return false, false
	}
	for _, v := range vars {
		switch value, ok := bytes.CutPrefix(v, []byte(GuardMark+"="+h.name)); {
		case ok && len(value) == 0:
			return false, true
		case ok && string(value) == ofTools:
			return true, true
		}
	}
	return false, false
}
