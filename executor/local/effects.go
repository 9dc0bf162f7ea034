package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// work is what a worker does for one effect.
type work func(context.Context) (executor.Body, error)

// effect returns what a worker has to do. Everything that needs the run is
// looked up here, in the goroutine that owns it.
func (d *driver) effect(e *executor.Effect) (work, error) {
	ws, q := d.Workspace, d.Run.Request(*e)
	switch e.Kind {
	case executor.EffectBase:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Base(ctx, *e)) }, nil
	case executor.EffectPrepare:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Prepare(ctx, *e)) }, nil
	case executor.EffectAgent:
		return d.room(d.agent(e, &q))
	case executor.EffectDiagnose:
		return d.room(d.diagnose(e, &q))
	case executor.EffectCollect:
		outcome := q.Outcome
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Collect(ctx, *e, outcome)) }, nil
	case executor.EffectGate, executor.EffectRed:
		return d.room(d.gate(e, &q))
	case executor.EffectPublish:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Publish(ctx, *e)) }, nil
	case executor.EffectLand:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Land(ctx, *e)) }, nil
	case executor.EffectPull:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Pull(ctx, *e, *q.Pull)) }, nil
	case executor.EffectPoll:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Poll(ctx, *e)) }, nil
	}
	return nil, &Bug{fmt.Sprintf("no such effect: %q", e.Kind)}
}

// body makes an event's body of what a method returned.
func body[B executor.Body](b B, err error) (executor.Body, error) { return b, err }

// room asks for space before something begins that may need much of it.
func (d *driver) room(do work, err error) (work, error) {
	if err != nil || d.Room == nil {
		return do, err
	}
	return func(ctx context.Context) (executor.Body, error) {
		if err := d.Room(); err != nil {
			return nil, err
		}
		return do(ctx)
	}, nil
}

// find returns the node and step of a request. The sum is in no epic: it has
// only a key.
func (d *driver) find(q *executor.Request) (*ir.Node, *ir.Step) {
	e := &q.Effect
	if n := d.nodes[e.Node]; n != nil {
		for j := range n.Steps {
			if n.Steps[j].Name == e.Step {
				return n, &n.Steps[j]
			}
		}
		return n, madeUp(n, q)
	}
	n := &ir.Node{ID: e.Node, Key: ir.Key(e.Node), Git: ir.Git{Branch: d.Epic.Epic.Integration.Branch}}
	return n, madeUp(n, q)
}

// madeUp is the step of a request that is in no epic, as the machine made it up.
func madeUp(n *ir.Node, q *executor.Request) *ir.Step {
	e := &q.Effect
	if q.Step != nil {
		return q.Step
	}
	s := ir.Step{Name: e.Step, Agent: e.Agent, Access: "write", Session: "fresh"}
	for _, like := range n.Steps {
		if like.Access == "write" {
			s.Limits, s.Retry, s.Stall, s.Sandbox, s.Model = like.Limits, like.Retry, like.Stall, like.Sandbox, like.Model
			break
		}
	}
	return &s
}

// failed says in the machine's words why an effect did not happen.
func failed(ctx context.Context, e executor.Effect, err error) executor.EffectFailed {
	f := executor.EffectFailed{Class: executor.FailTransient, Detail: executor.Plain(err.Error()), Gate: e.Gate}
	if ctx.Err() != nil {
		f.Class, f.Detail = executor.FailInterrupted, "ralph ended"
		return f
	}
	var known *executor.Failure
	if errors.As(err, &known) {
		f.Class, f.Paths, f.Head = known.Class, first(known.Paths, maxNames), known.Head
		f.Holds, f.Back = known.Holds, known.Back
		if t, err := time.Parse(time.RFC3339, known.Until); err == nil {
			f.Until = t.UTC().Truncate(time.Millisecond)
		}
	}
	return f
}

// maxNames bounds lists of paths in events.
const maxNames = 20

func first(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return list[:n:n]
}

// dirName makes a name fit for a directory; no dot stays.
func dirName(name string) string { return strings.ReplaceAll(text.FileName(name), ".", "-") }
