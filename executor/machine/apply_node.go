package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
)

// applyNode applies an event about a node. In a stretch that belongs to another
// epic the graph is not consulted: only what is on record is kept.
func (r *Run) applyNode(n *node, e executor.Event) error {
	switch b := e.Body.(type) {
	case executor.NodeStarted:
		return r.nodeStarted(n, b)
	case executor.NodeResumed:
		return r.move(n, executor.Running)
	case executor.NodeWaiting:
		return r.nodeWaiting(n, b)
	case executor.NodeBlocked:
		n.reason, n.blockedBy, n.blockedJudge = b.Reason, b.By, b.Judge
		return r.move(n, executor.Blocked)
	case executor.NodeDone:
		n.people.late, n.people.handed = false, handed{}
		return r.nodeDone(n, e.Seq, b)
	case executor.AttemptStarted:
		return r.attemptStarted(n, e, b)
	case executor.EffectStarted:
		return r.effectStarted(n, e, b)
	case executor.AgentSession, executor.WorkProposed, executor.HumanSpoke:
		n.noted(e)
		return nil
	}
	if n.life.stale {
		r.budget.account(n, e, n.life.landed(e))
		r.budget.learn(e, executor.Effect{})
		r.remember(n, e)
		r.sum.branchMoved(n, e.Body)
		return nil
	}
	if n.status != executor.Running && n.busy() {
		return r.stray(n, e)
	}
	if ended, ok := e.Body.(executor.AttemptEnded); ok {
		return r.attemptEnded(n, ended)
	}
	return r.effectEnded(n, e)
}

// branchMoved keeps what an attempt of another epic's life did to the integration
// branch: where ralph left it, and what others put on it, outlives that epic.
func (sm *sum) branchMoved(n *node, b executor.Body) {
	if !n.sum {
		return
	}
	switch b := b.(type) {
	case executor.Published:
		sm.moved(n, b)
	case executor.EffectFailed:
		if b.Class == executor.FailForeign {
			sm.sawForeign(b)
		}
	}
}

// remember keeps what became of an attempt of a life for another text: in the
// log, and the resolution of a conflict among the results that it started from.
func (r *Run) remember(n *node, e executor.Event) {
	if len(n.logs) <= n.life.first {
		return
	}
	log := &n.logs[len(n.logs)-1]
	switch b := e.Body.(type) {
	case executor.AgentEnded:
		log.turned(r.reallyUsed(b), r.at)
	case executor.EffectFailed:
		if e.Step != "" && b.Gate == "" {
			log.Usage = addUsage(log.Usage, b.Usage, log.Turns == 0 && log.Usage.IsZero())
			log.Sandbox = cmp.Or(b.Sandbox, log.Sandbox)
		} else if b.Gate != "" && b.Class != executor.FailInterrupted {
			log.Erred = append(log.Erred, Erred{Gate: b.Gate, Class: b.Class, Why: b.Detail, At: e.At})
		}
	case executor.Diagnosed:
		log.Diagnosed = &b
	case executor.Collected:
		log.Commit, log.Problems, log.Collected = b.Result.Commit, b.Problems, b
	case executor.GateJudged:
		if !r.epic.JudgesByModel(b.Gate, b.Agent) {
			b.Model = ""
		}
		if b.Session != "" {
			log.inSession(SessionLog{Session: b.Session, Agent: b.Agent, Gate: b.Gate, At: r.at})
		}
		switch {
		case b.Red:
			log.Red = append(log.Red, b)
		case b.Verdict == executor.ErrorJudged:
			log.Erred = append(log.Erred, erred(b, r.at))
		default:
			log.Gates = append(log.Gates, b)
		}
	case executor.AttemptEnded:
		log.Status, log.Reason, log.Ended = b.Status, b.Reason, e.At
		if log.Person != "" && log.Collected.Lacks == "" {
			n.people.handed = handed{} // it is judged
		}
		first := !slices.ContainsFunc(n.logs[n.life.first:], func(l AttemptLog) bool { return l.Step != executor.MergeStep })
		if first && b.Status == executor.AttemptPassed && len(n.life.inputs) > 1 {
			r.lineage.resolve(n.life.inputs, log.Collected.Result)
		}
	}
}

