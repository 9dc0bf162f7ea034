package machine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// afterFailure blocks the node when its attempts or the breaker are used up,
// else waits before the next attempt, or opens it at once. A conflict that agents
// do not resolve goes to a person instead.
func (r *Run) afterFailure(n *node, now time.Time) (executor.Event, bool) {
	l := &n.life
	step := n.stepNow()
	last := n.logs[len(n.logs)-1]
	used := *l.usedOf(l.step)
	if l.step != asideStep {
		if limit := max(step.Limits.Attempts, 1); used >= limit {
			why := fmt.Sprintf("%s of step %s used up; last: %s", executor.Attempts(limit), step.Name, last.Reason)
			return r.blocks(n, why), true
		}
		if b := step.Limits.Breaker; b > 0 && l.streak >= b {
			why := fmt.Sprintf("the same failure %d times in a row: %s", l.streak, last.Reason)
			return r.blocks(n, why), true
		}
	}
	if d := backoff(step.Retry, used, n.id, last.Number); d > 0 {
		return n.awaitTime(now.Add(d), "before attempt "+fmt.Sprint(n.numbers[step.Name]+1)), true
	}
	if r.halt.draining {
		return executor.Event{}, false
	}
	if e, held := r.budget.restraint(n, now); held {
		return e, true
	}
	return r.open(n), true
}

// Left is how many attempts the allowance of a node's present step leaves after the open
// one.
func (o Node) Left() int {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil || n.stepNow() == nil {
		return 0
	}
	return max(n.stepNow().Limits.Attempts-*n.life.usedOf(n.life.step)-1, 0)
}

// afterDiagnosis does what the diagnostic agent said: fail counts, retry begins
// anew without counting as often as a runner is tried again, all else is for a person.
func (r *Run) afterDiagnosis(n *node) executor.Event {
	d := n.life.attempt.diagnosed
	switch {
	case d.Action == "retry" && n.life.stalls < n.stepNow().Limits.RunnerRetries:
		return n.attemptEvent(executor.AttemptEnded{
			Status: executor.AttemptError, Reason: text.Head("it stalled, and the diagnosis says to try again"+executor.Because(d.Note), 300), Next: n.stepNow().Name,
		})
	case d.Action == "retry" || d.Action == "fail":
		return r.verdict(n)
	}
	note := cmp.Or(d.Note, "the agent stalled")
	return n.awaitHuman(executor.CauseDiagnosis, executor.Fitting(note))
}

// onTrouble answers an effect that did not happen: try again later as long as
// the failure may pass by itself, else ask another agent or a person.
func (r *Run) onTrouble(n *node, now time.Time) executor.Event {
	l := &n.life
	t := l.trouble
	ask := func(c executor.Cause) executor.Event { return n.awaitHumanAt(c, t.Gate, t.Detail) }
	step := n.stepNow()
	byAgent := t.kind == executor.EffectAgent
	standin := ""
	if byAgent && step != nil && l.standin < len(step.Fallback) {
		standin = step.Fallback[l.standin]
	}
	retries := 5
	if step != nil {
		retries = step.Limits.RunnerRetries
	}
	runner := r.epic.Agents[t.agent].Runner
	switch {
	case t.Class == executor.FailConflict && l.step == asideStep:
		return n.attemptEvent(executor.AttemptEnded{Status: executor.AttemptError, Reason: t.Detail, Next: step.Name})
	case t.Class == executor.FailConflict:
		return ask(executor.CauseConflict)
	case t.kind == executor.EffectPoll && t.Class != executor.FailConfig:
		w := executor.NodeWaiting{For: executor.ForHuman, Cause: executor.CausePull, Until: later(now, pollEvery.Milliseconds()), Detail: "the " + l.pull.Word() + " could not be asked for: " + t.Detail}
		return n.event(w)
	case t.Class == executor.FailForeign:
		return ask(executor.CauseForeign)
	case t.Class == executor.FailProtected:
		return ask(executor.CauseProtected)
	case t.Class == failGate:
		return ask(executor.CauseGate)
	case t.Class == executor.FailLost && l.lostAt[t.kind] <= retries:
		return n.awaitTime(again(n, now, l.lostAt[t.kind]), t.Detail)
	case t.Class == executor.FailLost && byAgent:
		return ask(executor.CauseRunner)
	case t.Class == executor.FailLost && t.kind == executor.EffectDiagnose:
		return ask(executor.CauseDiagnosis)
	case t.Class == executor.FailLost:
		return ask(executor.CauseWorkspace)
	case t.kind == executor.EffectDiagnose && t.Class != executor.FailLimit && (t.Class == executor.FailConfig || l.failures > retries):
		return ask(executor.CauseDiagnosis)
	case t.Class == executor.FailConfig && standin != "":
		return n.instead(standin)
	case t.Class == executor.FailConfig:
		return ask(executor.CauseConfig)
	case t.Class == executor.FailLimit && runner != "":
		return r.parks.onLimit(n, runner, &t.EffectFailed, now)
	case l.failures <= retries:
		return n.awaitTime(again(n, now, l.failures), t.Detail)
	case t.Class == executor.FailCrash && byAgent:
		next, _ := n.nextName("")
		return n.attemptEvent(executor.AttemptEnded{Status: executor.AttemptFailed, Reason: text.Head(t.Detail, 300), Signature: "crash", Next: next})
	case !byAgent:
		return ask(executor.CauseWorkspace)
	case standin != "":
		return n.instead(standin)
	}
	if p := r.parks.runners[runner]; p != nil && !p.down.IsZero() && since(now, p.down) >= outage {
		return ask(executor.CauseRunner)
	}
	return r.parks.onLimit(n, runner, &t.EffectFailed, now)
}

// instead ends an attempt whose agent cannot work: another one takes its place.
func (n *node) instead(standin string) executor.Event {
	t := n.life.trouble
	return n.attemptEvent(executor.AttemptEnded{
		Status: executor.AttemptError, Next: n.stepNow().Name,
		Reason: text.Head(fmt.Sprintf("agent %s cannot work (%s); %s takes its place", t.agent, text.FirstLine(t.Detail), standin), 300),
	})
}
