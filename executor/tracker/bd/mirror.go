package bd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Outbox says what a mirror is made of.
type Outbox struct {
	Client *Client                                // nil: Open makes it
	Open   func(context.Context) (*Client, error) // tried until it works
	Epic   *ir.Epic
	Run    *machine.Run  // one of the mirror's own, which has replayed the journal
	State  string        // the epic's state directory: what bd was told is remembered there
	Poll   time.Duration // how often people's changes are looked for; 0: 15 seconds

	// Push makes what writes the epic before the mirror begins: it is made in the
	// mirror's goroutine, and called beside it. It is tried until it works. nil: the
	// epic is there.
	Push func() func(context.Context, *Client) error
	// Metadata is what a node's bead keeps, from the mirror's run, and for nil the
	// epic's; a nil function writes none. It is called in the mirror's goroutine.
	Metadata func(n *ir.Node) (map[string]any, error)
	// Applied is told of every event when the mirror's run has it. It may be nil.
	Applied func(executor.Event)
	// Report says a line to people.
	Report func(format string, args ...any)
	// Send gives a decision to whoever holds the lock; Answer asks what came of it.
	Send   func(context.Context, executor.Letter) error
	Answer func(ctx context.Context, id string) (answered bool, refused string, err error)

	// Claim is not nil where the bead is an issue of somebody's, and not pushed.
	Claim *Claim

	Now func() time.Time // nil is time.Now
}

// Mirror writes what happens to a run into bd, beside the run, and tells the run what
// people did there. It is an outbox: Observe only takes note; a goroutine of the
// mirror's own applies the events to a run of its own, and asks it how a bead has to
// stand when the bead's turn comes. What bd has not taken yet is computed anew, so
// that nothing piles up while bd is away.
type Mirror struct {
	Outbox
	c      *Client
	epic   *ir.Epic
	began  bool // the run that it goes with
	run    *machine.Run
	labels labels
	told   *memory
	opened int64 // last event that was there when the mirror began

	mu     sync.Mutex // guards news; held for an append
	news   []executor.Event
	heard  atomic.Int64 // calls that bd answered
	nudge  chan struct{}
	ending chan struct{} // closed by Close
	done   chan struct{} // closed when the goroutine has ended
	stop   context.CancelFunc

	// What follows is the goroutine's own.
	beads   map[ir.NodeID]*bead
	queue   []ir.NodeID // whose turn it is, in order; "" is the epic
	pushed  bool        // the epic is there
	dead    bool        // nothing can be written: its beads are another's
	listed  bool        // the beads were read since
	look    time.Time   // when they are read again
	retry   time.Time   // nothing is called before, because bd did not answer
	failed  int         // calls in a row that failed
	mode    string      // of the epic, in bd
	flush   time.Time   // when the epic's comments are sent, that are collected
	reports map[string]bool
	aside   []*bead // that have things which bd refused, since it took something
	ends    *ends   // what Claim.End said last
	found   bool    // work that agents found may not be in bd yet
	unfound int     // times that bd refused it
}

// bead is what the mirror knows of one bead.
type bead struct {
	id    ir.NodeID
	node  *ir.Node // nil: the epic
	known *Issue   // as bd showed it last; nil: it is not there

	queued   bool
	metadata bool            // it is due
	doubt    bool            // something was said about it before the mirror began
	unsure   bool            // how the last comment ended is not known: they are read first
	asked    *asked          // the question that its labels put to people now
	lost     bool            // somebody else has claimed it
	released string          // who had, and has not any more
	seen     time.Time       // when bd answered about an issue last
	foreign  bool            // bd takes its id for another: nothing is written any more
	theirs   string          // status that a person gave it and that stays; "" none
	by       string          // whose status that is
	question string          // text of the last one that was put to people
	holds    []hold          // decisions on their way; it stays as it is meanwhile
	drop     []string        // labels of those that were not taken
	took     bool            // the last one was taken: its label is not too late
	judged   map[string]bool // events that decide nothing any more, by the id of their decision
	refused  map[string]*refusal
	apart    bool   // its fields are written one after the other, to find what bd refuses
	together int    // how many comments are said together now; 0 = unlimited
	notes    []note // what is to be said beside what happened
	noted    map[string]bool
	closes   []ir.NodeID
}

const (
	poll    = 15 * time.Second
	collect = time.Minute // the epic's comments are sent together this often
	backoff = time.Second // the first, doubled each time
	longest = time.Minute
)

