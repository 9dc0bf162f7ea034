//go:build unix

package process

import (
	"bytes"
	"cmp"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// family is a program and the descendants that were seen.
type family struct {
	root  proc // as it was when it began; its start is 0 where there is no /proc
	mark  string
	seen  map[int]proc // living ones that were recorded, by number
	homes map[int]bool // sessions that members made
	ends  bool         // its program was reaped

	inside Inside // nil: its program is in no sandbox
}

// families are all programs that run now. One look at the process table serves
// them all, so that many agents do not read it many times a second.
var families struct {
	mu  sync.Mutex // guards the rest, and the inside of every family
	set map[*family]bool
	at  time.Time // when the last look began

	strays map[int]uint64 // orphans that may be any family's, with their starts

	table map[int]proc    // of the last look; one look follows another, and they write over it
	owner map[int]*family // found by it

	known  bool // there is a process table
	unsure bool // a process was about to become another program, and may belong to any
}

// join begins a family. mark is "NAME=value", or ""; inside is nil without a sandbox.
func join(root int, mark string, inside Inside) *family {
	f := &family{inside: inside, root: proc{pid: root}, mark: mark, seen: map[int]proc{}, homes: map[int]bool{}}
	if p, ok := read(root); ok {
		f.root = p
	}
	families.mu.Lock()
	defer families.mu.Unlock()
	if families.set == nil {
		families.set = map[*family]bool{}
	}
	families.set[f] = true
	word := guardWord{verb: wordBegin, pid: root, start: f.root.start}
	if inside != nil {
		word.root = walled
	}
	tellGuard(word)
	return f
}

func (f *family) leave() {
	families.mu.Lock()
	defer families.mu.Unlock()
	delete(families.set, f)
	tellGuard(guardWord{verb: wordDone, pid: f.root.pid})
}

// look records the descendants of all families, unless that was begun after the
// time that is given, and returns the members of f that live. known is false where
// there is no process table. One look serves all that wait for it: a thousand
// programs that end together cost a few looks.
func (f *family) look(notBefore time.Time) (alive []proc, known bool) {
	families.mu.Lock()
	defer families.mu.Unlock()
	if families.at.Before(notBefore) {
		families.at = time.Now()
		families.table = readTable(families.table)
		if families.known = families.table != nil; families.known {
			assign(families.table)
		}
	}
	for _, p := range f.seen {
		alive = append(alive, p)
	}
	return alive, families.known
}

// assign says to whom each process belongs. Families that end also take the
// strays that can be no one else's.
func assign(all map[int]proc) {
	if families.owner == nil {
		families.owner = map[int]*family{}
	}
	owner := families.owner
	defer clear(owner) // it keeps no family that has ended
	for f := range families.set {
		for pid, p := range f.seen {
			if now, ok := all[pid]; !ok || now.start != p.start || now.dead {
				delete(f.seen, pid) // gone; a later process of that number is another
				continue
			}
			owner[pid] = f
		}
		if now, ok := all[f.root.pid]; ok && now.start == f.root.start {
			owner[now.pid] = f
		}
	}
	families.unsure = false
	children := childrenIn(all)
	strays := map[int]uint64{}
	self, _ := read(os.Getpid())
	for grown := true; grown; {
		grown = false
		members := make([]proc, 0, len(owner))
		for pid := range owner {
			members = append(members, all[pid])
		}
		descend(members, children, func(p, c proc) bool {
			if owner[c.pid] != nil || c.pid == self.pid {
				return false
			}
			owner[c.pid] = owner[p.pid]
			return true
		})
		for pid, f := range owner {
			if p := all[pid]; p.session != self.session {
				f.homes[p.session] = true
			}
		}
		// What lost its parent became a child of this process.
		for _, p := range children[self.pid] {
			if owner[p.pid] != nil || p.dead || p.pid == guarding.pid {
				continue
			}
			f, stray := adopted(p, self)
			if f != nil {
				owner[p.pid], grown = f, true
			}
			if stray {
				strays[p.pid] = p.start
			}
		}
	}
	record(all, owner, strays)
	reap(children[self.pid], self)
}

// record notes who belongs to whom, and tells the guard what it does not know.
func record(all map[int]proc, owner map[int]*family, strays map[int]uint64) {
	var found []guardWord
	for pid, f := range owner {
		if p := all[pid]; pid != f.root.pid && !p.dead {
			if f.seen[pid].start != p.start {
				found = append(found, guardWord{verb: wordSeen, root: f.root.pid, pid: pid, start: p.start})
			}
			f.seen[pid] = p
		}
	}
	for pid, start := range strays {
		if owner[pid] == nil && families.strays[pid] != start {
			found = append(found, guardWord{verb: wordSeen, pid: pid, start: start})
		}
	}
	families.strays = strays
	tellGuard(found...)
	wakeGuard()
}

// adopted finds the family of an orphan: by its process group, its session, its
// mark, or because no other family was there when it began. A stray has cleared its
// environment: it is some family's, perhaps not known whose.
func adopted(p, self proc) (f *family, stray bool) {
	for f := range families.set {
		if p.start >= f.root.start && p.pid != f.root.pid && (p.group == f.root.pid || p.session != self.session && f.homes[p.session]) {
			return f, false
		}
	}
	vars, ok := environment(p.pid)
	if !ok {
		return nil, false
	}
	if len(vars) == 1 && len(vars[0]) == 0 { // it has none, or has not got it yet
		families.unsure = true
	}
	for _, v := range vars {
		for f := range families.set {
			if f.mark != "" && string(v) == f.mark {
				return f, false
			}
		}
	}
	if p.session == self.session {
		return nil, false // a child of our own making, such as git
	}
	cleared := true
	for _, v := range vars {
		name, _, _ := bytes.Cut(v, []byte{'='})
		cleared = cleared && string(name) != "HOME" && (string(name) == GuardMark || !strings.HasPrefix(string(name), "RALPH_"))
	}
	if !cleared {
		return nil, false
	}
	var ending *family
	for f := range families.set {
		switch {
		case f.ends:
			ending = f
		case f.root.start <= p.start:
			return nil, true // it may be that one's: the last one to end takes it
		}
	}
	return ending, true
}

// reap collects dead orphans. Children of our own making are left to whoever
// waits for them: they are in our session and in our group or in one of their own.
func reap(children []proc, self proc) {
	for _, p := range children {
		if p.dead && p.pid != guarding.pid && (p.session != self.session || p.group != p.pid && p.group != self.group) {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil) // gone is what we want
		}
	}
}