// nodeWaiting begins a wait. What it was for is on record, so the node is set to
// go on after it.
func (r *Run) nodeWaiting(n *node, b executor.NodeWaiting) error {
	l := &n.life
	if len(l.flight) > 0 && !l.stale {
		return fmt.Errorf("%s is still in flight", l.flight[0].Kind)
	}
	if n.sum && b.Cause == executor.CauseOlder {
		return r.holdBack(n, b)
	}
	if n.status == executor.Waiting && n.index >= 0 {
		return fmt.Errorf("it waits already")
	}
	n.wait = b
	if b.For == executor.ForTimer && b.Until.After(r.at) {
		n.backoff = b.Until.Sub(r.at)
	}
	l.trouble = nil
	if b.For == executor.ForHuman {
		l.failures, l.lostAt = 0, nil
	}
	l.attempt.gateWaited(b.For)
	n.putBack()
	switch l.stage {
	case stageAsk, stageDiagnosed:
		l.stage, l.attempt.waived = stageGate, true
	case stageDiagnose:
		if b.Cause == executor.CauseDiagnosis {
			l.stage, l.attempt.waived = stageGate, true
		}
	case stageTaken:
		if b.Cause == executor.CauseTakeover {
			l.stage = stagePrepare
			l.attempt.goOnTaken()
		}
	case stageFailed:
		l.stage = stageOpen
	case stageReview:
		l.stage = stagePoll
	}
	return r.move(n, executor.Waiting)
}

func (r *Run) nodeStarted(n *node, b executor.NodeStarted) error {
	if n.sum || n.status == executor.Blocked || n.status == executor.Waiting { // earlier releases began anew what goes on now
		if err := r.toPending(n); err != nil {
			return err
		}
		if err := r.move(n, executor.Ready); err != nil {
			return err
		}
	}
	if len(b.Inputs) == 0 {
		return fmt.Errorf("it starts from nothing")
	}
	if err := r.move(n, executor.Running); err != nil {
		return err
	}
	if k := len(n.logs) - 1; k >= 0 && n.logs[k].Status == executor.AttemptRunning { // of a life that is over
		n.logs[k].Status, n.logs[k].Reason, n.logs[k].Replaced, n.logs[k].Ended = executor.AttemptCancelled, "given up: its sprint started again", true, n.heard
		n.logs[k].Work = n.cost.worked(n.heard) - n.logs[k].before
	}
	n.life = life{
		work: b.Work, judge: b.Judge, inputs: b.Inputs, print: fingerprint(b.Inputs),
		stale: n.ir == nil || n.ir.Digest.Work != b.Work, first: len(n.logs),
	}
	n.accepted, n.began, n.key = nil, r.at, b.Key
	n.cost.renew(r.at, n.anew(b))
	n.work, n.print = n.life.work, n.life.print
	n.people.skip, n.people.reopen, n.people.cancelled = false, false, ""
	if n.life.stale {
		return nil
	}
	if !fits(n.kept, n) {
		n.kept = nil
	}
	n.life.starts = make([]string, len(n.ir.Steps))
	n.life.used = make([]int, len(n.ir.Steps))
	n.life.notes = make([]string, len(n.ir.Steps))
	n.life.stepsAt = make([]executor.Tree, len(n.ir.Steps))
	if len(n.ir.Steps) > 1 {
		n.life.judgedBy = make([]string, len(n.ir.Steps))
	}
	if t, anew, ok := r.lineage.known(b.Inputs); ok && r.onto(n) == executor.OntoInputs {
		n.life.unclean = true
		if anew {
			n.life.resolved = t.Tree
			return nil
		}
		r.setBase(n, t)
	} else if len(b.Inputs) == 1 && r.onto(n) == executor.OntoInputs {
		r.setBase(n, b.Inputs[0].Tree)
	}
	return nil
}

