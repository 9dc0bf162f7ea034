package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Run is the state of an epic's execution: what its events give. It is not safe
// for concurrent use; one goroutine owns it.
type Run struct {
	deserted bool // no process is at work on it, for who looks at it
	epic     *ir.Epic
	nodes    []*node // in the epic's order, the sum last
	byID     map[ir.NodeID]*node
	former   []*node // on record, and not in the epic any more, by id
	sum      *node   // nil where results are not joined (mode other than dag)

	seq      int64
	begun    bool // a RunStarted was applied
	numbered bool // its reports say of which start they are
	ended    bool // RunEnded was, since
	foreign  bool // the present stretch of events belongs to another epic.json
	started  executor.RunStarted
	until    time.Time // draining; zero: not
	draining bool
	reviving bool // begin is deriving all statuses, in order

	ready   queue
	active  set   // running, nothing in flight
	flying  set   // an effect is in flight
	timers  []int // waiting for something that comes by itself, by time
	expires []int // waiting for a person until a time, by time
	running int
	lanes   map[string]int // running, by lane
	agents  map[string]int // agents in flight, by runner

	at, prior   time.Time        // of the last event, and of the one before
	held        executor.RunHeld // For is "" if it is not
	heldAt      time.Time        // since when
	pre         preflight        // what is on record about the bases
	cancelled   string           // who cancelled the run
	drained     string           // why it drains
	startedSeq  int64            // of the event that began the last run
	startedAt   time.Time        // when that was
	firstSeq    int64            // of the event that began the first run since one ended; those between were killed
	firstAt     time.Time        // when that was
	recovered   time.Time        // from a tracker, because the journal was lost; zero: never
	plans       map[string]bool
	heard       map[string]bool // decisions, by id
	added       ir.Budget       // by people
	cost        cost
	fresh       bool                    // the last run ended by itself: the next one's budget is its own
	booked      purse                   // what turns in flight have reserved of the run's budget
	costs       map[turn]executor.Usage // the most that a finished turn cost
	wallLimited bool                    // some node's working time is
	budgeted    bool                    // the run's cost or tokens, or some node's, are limited
	limited     bool                    // some runner takes only so many agents
	strays      set                     // in flight for nodes that a person ended

	parks  map[string]*park // runners that are left alone, or counted
	lander *node            // whose result is being merged into the integration branch
	head   executor.Tree    // where the integration branch stands, as far as it was seen
	headAt int64            // event after which that was seen: what began before knows less

	sumRef      string                        // where ralph last put the integration branch
	sumMeant    string                        // where it was about to
	sumMeantOf  []executor.Result             // and of what
	sumPut      *put                          // it did, and that is not on record as made yet
	sumHolds    map[ir.NodeID]executor.Result // what it was made of
	sumUnder    []string                      // commits of results, and of the base, under others' commits that were accepted; nil: there are none of others
	sumBase     executor.Tree                 // and on which base
	rebuild     bool                          // a person said: of what is done now, without what others put there
	mayLose     map[string]bool               // and without these that were named, by commit
	sumOthers   []string                      // heads of others' commits in the last sum, which were accepted
	newOthers   []string                      // and of those that were accepted since
	asideOthers []string                      // and of those that a person set aside since
	baseOthers  []string                      // those that the pinned base holds
	leftOthers  []string                      // those that the last sum of this run took out
	sumLeft     []executor.Result             // what the last sum of this run took out
	sumPinned   string                        // ref that keeps what stood there before
	foreignHead executor.Tree                 // where others have put it
	foreignIs   foreignBranch                 // and what that is
	sumTold     map[string]bool               // what git found in it, when a person decided about that; nil: it goes on from what ralph put there
	accepted    executor.Tree                 // these, when a person accepted them
	madeFrom    map[string][]executor.Result  // what each result was made from, by commit
	resolutions map[string]resolution         // of conflicts, by listKey
	digests     map[string]string             // of gates, computed when first needed
	scratch     []executor.Effect
	holds       holds             // made by who looked since the last event
	starting    []executor.Effect // of the last Todo
	text        bytes.Buffer      // of the last Prompt
	says        []Comment         // about the epic as a whole

	tampers []Tamper          // changes that others made, see tamper.go
	told    map[string]string // what was said last of each thing: id
}

