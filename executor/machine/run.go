package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Run is the state of an epic's execution, the result of its events. It composes its
// parts, which do not know it, and alone moves nodes from status to status. It is not
// safe for concurrent use; one goroutine owns it.
type Run struct {
	*graph
	*clock
	runs    runs
	halt    halt
	people  people
	queues  queues
	parks   parks
	budget  budget
	pre     preflight
	sum     sum
	landing landing
	lineage lineage
	tampers tampers
	buffers buffers
	lists   executor.Lists // of the next event, as far as they are on record
	says    []Comment      // about the epic as a whole
}

// clock is the event that was applied last.
type clock struct {
	seq       int64
	at, prior time.Time // of it, and of the one before
}

// buffers hold what may be computed anew at any time.
type buffers struct {
	effects  []executor.Effect
	starting []executor.Effect // of the last Todo
	holds    holds             // made by who looked since the last event
}

// New returns a run of epic without events. The epic must be valid (ir.Verify) and
// must not be modified afterwards.
func New(epic *ir.Epic) (*Run, error) {
	g := &graph{rules: &rules{epic: epic, plans: epic.Plans(), digests: map[string]string{}}, byID: make(map[ir.NodeID]*node, len(epic.Nodes)+1)}
	r := &Run{graph: g, clock: &clock{}}
	r.runs = runs{graph: g, clock: r.clock}
	r.halt.clock = r.clock
	r.people = people{rules: g.rules, plans: map[string]bool{}, heard: map[string]bool{}}
	r.queues = queues{graph: g, ready: newQueue(g.before), lanes: map[string]int{}}
	r.parks = parks{rules: g.rules, agents: map[string]int{}, runners: map[string]*park{}}
	r.budget = budget{rules: g.rules, clock: r.clock, halt: &r.halt, costs: map[turn]executor.Usage{}, limited: costLimited(epic.Run.Budget)}
	r.pre = preflight{rules: g.rules, runs: &r.runs}
	r.landing = landing{graph: g, clock: r.clock}
	r.lineage = lineage{madeFrom: make(map[string][]executor.Result, len(epic.Nodes)), resolutions: map[string]resolution{}}
	r.sum = sum{graph: g, clock: r.clock, runs: &r.runs, landing: &r.landing, lineage: &r.lineage, holds: map[ir.NodeID]executor.Result{}}
	r.tampers = tampers{rules: g.rules, clock: r.clock}
	index := make(map[ir.Key]int, len(epic.Nodes))
	for i := range epic.Nodes {
		in := withPersonStep(&epic.Nodes[i])
		r.budget.wallLimited = r.budget.wallLimited || in.Limits.Budget.WallMS > 0
		r.budget.limited = r.budget.limited || costLimited(in.Limits.Budget)
		if in.ID == "" || in.ID == executor.Integration || r.byID[in.ID] != nil {
			return nil, fmt.Errorf("node %s: id %q is empty, reserved or used twice", in.Key, in.ID)
		}
		n := &node{ir: in, id: in.ID, index: i, numbers: map[string]int{}}
		for _, e := range in.After {
			if e.Type != ir.Blocks {
				continue
			}
			d, ok := index[e.Key]
			if !ok {
				return nil, fmt.Errorf("node %s: needs %s, which is not before it", in.Key, e.Key)
			}
			n.deps = append(n.deps, d)
			r.nodes[d].dependents = append(r.nodes[d].dependents, i)
		}
		index[in.Key] = i
		r.nodes = append(r.nodes, n)
		r.byID[in.ID] = n
	}
	for name, x := range inOrder(epic.Runners) {
		r.parks.limited = r.parks.limited || x.RPM > 0 || r.runnerLimit(name) > 0
	}
	if in := epic.Epic.Integration; in.Mode == "dag" || in.Mode == "branch" && in.PR == "plan" {
		r.sum.add()
	}
	return r, nil
}

// Replay makes a run from its recorded events and passes each to also. An error of
// reading them is returned unchanged.
func Replay(epic *ir.Epic, events iter.Seq2[executor.Event, error], also ...func(executor.Event)) (*Run, error) {
	run, err := New(epic)
	if err != nil {
		return nil, err
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if err := run.Apply(e); err != nil {
			return nil, fmt.Errorf("the journal does not fit this ralph: %w", err)
		}
		for _, tell := range also {
			tell(e)
		}
	}
	return run, nil
}

