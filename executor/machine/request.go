package machine

import (
	"cmp"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// Request collects what the worker of an effect must know. Lists that grow with the
// plan are included by reference: executor.ListsOf finds them. It changes nothing.
func (r *Run) Request(e executor.Effect) *executor.Request {
	q := r.request(e)
	q.Refer()
	return q
}

func (r *Run) request(e executor.Effect) *executor.Request {
	q := &executor.Request{Effect: e}
	n := r.byID[e.Node]
	if n == nil || n.ir == nil {
		return q
	}
	if n.sum || e.Step != "" && n.ir.Step(e.Step) == nil {
		q.Step = r.Node(e.Node).Step(e.Step)
	}
	switch e.Kind {
	case executor.EffectAgent:
		q.Feedback, q.Context, q.Late = n.openFeedback(), r.context(n), r.late(n)
		q.Reports = n.stepReports(e.Step)
	case executor.EffectPull:
		text := r.pullText(e)
		q.Pull = &text
	case executor.EffectCollect:
		q.Outcome = n.attemptOf(&e).Outcome
	case executor.EffectDiagnose:
		a := n.attemptOf(&e)
		q.Stalled = &executor.Stalled{Agent: a.Agent, Turn: a.Turn, Tail: a.Tail}
	case executor.EffectGate, executor.EffectRed:
		q.Feedback, q.Left = n.openFeedback(), r.Node(e.Node).Left()
		if g := r.epic.Gates[e.Gate]; g.Kind != "review" && cmp.Or(e.Agent, g.Agent) != "" { // a blind one may not ask
			q.Context = r.context(n)
		}
		a := n.attemptOf(&e)
		q.Told = min(len(a.Feedback), len(q.Feedback))
		q.Outcome, q.Changed, q.Listed = a.Outcome, a.Collected.SinceStart(), a.Collected.Listed
		q.Earlier = lists.Keep(a.Gates, func(j executor.GateJudged) bool { return !j.Red && j.Gate != e.Gate })
	}
	return q
}

// attemptOf is the record of the attempt that an effect is part of; an empty one if there is none.
func (n *node) attemptOf(e *executor.Effect) *AttemptLog {
	if l := n.logNumbered(e.Step, e.Attempt); l != nil {
		return l
	}
	return &AttemptLog{}
}

// stepReports are the reports of the steps before one.
func (n *node) stepReports(step string) (out []executor.StepReport) {
	for k := range n.ir.Steps {
		if n.ir.Steps[k].Name == step {
			return out
		}
		for _, a := range slices.Backward(n.logs) {
			if a.Step == n.ir.Steps[k].Name && a.Status == executor.AttemptPassed {
				out = append(out, executor.StepReport{Step: a.Step, Attempt: a.Number, Summary: a.Outcome.Summary})
				break
			}
		}
	}
	return nil
}