// New returns a run of epic without events. The epic must be valid (ir.Verify)
// and must not change afterwards.
func New(epic *ir.Epic) (*Run, error) {
	r := &Run{
		epic: epic, byID: make(map[ir.NodeID]*node, len(epic.Nodes)+1),
		lanes: map[string]int{}, agents: map[string]int{}, sumHolds: map[ir.NodeID]executor.Result{},
		plans: map[string]bool{}, heard: map[string]bool{}, costs: map[turn]executor.Usage{},
		parks: map[string]*park{}, madeFrom: make(map[string][]executor.Result, len(epic.Nodes)), resolutions: map[string]resolution{}, digests: map[string]string{},
	}
	r.ready = newQueue(r.before)
	r.budgeted = costLimited(epic.Run.Budget)
	index := make(map[ir.Key]int, len(epic.Nodes))
	for i := range epic.Nodes {
		in := withPersonStep(&epic.Nodes[i])
		r.wallLimited = r.wallLimited || in.Limits.Budget.WallMS > 0
		r.budgeted = r.budgeted || costLimited(in.Limits.Budget)
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
				return nil, fmt.Errorf("node %s: needs %s, which does not stand before it", in.Key, e.Key)
			}
			n.deps = append(n.deps, d)
			r.nodes[d].dependents = append(r.nodes[d].dependents, i)
		}
		index[in.Key] = i
		r.nodes = append(r.nodes, n)
		r.byID[in.ID] = n
	}
	for name, x := range inOrder(epic.Runners) {
		r.limited = r.limited || x.RPM > 0 || r.runnerLimit(name) > 0
	}
	if in := epic.Epic.Integration; in.Mode == "dag" || in.Mode == "branch" && in.PR == "plan" {
		r.addSum()
	}
	return r, nil
}

// Replay makes a run of the events that are on record about it; also is told of each. An
// error of reading them is returned as it is.
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

