package machine

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// runRecovered begins the state of a run whose journal is lost.
func (r *Run) runRecovered(b executor.RunRecovered) error {
	if r.runs.begun || !r.runs.recovered.IsZero() {
		return fmt.Errorf("only an empty journal can be recovered")
	}
	if b.Base.Commit == "" {
		return fmt.Errorf("it does not state the base of the run")
	}
	r.runs.recovered = r.at
	r.runs.started.Base, r.runs.started.Bases = b.Base, b.Bases
	if r.joins() {
		r.sum.recoveredBranch(b)
	}
	r.budget.added, r.budget.cost.now = b.Added, meterOf(b.Spent)
	return nil
}

// recoveredBranch takes over what git says of the integration branch. Where accepted
// commits of others are in it, it is as if they had just been accepted.
func (sm *sum) recoveredBranch(b executor.RunRecovered) {
	if sm.ref = b.Head; b.Head == "" || b.Holds == nil {
		return
	}
	sm.told = map[string]bool{}
	for _, c := range b.Holds {
		sm.told[c] = true
	}
	if len(b.Others) > 0 {
		sm.accepted, sm.newOthers = executor.Tree{Commit: b.Head}, b.Others
	}
}

// nodeRecovered takes over what was kept of a node. Its status comes back as what
// it was where that is still right; what was going on is begun again from where
// it was (goOnKept).
func (r *Run) nodeRecovered(e executor.Event, b executor.NodeRecovered) error {
	if r.runs.begun || r.runs.recovered.IsZero() {
		return fmt.Errorf("it does not follow the record of a recovered run")
	}
	if e.Node == executor.Integration && r.sum.node == nil {
		return nil // results are not joined any more
	}
	n := r.byID[e.Node]
	if n == nil {
		n = r.addGone(e.Node)
	}
	if n.kept != nil || len(n.successes) > 0 || len(n.logs) > 0 {
		return fmt.Errorf("it was recovered already")
	}
	status, err := nodeStatus(b.Status)
	if err != nil {
		return err
	}
	k := b.Kept
	n.kept, n.key, n.pull = &k, b.Key, k.Pull
	n.people.budget = k.Added
	n.cost.all = meterOf(k.Spent)
	r.budget.cost.all.join(n.cost.all)
	for step, number := range inOrder(k.Numbers) {
		n.numbers[step] = max(n.numbers[step], number)
	}
	for _, a := range k.Attempts {
		n.numbers[a.Step] = max(n.numbers[a.Step], a.Number)
		n.logs = append(n.logs, log(a))
	}
	if k.Success != nil {
		if err := r.keepSuccess(n, e.Seq, *k.Success); err != nil {
			return err
		}
	}
	if n.index < 0 || n.sum {
		return nil
	}
	return r.keepStatus(n, status, e)
}

// log is the attempt as it is among the others. One that was open is over:
// its end is unknown.
func log(a executor.KeptAttempt) AttemptLog {
	l := AttemptLog{
		Step: a.Step, Number: a.Number, Status: a.Status, Reason: a.Reason, Commit: a.Commit, Agent: a.Agent, Started: a.At, Ended: a.At,
		Collected: executor.Collected{Result: executor.Tree{Commit: a.Commit, Tree: a.Tree}},
	}
	if l.Status == executor.AttemptRunning {
		l.Status, l.Reason = executor.AttemptCancelled, "the journal was lost while it was open"
	}
	return l
}

// keepSuccess records a success as NodeDone does.
func (r *Run) keepSuccess(n *node, seq int64, k executor.KeptSuccess) error {
	if k.Work == "" || k.Result.Commit == "" || k.Result.Tree == "" && !n.sum || k.Print == "" {
		return fmt.Errorf("its success does not say what it was made for")
	}
	if len(k.Inputs) == 0 && n.index >= 0 && !n.sum { // too many to be kept: found again
		if in := r.reached(n); len(in) > 0 && fingerprint(in) == k.Print {
			k.Inputs = in
		}
	}
	if n.sum && (len(k.Inputs) == 0 || k.Inputs[0].Node != "base") {
		return nil // its content is unknown: it is made anew
	}
	s := success{
		seq: seq, work: k.Work, judge: k.Judge, print: k.Print, base: k.Base, inputs: k.Inputs, result: k.Result, steps: k.Steps,
		merged: k.Merged, at: k.At,
	}
	if k.Aside {
		n.after = seq
	}
	n.successes = append(n.successes, s)
	if len(k.Inputs) > 0 {
		r.lineage.madeOf(s.result, s.inputs)
	}
	if n.sum {
		for _, in := range s.inputs[1:] {
			r.sum.holds[in.Node] = in
		}
		r.sum.base = s.inputs[0].Tree
	}
	return nil
}

