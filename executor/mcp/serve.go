package mcp

import (
	"context"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Serve decorates a runner: each of its turns has its own tools in AgentRun.Tools while
// it lasts, and afterwards their reports in *AgentRun.Reported. If the inner runner is
// an executor.Program, so is the outer one; Inner returns the inner runner. A program
// that cannot call tools gets none.
func Serve(s *Server, inner executor.Runner) executor.Runner {
	if p, ok := inner.(executor.Program); ok {
		return program{served{s, inner}, p}
	}
	return served{s, inner}
}

// Inner is the runner passed to Serve; any other one is returned unchanged.
func Inner(r executor.Runner) executor.Runner {
	switch r := r.(type) {
	case served:
		return r.inner
	case program:
		return r.inner
	}
	return r
}

type served struct {
	server *Server
	inner  executor.Runner
}

func (d served) Check(ctx context.Context, r executor.AgentRun) error { return d.inner.Check(ctx, r) }

// Run opens the tools of a turn, and closes them when it has ended and all its
// processes are gone.
func (d served) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	t, err := d.server.open(ctx, r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	defer d.server.shut(t)
	r.Tools = &t.tools
	r.Wall = d.server.through(r.Wall, t.tools)
	ended, err := d.inner.Run(ctx, r)
	d.server.shut(t)
	if r.Reported != nil {
		*r.Reported = t.last()
	}
	return ended, err
}

// through lets a sandbox reach the tools, at their own address, and the program that
// offers them over stdio; nil for nil.
func (s *Server) through(w *wall.Spec, t executor.Tools) *wall.Spec {
	if w == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w = w.With(wall.Mount{From: t.Proxy[0]})
	w.Forward = append(slices.Clip(w.Forward), wall.Forward{At: s.addr, To: s.addr})
	return w
}

// program is a served runner that is a program.
type program struct {
	served
	p executor.Program
}

var _ executor.Program = program{}

func (d program) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	if _, no := d.p.Describe().Cannot[executor.CanTools]; no {
		return d.inner.Run(ctx, r)
	}
	return d.served.Run(ctx, r)
}

func (d program) Describe() executor.Description { return d.p.Describe() }

func (d program) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	return d.p.Version(ctx, r)
}

func (d program) Natives(ctx context.Context, r executor.AgentRun) ([]executor.Native, error) {
	return d.p.Natives(ctx, r)
}

func (d program) Join(r executor.AgentRun, session string) executor.Join { return d.p.Join(r, session) }
