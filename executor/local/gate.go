package local

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
func (d *driver) gate(e *executor.Effect, q *executor.Request) (work, error) {
	run, judge, err := d.gateRun(e, q)
	if err != nil {
		return nil, err
	}
	open := d.tree
	if run.Gate.Kind == "review" || run.Gate.Kind == "outcome" {
		open = d.empty
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
			judged, err := judge.Judge(ctx, run)
			trace, after := shut()
			judged.Again = again
			return judged, trace, errors.Join(err, after, d.plainFiles(run.Files))
		}
		judged, trace, err := once(e, "")
		if why := doubtful(run.Gate, judged, trace); err == nil && why != "" {
			fresh, took := *e, judged.Millis
			fresh.Apart, fresh.Stay = true, false
			judged, trace, err = once(&fresh, why)
			judged.Millis += took
		}
		if err != nil {
			f := failed(ctx, *e, err)
			f.Usage = judged.Usage
			return f, nil
		}
		judged.Gate, judged.Red = e.Gate, red
		judged.Usage = d.stated(judged.Agent, judged.Usage)
		if !d.Epic.JudgesByModel(e.Gate, judged.Agent) {
			judged.Model = ""
		}
		return weigh(run.Gate, judged, trace), nil
	}, nil
}

// doubtful says why a command that passed has to pass once more, in a directory that
// nobody else knows of; "" if it need not: somebody wrote to tracked files while it
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
	if len(t.Changed) == 0 || g.Kind == "command" || g.Access == "write" {
		return j
	}
	j.Message = executor.Plain(fmt.Sprintf("it changed what it judged (%s), so its verdict %q does not count; all of it was undone.\n%s",
		strings.Join(first(t.Changed, 5), ", "), j.Verdict, j.Message))
	j.Verdict, j.Tests = executor.ErrorJudged, "skip"
	return j
}

// closing bounds how long it may take to put a tree back after an interrupt.
const closing = time.Minute

// tree opens the commit for a gate.
func (d *driver) tree(ctx context.Context, e *executor.Effect) (string, func() (executor.Trace, error), error) {
	dir, err := d.Workspace.Open(ctx, *e)
	return dir, func() (executor.Trace, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		return d.Workspace.Close(ctx, *e)
	}, err
}

// empty is a directory that says nothing, not even by its neighbours.
func (d *driver) empty(context.Context, *executor.Effect) (string, func() (executor.Trace, error), error) {
	dir, err := regular.MkdirTemp("ralph-review-")
	return dir, func() (executor.Trace, error) { return executor.Trace{}, os.RemoveAll(dir) }, err
}

// gateRun fills in everything that a gate may ask for.
func (d *driver) gateRun(e *executor.Effect, q *executor.Request) (executor.GateRun, executor.Gate, error) {
	n, step := d.find(q)
	g, ok := d.Epic.Gates[e.Gate]
	judge := d.Gates[g.Kind]
	if !ok || judge == nil {
		return executor.GateRun{}, nil, &Bug{fmt.Sprintf("gate %q of kind %q cannot be judged", e.Gate, g.Kind)}
	}
	files, err := d.files(e)
	if err != nil {
		return executor.GateRun{}, nil, err
	}
	run := executor.GateRun{
		Redact: d.Redact,
		Node:   n, Step: step, Name: e.Gate, Gate: g, Digest: d.digest(e.Gate), Effect: *e, Left: q.Left, Epic: d.Epic.Epic.ID,
		Files: files, Env: d.env(), Secrets: d.Epic.SecretVars(g.Secrets), Activity: d.activity(e),
		Outcome: q.Outcome, Changed: q.Changed, Listed: q.Listed, Feedback: q.Feedback[:q.Told], Earlier: slices.Clip(q.Earlier),
	}
	if name := cmp.Or(e.Agent, g.Agent); name != "" {
		agent := d.Epic.Agents[name]
		own := g.Model
		if name != g.Agent {
			own = cmp.Or(agent.Model, own)
		}
		run.Agent, run.Slug, run.Text = name, agent.Slug, d.Agents[name]
		run.Model, run.Alias, run.Runner = d.model(cmp.Or(own, agent.Model)), d.Epic.Models[cmp.Or(own, agent.Model)], d.Epic.Runners[agent.Runner]
		run.Keep, run.Record, run.Human = d.keep(), d.record(e), d.Epic.HITLOf(n)
		if g.Kind != "review" { // a blind one may not ask
			run.Context = executor.WithFeedback(q.Context, q.Feedback)
		}
	}
	from := cmp.Or(e.Base, e.Start)
	run.Diff = func(ctx context.Context, w io.Writer) error { return d.Workspace.Diff(ctx, from, e.Commit, w) }
	if g.Kind == "review" && g.Plan != "" {
		run.Plan = func(ctx context.Context) ([]byte, error) {
			b, _, err := d.Workspace.FileAt(ctx, e.Commit, g.Plan, maxPlan)
			return b, err
		}
	}
	return run, judge, nil
}

// maxPlan is in bytes: larger ones are not compiled.
const maxPlan = 128 << 20

// digest of a gate, computed once.
func (d *driver) digest(gate string) string {
	if _, known := d.digests[gate]; !known {
		d.digests[gate] = ir.GateDigest(d.Epic, gate)
	}
	return d.digests[gate]
}
