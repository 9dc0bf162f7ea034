package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Program is the agent's program and its first arguments (see Argv), and its
// environment (see Env).
func (b Base) Program(r executor.AgentRun, also map[string]string, usual ...string) (argv, env []string, err error) {
	if argv, err = b.Argv(r, usual...); err == nil {
		env, err = b.Env(r, also)
	}
	return argv, env, err
}

// Spec is how the program of a turn runs, in its sandbox if it has one, with its stderr in
// the turn's file. end is called when the sandbox refuses it its model (see Refused); nil:
// nothing is.
func (b Base) Spec(r executor.AgentRun, argv, env []string, end context.CancelCauseFunc) process.Spec {
	r.Wall, env = loggedIn(r, env)
	w := inside(r, argv, env)
	heed(w, r, argv, env, end)
	return process.Spec{
		Argv: argv, Dir: r.Dir, Env: env, Stderr: File(r, ErrExt),
		Mark: Mark, Cap: b.Cap, Grace: b.Grace, Filter: b.Filter, Wall: sandbox.Of(w),
	}
}

// Stdout is a Tap that forwards a program's stdout. Writing must not fail.
func Stdout(to io.Writer) func(stderr bool, b []byte) {
	return func(stderr bool, b []byte) {
		if !stderr {
			_, _ = to.Write(b)
		}
	}
}

// Bounds of a question to a program.
const (
	askTime = time.Minute
	askSize = 1 << 20 // bytes of its answer
)

// Ask runs a program for a short answer on stdout. Its error is an *executor.Failure, or
// ctx's.
func (b Base) Ask(ctx context.Context, r executor.AgentRun, dir string, argv, env []string) (string, error) {
	var out, printed bytes.Buffer
	res, err := process.Run(ctx, process.Spec{
		Argv: argv, Dir: dir, Env: env, Mark: Mark, Time: askTime, Grace: b.Grace, Stderr: os.DevNull, // apart from stdout
		Tap: func(stderr bool, b []byte) { // each of the two goroutines writes to its own
			to := &out
			if stderr {
				to = &printed
			}
			to.Write(b[:min(len(b), askSize-to.Len())])
		},
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", Configuration(fmt.Errorf("agent %s cannot run: %w", AgentOf(r), err))
	case res.How == process.TimedOut:
		return "", &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("agent %s: %s did not answer within %s", AgentOf(r), argv[0], askTime)}
	case res.How != process.Exited || res.Code != 0:
		said := b.Plain(executor.Clean(text.Clip(text.OneLine(printed.String()+" "+out.String()), 500)))
		return "", Configuration(fmt.Errorf("agent %s: %s does not run: it %s: %s", AgentOf(r), argv[0], Died(res), said))
	}
	return out.String(), nil
}

var versionIn = lazyregexp.New(`\d+\.\d+\.\d+\S*`)

// SaysVersion asks a program for its version, in a directory of its own.
func (b Base) SaysVersion(ctx context.Context, r executor.AgentRun, usual string) (string, error) {
	dir, err := regular.MkdirTemp("ralph-version-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	argv, env, err := b.Program(r, map[string]string{"TMPDIR": dir}, usual)
	if err != nil {
		return "", err
	}
	said, err := b.Ask(ctx, r, dir, append(argv, "--version"), env)
	if err != nil {
		return "", err
	}
	v := versionIn.FindString(said)
	if v == "" {
		err = Configuration(fmt.Errorf("agent %s: %s --version said no version: %q", AgentOf(r), argv[0], text.Clip(text.OneLine(said), 200)))
	}
	return executor.Clean(v), err
}

// CannotRun turns the error of a program that could not be started into a configuration
// failure; other errors are unchanged.
func CannotRun(r executor.AgentRun, err error) error {
	if not, ok := errors.AsType[*process.NotStarted](err); ok {
		return Configuration(fmt.Errorf("agent %s cannot run: %w", AgentOf(r), not))
	}
	return err
}

// Died says how a program ended: "was killed by …", "ended with …".
func Died(res process.Result) string {
	switch {
	case res.How == process.Signaled && res.Signal == 9:
		return "was killed by signal 9 (killed), which ralph did not send: the system may have run out of memory, or it killed itself"
	case res.How == process.Signaled:
		return fmt.Sprintf("was killed by signal %d (%s)", res.Signal, res.Signal)
	}
	return fmt.Sprintf("ended with exit code %d", res.Code)
}

// ClassOf is the failure class of an HTTP status of a model's server; "" if it has none.
func ClassOf(status int) executor.FailureClass {
	switch {
	case status == 429:
		return executor.FailLimit
	case status == 408, status == 409, status == 425, status >= 500:
		return executor.FailTransient
	case status >= 400:
		return executor.FailConfig
	}
	return ""
}

// Limited is an exhausted limit, until a time; zero is unknown.
func Limited(until time.Time, err error) *executor.Failure {
	f := &executor.Failure{Class: executor.FailLimit, Err: err}
	if until = until.UTC(); !until.IsZero() && until.Year() <= 9999 {
		f.Until = until.Format(time.RFC3339)
	}
	return f
}

// Is reports whether an error is a failure of a class.
func Is(err error, class executor.FailureClass) bool {
	f, ok := errors.AsType[*executor.Failure](err)
	return ok && f.Class == class
}

// Value is the value of the first of these variables that is set in an environment; ""
// if none is.
func Value(env []string, names ...string) string {
	for _, n := range names {
		for i := len(env) - 1; i >= 0; i-- {
			if at, is := strings.CutPrefix(env[i], n+"="); is && at != "" {
				return at
			}
		}
	}
	return ""
}
