package machine

import (
	"cmp"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// blocks is the decision that nothing more is tried, after what ended last.
func (r *rules) blocks(n *node, why string) executor.Event {
	return n.event(executor.NodeBlocked{Reason: why, By: r.blockedBy(n), Judge: n.life.judge})
}

// blockedBy reads from the last attempt what blocks the node now, in the order in
// which a verdict is found.
func (r *rules) blockedBy(n *node) executor.BlockedBy {
	if n.life.why != "" {
		return executor.ByPull
	}
	a, log := &n.life.attempt, &n.logs[len(n.logs)-1]
	switch end := &a.end; {
	case log.Status == executor.AttemptStopped:
		return executor.ByStop
	case log.Status != executor.AttemptFailed:
		return executor.ByAgent
	case end.Outcome.Invalid != "" || end.End == executor.EndExited && !end.Claims():
		return executor.ByAgent
	case len(log.Problems) > 0:
		return executor.ByChecks
	case slices.ContainsFunc(log.Gates, func(g executor.GateJudged) bool {
		return g.Verdict == executor.Fail && r.epic.Gates[g.Gate].Kind != "human"
	}):
		return executor.ByGates
	case failedOne(log.Gates):
		return executor.ByPerson
	}
	return executor.ByAgent
}

// mended reports whether the gates that blocked a node are others now: they judge
// what it left once more. No other node begins again by itself.
func (r *Run) mended(n *node) bool { return n.otherGates() && r.goesOn(n) }

// otherGates is mended of a node whose dependencies may still be judged again: if they
// come out the same, its turn comes.
func (n *node) otherGates() bool {
	if n.blockedBy != executor.ByGates || !n.selected || n.life.stale || len(n.logs) <= n.life.first {
		return false
	}
	log := &n.logs[len(n.logs)-1]
	return cmp.Or(n.blockedJudge, n.life.judge) != n.ir.Digest.Judge && (log.Step == LandStep || n.stepIndex(log.Step) >= 0)
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
	return n.life.mended && n.status == executor.Waiting && n.wait.For == executor.ForTimer && n.life.attempt.status != executor.AttemptRunning
}

// onlyJudges reports whether gates alone run in this life now.
func (l *life) onlyJudges() bool { return len(l.judging) > 0 || l.mended }
