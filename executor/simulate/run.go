package simulate

import (
	"container/heap"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Result says how a simulation ended.
type Result struct {
	Run     *machine.Run // as the events left it
	Began   time.Time    // virtual
	Ended   time.Time
	Events  int64
	Starts  int      // of apply: one more than crashes; 0 if the plan was never approved
	Refused []string // decisions of the scenario that did not apply, with the reason
	Open    string   // why it ended before the run did; "" if the run ended
}

// maxEvents bounds a simulation, which could go on for ever: a scenario in which a
// person says "retry" each time that a gate cannot judge has no end.
func maxEvents(epic *ir.Epic) int64 { return 200_000 + 500*int64(len(epic.Nodes)) }

// Run plays the scenario. observe is told all events, in batches as they would
// become durable; it may be nil.
func Run(epic *ir.Epic, s *Scenario, observe func([]executor.Event)) (Result, error) {
	d := &sim{
		world: newWorld(epic, s), epic: epic, s: s, observe: observe, now: s.Start.UTC().Truncate(time.Millisecond),
		flying: map[string]*item{},
	}
	if s.People == nil {
		plain := *s
		plain.People = usualPeople
		d.s, d.usual, s = &plain, true, &plain
	}
	res := Result{Began: d.now}
	for i := range s.People {
		if p := &s.People[i]; !p.When {
			d.people(p, p.At)
		}
	}
	for i := range s.Crashes {
		c := s.Crashes[i]
		d.at(d.now.Add(c.At), &item{crash: &c})
	}
	run, err := machine.New(epic)
	if err != nil {
		return res, err
	}
	d.run = run
	err = d.play()
	res.Run, res.Ended, res.Events, res.Starts, res.Refused, res.Open = d.run, d.now, d.run.Seq(), d.starts, d.refused, d.open
	return res, err
}

// sim is the driver of a simulation: what local is to a run.
type sim struct {
	*world
	epic    *ir.Epic
	s       *Scenario
	run     *machine.Run
	observe func([]executor.Event)
	now     time.Time
	kept    []executor.Event // the journal
	shown   int              // of kept
	agenda  agenda
	order   int
	flying  map[string]*item
	waits   []executor.Event // of this round
	letters int
	starts  int
	refused []string
	open    string
	usual   bool // the scenario says nothing about people
}

// usualPeople do what is asked of them.
var usualPeople = []PersonRule{
	{When: true, Cause: executor.CauseApproval, After: Span{10 * time.Minute, 10 * time.Minute}, Verb: executor.Approve, Match: Match{Chance: 1}},
	{When: true, Cause: executor.CauseManual, After: Span{time.Hour, time.Hour}, Verb: executor.Approve, Match: Match{Chance: 1}},
}

// item is something that will happen.
type item struct {
	at    time.Time
	order int
	gone  bool // it was called off

	key   string // of an effect that ends
	event executor.Event
	said  []executor.Body // before it ends
	who   *PersonRule
	node  ir.NodeID
	crash *Crash
	start bool // apply starts
}

func (d *sim) at(t time.Time, it *item) *item {
	d.order++
	it.at, it.order = t, d.order
	heap.Push(&d.agenda, it)
	return it
}

func (d *sim) play() error {
	d.at(d.now, &item{start: true})
	for up := false; ; {
		var wake time.Time
		if up {
			done, next, err := d.round()
			if err != nil {
				return err
			}
			d.show()
			if done {
				return nil
			}
			wake = next
		}
		if d.run.Seq() > maxEvents(d.epic) {
			d.open = fmt.Sprintf("it has written %d events and would go on", d.run.Seq())
			return nil
		}
		it := d.next(wake)
		switch {
		case it == nil && d.starts == 0:
			d.open = "the plan waits for approval (hitl { plan = \"required\" }), and nobody in the scenario gives it; people: [{at: 0s, does: approve}] does"
			d.show()
			return nil
		case it == nil && wake.IsZero(): // it stayed for people, and nobody is still to come
			err := d.end()
			d.show()
			return err
		case it == nil: // the machine wants to be asked again
			d.now = later(d.now, wake)
			continue
		}
		d.now = later(d.now, it.at)
		var err error
		up, err = d.happen(it, up)
		if err != nil {
			return err
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// next takes what happens next, unless the machine wakes before.
func (d *sim) next(wake time.Time) *item {
	for len(d.agenda) > 0 && d.agenda[0].gone {
		heap.Pop(&d.agenda)
	}
	if len(d.agenda) == 0 || !wake.IsZero() && wake.Before(d.agenda[0].at) {
		return nil
	}
	return heap.Pop(&d.agenda).(*item)
}

// happen lets one thing happen. up is whether ralph runs, before and after.
func (d *sim) happen(it *item, up bool) (bool, error) {
	switch {
	case it.start && up: // somebody approved the plan just before
		return up, nil
	case it.start:
		return d.start()
	case it.crash != nil:
		if !up {
			return up, nil
		}
		for key, f := range d.flying {
			f.gone = true
			delete(d.flying, key)
		}
		if err := d.replay(); err != nil {
			return false, err
		}
		d.at(d.now.Add(it.crash.Down), &item{start: true})
		return false, nil
	case it.who != nil:
		if err := d.decision(it); err != nil || d.starts > 0 || !d.run.Overview().PlanApproved {
			return up, err
		}
		return d.start()
	}
	delete(d.flying, it.key)
	for _, b := range it.said {
		e := it.event
		e.Body = b
		if err := d.put(e); err != nil {
			return up, err
		}
	}
	return up, d.put(it.event)
}

// start is ralph apply, which begins nothing before the plan is approved, where a
// person has to.
func (d *sim) start() (up bool, err error) {
	if d.usual && !d.run.Overview().PlanApproved {
		if err := d.decision(&item{who: &PersonRule{Verb: executor.Approve}}); err != nil {
			return false, err
		}
	}
	if !d.run.Overview().PlanApproved {
		d.askForPlan()
		return false, nil
	}
	d.starts++
	return true, d.put(executor.Event{Body: d.begin()})
}

// askForPlan lets the first who approves whatever waits for it approve the plan.
func (d *sim) askForPlan() {
	for i := range d.s.People {
		p := &d.s.People[i]
		c := choice{fmt.Sprintf("%d/person/%d/plan", d.s.Seed, i)}
		if p.When && p.Verb == executor.Approve && (p.Cause == "" || p.Cause == executor.CauseApproval) && p.Match == (Match{Chance: p.Chance, Times: p.Times}) && c.float("chance") < p.Chance {
			d.used[&p.Match]++
			d.at(d.now.Add(c.span("after", p.After)), &item{who: p})
			return
		}
	}
}

func (d *sim) begin() executor.RunStarted {
	slots := d.s.Slots
	if slots == 0 {
		slots = max(d.epic.Run.Concurrency.Nodes, 1)
	}
	base := executor.Tree{Commit: d.hash("base"), Tree: d.hash("base tree")}
	d.trees[base.Commit] = base.Tree
	start := executor.RunStarted{
		Epic: d.epic.Epic.ID, Plan: d.epic.Epic.Plan, Digest: d.epic.Digest, Base: base, Slots: slots,
		Seed: d.s.Seed, Wait: d.s.Wait, By: "simulation",
	}
	start.Head = d.joined
	if mode := d.epic.Epic.Integration.Mode; mode == "branch" || mode == "wait" {
		start.Head = base.Commit
	}
	named := map[string]bool{}
	for i := range d.epic.Nodes {
		if b := d.epic.Nodes[i].Git.Base; b != "" && !named[b] {
			named[b] = true
			t := executor.Tree{Commit: d.hash("base", b), Tree: d.hash("base tree", b)}
			d.trees[t.Commit] = t.Tree
			start.Bases = append(start.Bases, executor.NamedTree{Name: b, Tree: t})
		}
	}
	return start
}

// replay is what a new process does: a new machine, from the journal.
func (d *sim) replay() error {
	run, err := machine.New(d.epic)
	if err != nil {
		return err
	}
	for _, e := range d.kept {
		if err := run.Apply(e); err != nil {
			return err
		}
	}
	d.run = run
	return nil
}

func (d *sim) put(e executor.Event) error {
	e.Seq, e.At = d.run.Seq()+1, d.now
	if err := d.run.Apply(e); err != nil {
		return err
	}
	d.kept = append(d.kept, e)
	if w, ok := e.Body.(executor.NodeWaiting); ok && w.For == executor.ForHuman {
		d.waits = append(d.waits, e)
	}
	return nil
}

func (d *sim) show() {
	if d.observe != nil && d.shown < len(d.kept) {
		d.observe(d.kept[d.shown:len(d.kept):len(d.kept)])
	}
	d.shown = len(d.kept)
}

// round is the driver's round: record, then start, then stop.
func (d *sim) round() (done bool, wake time.Time, err error) {
	todo, err := machine.Settle(d.run, func() time.Time { return d.now }, d.put)
	if err != nil {
		return false, wake, err
	}
	if todo.Stuck != "" {
		return false, wake, fmt.Errorf("the run is stuck: %s", todo.Stuck)
	}
	for _, e := range todo.Start {
		if err := machine.Begin(d.run, &e, d.put); err != nil {
			return false, wake, err
		}
		result, takes := d.do(e, d.now)
		key := e.Key(d.epic.Epic.ID)
		told := e.Says(nil)
		for _, told.Body = range d.tells {
			if err := d.put(told); err != nil {
				return false, wake, err
			}
		}
		told.Body = result
		d.flying[key] = d.at(d.now.Add(takes), &item{key: key, event: told, said: d.said})
	}
	for _, e := range todo.Stop {
		key := e.Key(d.epic.Epic.ID)
		if f := d.flying[key]; f != nil && !f.gone {
			f.gone = true
			f.event.Body = executor.EffectFailed{Class: executor.FailInterrupted, Detail: "stopped", Gate: e.Gate}
			d.flying[key] = d.at(d.now, &item{key: key, event: f.event})
		}
	}
	d.callPeople()
	if todo.Done && !(d.s.Wait && d.expected()) {
		return true, wake, d.end()
	}
	return false, todo.Wake, nil
}

func (d *sim) end() error {
	return d.put(executor.Event{Body: d.run.Ending(false)})
}

// callPeople lets the people of the scenario hear of those waits that still are.
func (d *sim) callPeople() {
	for _, e := range d.waits {
		w, _ := e.Body.(executor.NodeWaiting)
		for i := range d.s.People {
			p := &d.s.People[i]
			if !p.When || p.Cause != "" && p.Cause != w.Cause || p.Times > 0 && d.used[&p.Match] >= p.Times {
				continue
			}
			c := choice{fmt.Sprintf("%d/person/%d/%s/%d", d.s.Seed, i, e.Node, e.Seq)}
			if !d.matches(&p.Match, e.Node, e.Step, e.Attempt) || c.float("chance") >= p.Chance {
				continue
			}
			d.used[&p.Match]++
			after := c.span("after", p.After)
			if d.usual && !w.Until.IsZero() { // they come in time
				after = min(after, w.Until.Sub(d.now)/2)
			}
			d.at(d.now.Add(after), &item{who: p, node: e.Node})
			break
		}
	}
	d.waits = d.waits[:0]
}

// people puts a decision that has a time of its own on the agenda: for every node
// that it names, or for the run.
func (d *sim) people(p *PersonRule, at time.Duration) {
	t := d.now.Add(at)
	if p.Node == "" {
		d.at(t, &item{who: p})
		return
	}
	if p.Node == executor.Integration {
		d.at(t, &item{who: p, node: executor.Integration})
	}
	for i := range d.epic.Nodes {
		if n := &d.epic.Nodes[i]; d.matches(&p.Match, n.ID, p.Step, p.Attempt.From) {
			d.at(t, &item{who: p, node: n.ID})
		}
	}
}

func (d *sim) decision(it *item) error {
	p := it.who
	if v, ok := d.run.View(it.node); d.usual && ok && (v.Status != executor.Waiting || v.Cause != p.Cause) {
		return nil // it went on meanwhile, and asks again if it has to
	}
	by := d.whoIs(it)
	d.letters++
	decision := executor.Decision{
		ID: fmt.Sprintf("simulated-%d", d.letters), Verb: p.Verb, How: p.How, Message: p.Message, By: by, User: by, At: d.now,
		Budget: ir.Budget{Tokens: p.Tokens, USDMicro: p.USD, WallMS: p.Wall.Milliseconds()},
	}
	bound, err := d.run.Consider(it.node, decision, d.now)
	var no *executor.Refused
	if errors.As(err, &no) {
		key := "the run"
		if n := d.nodes[it.node]; n != nil {
			key = string(n.Key)
		}
		d.refused = append(d.refused, fmt.Sprintf("%s after %s: %s %s: %s", by, d.now.Sub(d.s.Start), p.Verb, key, no.Why))
		return nil
	}
	if err != nil {
		return err
	}
	return d.put(executor.Event{Node: it.node, Body: executor.Decided{Decision: bound}})
}

// whoIs is who speaks: whom the scenario names, else one who may.
func (d *sim) whoIs(it *item) string {
	if it.who.By != "" {
		return it.who.By
	}
	may := d.epic.Run.HITL.Approvers
	if it.node != "" {
		v, _ := d.run.View(it.node)
		may = v.Approvers
	}
	if len(may) == 0 {
		return "somebody"
	}
	return may[0]
}

// expected reports whether somebody is still to say something, and there is
// something left to say it about.
func (d *sim) expected() bool {
	said := false
	for _, it := range d.agenda {
		said = said || it.who != nil && !it.gone
	}
	if !said {
		return false
	}
	for _, v := range d.run.Views() {
		switch v.Status {
		case executor.Done, executor.Skipped, executor.Cancelled:
		default:
			return true
		}
	}
	return false
}

// agenda is a heap by time, then by order of arrival.
type agenda []*item

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if !a[i].at.Equal(a[j].at) {
		return a[i].at.Before(a[j].at)
	}
	return a[i].order < a[j].order
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*item)) }
func (a *agenda) Pop() any {
	old := *a
	it := old[len(old)-1]
	*a = old[:len(old)-1]
	return it
}