// NewMirror makes a mirror. Nothing is called before Look or Start.
func NewMirror(o Outbox) (*Mirror, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Poll == 0 {
		o.Poll = poll
	}
	told, err := remember(o.State)
	if err != nil {
		return nil, err
	}
	m := &Mirror{
		Outbox: o, c: o.Client, epic: o.Epic, run: o.Run, labels: labelsOf(o.Epic.Run), told: told, opened: o.Run.Seq(),
		nudge: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{}),
		beads: map[ir.NodeID]*bead{}, reports: map[string]bool{}, pushed: o.Push == nil,
	}
	m.found = o.Epic.Run.Tracker != nil && o.Epic.Run.Tracker.Proposals
	m.beads[""] = &bead{doubt: m.opened > 0, metadata: m.opened > 0, judged: map[string]bool{}, refused: map[string]*refusal{}}
	ids := map[ir.Key]ir.NodeID{}
	for i := range m.epic.Nodes {
		n := &m.epic.Nodes[i]
		ids[n.Key] = n.ID
		v, _ := m.run.View(n.ID)
		begun := len(v.Attempts) > 0 || len(m.run.Comments(n.ID)) > 0
		m.beads[n.ID] = &bead{id: n.ID, node: n, doubt: begun, metadata: begun, judged: map[string]bool{}, refused: map[string]*refusal{}}
		for _, e := range n.After {
			if e.Type == ir.Blocks {
				d := m.beads[ids[e.Key]]
				d.closes = append(d.closes, n.ID)
			}
		}
	}
	return m, nil
}

// Observe takes note of events that have become durable. It never waits.
func (m *Mirror) Observe(list []executor.Event) {
	m.mu.Lock()
	m.news = append(m.news, list...)
	m.mu.Unlock()
	select {
	case m.nudge <- struct{}{}:
	default:
	}
}

// Start begins the mirror's goroutine. ctx bounds everything that it calls.
func (m *Mirror) Start(ctx context.Context) {
	ctx, m.stop = context.WithCancel(ctx)
	go func() { defer close(m.done); m.loop(ctx) }()
}

// Heard counts the calls that bd has answered: while it grows, waiting for Close is
// worth it. It may be called at any time.
func (m *Mirror) Heard() int64 { return m.heard.Load() }

// Close lets the mirror write what is left until ctx ends, and returns what bd has not
// been told. The next mirror of the epic goes on with it. ReadTold then also has what
// stays otherwise there.
func (m *Mirror) Close(ctx context.Context) (unsent []Unsent, err error) {
	if m.stop != nil {
		close(m.ending)
		select {
		case <-m.done:
		case <-ctx.Done():
			m.stop()
			<-m.done
		}
		m.stop()
	}
	m.take()
	unsent = m.unsent()
	return unsent, m.told.close(unsent, m.left())
}

// take applies what happened to the mirror's own run.
func (m *Mirror) take() {
	m.mu.Lock()
	news := m.news
	m.news = nil
	m.mu.Unlock()
	for _, e := range news {
		if err := m.run.Apply(e); err != nil { // the run itself took it
			m.report("bug in ralph: the mirror does not follow the run: %v", err)
			return
		}
		if _, ok := e.Body.(executor.RunStarted); ok {
			m.began = true
		}
		if m.Applied != nil {
			m.Applied(e)
		}
		m.dirty(e.Node)
		m.dirty("")
		if b := m.beads[e.Node]; b != nil {
			if d, ok := e.Body.(executor.Decided); ok {
				b.heard(d.ID)
			}
			switch body := e.Body.(type) {
			case executor.AttemptEnded:
				b.metadata = b.metadata || body.Status != executor.AttemptPassed
			case executor.NodeDone, executor.NodeBlocked, executor.Decided, executor.Pulled:
				b.metadata = true
			}
		}
		switch e.Body.(type) {
		case executor.RunStarted, executor.RunEnded, executor.Decided: // they move others, too
			m.all()
		}
		switch e.Body.(type) {
		case executor.AttemptEnded, executor.NodeDone:
			m.found = m.epic.Run.Tracker != nil && m.epic.Run.Tracker.Proposals
		}
		switch e.Body.(type) {
		case executor.RunStarted, executor.RunEnded:
			m.header().metadata = true
		case executor.Published, executor.NodeDone:
			m.header().metadata = m.header().metadata || e.Node == executor.Integration
		}
	}
}

func (m *Mirror) all() {
	for i := range m.epic.Nodes {
		m.dirty(m.epic.Nodes[i].ID)
	}
}

// dirty queues a bead whose node may stand elsewhere now.
func (m *Mirror) dirty(id ir.NodeID) {
	b := m.beads[id]
	if b == nil || b.queued {
		return
	}
	b.queued = true
	m.queue = append(m.queue, id)
}

