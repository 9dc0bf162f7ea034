//go:build unix

package process

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// The guard is a second process of this program that ends what Run has started
// when this process dies, however it dies. docs/architecture.md says how.

// guardCommand is the hidden command that is the guard.
const guardCommand = "guard-processes"

// GuardMark is the environment variable set in every process that this one starts.
const GuardMark = "RALPH_GUARD"

// ofTools ends the mark of what may end by itself: git, say, that has locks to remove.
const ofTools = "/tool"

// guardName is the value of GuardMark: this process's number, its session's, and
// something that no other has.
var guardName = sync.OnceValue(func() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	self, _ := read(os.Getpid())
	return fmt.Sprintf("%d-%d-%s", os.Getpid(), self.session, hex.EncodeToString(b[:]))
})

// ToolMark is a variable for the environment of programs that this process starts
// without Run. The guard gives them a moment to end by themselves.
func ToolMark() string { return GuardMark + "=" + guardName() + ofTools }

// guarding is the guard of this process. families.mu guards it.
var guarding struct {
	conn  *os.File // nil: there is none
	proc  *os.Process
	pid   int           // 0: there is none
	over  chan struct{} // closed when it was reaped
	last  time.Time     // when it was started
	pause time.Duration // before the next one is started
	ended bool          // it is no longer needed
	lost  func()
	told  bool
}

// guardTime is how long a guard has to live for the next one to be started at once,
// and the longest pause before one is that does not.
const guardTime = 5 * time.Second

// tellTime is how long a guard may take to read a message.
const tellTime = time.Second

// Guard starts the guard, unless it is there. Run calls it: nothing is started that
// nobody would end.
func Guard() error {
	families.mu.Lock()
	defer families.mu.Unlock()
	if guarding.conn != nil || guarding.ended {
		return nil
	}
	return startGuard()
}

// OnGuardLost sets the function that is called once if the guard was killed and restarted.
func OnGuardLost(tell func()) {
	families.mu.Lock()
	defer families.mu.Unlock()
	guarding.lost = tell
}

// EndGuard ends the guard of a process that is about to end, and waits for it. A
// guard that still has something to end stays, until it has.
func EndGuard() {
	families.mu.Lock()
	conn, over := guarding.conn, guarding.over
	guarding.ended = true
	if conn == nil || len(families.set) > 0 {
		families.mu.Unlock()
		return
	}
	tellGuard(guardWord{verb: wordEnd})
	_ = conn.Close()
	guarding.conn = nil
	families.mu.Unlock()
	within(over, time.Second)
}

// startGuard starts a guard and tells it everything.
func startGuard() error {
	ours, its, err := socketPair()
	if err != nil {
		return fmt.Errorf("start the guard of processes: %w", err)
	}
	defer its.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", // the same program, also when its file was replaced
		Args: []string{"ralph", guardCommand, guardName()}, Dir: "/", Env: []string{"GOMAXPROCS=1", "GOTRACEBACK=none"},
		Stdin: its, SysProcAttr: guardAttr(),
	}
	if _, err := os.Lstat(cmd.Path); err != nil {
		if cmd.Path, err = os.Executable(); err != nil {
			return errors.Join(fmt.Errorf("start the guard of processes: %w", err), ours.Close())
		}
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start the guard of processes: %w", err), ours.Close())
	}
	guarding.last = time.Now()
	over := make(chan struct{})
	guarding.conn, guarding.proc, guarding.pid, guarding.over = ours, cmd.Process, cmd.Process.Pid, over
	go func() {
		_ = cmd.Wait() // however it ended
		close(over)
		guardGone(ours)
	}()
	var words []guardWord
	for f := range families.set {
		words = append(words, guardWord{verb: wordBegin, pid: f.root.pid, start: f.root.start})
		for _, p := range f.seen {
			words = append(words, guardWord{verb: wordSeen, root: f.root.pid, pid: p.pid, start: p.start})
		}
	}
	for pid, start := range families.strays {
		words = append(words, guardWord{verb: wordSeen, pid: pid, start: start})
	}
	tellGuard(words...)
	return nil
}

// guardGone restarts a guard that was ended.
func guardGone(conn *os.File) {
	families.mu.Lock()
	defer families.mu.Unlock()
	if guarding.conn != conn {
		return // it was to end
	}
	_ = conn.Close()
	guarding.conn, guarding.pid = nil, 0
	if guarding.ended {
		return
	}
	if !guarding.told && guarding.lost != nil {
		guarding.told = true
		go guarding.lost()
	}
	if time.Since(guarding.last) > guardTime {
		guarding.pause = 0
	}
	if guarding.pause > 0 {
		time.AfterFunc(guarding.pause, func() { _ = Guard() })
	} else {
		_ = startGuard() // or the next Run tries
	}
	guarding.pause = min(max(2*guarding.pause, 10*time.Millisecond), guardTime)
}

// tellGuard writes to the guard. One that does not read is of no use: it is ended,
// and guardGone starts another.
func tellGuard(words ...guardWord) {
	if guarding.conn == nil || len(words) == 0 {
		return
	}
	var b []byte
	for _, w := range words {
		b = w.append(b)
	}
	_ = guarding.conn.SetWriteDeadline(time.Now().Add(tellTime))
	if _, err := guarding.conn.Write(b); err != nil {
		_ = guarding.proc.Kill() // it may be gone
	}
}

// wakeGuard continues a guard that was stopped.
func wakeGuard() {
	if guarding.conn != nil {
		_ = guarding.proc.Signal(syscall.SIGCONT) // it may be gone
	}
}

// socketPair is a pipe that no one else can open: not through /proc/PID/fd either.
// Neither end is inherited.
func socketPair() (ours, its *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil { // for deadlines
		return nil, nil, errors.Join(err, syscall.Close(fds[0]), syscall.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "guard"), os.NewFile(uintptr(fds[1]), "guarded"), nil
}

// guarded is env with the guard's mark.
func guarded(env []string) []string { return append(slices.Clip(env), GuardMark+"="+guardName()) }