// kill signals the members that live and the leader's group, while the leader is
// not reaped: later its number may be another's.
func (f *family) kill(sig syscall.Signal) {
	_ = syscall.Kill(-f.root.pid, sig) // gone is what we want
	alive, _ := f.look(time.Now())
	for _, p := range alive {
		if p.group != f.root.pid {
			signal(p, sig)
		}
	}
}

// end asks the program to end, in its own way if it has one and then by a signal,
// and makes it after the grace. It returns when the program is reaped.
func (f *family) end(s Spec, done <-chan error) {
	grace := cmp.Or(s.Grace, 5*time.Second)
	if s.AtOnce != nil && s.AtOnce() {
		f.finally(grace, done)
		return
	}
	if s.Ask != nil {
		if s.Ask(); within(done, grace) {
			return
		}
	}
	switch {
	case s.Alone && f.inside != nil:
		f.inside.Signal(syscall.SIGTERM)
	case s.Alone:
		_ = syscall.Kill(f.root.pid, syscall.SIGTERM) // gone is what we want
	default:
		f.kill(syscall.SIGTERM)
	}
	if within(done, grace) {
		return
	}
	f.finally(grace, done)
}

// finally kills the program. A sandbox does that itself: it knows of more than is seen here.
func (f *family) finally(grace time.Duration, done <-chan error) {
	if f.inside != nil {
		if _ = f.inside.Close(); within(done, grace) {
			return
		}
	}
	f.kill(syscall.SIGKILL)
	<-done
}

// uncertain reports whether the last look met a process of which it is not known yet
// to whom he belongs.
func uncertain() bool {
	families.mu.Lock()
	defer families.mu.Unlock()
	return families.unsure
}

// finish makes sure that nothing survives a program that was reaped: it kills
// until two looks in a row find no process.
func (f *family) finish() {
	defer f.leave()
	families.mu.Lock()
	f.ends = true
	families.mu.Unlock()
	clean := 1  // looks that must find no process
	wait := 100 // looks at most until those are known who become another program
	for range 2000 {
		alive, known := f.look(time.Now())
		if !known {
			_ = syscall.Kill(-f.root.pid, syscall.SIGKILL)
			return
		}
		if len(alive) == 0 && uncertain() && wait > 0 {
			wait--
			time.Sleep(time.Millisecond) // it takes less
			continue
		}
		if len(alive) == 0 {
			if clean--; clean == 0 {
				return
			}
			continue
		}
		clean = 2
		for _, p := range alive {
			signal(p, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond) // the kernel needs a moment
	}
}
