//go:build unix

package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// proc is a line of the process table. start tells a process from a later one
// with the same number, and which of two began first.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since the system started
	dead                        bool   // it waits to be reaped, or is just gone
}

// readTable reads the process table; it is nil where there is no /proc.
func readTable() map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // a part is better than nothing
	_ = dir.Close()
	all := make(map[int]proc, len(names))
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
	p := proc{pid: pid, dead: bytes.ContainsAny(fields[0], "ZX")}
	for i, to := range map[int]*int{1: &p.parent, 2: &p.group, 3: &p.session} {
		if *to, err = strconv.Atoi(string(fields[i])); err != nil {
			return proc{}, false
		}
	}
	p.start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return p, err == nil
}

// environment returns the variables that a process was started with; ok is false
// if they cannot be read.
func environment(pid int) (vars [][]byte, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, false
	}
	return bytes.Split(b, []byte{0}), true
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
