package process

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec describes a program to run.
type Spec struct {
	Argv   []string // [0] is looked up on PATH of Env
	Dir    string
	Env    []string      // the whole environment, "NAME=value"
	Mark   string        // name of a variable of Env whose value no other program's descendants carry; "" if there is none
	Stdin  *os.File      // nil is empty
	Stdout string        // file, created or cut; "" discards
	Stderr string        // file, created or cut; may be equal to Stdout; os.DevNull discards it apart from Stdout
	Cap    int64         // bytes kept of each file: half from the start, half from the end; 0 is 64 MiB
	Time   time.Duration // 0: no limit
	Idle   time.Duration // killed after so long without output; 0: never
	Grace  time.Duration // between Ask, SIGTERM and SIGKILL; 0 is 5 s

	// Ask asks the program in its own way to end, before any signal; nil: there is
	// none. It must return at once. It is not called when the program ended by itself.
	Ask func()
	// Alone sends SIGTERM to the program alone, which then ends its own children in
	// good order; SIGKILL goes to all.
	Alone bool
	// AtOnce says, when the program is to be ended, that it is to be killed without
	// being asked: a program that ends in good order may still write somewhere. nil: never.
	AtOnce func() bool
	// Filter wraps what writes the files of output, so that secrets do not get there.
	// nil: they hold what the program wrote.
	Filter func(io.Writer) io.WriteCloser

	// Wall starts the program inside a sandbox; nil: there is none.
	Wall Wall
	// Begun is called once the program runs inside a sandbox, with what reaches in there; it
	// must return at once. nil: it is not.
	Begun func(Inside)

	// Tap gets every piece of output, in order for each of the two; it may be
	// called from two goroutines and must not keep b. nil: no tap.
	Tap func(stderr bool, b []byte)
}

// Wall starts programs inside a sandbox: internal/sandbox has the one implementation.
type Wall interface {
	// Start changes cmd so that it runs the program inside, starts it, and returns when
	// the program runs there. cmd's process is then the sandbox: it ends after all that
	// ran inside, and with its death all that is inside dies. An error that trying again
	// does not mend is a *NotStarted.
	Start(cmd *exec.Cmd, alone bool) (Inside, error)
}

// Inside is a program that runs inside a sandbox.
type Inside interface {
	// Ended says how the program ended, once the sandbox's process has; sig is 0 if it
	// exited by itself. known is false if the sandbox was killed, and the program with it.
	Ended() (code int, sig syscall.Signal, known bool)
	// Signal hands a signal to process 1 of the sandbox, which passes it to the program.
	Signal(sig syscall.Signal)
	// Dial connects to an address of the sandbox's own loopback interface, "127.0.0.1:80".
	Dial(ctx context.Context, at string) (net.Conn, error)
	// Close ends what serves the sandbox from outside, and with it the sandbox, which then
	// ends all that is inside. It may be called more than once.
	Close() error
}

// How a program ended.
type How uint8

// Ends.
const (
	Exited   How = iota + 1 // by itself, with Result.Code
	Signaled                // by a signal that was not ours, Result.Signal
	TimedOut                // it used up Spec.Time
	Idled                   // no output for Spec.Idle
)

// Result is how a program ended.
type Result struct {
	How    How
	Code   int
	Signal syscall.Signal
	Took   time.Duration
}

// NotStarted is the error of a program that could not be started at all: it is
// missing or not executable, or its directory is, or its sandbox cannot be made.
type NotStarted struct{ Err error }

func (n *NotStarted) Error() string { return n.Err.Error() }
func (n *NotStarted) Unwrap() error { return n.Err }

// Survivor is a process that outlived the ralph that started it.
type Survivor struct {
	PID     int
	Program string
	Since   time.Time
	Name    string // of the variable that marks it; "" for a descendant of one that is marked
	Rest    string // of the variable's value, after the prefix
}
