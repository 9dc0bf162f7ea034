package group

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// Group holds one sandbox.
type Group struct {
	at  string
	dir *os.File
}

var made atomic.Int64 // groups of this process

// period is that of cpu.max, in microseconds: the kernel's own.
const period = 100_000

// New makes a group with limits below a base, for what is started in it. Of Limits Memory,
// CPU and Pids count; the caller closes it.
func New(base string, l wall.Limits) (*Group, error) {
	g := &Group{at: filepath.Join(base, fmt.Sprintf("%s-%d-%d", leaf, os.Getpid(), made.Add(1)))}
	if err := os.Mkdir(g.at, 0o755); err != nil {
		return nil, fmt.Errorf("make a group: %w", err)
	}
	err := g.limit(l)
	if err == nil {
		g.dir, err = os.Open(g.at)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a group: %w", err), os.Remove(g.at))
	}
	return g, nil
}

// limit writes what a group is held to.
func (g *Group) limit(l wall.Limits) error {
	set := func(file, value string) error { return write(g.at, file, value) }
	var all []error
	if l.Memory > 0 {
		all = append(all, set("memory.max", strconv.FormatInt(l.Memory, 10)), set("memory.oom.group", "1"))
		if err := set("memory.swap.max", "0"); !errors.Is(err, os.ErrNotExist) { // a kernel without swap has no such file
			all = append(all, err)
		}
	}
	if l.CPU > 0 {
		all = append(all, set("cpu.max", fmt.Sprintf("%d %d", l.CPU*(period/100), period)))
	}
	if _, err := os.Stat(filepath.Join(g.at, "pids.max")); err == nil && l.Pids > 0 {
		all = append(all, set("pids.max", strconv.Itoa(l.Pids)))
	}
	return errors.Join(all...)
}

// FD is the descriptor for SysProcAttr.CgroupFD. It is open until Close.
func (g *Group) FD() int { return int(g.dir.Fd()) }

// OutOfMemory reports whether the kernel killed what was in the group because it had used
// up its own memory, not because that of the machine was used up.
func (g *Group) OutOfMemory() bool {
	if g == nil {
		return false
	}
	b, _ := os.ReadFile(filepath.Join(g.at, "memory.events")) // a group without a limit on memory may have none
	return counted(b, "oom") > 0 && counted(b, "oom_kill") > 0
}

// counted is a number in lines "name number"; 0 if it is not there.
func counted(b []byte, name string) int {
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1]) // the kernel wrote it
			return n
		}
	}
	return 0
}

// leaveTime is how long what was killed may take to be gone.
const leaveTime = 10 * time.Second

// Close kills what is left in the group, waits for its end, and removes the group. It may
// be called on nil, and once.
func (g *Group) Close() error {
	if g == nil {
		return nil
	}
	err := write(g.at, "cgroup.kill", "1")
	if errors.Is(err, os.ErrNotExist) { // Linux before 5.14: the sandbox's process 1 has ended, and all with it
		err = nil
	}
	err = errors.Join(err, g.empty(), g.dir.Close())
	if rm := unix.Rmdir(g.at); rm != nil {
		err = errors.Join(err, fmt.Errorf("remove the group of a sandbox, %s: %w", g.at, rm))
	}
	return err
}

// empty waits until nothing is in the group, at most leaveTime: cgroup.events, read again
// from its start, has an exceptional condition when it changes.
func (g *Group) empty() error {
	f, err := os.Open(filepath.Join(g.at, "cgroup.events"))
	if err != nil {
		return err
	}
	defer f.Close()
	events := make([]byte, 4096)
	for until := time.Now().Add(leaveTime); time.Now().Before(until); {
		n, err := f.ReadAt(events, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if counted(events[:n], "populated") == 0 {
			return nil
		}
		wait := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}
		if _, err := unix.Poll(wait, int(time.Until(until).Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return errors.New("what was killed in the group of a sandbox is still there")
}