// keepStatus puts a node where it was. The first start of a run derives the
// status again, from the same record.
func (r *Run) keepStatus(n *node, to executor.NodeStatus, e executor.Event) error {
	k := n.kept
	said := executor.Decision{By: k.By, Message: k.Reason, At: e.At}
	var by []executor.NodeStatus
	switch to {
	case executor.Done:
		if len(n.successes) == 0 || k.Success.Aside {
			return nil // by the plan or the base, or its commit was not found
		}
		n.accepted = &n.successes[len(n.successes)-1]
		by = []executor.NodeStatus{executor.Done}
	case executor.Skipped:
		said.Verb, n.people.skip = executor.Skip, true
		n.people.decisions = append(n.people.decisions, said)
		by = []executor.NodeStatus{executor.Skipped}
	case executor.Cancelled:
		said.Verb, n.people.cancelled = executor.Cancel, k.By
		n.people.decisions = append(n.people.decisions, said)
		by = []executor.NodeStatus{executor.Cancelled}
	case executor.Blocked:
		if k.Life == nil {
			return nil
		}
		n.reason, n.blockedBy = k.Reason, k.BlockedBy
		n.life = life{work: k.Life.Work, judge: k.Life.Judge, print: k.Life.Print, first: len(n.logs), stale: n.ir.Digest.Work != k.Life.Work}
		by = []executor.NodeStatus{executor.Ready, executor.Running, executor.Blocked}
	}
	if k.Paused {
		n.people.paused = k.By
	}
	for _, s := range by {
		if err := r.become(n, s); err != nil {
			return err
		}
	}
	r.queues.touch(n)
	if to == executor.Done {
		n.since = n.accepted.at
	}
	return nil
}

// fits reports whether what was kept of a life is about the work and the inputs of
// the present one.
func fits(k *executor.Kept, n *node) bool {
	return k != nil && k.Life != nil && n.ir != nil && k.Life.Work == n.life.work && k.Life.Print == n.life.print
}

// goOnKept begins the first life after a recovery where the last one was, if that
// was for the same work and the same inputs: limits count on, steps that passed are
// not done again. After a block a person has allowed more.
func (r *rules) goOnKept(n *node) {
	l := &n.life
	k := n.kept
	if n.kept = nil; !fits(k, n) {
		return
	}
	life := k.Life
	l.first = max(l.first-life.Logs, 0)
	if k.Status != executor.Blocked.String() && k.Status != executor.Cancelled.String() {
		for i := range l.used {
			l.used[i] = max(life.Used[n.ir.Steps[i].Name], 0)
		}
		l.sign, l.streak = life.Sign, max(life.Streak, 0)
		n.cost.now = meterOf(life.Spent)
		if len(n.logs) > l.first && n.logs[len(n.logs)-1].Status.Counts() {
			l.stage = stageFailed
		}
	}
	at := n.ir.StepIndex(life.Step)
	if at < 0 || len(life.Steps) != at {
		return
	}
	for i, s := range life.Steps {
		if s.Step != n.ir.Steps[i].Name || s.Judge != r.judgeOf(n, i) || s.Result.Commit == "" {
			return
		}
	}
	for i, s := range life.Steps {
		l.stepsAt[i], l.starts[i+1], l.tip = s.Result, s.Result.Commit, s.Result.Commit
	}
	if l.step = at; life.Tip != "" {
		l.tip = life.Tip
	}
}

// nodeStatus reads a status's word.
func nodeStatus(word string) (s executor.NodeStatus, err error) {
	err = executor.ParseWord(&s, executor.NodeNames[:], 0, strings.TrimSpace(word), "status of a node")
	return s, err
}