// loop writes one thing after the other until there is nothing left and Close was
// called.
func (m *Mirror) loop(ctx context.Context) {
	m.all()
	m.dirty("")
	ending := m.ending
	for ctx.Err() == nil {
		closing := ending == nil
		if closing && (m.failed > 1 || m.dead) {
			return // it does not answer, and nobody waits for it any longer
		}
		wake, idle := m.step(ctx, closing)
		switch {
		case !idle:
			continue
		case closing && !m.Now().Before(m.retry):
			return
		case closing && m.c == nil:
			return // there is none
		}
		t := time.NewTimer(wake.Sub(m.Now()))
		select {
		case <-m.nudge:
		case <-t.C:
		case <-ending:
			ending = nil
			m.all() // what was collected is sent
			m.dirty("")
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// step makes one call, if one is due; else it says when the next one is.
func (m *Mirror) step(ctx context.Context, closing bool) (wake time.Time, idle bool) {
	m.take()
	now := m.Now()
	if !m.flush.IsZero() && !now.Before(m.flush) {
		m.dirty("")
	}
	switch {
	case m.dead:
		return now.Add(longest), true
	case now.Before(m.retry):
		return m.retry, true
	case m.c == nil, !m.pushed:
		m.settle(m.prepare(ctx))
	case !m.listed, !closing && !now.Before(m.look):
		m.settle(m.poll(ctx))
	case len(m.queue) > 0:
		b := m.beads[m.queue[0]]
		m.queue, b.queued = m.queue[1:], false
		more, err := m.turn(ctx, b, closing)
		switch {
		case m.mistaken(b, err):
			err = nil
		case more || err != nil:
			m.dirty(b.id)
		}
		m.settle(err)
	case m.found:
		m.settle(m.propose(ctx))
	case !m.flush.IsZero() && m.flush.Before(m.look):
		return m.flush, true
	default:
		return m.look, true
	}
	return wake, false
}

// connect opens bd.
func (m *Mirror) connect(ctx context.Context) error {
	if m.c != nil {
		return nil
	}
	var c *Client
	err := m.do(ctx, func(ctx context.Context) (err error) { c, err = m.Open(ctx); return err })
	var missing *Missing
	if errors.As(err, &missing) {
		m.report("this run is not mirrored into bd: %v", err)
	}
	m.c = c
	return err
}

// prepare opens bd, and writes the epic, if it is not there.
func (m *Mirror) prepare(ctx context.Context) error {
	if err := m.connect(ctx); err != nil || m.pushed {
		return err
	}
	push := m.Push()
	err := m.do(ctx, func(ctx context.Context) error { return push(ctx, m.c) })
	var occupied *Occupied
	if errors.As(err, &occupied) {
		m.dead = true
		m.report("this run is not mirrored into bd: %v", err)
		return nil
	}
	m.pushed, m.listed = err == nil, false
	return err
}

// do makes a call of bd and applies what happens meanwhile.
func (m *Mirror) do(ctx context.Context, call func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	for {
		select {
		case err := <-done:
			if err == nil {
				m.heard.Add(1)
			}
			return err
		case <-m.nudge:
			m.take()
		}
	}
}

// settle takes note of how a call ended: a bd that does not do what it is asked is
// left alone for a while, longer each time, and that is said once.
func (m *Mirror) settle(err error) {
	var foreign *Foreign
	if err == nil || errors.As(err, &foreign) || Guarded(err) {
		if m.failed > 0 && m.told.Away != "" {
			m.report("bd answers again; it is told what it missed")
		}
		m.failed, m.retry = 0, time.Time{}
		m.note(m.told.away(""))
		return
	}
	m.failed++
	m.retry = m.Now().Add(min(backoff<<min(m.failed-1, 10), longest))
	var missing *Missing
	if m.failed > 1 && m.told.Away == "" && !errors.As(err, &missing) {
		m.report("bd does not take what it is told; ralph goes on and tells it later: %v", err)
		m.note(m.told.away(err.Error()))
	}
}

// mistaken reports whether bd takes the id of a bead for another's.
func (m *Mirror) mistaken(b *bead, err error) bool {
	var foreign *Foreign
	if !errors.As(err, &foreign) {
		return false
	}
	b.foreign = true
	m.report("%v. Nothing more is written to %s in this run", err, b.name(m.epic))
	return true
}

// report says a line once.
func (m *Mirror) report(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !m.reports[line] {
		m.reports[line] = true
		m.Report("%s", line)
	}
}

func (m *Mirror) note(err error) {
	if err != nil {
		m.report("what bd was told cannot be remembered: %v", err)
	}
}

// says reports whether something is mirrored.
func (m *Mirror) says(what string) bool {
	return m.Claim != nil && what != MirrorMetadata || Mirrors(m.epic, what) // of an issue people see nothing else
}

func (b *bead) name(e *ir.Epic) string {
	if b.node == nil {
		return string(e.Epic.ID)
	}
	return string(b.id)
}

// order lists the beads: the nodes in the epic's order, then the epic.
func (m *Mirror) order() []ir.NodeID {
	out := make([]ir.NodeID, 0, len(m.beads))
	for i := range m.epic.Nodes {
		out = append(out, m.epic.Nodes[i].ID)
	}
	if m.Claim != nil { // the epic has none
		return out
	}
	return append(out, "")
}
