package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// Events that begin a journal that has to be written anew, because the old one is
// lost: what a tracker kept of it. They stand before the first RunStarted; commits
// that nobody is known to have judged stand before them, in a TailLost.
type (
	// RunRecovered says on which base the run was, and where ralph put the
	// integration branch.
	RunRecovered struct {
		From   string      `json:"from"`   // the tracker and the epic's name in it: "bd bd-epic"
		Digest string      `json:"digest"` // of the epic.json that the lost journal was about
		Base   Tree        `json:"base"`   // the pinned one
		Bases  []NamedTree `json:"bases,omitempty"`
		Head   string      `json:"head,omitempty"`   // where ralph put the integration branch, if it stands there
		Others []string    `json:"others,omitempty"` // heads of accepted commits of others that are in it
		Holds  []string    `json:"holds,omitzero"`   // the base, results and heads of others that are in it, as git says; nil: nobody looked
		Lost   int64       `json:"lost"`             // last event of the lost journal, as far as that is known
		Spent  KeptSpent   `json:"spent,omitzero"`
		Added  ir.Budget   `json:"added,omitzero"`
		By     string      `json:"by"`
	}
	// NodeRecovered is what was kept of a node, without what was not found: a
	// success whose commit is nowhere is none.
	NodeRecovered struct {
		Kept
		Key  ir.Key `json:"key"`
		Note string `json:"note,omitempty"` // what was kept and is not taken over, and why
	}
)

func (RunRecovered) kind() string  { return "run.recovered" }
func (NodeRecovered) kind() string { return "node.recovered" }

// runRecovered begins the state of a run whose journal is lost.
func (r *Run) runRecovered(b RunRecovered) error {
	if r.begun || !r.recovered.IsZero() {
		return fmt.Errorf("only an empty journal can be recovered")
	}
	if b.Base.Commit == "" {
		return fmt.Errorf("it does not say on which base the run was")
	}
	r.recovered = r.at
	r.started.Base, r.started.Bases = b.Base, b.Bases
	if r.joins() {
		r.recoveredBranch(b)
	}
	r.added, r.cost.now = b.Added, b.Spent.meter()
	return nil
}

// recoveredBranch takes over what git says of the integration branch. Where accepted
// commits of others are in it, it is as if they had just been accepted.
func (r *Run) recoveredBranch(b RunRecovered) {
	if r.sumRef = b.Head; b.Head == "" || b.Holds == nil {
		return
	}
	r.sumTold = map[string]bool{}
	for _, c := range b.Holds {
		r.sumTold[c] = true
	}
	if len(b.Others) > 0 {
		r.accepted, r.newOthers = Tree{Commit: b.Head}, b.Others
	}
}

