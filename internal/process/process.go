//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Run runs the program and returns when it and its descendants are gone. When
// ctx ends, it is killed and the error is ctx's.
func Run(ctx context.Context, s Spec) (Result, error) {
	adopt()
	path, err := Look(strings.Join(s.Argv[:min(1, len(s.Argv))], ""), s.Env, s.Dir)
	if err != nil {
		return Result{}, &NotStarted{err}
	}
	out, err := create(s.Stdout, s.Cap, s.Filter)
	if err != nil {
		return Result{}, err
	}
	errOut := out
	if s.Stderr != s.Stdout {
		if errOut, err = create(s.Stderr, s.Cap, s.Filter); err != nil {
			return Result{}, errors.Join(err, out.Close())
		}
	}
	res, err := run(ctx, s, path, out, errOut)
	if errOut != out {
		err = errors.Join(err, errOut.Close())
	}
	return res, errors.Join(err, out.Close())
}

func run(ctx context.Context, s Spec, path string, out, errOut *sink) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := Guard(); err != nil {
		return Result{}, err
	}
	begun := time.Now()
	l := &listener{tap: s.Tap, begun: begun}
	cmd, inside, err := l.start(s, path, out, errOut)
	if err != nil {
		return Result{}, err
	}
	if inside != nil {
		defer inside.Close()
		if s.Begun != nil {
			s.Begun(inside)
		}
	}
	family := join(cmd.Process.Pid, markOf(s), inside)
	s.Argv, s.Env, cmd.Args, cmd.Env = []string{s.Argv[0]}, nil, nil, nil // the program has its copy, and may run for hours
	done := make(chan error, 1)
	whenEnded(cmd.Process, func() { done <- cmd.Wait() })

	how, werr := watch(ctx, s, family, begun, &l.last, done)
	if how == Exited {
		l.drain(drainTime) // what runs on after it may still have something to say
	}
	family.finish()
	took := time.Since(begun)
	l.close(2 * time.Second)
	if how == 0 {
		return Result{}, ctx.Err()
	}
	if inside != nil && how == Exited {
		if code, sig, known := inside.Ended(); known {
			return endedInside(Result{How: how, Took: took}, code, sig), nil
		}
	}
	return resultOf(Result{How: how, Took: took}, s, werr)
}

// endedInside completes a result by what the sandbox said of its program.
func endedInside(res Result, code int, sig syscall.Signal) Result {
	if res.Code = code; sig != 0 {
		res.How, res.Signal, res.Code = Signaled, sig, 128+int(sig)
	}
	return res
}

// start starts the program, with its outputs in the sinks. The second result is nil
// without a sandbox.
func (l *listener) start(s Spec, path string, out, errOut *sink) (*exec.Cmd, Inside, error) {
	cmd := &exec.Cmd{Path: path, Args: s.Argv, Dir: s.Dir, Env: guarded(s.Env), SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	stdout, err := l.open(out, false)
	if err != nil {
		return nil, nil, err
	}
	stderr := stdout
	if errOut != out {
		if stderr, err = l.open(errOut, true); err != nil {
			l.close(0)
			return nil, nil, errors.Join(err, stdout.Close())
		}
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	var inside Inside
	if s.Wall != nil {
		inside, err = s.Wall.Start(cmd, s.Alone)
	} else {
		err = cmd.Start()
	}
	started := err == nil
	err = errors.Join(err, stdout.Close())
	if stderr != stdout {
		err = errors.Join(err, stderr.Close())
	}
	if started {
		return cmd, inside, nil
	}
	l.close(0) // nobody wrote
	var perr *fs.PathError
	if s.Wall == nil && errors.As(err, &perr) && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.ENOMEM) {
		err = &NotStarted{err}
	}
	return nil, nil, err
}

// resultOf completes a result by what Wait said.
func resultOf(res Result, s Spec, werr error) (Result, error) {
	var exit *exec.ExitError
	switch {
	case res.How != Exited, werr == nil:
	case errors.As(werr, &exit):
		res.Code = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			res.How, res.Signal, res.Code = Signaled, ws.Signal(), 128+int(ws.Signal())
		}
	default:
		return res, fmt.Errorf("run %s: %w", s.Argv[0], werr)
	}
	return res, nil
}

// markOf returns the variable of the environment that marks the program, with
// its value.
func markOf(s Spec) string {
	for _, v := range s.Env {
		if s.Mark != "" && strings.HasPrefix(v, s.Mark+"=") {
			return v
		}
	}
	return ""
}

// watch waits for the program's end, records its descendants and ends it when
// its time is up. It returns 0 when ctx ended.
func watch(ctx context.Context, s Spec, f *family, begun time.Time, last *atomic.Int64, done <-chan error) (How, error) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	var deadline <-chan time.Time
	if s.Time > 0 {
		t := time.NewTimer(s.Time)
		defer t.Stop()
		deadline = t.C
	}
	var idle <-chan time.Time
	var quietTimer *time.Timer
	if s.Idle > 0 {
		quietTimer = time.NewTimer(s.Idle)
		defer quietTimer.Stop()
		idle = quietTimer.C
	}
	for {
		select {
		case err := <-done:
			return Exited, err
		case <-ctx.Done():
			f.end(s, done)
			return 0, nil
		case <-deadline:
			if ended, err := f.over(done); ended {
				return Exited, err
			}
			f.end(s, done)
			return TimedOut, nil
		case <-idle:
			// Both by the monotonic clock: a clock that jumps changes nothing.
			quiet := time.Since(begun) - time.Duration(last.Load())
			if quiet >= s.Idle {
				if ended, err := f.over(done); ended {
					return Exited, err
				}
				f.end(s, done)
				return Idled, nil
			}
			quietTimer.Reset(s.Idle - quiet)
		case <-tick.C:
			f.look(time.Now().Add(-heartbeat / 2))
		}
	}
}

// over waits for a program that has ended and is not reaped yet: it did so while this
// process was stopped. ended is false if it still runs.
func (f *family) over(done <-chan error) (ended bool, err error) {
	if p, ok := read(f.root.pid); f.root.start == 0 || ok && p.start == f.root.start && !p.dead {
		return false, nil
	}
	return true, <-done
}

// heartbeat is the time between two looks at a program's descendants; drainTime
// is how long the output of those is awaited that run on after it.
const (
	heartbeat = time.Second
	drainTime = 250 * time.Millisecond
)
