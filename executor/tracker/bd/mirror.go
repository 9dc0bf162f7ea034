package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Outbox configures a mirror.
type Outbox struct {
	Client *Client                                // nil: Open makes it
	Open   func(context.Context) (*Client, error) // tried until it works
	Epic   *ir.Epic
	Run    *machine.Run  // one of the mirror's own, which has replayed the journal
	State  string        // the epic's state directory: writes to bd are recorded there
	Poll   time.Duration // interval between checks for people's changes; 0 = 15 seconds

	// Push returns the function that writes the epic before the mirror begins. Push is
	// called in the mirror's goroutine, the function concurrently, until it succeeds. nil:
	// the epic is in bd already.
	Push func() func(context.Context, *Client) error
	// Metadata returns the metadata of a node's bead, or for nil of the epic's; a nil
	// function writes none. It is called in the mirror's goroutine.
	Metadata func(n *ir.Node) (map[string]json.RawMessage, error)
	// Applied is called with every event after the mirror's run has applied it. It may be nil.
	Applied func(executor.Event)
	// Report says a line to people.
	Report func(format string, args ...any)
	// Send passes a decision to the process that holds the lock; Answer returns the outcome.
	Send   func(context.Context, executor.Letter) error
	Answer func(ctx context.Context, id string) (answered bool, refused string, err error)

	// Claim is not nil if the bead is a person's issue that was not pushed.
	Claim *Claim

	Now func() time.Time // nil is time.Now
}

// Mirror writes the progress of a run into bd, concurrently with the run, and passes what
// people did there to the run. It is an outbox: Observe only queues; the mirror's own
// goroutine applies the events to a run of its own, from which it computes the state of a
// bead when the bead's turn comes. Pending writes are recomputed, so nothing piles up while
// bd is unavailable.
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
	dead    bool        // nothing can be written: the beads belong to another epic
	listed  bool        // the beads were read since
	look    time.Time   // when they are read again
	retry   time.Time   // no call before this time, because bd did not answer
	failed  int         // calls in a row that failed
	mode    string      // of the epic, in bd
	flush   time.Time   // when the epic's comments are sent, that are collected
	reports map[string]bool
	aside   []*bead // with writes that bd has refused since it last accepted one
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
	metadata bool            // to be written
	doubt    bool            // comments may exist from before the mirror began
	unsure   bool            // the outcome of the last comment is unknown: comments are read first
	asked    *asked          // the question that its labels put to people now
	lost     bool            // someone else has claimed it
	released string          // who had claimed it and has given it up
	seen     time.Time       // when bd answered about an issue last
	foreign  bool            // nothing more is written: bd resolves its id to another bead, or it is someone else's
	theirs   string          // status that a person gave it and that stays; "" none
	by       string          // whose status that is
	question string          // text of the last one that was put to people
	holds    []hold          // decisions in transit; it is not written meanwhile
	drop     []string        // labels of those that were not taken
	took     bool            // the last one was taken: its label is not too late
	judged   map[string]bool // events that no longer decide anything, by the id of their decision
	refused  map[string]*refusal
	apart    bool   // its fields are written one at a time, to find the one that bd refuses
	together int    // how many comments are sent as one; 0 = unlimited
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
	for n := range lists.Refs(m.epic.Nodes) {
		ids[n.Key] = n.ID
		v, _ := m.run.View(n.ID)
		begun := len(v.Attempts) > 0 || len(m.run.Node(n.ID).Comments()) > 0
		m.beads[n.ID] = &bead{id: n.ID, node: n, doubt: begun, metadata: begun, judged: map[string]bool{}, refused: map[string]*refusal{}}
		for _, e := range n.After {
			if e.Type == ir.Blocks {
				d := m.beads[ids[e.Key]]
				d.closes = append(d.closes, n.ID)
			}
		}
	}
	if o.Claim != nil {
		for _, text := range o.Claim.Notes {
			m.header().doubt = true
			m.header().tell(text, o.Claim.Since)
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

// Close lets the mirror write what is pending until ctx ends, and returns what bd has not
// been told; the next mirror of the epic continues with it. Afterwards ReadTold also
// returns the beads that differ in bd.
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

// dirty queues a bead whose node may have changed.
func (m *Mirror) dirty(id ir.NodeID) {
	b := m.beads[id]
	if b == nil || b.queued {
		return
	}
	b.queued = true
	m.queue = append(m.queue, id)
}

// report says a line once.
func (m *Mirror) report(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !m.reports[line] {
		m.reports[line] = true
		m.Report("%s", line)
	}
}

func (m *Mirror) note(err error) {
	if err != nil {
		m.report("the record of what bd has cannot be written: %v", err)
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
	out := lists.Map(m.epic.Nodes, func(n ir.Node) ir.NodeID { return n.ID })
	if m.Claim != nil { // the epic has none
		return out
	}
	return append(out, "")
}
