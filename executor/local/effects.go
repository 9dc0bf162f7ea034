package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// effect returns what a worker has to do. Everything that needs the run is
// looked up here, in the goroutine that owns it.
func (d *driver) effect(e executor.Effect) (func(context.Context) (executor.Body, error), error) {
	ws := d.Workspace
	switch e.Kind {
	case executor.EffectBase:
		return func(ctx context.Context) (executor.Body, error) {
			made, err := ws.Base(ctx, e)
			return made, err
		}, nil
	case executor.EffectPrepare:
		return func(ctx context.Context) (executor.Body, error) {
			prepared, err := ws.Prepare(ctx, e)
			return prepared, err
		}, nil
	case executor.EffectAgent:
		return d.agent(e)
	case executor.EffectCollect:
		outcome := d.outcome(e)
		return func(ctx context.Context) (executor.Body, error) {
			c, err := ws.Collect(ctx, e, outcome)
			return c, err
		}, nil
	case executor.EffectGate:
		return d.gate(e)
	case executor.EffectPublish:
		return func(ctx context.Context) (executor.Body, error) {
			p, err := ws.Publish(ctx, e)
			return p, err
		}, nil
	}
	return nil, &Bug{fmt.Sprintf("no such effect: %q", e.Kind)}
}

func (d *driver) agent(e executor.Effect) (func(context.Context) (executor.Body, error), error) {
	n, step := d.find(e)
	agent, ok := d.Epic.Agents[step.Agent]
	if !ok {
		return nil, &Bug{fmt.Sprintf("node %s: agent %q is not in the epic", n.Key, step.Agent)}
	}
	r := d.Epic.Runners[agent.Runner]
	runner := d.Runners[r.Kind]
	if runner == nil {
		return nil, &Bug{fmt.Sprintf("no runner of kind %q was given", r.Kind)}
	}
	files, err := d.files(e)
	if err != nil {
		return nil, err
	}
	prompt := d.Run.Prompt(e.Node)
	if text := d.Agents[step.Agent]; text != "" {
		prompt = strings.TrimRight(text, "\n") + "\n\n" + prompt
	}
	notes := strings.Join(d.Run.Feedback(e.Node), "\n")
	if notes != "" {
		notes += "\n"
	}
	run := executor.AgentRun{
		Node: n, Step: step, Runner: r, Effect: e, Epic: d.Epic.Epic.ID, Dir: d.Workspace.Dir(e.Node),
		Files: files, Prompt: []byte(prompt), Notes: []byte(notes), Env: d.Epic.Run.Worktree.Env,
	}
	return func(ctx context.Context) (executor.Body, error) {
		ended, err := runner.Run(ctx, run)
		return ended, err
	}, nil
}

func (d *driver) gate(e executor.Effect) (func(context.Context) (executor.Body, error), error) {
	n, _ := d.find(e)
	g, ok := d.Epic.Gates[e.Gate]
	judge := d.Gates[g.Kind]
	if !ok || judge == nil {
		return nil, &Bug{fmt.Sprintf("gate %q of kind %q cannot be judged", e.Gate, g.Kind)}
	}
	files, err := d.files(e)
	if err != nil {
		return nil, err
	}
	run := executor.GateRun{
		Node: n, Name: e.Gate, Gate: g, Effect: e, Epic: d.Epic.Epic.ID, Dir: d.Workspace.Dir(e.Node),
		Files: files, Env: d.Epic.Run.Worktree.Env,
	}
	return func(ctx context.Context) (executor.Body, error) {
		judged, err := judge.Judge(ctx, run)
		if err != nil {
			return judged, err
		}
		// The next gate, and whoever looks at the worktree, sees the commit again.
		_, err = d.Workspace.Close(ctx, e)
		return judged, err
	}, nil
}

// outcome is what the agent of the effect's attempt said.
func (d *driver) outcome(e executor.Effect) executor.Outcome {
	v, _ := d.Run.View(e.Node)
	if len(v.Attempts) == 0 {
		return executor.Outcome{}
	}
	return v.Attempts[len(v.Attempts)-1].Outcome
}

// find returns the node and step of an effect. The sum is in no epic: it has
// only a key.
func (d *driver) find(e executor.Effect) (*ir.Node, *ir.Step) {
	if n := d.nodes[e.Node]; n != nil {
		for j := range n.Steps {
			if n.Steps[j].Name == e.Step {
				return n, &n.Steps[j]
			}
		}
		return n, &ir.Step{Name: e.Step}
	}
	return &ir.Node{
		ID: e.Node, Key: ir.Key(e.Node), Git: ir.Git{Branch: d.Epic.Epic.Integration.Branch},
	}, &ir.Step{Name: e.Step}
}

// failed says in the machine's words why an effect did not happen.
func failed(ctx context.Context, err error) executor.EffectFailed {
	if ctx.Err() != nil {
		return executor.EffectFailed{Class: executor.FailInterrupted, Detail: "ralph ended"}
	}
	f := executor.EffectFailed{Class: executor.FailTransient, Detail: plain(err.Error())}
	var known *executor.Failure
	if errors.As(err, &known) {
		f.Class = known.Class
	}
	return f
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
	if len(s) > executor.MaxNote {
		s = strings.ToValidUTF8(s[:executor.MaxNote], "")
	}
	return s
}

// fileName makes a name fit for a directory.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