// Read are events that were read already, for Replay.
func Read(events []executor.Event) iter.Seq2[executor.Event, error] {
	return func(yield func(executor.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// addSum adds the node that joins all results: its gates run on the merge, and
// publishing it moves the integration branch. In mode branch the results are in
// that already, and only its pull request is made.
func (r *Run) addSum() {
	in := r.epic.Epic.Integration
	if in.Mode == "branch" { // each landing was judged
		in.Gates, in.ConflictAgent = nil, ""
	}
	n := &ir.Node{
		ID: executor.Integration, Key: executor.Integration, Kind: ir.GateKind, Title: "the sum of all results",
		Git:   ir.Git{Branch: in.Branch},
		Steps: []ir.Step{sumStep(r.epic, in)},
	}
	if n.Steps[0].Agent != "" {
		n.Kind = ir.Merge
	}
	h := sha256.New()
	for _, g := range in.Gates {
		fmt.Fprintf(h, "%s %s\n", g, r.gateDigest(g))
	}
	n.Digest = ir.NodeDigest{Work: "integration", Judge: "sha256:" + hex.EncodeToString(h.Sum(nil))}
	r.sum = &node{ir: n, id: executor.Integration, index: len(r.nodes), sum: true, selected: true, numbers: map[string]int{}}
	r.nodes = append(r.nodes, r.sum)
	r.byID[executor.Integration] = r.sum
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
	if err := r.expects(e); err != nil {
		return fmt.Errorf("event %d (%s %s): %w", e.Seq, e.Kind(), e.Node, err)
	}
	e = e.ToMillis()
	r.prior, r.at = r.at, e.At
	err := r.apply(e)
	r.holds = nil
	if err != nil {
		return fmt.Errorf("event %d (%s %s): %w", e.Seq, e.Kind(), e.Node, err)
	}
	r.seq = e.Seq
	r.comment(e)
	return nil
}

func (r *Run) apply(e executor.Event) error {
	switch b := e.Body.(type) {
	case executor.RunStarted:
		return r.begin(e.Seq, b)
	case executor.RunDraining:
		r.draining, r.until, r.drained = true, b.Until, b.Reason
		return nil
	case executor.RunnerParked:
		r.parked(b)
		return nil
	case executor.TailLost:
		return r.tailLost(b)
	case executor.RunRecovered:
		return r.runRecovered(b)
	case executor.NodeRecovered:
		return r.nodeRecovered(e, b)
	case executor.RunEnded:
		r.ended = true
		if err := r.unneeded(); err != nil {
			return err
		}
		r.fresh = !b.Interrupted && r.held.For != executor.ForBudget && r.held.For != executor.ForBase
		return nil
	case executor.RunHeld:
		r.hold(b)
		return nil
	case executor.PreflightStarted:
		r.pre.begin()
		r.pre.running = true
		return nil
	case executor.BaselineJudged:
		r.judgedBase(b)
		return nil
	case executor.PreflightEnded:
		r.pre.running, r.pre.over = false, true
		return nil
	case executor.Decided:
		return r.decided(e, b)
	case executor.TamperSeen:
		r.tamperSeen(b)
		return nil
	case executor.TamperUndone:
		r.tamperUndone(b)
		return nil
	}
	if !r.begun {
		return fmt.Errorf("no run has started")
	}
	n := r.byID[e.Node]
	if n == nil {
		if !r.foreign {
			return fmt.Errorf("the epic has no such node")
		}
		n = r.addGone(e.Node)
	}
	err := r.applyNode(n, e)
	n.heard = r.at
	if err != nil && r.foreign {
		// The epic of that time had other steps or gates. What matters beyond it,
		// numbers and successes, is on record; the life itself cannot go on.
		n.life.stale, err = true, nil
		if b, begins := e.Body.(executor.EffectStarted); begins { // it costs something all the same
			err = r.effectStarted(n, e, b)
		}
	}
	r.touch(n)
	return err
}

// move is become, except that in a stretch of another epic's events the graph of
// today may not explain a move: then it is made by way of Running.
func (r *Run) move(n *node, to executor.NodeStatus) error {
	if !r.foreign || executor.NodeMoves[n.status][to] {
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

// become moves a node to another status. Nothing else does.
func (r *Run) become(n *node, to executor.NodeStatus) error {
	if !executor.NodeMoves[n.status][to] {
		return fmt.Errorf("a %s node cannot become %s", n.status, to)
	}
	if n.index >= 0 {
		switch n.status {
		case executor.Ready:
			r.ready.remove(n.class, n.index)
		case executor.Running:
			r.running--
			r.lanes[n.ir.Lane]--
			r.unlock(n)
			n.cost.stop(r.at)
			if r.running == 0 {
				r.cost.stop(r.at)
			}
		case executor.Waiting:
			r.dropTimer(n)
		}
	}
	n.status, n.since = to, r.at
	if n.index >= 0 {
		switch to {
		case executor.Ready:
			n.class = r.classOf(n)
			r.ready.add(n.class, n.index)
		case executor.Running:
			r.running++
			r.lanes[n.ir.Lane]++
			n.cost.start(r.at)
			r.cost.start(r.at)
		case executor.Waiting:
			r.addTimer(n)
		}
	}
	return nil
}

// moveAttempt moves an attempt to another status. Nothing else does.
func (a *attempt) move(to executor.AttemptStatus) error {
	if !executor.AttemptMoves[a.status][to] {
		return fmt.Errorf("a %s attempt cannot become %s", a.status, to)
	}
	a.status = to
	return nil
}

// touch keeps the sets of what needs attention in step with a node.
func (r *Run) touch(n *node) {
	if n.index < 0 {
		return
	}
	r.flying.remove(n.index)
	r.active.remove(n.index)
	r.strays.remove(n.index)
	if n.busy() && n.status != executor.Running {
		r.strays.add(n.index)
	}
	if len(n.life.flight) > 0 {
		r.flying.add(n.index)
	}
	if n.status == executor.Running && (len(n.life.flight) == 0 || n.life.stage == stageGate) {
		r.active.add(n.index)
	}
}

// before orders nodes that could start: urgent ones first, then as in the epic.
func (r *Run) before(a, b int) bool {
	if p, q := r.nodes[a].ir.Priority, r.nodes[b].ir.Priority; p != q {
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

func (r *Run) runnerOf(s *ir.Step) string { return r.epic.Agents[s.Agent].Runner }