// anew says why a node begins again.
func (n *node) anew(b executor.NodeStarted) string {
	switch {
	case n.work == "": // it was recovered
	case n.work != b.Work:
		return "its text changed"
	case n.print != fingerprint(b.Inputs):
		return "what it starts from changed"
	}
	return "it began again"
}

// setBase records the commit that the node starts from. A success on record for
// the same work and the same tree means that nothing has to run, or only the
// gates that changed.
func (r *Run) setBase(n *node, base executor.Tree) {
	l := &n.life
	l.base, l.tip, l.stage, l.resolved = base, base.Commit, stageOpen, ""
	if l.stale {
		return
	}
	if len(n.ir.Steps) > 0 {
		l.starts[0] = base.Commit
	}
	identity := base.Tree
	if l.unclean || r.onto(n) != executor.OntoInputs {
		identity = ""
	}
	s := n.match(l.work, l.print, identity)
	switch {
	case n.sum && !r.joins():
		l.stage, l.result = stagePull, base
	case n.sum && (r.empty(n) || r.sum.isJudged(base)):
		l.stage, l.attempt.collected.Result = stagePublish, base
	case n.sum && len(n.ir.Steps[0].Gates) > 0:
		l.judging, l.stepsAt[0] = []int{0}, base
	case n.sum, len(n.ir.Steps) == 0:
		l.stage, l.attempt.collected.Result = stagePublish, base
	case s != nil:
		r.judgeAgain(n, s)
	default:
		r.goOnKept(n)
	}
}

// judgeAgain takes a success on record for what the node does: only the gates of
// the steps that are judged otherwise now run again, on the commits that they
// judged. Without a record of these, all runs again.
func (r *rules) judgeAgain(n *node, s *success) {
	l := &n.life
	steps := s.steps
	if len(steps) == 0 && len(n.ir.Steps) == 1 {
		steps = []executor.StepDone{{Result: s.result}}
	}
	if len(steps) != len(n.ir.Steps) {
		if s.judge != l.judge {
			return
		}
		steps = nil
	}
	var judging []int
	for i, d := range steps {
		l.stepsAt[i] = d.Result
		if l.judgedBy != nil {
			l.judgedBy[i] = d.Judge
		}
		if len(n.ir.Steps[i].Gates) > 0 && d.Result.Commit != "" && d.Judge != r.judgeOf(n, i) {
			judging = append(judging, i)
		}
	}
	l.tip, l.attempt.collected.Result, l.made = s.result.Commit, s.result, s.inputs
	if s.judge == l.judge || len(judging) == 0 {
		l.stage, l.result = stageFinish, s.result
		return
	}
	l.judging, l.step = judging, judging[0]
	for i := range l.starts {
		if i > 0 {
			l.starts[i] = l.stepsAt[i-1].Commit
		}
		if l.starts[i] == "" {
			l.starts[i] = l.base.Commit
		}
	}
}

func (r *Run) nodeDone(n *node, seq int64, b executor.NodeDone) error {
	s := success{
		seq: seq, work: b.Work, judge: b.Judge, print: n.life.print,
		base: n.life.base.Tree, inputs: n.life.inputs, result: b.Result, steps: b.Steps, asked: b.Asked, at: r.at,
	}
	if n.life.made != nil {
		s.inputs = n.life.made
	}
	if n.life.unclean || n.ir != nil && r.onto(n) != executor.OntoInputs {
		s.base = ""
	}
	last := r.sum.last()
	stayed := n.sum && r.sum.put == nil && last != nil && last.result.Commit == s.result.Commit
	if stayed { // as an earlier release left the branch where it held the same files
		s.inputs = last.inputs
	}
	s.pullOnly = n.sum && r.sum.put == nil && !stayed
	n.successes = append(n.successes, s)
	if !s.pullOnly {
		r.lineage.madeOf(s.result, s.inputs)
	}
	if n.sum && r.sum.put != nil {
		r.sum.made(&n.successes[len(n.successes)-1], last)
	}
	return r.settle(n, &n.successes[len(n.successes)-1])
}
