package executor

import (
	"slices"
	"strings"
)

// BlockedBy says what kind of thing blocked a node.
type BlockedBy string

// What blocks a node. "" is not known: an earlier release did not say.
const (
	ByGates  BlockedBy = "gates"        // command, agent or review gates failed its last attempt
	ByPerson BlockedBy = "person"       // a human gate that nobody let pass
	ByStop   BlockedBy = "stop"         // a gate said stop, or the agent reported a fatal result
	ByAgent  BlockedBy = "agent"        // the agent failed: its outcome, its time, a crash
	ByChecks BlockedBy = "checks"       // ralph's own checks of what it left
	ByBudget BlockedBy = "budget"       // of the node or the run
	ByPull   BlockedBy = "pull request" // closed, where nobody would do it better
)

// blocks is the decision that nothing more is tried, after what ended last.
func (r *Run) blocks(n *node, why string) Event {
	return n.event(NodeBlocked{Reason: why, By: r.blockedBy(n), Judge: n.life.judge})
}

// blockedBy reads from the last attempt what blocks the node now, in the order in
// which a verdict is found.
func (r *Run) blockedBy(n *node) BlockedBy {
	if n.life.why != "" {
		return ByPull
	}
	a, log := &n.life.attempt, &n.logs[len(n.logs)-1]
	switch end := &a.end; {
	case log.Status == AttemptStopped:
		return ByStop
	case log.Status != AttemptFailed:
		return ByAgent
	case !a.waived && a.person == "" && (end.Outcome.Invalid != "" || end.End == EndExited && !end.claims()):
		return ByAgent
	case len(log.Problems) > 0:
		return ByChecks
	case slices.ContainsFunc(log.Gates, func(g GateJudged) bool { return g.Verdict == Fail && r.epic.Gates[g.Gate].Kind != "human" }):
		return ByGates
	case failedOne(log.Gates):
		return ByPerson
	}
	return ByAgent
}

// mended reports whether the gates that blocked a node are others now: they judge
// what it left once more. Nobody else begins again by itself.
func (r *Run) mended(n *node) bool { return r.otherGates(n) && r.goesOn(n) }

// otherGates is mended of a node whose dependencies may still be judged again: if they
// come out the same, its turn comes.
func (r *Run) otherGates(n *node) bool {
	if n.blockedBy != ByGates || !n.selected || n.life.stale || n.life.work != n.ir.Digest.Work || len(n.logs) <= n.life.first {
		return false
	}
	log := &n.logs[len(n.logs)-1]
	judge := n.blockedJudge
	if judge == "" {
		judge = n.life.judge
	}
	return judge != n.ir.Digest.Judge && (log.Step == LandStep || n.stepIndex(log.Step) >= 0)
}

// judged is the commit that the gates of an attempt judged.
func (l *AttemptLog) judged() string {
	if c := l.Collected.Result.Commit; c != "" {
		return c
	}
	return l.From // gates alone
}

// judgeBlocked lets the gates of the step that blocked a node judge its last
// collected commit: no agent begins, and no attempt is allowed.
func (r *Run) judgeBlocked(n *node) error {
	l := &n.life
	l.judge, l.mended = n.ir.Digest.Judge, true
	if step := n.logs[len(n.logs)-1].Step; step == LandStep {
		l.step, l.stage = len(n.ir.Steps)-1, stageLanding
	} else {
		l.step, l.stage = n.stepIndex(step), stageOpen
	}
	return r.release(n, "its gates changed since it was blocked")
}

// toBeJudged reports whether a node was blocked and its mended gates have not begun:
// a person may still say otherwise, as about one that is blocked.
func (n *node) toBeJudged() bool {
	return n.life.mended && n.status == Waiting && n.wait.For == ForTimer && n.life.attempt.status != AttemptRunning
}

// onlyJudges reports whether gates alone run in this life now.
func (l *life) onlyJudges() bool { return len(l.judging) > 0 || l.mended }

// fromProse is what an earlier release, which wrote only the reason, blocked by.
func (b NodeBlocked) fromProse() NodeBlocked {
	if b.By != "" {
		return b
	}
	why := b.Reason
	for _, before := range []string{" used up; last: ", " times in a row: "} {
		if _, last, ok := strings.Cut(why, before); ok {
			why = last
		}
	}
	gate := strings.HasPrefix(why, "gate ")
	switch {
	case strings.HasPrefix(why, budgetReason), strings.HasPrefix(why, runBudgetReason):
		b.By = ByBudget
	case gate && strings.Contains(why, " said stop"), strings.HasPrefix(why, "the agent reported a fatal result"):
		b.By = ByStop
	case gate && strings.Contains(why, " failed: nobody decided in "):
		b.By = ByPerson
	case gate && strings.Contains(why, " failed"):
		b.By = ByGates
	case strings.HasPrefix(why, "the agent "), strings.HasPrefix(why, "no valid outcome"):
		b.By = ByAgent
	case strings.HasPrefix(why, "pull request #"):
		b.By = ByPull
	}
	return b
}

// How the reason of a node begins that its budget, or the run's, blocked.
const (
	budgetReason    = "its budget: "
	runBudgetReason = "the run's budget: "
)
