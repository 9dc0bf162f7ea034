package effects

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Tools are the tools of effects.
type Tools struct {
	Epic      *ir.Epic
	Workspace executor.Workspace
	Runners   map[string]executor.Runner // by kind
	Gates     map[string]executor.Gate   // by kind
	State     string                     // directory for the files of attempts
	Agents    map[string]string          // text of agent files, by agent

	// Room reports why nothing that needs space may begin now (the disk is nearly
	// full), or nil. Asked before each agent and gate; such an effect is tried
	// again later. It may be nil; it is called from any goroutine.
	Room func() error

	// Redact takes secrets out of every text before it is stored or shown; nil takes
	// out nothing. It is called from any goroutine.
	Redact func(string) string

	// Env is what agents and gates get besides worktree { env }, which has the last word.
	Env map[string]string

	// Identity are the variables that tell git in agents' programs who commits, where an agent
	// could change that for all of them; nil where it cannot.
	Identity map[string]string

	// Lists looks up what a request refers to, in the run that it is of; it is called from
	// any goroutine. A driver that sends whole requests needs none.
	Lists func(context.Context, executor.ListRef) (executor.Lists, error)

	Activity func(executor.Effect, executor.Activity) // signs of life; may be nil; called from any goroutine

	Confinement Confinement // of sandboxes; zero: nothing is confined
}

// Worker performs effects, many at a time.
type Worker struct {
	Tools
	record  func(context.Context, executor.Event) error
	nodes   map[ir.NodeID]*ir.Node
	mu      sync.Mutex        // guards digests
	digests map[string]string // of gates
}

// New returns a worker. record puts the reports of a running effect, without secrets, on
// stable storage; it is called from any goroutine.
func New(t Tools, record func(context.Context, executor.Event) error) *Worker {
	nodes := lists.Pointers(t.Epic.Nodes, func(n *ir.Node) ir.NodeID { return n.ID })
	return &Worker{Tools: t, record: record, nodes: nodes, digests: map[string]string{}}
}

// Do performs an effect and returns its result, without secrets; if the effect did not
// happen, that is an EffectFailed. An error means that the effect cannot begin now or
// later, and that the run cannot continue: an *executor.Bug, or an invalid directory for files.
func (w *Worker) Do(ctx context.Context, q *executor.Request) (executor.Body, error) {
	q, err := w.whole(ctx, q)
	if err != nil {
		return executor.Redacted(Failed(ctx, q.Effect.Gate, err), w.Redact), nil
	}
	do, err := w.begin(q)
	if err != nil {
		return nil, err
	}
	body, err := do(ctx)
	if err != nil {
		body = Failed(ctx, q.Effect.Gate, err)
	}
	return executor.Redacted(body, w.Redact), nil
}

// whole is a request with the lists that it refers to; the request as it is where these
// are not found.
func (w *Worker) whole(ctx context.Context, q *executor.Request) (*executor.Request, error) {
	if q.Lists.Listed == 0 {
		return q, nil
	}
	if w.Lists == nil {
		return q, errors.New("the request refers to lists, and nothing is there to look them up")
	}
	l, err := w.Lists(ctx, q.Lists)
	if err != nil {
		return q, fmt.Errorf("look up the lists of a request: %w", err)
	}
	whole, err := q.Complete(l)
	if err != nil {
		return q, err
	}
	return whole, nil
}

// work is what a worker does for one effect.
type work func(context.Context) (executor.Body, error)

// begin returns what there is to do for a request.
func (w *Worker) begin(q *executor.Request) (work, error) {
	ws, e := w.Workspace, &q.Effect
	switch e.Kind {
	case executor.EffectBase:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Base(ctx, *e)) }, nil
	case executor.EffectPrepare:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Prepare(ctx, *e)) }, nil
	case executor.EffectAgent:
		return w.room(w.agent(e, q))
	case executor.EffectDiagnose:
		return w.room(w.diagnose(e, q))
	case executor.EffectCollect:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Collect(ctx, *e, q.Outcome)) }, nil
	case executor.EffectGate, executor.EffectRed:
		return w.room(w.gate(e, q))
	case executor.EffectPublish:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Publish(ctx, *e)) }, nil
	case executor.EffectLand:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Land(ctx, *e)) }, nil
	case executor.EffectPull:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Pull(ctx, *e, *q.Pull)) }, nil
	case executor.EffectPoll:
		return func(ctx context.Context) (executor.Body, error) { return body(ws.Poll(ctx, *e)) }, nil
	}
	return nil, &executor.Bug{What: fmt.Sprintf("no such effect: %q", e.Kind)}
}

// body makes an event's body of what a method returned.
func body[B executor.Body](b B, err error) (executor.Body, error) { return b, err }

// room asks for space before something begins that may need much of it.
func (w *Worker) room(do work, err error) (work, error) {
	if err != nil || w.Room == nil {
		return do, err
	}
	return func(ctx context.Context) (executor.Body, error) {
		if err := w.Room(); err != nil {
			return nil, err
		}
		return do(ctx)
	}, nil
}

// find returns the node and step of a request. The sum is in no epic: it has
// only a key.
func (w *Worker) find(q *executor.Request) (*ir.Node, *ir.Step) {
	e := &q.Effect
	if n := w.nodes[e.Node]; n != nil {
		if s := n.Step(e.Step); s != nil {
			return n, s
		}
		return n, madeUp(n, q)
	}
	n := &ir.Node{ID: e.Node, Key: ir.Key(e.Node), Git: ir.Git{Branch: w.Epic.Epic.Integration.Branch}}
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

// Failed is the reason, in the machine's words, why an effect did not happen. gate is that
// of the effect, or "".
func Failed(ctx context.Context, gate string, err error) executor.EffectFailed {
	f := executor.EffectFailed{Class: executor.FailTransient, Detail: executor.Plain(err.Error()), Gate: gate}
	if ctx.Err() != nil {
		f.Class, f.Detail = executor.FailInterrupted, "ralph ended"
		return f
	}
	if known, ok := errors.AsType[*executor.Failure](err); ok {
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

// env is what the policy and this ralph set for agents and gates.
func (t *Tools) env() map[string]string {
	if len(t.Env) == 0 {
		return t.Epic.Run.Worktree.Env
	}
	out := maps.Clone(t.Env)
	maps.Copy(out, t.Epic.Run.Worktree.Env)
	return out
}
