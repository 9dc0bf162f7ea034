//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// proc is a line of the process table. start tells a process from a later one
// with the same number, and which of two began first.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since the system started
	dead                        bool   // it waits to be reaped, or is just gone; not one of which only the first thread has ended
}

// readTable reads the process table; it is nil where there is no /proc. A table that is
// not needed any more is written over.
func readTable(all map[int]proc) map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // a part is better than nothing
	_ = dir.Close()
	clear(all)
	if all == nil {
		all = make(map[int]proc, len(names))
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := read(pid); ok {
				all[pid] = p
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// read reads one process from the table. It is called for every process of the
// system many times: it leaves no garbage behind.
func read(pid int) (proc, bool) {
	var room [1024]byte
	b, ok := contents(pid, room[:])
	end := bytes.LastIndexByte(b, ')') // the name may hold anything
	if !ok || end < 0 {
		return proc{}, false
	}
	p := proc{pid: pid}
	rest := b[end+1:]
	for i := range 20 { // from the third field of proc(5) on
		rest = bytes.TrimLeft(rest, " ")
		n := bytes.IndexByte(rest, ' ')
		if n <= 0 {
			return proc{}, false
		}
		word := rest[:n]
		rest = rest[n:]
		if i == 0 {
			p.dead = bytes.ContainsAny(word, "ZX")
			continue
		}
		if i > 3 && i < 19 && i != 17 {
			continue
		}
		v, ok := digits(word)
		switch {
		case !ok:
			return proc{}, false
		case i == 1:
			p.parent = int(v)
		case i == 2:
			p.group = int(v)
		case i == 3:
			p.session = int(v)
		case i == 17:
			p.dead = p.dead && v <= 1
		default:
			p.start = v
		}
	}
	return p, true
}

// contents reads a process's line into room, as far as it goes.
func contents(pid int, room []byte) ([]byte, bool) {
	var name [32]byte
	path := append(strconv.AppendInt(append(name[:0], "/proc/"...), int64(pid), 10), "/stat"...)
	fd, err := syscall.Open(string(path), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	n, err := syscall.Read(fd, room)
	_ = syscall.Close(fd)
	return room[:max(n, 0)], err == nil && n > 0
}

// digits reads a number; negative ones, of invalid groups, are 0.
func digits(word []byte) (v uint64, ok bool) {
	if len(word) > 0 && word[0] == '-' {
		return 0, true
	}
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, len(word) > 0
}

// environment returns the variables that a process was started with; ok is false
// if they cannot be read.
func environment(pid int) (vars [][]byte, ok bool) {
	b, err := told(pid, "environ")
	if err != nil {
		return nil, false
	}
	return bytes.Split(b, []byte{0}), true
}

// told reads a file of a process. Where its first thread has ended, that one's is empty
// or cannot be opened: then it is another's.
func told(pid int, name string) (b []byte, err error) {
	err = eachThread(pid, func(dir string) (err error) {
		switch b, err = os.ReadFile(dir + name); {
		case len(b) > 0:
			return nil
		case err == nil:
			return errEmpty
		}
		return err
	})
	if errors.Is(err, errEmpty) {
		err = nil
	}
	return b, err
}

var errEmpty = errors.New("it is empty")

// workDir is the directory that a process works in.
func workDir(pid int) (at string, err error) {
	err = eachThread(pid, func(dir string) (err error) {
		at, err = os.Readlink(dir + "cwd")
		return err
	})
	return at, err
}

// eachThread tries the directory of a process, and then those of its other threads, until
// one will do; else the error is the first.
func eachThread(pid int, try func(dir string) error) error {
	name := strconv.Itoa(pid)
	first := try("/proc/" + name + "/")
	if first == nil {
		return nil
	}
	tasks, _ := os.ReadDir("/proc/" + name + "/task") // it is gone, or not readable
	for _, t := range tasks {
		if t.Name() != name && try("/proc/"+name+"/task/"+t.Name()+"/") == nil {
			return nil
		}
	}
	return first
}

// signal sends sig to p if p still is itself. A number that was given to another
// process meanwhile is never signalled: where the system has handles of
// processes, one is held while the start is compared.
func signal(p proc, sig syscall.Signal) bool {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return false
	}
	defer handle.Release()
	if now, ok := read(p.pid); !ok || now.start != p.start || now.dead {
		return false
	}
	return handle.Signal(sig) == nil
}
