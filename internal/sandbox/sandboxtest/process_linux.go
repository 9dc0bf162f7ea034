package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kill(a *arena) error { return unix.Kill(a.Prey.PID, unix.SIGKILL) }

// ptrace seizes ralph without stopping it. It is let go when this thread ends.
func ptrace(a *arena) error { return unix.PtraceSeize(a.Ralph.PID) }

// traceInit is after the process that has made the sandbox, which could do more than is
// left to the attacker.
func traceInit(a *arena) error {
	for fd := range 16 {
		if _, err := os.Readlink(filepath.Join(a.Init, "fd", strconv.Itoa(fd))); err == nil {
			return nil
		}
	}
	if openToWrite(filepath.Join(a.Init, "mem")) == nil {
		return nil
	}
	pid, err := strconv.Atoi(filepath.Base(a.Init))
	if err != nil {
		return err
	}
	return unix.PtraceSeize(pid)
}

func stealDescriptor(a *arena) error {
	pidfd, err := unix.PidfdOpen(a.Ralph.PID, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, a.Ralph.FD, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := make([]byte, 4096)
	n, err := unix.Pread(fd, b, 0)
	if err != nil {
		return err
	}
	return a.has(b[:n])
}

func setPriority(a *arena) error { return unix.Setpriority(unix.PRIO_PROCESS, a.Ralph.PID, 19) }

func setLimit(a *arena) error {
	var old unix.Rlimit
	if err := unix.Prlimit(a.Ralph.PID, unix.RLIMIT_CORE, nil, &old); err != nil {
		return err
	}
	return unix.Prlimit(a.Ralph.PID, unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: old.Max}, nil)
}

// stopParent stops the parent for a moment, if the test started that for it. Of any other
// parent it asks whether a signal would reach it.
func stopParent(a *arena) error {
	parent := os.Getppid()
	if parent < 2 {
		return fmt.Errorf("parent is %d", parent)
	}
	line, _ := os.ReadFile(filepath.Join(proc(parent), "cmdline"))
	if !bytes.Contains(line, []byte(roleRalph)) || !bytes.Contains(line, []byte(a.Root)) {
		return unix.Kill(parent, 0)
	}
	if err := unix.Kill(parent, unix.SIGSTOP); err != nil {
		return err
	}
	err := errors.New("it did not stop")
	for i := 0; i < 100 && err != nil; i++ {
		time.Sleep(10 * time.Millisecond)
		stat, _ := os.ReadFile(filepath.Join(proc(parent), "stat"))
		if _, after, ok := bytes.Cut(stat, []byte(") ")); ok && after[0] == 'T' {
			err = nil
		}
	}
	return errors.Join(err, unix.Kill(parent, unix.SIGCONT))
}

// writeProc makes ralph the first to be killed when memory runs out, or opens its memory.
func writeProc(a *arena) error {
	err := os.WriteFile(filepath.Join(proc(a.Ralph.PID), "oom_score_adj"), []byte("100"), 0)
	if err == nil {
		return nil
	}
	if openToWrite(filepath.Join(proc(a.Ralph.PID), "mem")) == nil {
		return nil
	}
	return err
}

// openTerminal opens the one of whoever started ralph.
func openTerminal(*arena) error { return openToWrite("/dev/tty") }

// typeIn types into the terminal.
func typeIn(*arena) error {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		fd = 0
	}
	c := byte('x')
	if _, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c))); no != 0 {
		return no
	}
	return nil
}

func outlive(a *arena) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, roleFork, a.mark("P09"))
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}

// forks starts processes up to its limit, and twice as many. All of them end with it.
func forks(a *arena) error {
	self := unix.Getpid()
	var pids []int
	defer func() {
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}()
	for range 2 * a.Processes {
		pid, _, no := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if no != 0 {
			return no
		}
		if pid == 0 {
			idle(self)
		}
		pids = append(pids, int(pid))
	}
	return nil
}

// idle is all that a process of forks does. It has no Go scheduler: only raw calls.
//
//go:norace
func idle(parent int) {
	_, _, _ = unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if now, _, _ := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); int(now) == parent {
		ts := unix.Timespec{Sec: 20}
		_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	}
	for {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

func fillTmp(a *arena) error {
	f, err := os.CreateTemp("/tmp", a.Mark)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	b := make([]byte, 1<<20)
	for range (a.TmpSize + 64<<20) / int64(len(b)) {
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// bigFile makes a file that is large and takes no room.
func bigFile(a *arena) error {
	f, err := os.Create(filepath.Join(a.Own, "big"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_, err = f.WriteAt([]byte{1}, 2<<30-1)
	return err
}

func memory(*arena) error {
	b, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	return unix.Munmap(b)
}
