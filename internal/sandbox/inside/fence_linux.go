package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fenceCommand is the argument with which the first process of a landlock sandbox starts
// itself once more: that one confines itself, and becomes the program.
const fenceCommand = "sandbox-fence"

// saidFD is where it says why it could not; it is closed once it is the program.
const saidFD = OrderFD

// guardian is the life of the first process of a sandbox of landlock. It is outside the
// rules, so that no signal of the program reaches it, and all that the program starts
// descends from it: what loses its parent becomes its child. Nothing of that is left when
// it ends, with the program or with ralph.
func (o *Order) guardian() int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		report(Report{Stage: Failed, Reason: "become a subreaper: " + err.Error()})
		return 1
	}
	runtime.LockOSThread() // capabilities are a thread's, and this one starts the program
	if err := renounce(); err != nil {
		report(Report{Stage: Failed, Reason: err.Error()})
		return 1
	}
	o.Fence.apart = o.Fence.ABI >= 6 && setApart()
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, ending...)
	pid, failed := o.fenced()
	if failed != nil {
		o.endAll()
		report(*failed)
		return 1
	}
	for fd := range 3 {
		_ = syscall.Close(fd) // as in program
	}
	report(Report{Stage: Started})
	gone := make(chan bool)
	go func() {
		heed()
		close(gone)
	}()
	go o.pass(asked, pid)
	return o.reap(pid, gone)
}

// fenced starts the program behind the fence, and returns once it runs. Otherwise it says
// why not.
func (o *Order) fenced() (pid int, failed *Report) {
	no := func(err error) (int, *Report) {
		return 0, &Report{Stage: Failed, Reason: err.Error(), Scarce: Scarce(err)}
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return no(fmt.Errorf("pipe: %w", err))
	}
	a := &syscall.ProcAttr{Dir: "/", Files: []uintptr{0, 1, 2, OrderFD, uintptr(ends[1])}, Sys: &syscall.SysProcAttr{Setsid: true}}
	if o.Terminal != nil {
		fd, err := o.terminal()
		if err != nil {
			return no(err)
		}
		defer syscall.Close(fd)
		a.Files[0], a.Files[1], a.Files[2] = uintptr(fd), uintptr(fd), uintptr(fd)
		a.Sys.Setctty = true
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"ralph", fenceCommand}, a)
	_ = unix.Close(ends[1])
	said := os.NewFile(uintptr(ends[0]), "said")
	defer said.Close()
	if err != nil {
		return no(fmt.Errorf("start behind the fence: %w", err))
	}
	_ = unix.Close(OrderFD)
	b, err := io.ReadAll(said)
	if err != nil {
		return no(err)
	}
	if len(b) > 0 {
		var r Report
		if err := json.Unmarshal(b, &r); err != nil {
			return no(err)
		}
		return 0, &r
	}
	return pid, nil
}

// Who is called so becomes the program.
var _ = func() bool {
	if len(os.Args) != 2 || os.Args[1] != fenceCommand {
		return false
	}
	b, _ := json.Marshal(behindFence()) // it returns only with a failure
	_, _ = unix.Write(saidFD, b)
	os.Exit(1)
	return true
}()

// behindFence confines this process and makes it the program.
func behindFence() Report {
	no := func(err error) Report { return Report{Stage: Failed, Reason: err.Error(), Scarce: Scarce(err)} }
	const orderFD = 3
	if err := unix.CloseRange(orderFD, ^uint(0)>>1&0xffffffff, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return no(fmt.Errorf("close_range: %w", err))
	}
	var o Order
	if err := json.NewDecoder(io.NewSectionReader(os.NewFile(orderFD, "order"), 0, 1<<30)).Decode(&o); err != nil {
		return no(fmt.Errorf("read the order: %w", err))
	}
	runtime.LockOSThread() // the rules are this thread's, and it becomes the program
	syscall.Umask(0o022)
	err := o.limit()
	if err == nil {
		err = os.Chdir(o.Dir)
	}
	if err == nil {
		err = o.Fence.restrict(o.Terminal != nil)
	}
	if err == nil {
		err = refuse(false, o.Fence)
	}
	if err != nil {
		return no(err)
	}
	err = syscall.Exec(o.Path, o.Args, o.Env)
	return Report{Stage: Failed, Absent: true, Reason: fmt.Sprintf("start %s: %v", o.Path, err), Scarce: Scarce(err)}
}

// heed returns when ralph's end of the socket closes.
func heed() {
	var b [MaxDial]byte
	for {
		n, err := syscall.Read(SocketFD, b[:])
		switch {
		case err != nil && (errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN)):
			continue
		case n <= 0:
			return
		}
		var d Dial
		if json.Unmarshal(b[:n], &d) == nil {
			report(Report{Stage: Dialed, ID: d.ID, Reason: "with landlock nothing inside can listen"})
		}
	}
}

// beat is how often this process looks for what has ended.
const beat = 2 * time.Millisecond

// reap waits for the program's end, or ralph's, ends everything, and returns what this
// process exits with.
func (o *Order) reap(pid int, gone <-chan bool) int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for {
		select {
		case <-gone: // in every round: there may always be one more orphan
			o.endAll()
			return 137
		default:
		}
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // it has no child: it was never there
			o.endAll()
			return 1
		case got == 0:
			select {
			case <-ended:
			case <-gone:
			}
		case got != pid || !status.Exited() && !status.Signaled(): // an orphan
		case status.Signaled():
			report(Report{Stage: Ended, Signal: int(status.Signal())})
			o.endAll()
			return 128 + int(status.Signal())
		default:
			report(Report{Stage: Ended, Code: status.ExitStatus()})
			o.endAll()
			return status.ExitStatus()
		}
	}
}

// setApart takes from this thread all signals to others than its descendants, and reports
// whether the kernel holds that: then one call ends them all.
func setApart() bool {
	ralph := os.Getppid()
	if syscall.Kill(ralph, 0) != nil || restrictSelf(&ruleset{scoped: unix.LANDLOCK_SCOPE_SIGNAL}, nil) != nil {
		return false
	}
	return errors.Is(syscall.Kill(ralph, 0), syscall.EPERM)
}

// endAll kills all descendants, until the kernel knows of none, and removes their directory.
// Who begins and ends faster than one can look is killed by a call that the kernel does at
// once for all that this thread may signal; where it may signal others, one by one.
func (o *Order) endAll() {
	for {
		if o.Fence.apart {
			_ = syscall.Kill(-1, syscall.SIGKILL) // not this process, nor process 1
		}
		for _, pid := range descendants() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				removed(o.Fence.Temp)
				return
			}
			if pid <= 0 {
				break
			}
		}
		time.Sleep(beat) // the kernel needs a moment
	}
}

// descendants are the processes below this one that live. One that is missed has a parent
// that is not, whose end makes it a child of this process.
func descendants() []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	children := map[int][]int{}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		text := string(b)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 || fields[0] == "Z" && !threaded(filepath.Dir(path)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	out := children[os.Getpid()]
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// threaded reports whether a process whose first thread has ended lives on in others.
func threaded(dir string) bool {
	tasks, _ := os.ReadDir(filepath.Join(dir, "task"))
	return len(tasks) > 1
}

// removed removes a directory and all that is in it, whatever its permissions. Nobody is
// left who could change it.
func removed(dir string) {
	if dir == "" || os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
