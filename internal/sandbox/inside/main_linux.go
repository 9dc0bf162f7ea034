package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Who is called as a sandbox is nothing else.
var _ = func() bool {
	if len(os.Args) != 2 || os.Args[1] != Command {
		return false
	}
	os.Exit(run())
	return true
}()

// run is the whole life of process 1. It returns the exit code.
func run() int {
	// First of all: what ralph itself had inherited may lead to the whole disk.
	if err := unix.CloseRange(3, ^uint(0)>>1&0xffffffff, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		report(Report{Stage: Failed, Reason: fmt.Sprintf("close_range: %v (Linux 5.11 or later is needed)", err)})
		return 1
	}
	var o Order
	if err := json.NewDecoder(io.NewSectionReader(os.NewFile(OrderFD, "order"), 0, 1<<30)).Decode(&o); err != nil {
		report(Report{Stage: Failed, Reason: "read the order: " + err.Error()})
		return 1
	}
	if o.Fence != nil {
		return o.guardian()
	}
	_ = unix.Close(OrderFD)
	if os.Getpid() != 1 {
		report(Report{Stage: Failed, Reason: "the sandbox is not process 1 of a namespace"})
		return 1
	}
	runtime.LockOSThread() // mounts and descriptors are the process's; nothing else runs here
	if err := build(&o); err != nil {
		report(Report{Stage: Failed, Reason: err.Error(), Scarce: Scarce(err)})
		return 1
	}
	return o.program()
}

// build makes the sandbox around this process.
func build(o *Order) error {
	if err := o.surround(); err != nil {
		return err
	}
	if err := o.listen(); err != nil {
		return err
	}
	if err := o.limit(); err != nil {
		return err
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("enter its directory: %w", err)
	}
	if err := renounce(); err != nil {
		return err
	}
	return refuse(o.Wall.Nest, nil)
}

// surround makes the root and the network of the sandbox, if bwrap has not.
func (o *Order) surround() error {
	if o.Made != nil {
		return o.made()
	}
	if err := o.root(); err != nil {
		return err
	}
	if err := loopback(); err != nil {
		return fmt.Errorf("start the loopback interface: %w", err)
	}
	return nil
}

// Scarce reports whether an error says that the machine is short of something: it may not be
// later.
func Scarce(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.ENOSPC, unix.EMFILE, unix.ENFILE}, func(e error) bool { return errors.Is(err, e) })
}

// program starts the program, waits for its end, and returns what this process exits with.
func (o *Order) program() int {
	syscall.Umask(0o022)
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, ending...) // before the program begins: what ralph was started to ignore, its programs are not
	pid, err := o.start()
	if err != nil {
		report(Report{Stage: Failed, Absent: true, Reason: fmt.Sprintf("start %s: %v", o.Path, err), Scarce: Scarce(err)})
		return 1
	}
	for fd := range 3 {
		_ = syscall.Close(fd) // its output ends when it closes it
	}
	report(Report{Stage: Started})
	go obey()
	go o.pass(asked, pid)
	for {
		var status syscall.WaitStatus
		gone, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case gone != pid || !status.Exited() && !status.Signaled(): // an orphan
		case status.Signaled():
			report(Report{Stage: Ended, Signal: int(status.Signal())})
			return 128 + int(status.Signal())
		default:
			report(Report{Stage: Ended, Code: status.ExitStatus()})
			return status.ExitStatus()
		}
	}
}

// start starts the program in a session of its own, which has the terminal if there is one.
func (o *Order) start() (pid int, err error) {
	a := &syscall.ProcAttr{Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if o.Terminal != nil {
		fd, err := o.terminal()
		if err != nil {
			return 0, err
		}
		defer syscall.Close(fd)
		a.Files = []uintptr{uintptr(fd), uintptr(fd), uintptr(fd)}
		a.Sys.Setctty = true // descriptor 0 of the program
	}
	return syscall.ForkExec(o.Path, o.Args, a)
}

// obey makes the connections that ralph asks for, and ends this process, and so the sandbox,
// when ralph's end of the socket closes.
func obey() {
	var b [MaxDial]byte
	for {
		n, err := syscall.Read(SocketFD, b[:])
		if err != nil && (errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN)) {
			continue
		}
		if n <= 0 {
			os.Exit(137)
		}
		var d Dial
		if json.Unmarshal(b[:n], &d) == nil {
			go d.dial()
		}
	}
}

// ending are signals that ask a program to end, and what programs take for their own.
var ending = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// pass hands on the signals that ask the program to end.
func (o *Order) pass(asked <-chan os.Signal, pid int) {
	to := -pid // a session of its own has a group of its own
	if o.Alone {
		to = pid
	}
	for s := range asked {
		_ = syscall.Kill(to, s.(syscall.Signal)) // it may have ended
	}
}

// report tells ralph; descriptors go with it. If ralph is gone, so is this process soon.
func report(r Report, fds ...int) {
	b, err := json.Marshal(r)
	if err != nil {
		return
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_ = unix.Sendmsg(SocketFD, b, rights, nil, unix.MSG_NOSIGNAL)
}
