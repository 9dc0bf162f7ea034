package claude

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
)

// linger is how long a program may stay when it has said its last word.
func (c Runner) linger() time.Duration {
	if c.Base.Grace > 0 {
		return 4 * c.Base.Grace
	}
	return 20 * time.Second
}

// Run implements executor.Runner.
func (c Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	argv, err := c.Base.Argv(r, program)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	limited, err := runner.Limits(r.Runner.LimitedWhen)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	t, err := c.Base.Begin(ctx, r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	return t.End(c.turn(t, r, argv, limited))
}

// turn runs the program once.
func (c Runner) turn(t *runner.Turn, r executor.AgentRun, argv []string, limited *runner.Limit) runner.End {
	m, err := furnish(r)
	defer m.clear()
	if err != nil {
		return runner.End{Err: err}
	}
	env, err := c.Base.Env(r, settings(r, m))
	if err == nil {
		err = moveIn(r, env)
	}
	if err != nil {
		return runner.End{Err: err}
	}
	sess := sessionOf(r)
	if err := t.Session(sess.id); err != nil {
		return runner.End{Err: err}
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	in := newInput()
	s := newStream(t, r, sess.id, m.agent, in)
	s.stop, s.begun = stop, m.seen
	s.now = c.Base.Time
	last := time.AfterFunc(1<<62, stop)
	defer last.Stop()
	s.over = func() { in.close(); last.Reset(c.linger()) }
	in.prompt(r.Prompt)

	var wg sync.WaitGroup
	w := watch(t, r, runner.Outside(r, env, transcripts(env)), sess, stop)
	wg.Go(func() { w.follow(ctx) })
	res, err := c.program(ctx, append(argv, flags(r, sess, m)...), env, s, in, w)
	stop()
	wg.Wait()
	if t.Context().Err() == nil {
		w.look()
	}
	if w.spoke() {
		w.idle(t.Context())
		e := s.end(res, nil)
		return runner.End{Taken: true, Answer: e.Answer, Code: e.Code}
	}
	e := s.end(res, limited)
	if err != nil && !errors.Is(err, context.Canceled) { // else it was ended here, and the stream says why
		e.Final, e.Err = false, runner.CannotRun(r, err)
	}
	return e
}

// program runs Claude Code until it and all that it started are gone.
func (c Runner) program(ctx context.Context, argv, env []string, s *stream, in *input, w *watcher) (process.Result, error) {
	stdin, feed, err := os.Pipe()
	if err != nil {
		return process.Result{}, err
	}
	defer stdin.Close()
	var wg sync.WaitGroup
	gone := make(chan struct{})
	wg.Go(func() { in.pump(feed, gone) })
	defer func() {
		close(gone)
		_ = feed.Close() // the pump may have
		wg.Wait()
	}()
	spec := runner.SpecOf(s.turn, argv, env)
	spec.Stdin, spec.Tap = stdin, runner.Stdout(&s.lines)
	spec.Ask, spec.Alone, spec.AtOnce = in.interrupt, true, w.spoke
	res, err := process.Run(ctx, spec)
	return res, errors.Join(err, s.lines.Close())
}

// seen says that the program has read its files: what holds a token need not lie
// about any longer.
func (m room) seen() {
	if len(m.made) > 0 && m.mcp != "" {
		_ = os.Remove(m.made[len(m.made)-1]) // clear tries again
	}
}
