package effects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// gate lets one gate judge the effect's commit. The directory holds exactly that
// commit; afterwards it is put back, and what the gate did to it counts by the
// gate's kind.
func (w *Worker) gate(e *executor.Effect, q *executor.Request) (work, error) {
	run, judge, err := w.gateRun(e, q)
	if err != nil {
		return nil, err
	}
	open := w.tree
	if run.Gate.Kind == "review" || run.Gate.Kind == "outcome" {
		open = w.empty
	}
	red := e.Kind == executor.EffectRed
	return func(ctx context.Context) (executor.Body, error) {
		once := func(e *executor.Effect, again string) (executor.GateJudged, executor.Trace, error) {
			dir, shut, err := open(ctx, e)
			if err != nil {
				return executor.GateJudged{}, executor.Trace{}, err
			}
			run := run
			run.Dir, run.Again = dir, again
			judged, err := w.judge(ctx, judge, run)
			trace, after := shut()
			judged.Again = again
			return judged, trace, errors.Join(err, after, w.plainFiles(run.Files))
		}
		judged, trace, err := once(e, "")
		if why := doubtful(run.Gate, judged, trace); err == nil && why != "" {
			fresh, took := *e, judged.Millis
			fresh.Apart, fresh.Stay = true, false
			judged, trace, err = once(&fresh, why)
			judged.Millis += took
		}
		if err != nil {
			f := Failed(ctx, e.Gate, err)
			f.Usage = judged.Usage
			return f, nil
		}
		judged.Gate, judged.Red = e.Gate, red
		judged.Usage = w.stated(judged.Agent, judged.Usage)
		if !w.Epic.JudgesByModel(e.Gate, judged.Agent) {
			judged.Model = ""
		}
		return weigh(run.Gate, judged, trace), nil
	}, nil
}

// judge lets a gate judge, in its sandbox if it has one.
func (t *Tools) judge(ctx context.Context, judge executor.Gate, run executor.GateRun) (executor.GateJudged, error) {
	g := run.Gate
	c, err := t.confine(stay{
		in: t.Epic.GateConfined(run.Name, run.Effect.Node == executor.Integration), whose: ofGate, who: run.Name, agent: run.Agent, node: run.Node.ID, dir: run.Dir,
		blind: g.Kind == "review", brief: g.Kind == "command",
	})
	if err != nil {
		return executor.GateJudged{}, err
	}
	run.Wall = c.spec()
	judged, err := judge.Judge(ctx, run)
	judged.Sandbox = c.account()
	if why := judged.Sandbox.OutOfMemory(); why != "" && judged.Verdict == executor.Fail {
		judged.Message = executor.Plain(why + "\n" + judged.Message)
	}
	if judged.Sandbox != nil { // what came without it fits
		judged.Bound()
	}
	return judged, errors.Join(c.because(err), c.done())
}

// doubtful says why a command that passed has to pass once more, in a directory that
// no one else knows of; "" if it need not: something wrote to tracked files while it
// ran, the gate itself or another one, and it may have judged another commit.
func doubtful(g ir.Gate, j executor.GateJudged, t executor.Trace) string {
	if g.Kind != "command" || j.Verdict != executor.Pass || len(t.Touched) == 0 {
		return ""
	}
	return executor.Plain("it passed, and tracked files were written to while it ran: " + text.Some(t.Touched, 3))
}

// weigh applies what a gate did to the tree to its verdict: a gate that an agent
// judges must not change what would be committed.
func weigh(g ir.Gate, j executor.GateJudged, t executor.Trace) executor.GateJudged {
	if len(t.New) > 0 {
		j.Removed = first(t.New, maxNames)
	}
	if len(t.Changed) > 0 && g.Kind != "command" && g.Access != "write" {
		j.Message = executor.Plain(fmt.Sprintf("it changed what it judged (%s), so its verdict %q does not count; all of it was undone.\n%s",
			strings.Join(first(t.Changed, 5), ", "), j.Verdict, j.Message))
		j.Verdict, j.Tests = executor.ErrorJudged, "skip"
	}
	if len(t.New)+len(t.Changed) > 0 {
		j.Bound()
	}
	return j
}

// closing bounds how long it may take to put a tree back after an interrupt.
const closing = time.Minute

// tree opens the commit for a gate.
func (w *Worker) tree(ctx context.Context, e *executor.Effect) (string, func() (executor.Trace, error), error) {
	dir, err := w.Workspace.Open(ctx, *e)
	return dir, func() (executor.Trace, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		return w.Workspace.Close(ctx, *e)
	}, err
}

// empty is a directory that says nothing, not even by its neighbours.
func (w *Worker) empty(context.Context, *executor.Effect) (string, func() (executor.Trace, error), error) {
	dir, err := regular.MkdirTemp("ralph-review-")
	return dir, func() (executor.Trace, error) { return executor.Trace{}, os.RemoveAll(dir) }, err
}

// gateRun fills in everything that a gate may ask for.
func (w *Worker) gateRun(e *executor.Effect, q *executor.Request) (executor.GateRun, executor.Gate, error) {
	n, step := w.find(q)
	g, ok := w.Epic.Gates[e.Gate]
	judge := w.Gates[g.Kind]
	if !ok || judge == nil {
		return executor.GateRun{}, nil, &executor.Bug{What: fmt.Sprintf("gate %q of kind %q cannot be judged", e.Gate, g.Kind)}
	}
	files, err := w.files(e)
	if err != nil {
		return executor.GateRun{}, nil, err
	}
	run := executor.GateRun{
		Redact: w.Redact,
		Node:   n, Step: step, Name: e.Gate, Gate: g, Digest: w.digest(e.Gate), Effect: *e, Left: q.Left, Epic: w.Epic.Epic.ID,
		Files: files, Env: w.env(), Secrets: w.Epic.SecretVars(g.Secrets), Activity: w.activity(e),
		Outcome: q.Outcome, Changed: q.Changed, Listed: q.Listed, Feedback: q.Feedback[:q.Told], Earlier: slices.Clip(q.Earlier),
	}
	if name := cmp.Or(e.Agent, g.Agent); name != "" {
		agent := w.Epic.Agents[name]
		own := g.Model
		if name != g.Agent {
			own = cmp.Or(agent.Model, own)
		}
		run.Agent, run.Slug, run.Text = name, agent.Slug, w.Agents[name]
		run.Model, run.Alias, run.Runner = w.model(cmp.Or(own, agent.Model)), w.Epic.Models[cmp.Or(own, agent.Model)], w.Epic.Runners[agent.Runner]
		run.Keep, run.Record, run.Human = w.keep(), w.says(e), w.Epic.HITLOf(n)
		run.Context = executor.WithFeedback(q.Context, q.Feedback)
	}
	from := cmp.Or(e.Base, e.Start)
	run.Diff = func(ctx context.Context, to io.Writer) error { return w.Workspace.Diff(ctx, from, e.Commit, to) }
	if g.Kind == "review" && g.Plan != "" {
		run.Plan = func(ctx context.Context) ([]byte, error) {
			b, _, err := w.Workspace.FileAt(ctx, e.Commit, g.Plan, maxPlan)
			return b, err
		}
	}
	return run, judge, nil
}

// maxPlan is in bytes: larger ones are not compiled.
const maxPlan = 128 << 20

// digest of a gate, computed once.
func (w *Worker) digest(gate string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.digests[gate]; !known {
		w.digests[gate] = ir.GateDigest(w.Epic, gate)
	}
	return w.digests[gate]
}
