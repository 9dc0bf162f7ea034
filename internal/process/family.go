//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// member is one process; Start tells it from a later one with the same number.
type member struct {
	pid   int
	start string
}

// family is a program and the descendants that were seen. It is owned by the
// goroutine that runs the program.
type family struct {
	root int
	seen map[int]member
}

func newFamily(root int) *family { return &family{root: root, seen: map[int]member{}} }

// sample records the descendants in a view of the process table.
func (f *family) sample(all []proc) {
	children := map[int][]proc{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	queue := []int{f.root}
	for pid := range f.seen {
		queue = append(queue, pid)
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, c := range children[pid] {
			if _, known := f.seen[c.pid]; !known {
				f.seen[c.pid] = member{c.pid, c.start}
				queue = append(queue, c.pid)
			}
		}
	}
}

// kill signals the group and every recorded descendant that still is itself.
func (f *family) kill(sig syscall.Signal) {
	_ = syscall.Kill(-f.root, sig) // gone is what we want
	for pid, m := range f.seen {
		if p, ok := read(pid); ok && p.start == m.start {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// end asks the program to end, and makes it after the grace.
func (f *family) end(grace time.Duration, done <-chan error) {
	if grace == 0 {
		grace = 5 * time.Second
	}
	f.sample(snapshot(0))
	_ = syscall.Kill(-f.root, syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	f.sample(snapshot(0))
	f.kill(syscall.SIGKILL)
	<-done
}

// reap collects orphans that became children of this process.
func (f *family) reap() {
	for pid := range f.seen {
		for range 200 {
			p, ok := read(pid)
			if !ok || p.parent != os.Getpid() || p.start != f.seen[pid].start {
				break
			}
			var ws syscall.WaitStatus
			if got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil); got == pid || err != nil && !errors.Is(err, syscall.EINTR) {
				break
			}
			time.Sleep(time.Millisecond) // it was killed: the kernel needs a moment
		}
	}
}

// proc is a line of the process table.
type proc struct {
	pid, parent int
	start       string
	dead        bool // it waits to be reaped, or is just gone
}

// table is shared by all running programs, so that many agents do not read the
// process table many times a second.
var table struct {
	mu   sync.Mutex // guards the rest
	at   time.Time
	list []proc
}

// snapshot returns the process table as it was at most age ago. It is empty where
// there is no /proc.
func snapshot(age time.Duration) []proc {
	table.mu.Lock()
	defer table.mu.Unlock()
	if age > 0 && time.Since(table.at) < age {
		return table.list
	}
	table.list = table.list[:0:0]
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // a part is better than nothing
	_ = dir.Close()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := read(pid); ok {
				table.list = append(table.list, p)
			}
		}
	}
	table.at = time.Now()
	return table.list
}

// read reads one process from the table.
func read(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	end := bytes.LastIndexByte(b, ')') // the name may hold anything
	if end < 0 {
		return proc{}, false
	}
	fields := bytes.Fields(b[end+1:])
	if len(fields) < 20 {
		return proc{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return proc{}, false
	}
	return proc{pid: pid, parent: parent, start: string(fields[19]), dead: bytes.ContainsAny(fields[0], "ZX")}, true
}

// Sweep kills every process, other than this one and its ancestors, whose
// environment holds one of the variables with a value that begins with prefix,
// and waits until they are gone. It finds what a ralph that was killed left
// running, and returns how many it killed. It finds nothing where there is no
// /proc.
func Sweep(prefix string, names ...string) int {
	mine := map[int]bool{}
	for pid := os.Getpid(); pid > 1; {
		mine[pid] = true
		p, ok := read(pid)
		if !ok {
			break
		}
		pid = p.parent
	}
	var killed []proc
	marked := func(v []byte) bool {
		name, value, _ := bytes.Cut(v, []byte{'='})
		return bytes.HasPrefix(value, []byte(prefix)) && slices.Contains(names, string(name))
	}
	for _, p := range snapshot(0) {
		if mine[p.pid] {
			continue
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if marked(v) {
				if syscall.Kill(p.pid, syscall.SIGKILL) == nil {
					killed = append(killed, p)
				}
				break
			}
		}
	}
	for _, p := range killed {
		for range 2000 { // one that hangs in the kernel cannot be waited for
			now, ok := read(p.pid)
			if !ok || now.start != p.start || now.dead {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return len(killed)
}