// nodeRecovered takes over what was kept of a node. Its status comes back as what
// it was where that is still right; what was going on is begun again from where
// it stood (goOnKept).
func (r *Run) nodeRecovered(e Event, b NodeRecovered) error {
	if r.begun || r.recovered.IsZero() {
		return fmt.Errorf("it does not stand behind the record that a run was recovered")
	}
	if e.Node == Integration && r.sum == nil {
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
	n.cost.all = k.Spent.meter()
	r.cost.all.join(n.cost.all)
	for step, number := range inOrder(k.Numbers) {
		n.numbers[step] = max(n.numbers[step], number)
	}
	for _, a := range k.Attempts {
		n.numbers[a.Step] = max(n.numbers[a.Step], a.Number)
		n.logs = append(n.logs, a.log())
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

// log is the attempt as it stands among the others. One that was open is over:
// nobody knows how it would have ended.
func (a KeptAttempt) log() AttemptLog {
	l := AttemptLog{
		Step: a.Step, Number: a.Number, Status: a.Status, Reason: a.Reason, Commit: a.Commit, Agent: a.Agent, Started: a.At, Ended: a.At,
		Collected: Collected{Result: Tree{a.Commit, a.Tree}},
	}
	if l.Status == AttemptRunning {
		l.Status, l.Reason = AttemptCancelled, "the journal was lost while it was open"
	}
	return l
}

// keepSuccess records a success as NodeDone does.
func (r *Run) keepSuccess(n *node, seq int64, k KeptSuccess) error {
	if k.Work == "" || k.Result.Commit == "" || k.Result.Tree == "" && !n.sum || k.Print == "" {
		return fmt.Errorf("its success does not say for what it is")
	}
	if len(k.Inputs) == 0 && n.index >= 0 && !n.sum { // too many to be kept: found again
		if in := r.reached(n); len(in) > 0 && fingerprint(in) == k.Print {
			k.Inputs = in
		}
	}
	if n.sum && (len(k.Inputs) == 0 || k.Inputs[0].Node != "base") {
		return nil // nobody knows what it holds: it is made anew
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
		r.madeOf(s.result, s.inputs)
	}
	if n.sum {
		for _, in := range s.inputs[1:] {
			r.sumHolds[in.Node] = in
		}
		r.sumBase = s.inputs[0].Tree
	}
	return nil
}

// keepStatus puts a node where it stood. The first start of a run derives the
// status again, from the same record.
func (r *Run) keepStatus(n *node, to NodeStatus, e Event) error {
	k := n.kept
	said := Decision{By: k.By, Message: k.Reason, At: e.At}
	var by []NodeStatus
	switch to {
	case Done:
		if len(n.successes) == 0 || k.Success.Aside {
			return nil // by the plan or the base, or its commit was not found
		}
		n.accepted = &n.successes[len(n.successes)-1]
		by = []NodeStatus{Done}
	case Skipped:
		said.Verb, n.people.skip = Skip, true
		n.people.decisions = append(n.people.decisions, said)
		by = []NodeStatus{Skipped}
	case Cancelled:
		said.Verb, n.people.cancelled = Cancel, k.By
		n.people.decisions = append(n.people.decisions, said)
		by = []NodeStatus{Cancelled}
	case Blocked:
		if k.Life == nil {
			return nil
		}
		n.reason, n.blockedBy = k.Reason, k.BlockedBy
		n.life = life{work: k.Life.Work, judge: k.Life.Judge, print: k.Life.Print, first: len(n.logs), stale: n.ir.Digest.Work != k.Life.Work}
		by = []NodeStatus{Ready, Running, Blocked}
	}
	if k.Paused {
		n.people.paused = k.By
	}
	for _, s := range by {
		if err := r.become(n, s); err != nil {
			return err
		}
	}
	r.touch(n)
	if to == Done {
		n.since = n.accepted.at
	}
	return nil
}

// fits reports whether what was kept of a life is about the work and the inputs of
// the present one.
func (k *Kept) fits(n *node) bool {
	return k != nil && k.Life != nil && n.ir != nil && k.Life.Work == n.life.work && k.Life.Print == n.life.print
}

// goOnKept begins the first life after a recovery where the last one stood, if that
// was for the same work and the same inputs: limits count on, steps that passed are
// not done again. After a block a person has allowed more.
func (r *Run) goOnKept(n *node) {
	l := &n.life
	k := n.kept
	if n.kept = nil; !k.fits(n) {
		return
	}
	life := k.Life
	l.first = max(l.first-life.Logs, 0)
	if k.Status != Blocked.String() && k.Status != Cancelled.String() {
		for i := range l.used {
			l.used[i] = max(life.Used[n.ir.Steps[i].Name], 0)
		}
		l.sign, l.streak = life.Sign, max(life.Streak, 0)
		n.cost.now = life.Spent.meter()
		if len(n.logs) > l.first && n.logs[len(n.logs)-1].Status.counts() {
			l.stage = stageFailed
		}
	}
	at := slices.IndexFunc(n.ir.Steps, func(s ir.Step) bool { return s.Name == life.Step })
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
func nodeStatus(word string) (s NodeStatus, err error) {
	err = parseWord(&s, nodeNames[:], 0, strings.TrimSpace(word), "status of a node")
	return s, err
}