// Read wraps events that were already read, for Replay.
func Read(events []executor.Event) iter.Seq2[executor.Event, error] {
	return func(yield func(executor.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// add adds the node that joins all results: its gates run on the merge, and
// publishing it moves the integration branch. In mode branch the results are in
// that already, and only its pull request is made.
func (sm *sum) add() {
	in := sm.epic.Epic.Integration
	if in.Mode == "branch" { // each landing was judged
		in.Gates, in.ConflictAgent = nil, ""
	}
	n := &ir.Node{
		ID: executor.Integration, Key: executor.Integration, Kind: ir.GateKind, Title: "the integration of all results",
		Git:   ir.Git{Branch: in.Branch},
		Steps: []ir.Step{sumStep(sm.epic, in)},
	}
	if n.Steps[0].Agent != "" {
		n.Kind = ir.Merge
	}
	h := sha256.New()
	for _, g := range in.Gates {
		fmt.Fprintf(h, "%s %s\n", g, sm.gateDigest(g))
	}
	n.Digest = ir.NodeDigest{Work: "integration", Judge: "sha256:" + hex.EncodeToString(h.Sum(nil))}
	sm.node = &node{ir: n, id: executor.Integration, index: len(sm.nodes), sum: true, selected: true, numbers: map[string]int{}}
	sm.nodes = append(sm.nodes, sm.node)
	sm.byID[executor.Integration] = sm.node
}

// Seq returns the sequence number of the last event applied, 0 if none.
func (r *Run) Seq() int64 { return r.seq }

// Apply records a fact. Events must come in order, without gaps except before a TailLost.
// An event that is illegal in the present state is refused and the run must not be used
// further. A report of a start that is not in flight is refused with ErrLate, and the run
// is unchanged.
func (r *Run) Apply(e executor.Event) error {
	if _, lost := e.Body.(executor.TailLost); e.Seq != r.seq+1 && (!lost || e.Seq <= r.seq) {
		return fmt.Errorf("event %d does not follow event %d", e.Seq, r.seq)
	}
	n := r.byID[e.Node]
	if err := r.runs.expects(n, e); err != nil {
		return fmt.Errorf("event %d (%s %s): %w", e.Seq, e.Kind(), e.Node, err)
	}
	e = e.ToMillis()
	body, err := r.lists.Complete(e.Body)
	if err == nil {
		e.Body, r.prior, r.at = body, r.at, e.At
		err = r.apply(n, e)
	}
	r.buffers.holds = nil
	if err != nil {
		return fmt.Errorf("event %d (%s %s): %w", e.Seq, e.Kind(), e.Node, err)
	}
	r.seq = e.Seq
	r.comment(e)
	return nil
}

// apply applies an event; n is its node, nil if it is of none or of one not in the epic.
func (r *Run) apply(n *node, e executor.Event) error {
	switch b := e.Body.(type) {
	case executor.InputsListed:
		return r.lists.Add(b)
	case executor.RunStarted:
		r.lists = nil
		return r.begin(e.Seq, b)
	case executor.RunDraining:
		r.halt.draining, r.halt.until, r.halt.drained = true, b.Until, b.Reason
	case executor.RunnerParked:
		r.parks.of(b.Runner).RunnerParked = b
	case executor.TailLost:
		return r.tailLost(b)
	case executor.RunRecovered:
		return r.runRecovered(b)
	case executor.NodeRecovered:
		return r.nodeRecovered(e, b)
	case executor.RunEnded:
		r.runs.ended = true
		if err := r.unneeded(); err != nil {
			return err
		}
		r.budget.fresh = !b.Interrupted && r.halt.held.For != executor.ForBudget && r.halt.held.For != executor.ForBase
	case executor.RunHeld:
		r.halt.hold(b)
	case executor.PreflightStarted:
		r.pre.begin()
		r.pre.running = true
	case executor.BaselineJudged:
		r.pre.judged(b)
	case executor.PreflightEnded:
		r.pre.running, r.pre.over = false, true
	case executor.Decided:
		return r.decided(e, b)
	case executor.TamperSeen:
		r.tampers.seen(b)
	case executor.TamperUndone:
		r.tampers.undone(b)
	default:
		return r.applyToNode(n, e)
	}
	return nil
}

// applyToNode applies an event about a node, which may have left the epic since.
func (r *Run) applyToNode(n *node, e executor.Event) error {
	if !r.runs.begun {
		return fmt.Errorf("no run has started")
	}
	if n == nil {
		if !r.runs.foreign {
			return fmt.Errorf("the epic has no such node")
		}
		n = r.addGone(e.Node)
	}
	err := r.applyNode(n, e)
	n.heard, n.changed = r.at, e.Seq
	if err != nil && r.runs.foreign {
		// The epic of that time had other steps or gates. What matters beyond it,
		// numbers and successes, is on record; the life itself cannot go on.
		n.life.stale, err = true, nil
		if b, begins := e.Body.(executor.EffectStarted); begins { // it costs something all the same
			err = r.effectStarted(n, e, b)
		}
	}
	r.queues.touch(n)
	return err
}

// move is become, except that in a stretch of another epic's events the graph of
// today may not explain a move: then it is made by way of Running.
func (r *Run) move(n *node, to executor.NodeStatus) error {
	if r.runs.foreign && n.asleep != nil { // what this epic keeps for later went on under that one
		n.life = n.asleep.life
	}
	if !r.runs.foreign || executor.NodeMoves[n.status][to] {
		return r.become(n, to)
	}
	for _, s := range []executor.NodeStatus{executor.Pending, executor.Ready, executor.Running, to} {
		if n.status == s {
			continue
		}
		if err := r.become(n, s); err != nil {
			return err
		}
	}
	return nil
}

// toPending moves a node back to the beginning, where it may be already.
func (r *Run) toPending(n *node) error {
	if n.status == executor.Pending {
		return nil
	}
	return r.move(n, executor.Pending)
}

// become moves a node to another status. Nothing else does.
func (r *Run) become(n *node, to executor.NodeStatus) error {
	if !executor.NodeMoves[n.status][to] {
		return fmt.Errorf("a %s node cannot become %s", n.status, to)
	}
	if n.index >= 0 {
		switch n.status {
		case executor.Ready:
			r.queues.ready.remove(n.class, n.index)
		case executor.Running:
			r.queues.running--
			r.queues.lanes[n.ir.Lane]--
			r.landing.unlock(n)
			n.cost.stop(r.at)
			if r.queues.running == 0 {
				r.budget.cost.stop(r.at)
			}
		case executor.Waiting:
			r.queues.dropTimer(n)
		}
	}
	n.status, n.since, n.asleep = to, r.at, nil
	if n.index >= 0 {
		switch to {
		case executor.Ready:
			n.class = r.classOf(n)
			r.queues.ready.add(n.class, n.index)
		case executor.Running:
			r.queues.running++
			r.queues.lanes[n.ir.Lane]++
			n.cost.start(r.at)
			r.budget.cost.start(r.at)
		case executor.Waiting:
			r.queues.addTimer(n)
		}
	}
	return nil
}

// move moves an attempt to another status. Nothing else does.
func (a *attempt) move(to executor.AttemptStatus) error {
	if !executor.AttemptMoves[a.status][to] {
		return fmt.Errorf("a %s attempt cannot become %s", a.status, to)
	}
	a.status = to
	return nil
}

// touch keeps the sets of what needs attention in step with a node.
func (q *queues) touch(n *node) {
	if n.index < 0 {
		return
	}
	q.flying.remove(n.index)
	q.active.remove(n.index)
	q.strays.remove(n.index)
	if n.busy() && n.status != executor.Running {
		q.strays.add(n.index)
	}
	if len(n.life.flight) > 0 {
		q.flying.add(n.index)
	}
	if n.status == executor.Running && (len(n.life.flight) == 0 || n.life.stage == stageGate) {
		q.active.add(n.index)
	}
}

// before orders nodes that could start: urgent ones first, then as in the epic.
func (gr *graph) before(a, b int) bool {
	if p, q := gr.nodes[a].ir.Priority, gr.nodes[b].ir.Priority; p != q {
		return p < q
	}
	return a < b
}

func (r *Run) classOf(n *node) class {
	c := class{lane: n.ir.Lane, first: r.firstTurn(n)}
	if c.first.agent != "" {
		c.runner = r.runnerOf(&n.ir.Steps[0])
	}
	return c
}

func (r *rules) runnerOf(s *ir.Step) string { return r.epic.Agents[s.Agent].Runner }
