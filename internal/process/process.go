//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// Supported says why programs cannot be run here; nil where they can.
var Supported error

// Run runs the program and returns when it and its descendants are gone. When
// ctx ends, it is killed and the error is ctx's.
func Run(ctx context.Context, s Spec) (Result, error) {
	adopt()
	path, err := look(s.Argv, s.Env, s.Dir)
	if err != nil {
		return Result{}, &NotStarted{err}
	}
	out, err := create(s.Stdout, s.Cap)
	if err != nil {
		return Result{}, err
	}
	errOut := out
	if s.Stderr != s.Stdout {
		if errOut, err = create(s.Stderr, s.Cap); err != nil {
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
	var last atomic.Int64 // time of the last output
	begun := time.Now()
	last.Store(int64(begun.UnixNano()))
	cmd := &exec.Cmd{
		Path: path, Args: s.Argv, Dir: s.Dir, Env: s.Env, Stdin: s.Stdin,
		Stdout: &ticking{out, &last}, Stderr: &ticking{errOut, &last},
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		WaitDelay:   2 * time.Second, // a survivor may hold the pipes open
	}
	if err := cmd.Start(); err != nil {
		var perr *fs.PathError
		if errors.As(err, &perr) && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.ENOMEM) {
			return Result{}, &NotStarted{err}
		}
		return Result{}, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	family := newFamily(cmd.Process.Pid)
	how, werr := watch(ctx, s, family, begun, &last, done)
	family.sample(snapshot(heartbeat / 2))
	family.kill(syscall.SIGKILL)
	family.reap()
	if how == 0 {
		return Result{}, ctx.Err()
	}
	res := Result{How: how, Took: time.Since(begun)}
	var exit *exec.ExitError
	switch {
	case how != Exited, werr == nil, errors.Is(werr, exec.ErrWaitDelay):
	case errors.As(werr, &exit):
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			res.How, res.Signal, res.Code = Signaled, ws.Signal(), 128+int(ws.Signal())
			return res, nil
		}
		res.Code = exit.ExitCode()
	default:
		return res, fmt.Errorf("run %s: %w", s.Argv[0], werr)
	}
	return res, nil
}

// watch waits for the program's end, takes samples of its descendants and ends
// it when its time is up. It returns 0 when ctx ended.
func watch(ctx context.Context, s Spec, f *family, begun time.Time, last *atomic.Int64, done <-chan error) (How, error) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	var deadline <-chan time.Time
	if s.Time > 0 {
		t := time.NewTimer(s.Time)
		defer t.Stop()
		deadline = t.C
	}
	idle := time.NewTimer(max(s.Idle, time.Hour))
	if s.Idle > 0 {
		idle.Reset(s.Idle)
	}
	defer idle.Stop()
	for {
		select {
		case err := <-done:
			return Exited, err
		case <-ctx.Done():
			f.end(s.Grace, done)
			return 0, nil
		case <-deadline:
			f.end(s.Grace, done)
			return TimedOut, nil
		case <-idle.C:
			quiet := time.Since(time.Unix(0, last.Load()))
			if s.Idle > 0 && quiet >= s.Idle {
				f.end(s.Grace, done)
				return Idled, nil
			}
			idle.Reset(max(s.Idle-quiet, time.Millisecond))
			if s.Idle <= 0 {
				idle.Reset(time.Hour)
			}
		case <-tick.C:
			f.sample(snapshot(heartbeat / 2))
		}
	}
}

// heartbeat is the time between two looks at a program's descendants.
const heartbeat = time.Second

// ticking notes when something was written.
type ticking struct {
	w    io.Writer
	last *atomic.Int64
}

func (t *ticking) Write(b []byte) (int, error) {
	t.last.Store(time.Now().UnixNano())
	return t.w.Write(b)
}
