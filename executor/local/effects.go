package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// work is what a worker does for one effect.
type work func(context.Context) (executor.Body, error)

// effect returns what a worker has to do. Everything that needs the run is
// looked up here, in the goroutine that owns it.
func (d *driver) effect(e *executor.Effect) (work, error) {
	ws := d.Workspace
	switch e.Kind {
	case executor.EffectBase:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Base(ctx, *e)) }, nil
	case executor.EffectPrepare:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Prepare(ctx, *e)) }, nil
	case executor.EffectAgent:
		return d.room(d.agent(e))
	case executor.EffectDiagnose:
		return d.room(d.diagnose(e))
	case executor.EffectCollect:
		outcome := d.attempt(e).Outcome
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Collect(ctx, *e, outcome)) }, nil
	case executor.EffectGate, executor.EffectRed:
		return d.room(d.gate(e))
	case executor.EffectPublish:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Publish(ctx, *e)) }, nil
	case executor.EffectLand:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Land(ctx, *e)) }, nil
	case executor.EffectPull:
		text := d.pullText(*e)
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Pull(ctx, *e, text)) }, nil
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

// attempt is what is on record of the effect's attempt.
func (d *driver) attempt(e *executor.Effect) executor.AttemptLog {
	a, _ := d.Run.Attempt(e.Node, e.Step, e.Attempt)
	return a
}

// find returns the node and step of an effect. The sum is in no epic: it has
// only a key.
func (d *driver) find(e *executor.Effect) (*ir.Node, *ir.Step) {
	if n := d.nodes[e.Node]; n != nil {
		for j := range n.Steps {
			if n.Steps[j].Name == e.Step {
				return n, &n.Steps[j]
			}
		}
		return n, d.madeUp(n, e)
	}
	n := &ir.Node{ID: e.Node, Key: ir.Key(e.Node), Git: ir.Git{Branch: d.Epic.Epic.Integration.Branch}}
	return n, d.madeUp(n, e)
}

// madeUp is the step of an effect that is in no epic, as the machine made it up.
func (d *driver) madeUp(n *ir.Node, e *executor.Effect) *ir.Step {
	if s := d.Run.Step(e.Node, e.Step); s != nil {
		return s
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
	f := executor.EffectFailed{Class: executor.FailTransient, Detail: plain(err.Error()), Gate: e.Gate}
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

// plain makes an error's text fit for an event: bounded and without control
// characters.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return text.Head(s, executor.MaxNote)
}

// dirName makes a name fit for a directory; no dot stays.
func dirName(name string) string { return strings.ReplaceAll(text.FileName(name), ".", "-") }
