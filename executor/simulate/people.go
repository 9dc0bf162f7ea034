package simulate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// usualPeople do what is asked of them.
var usualPeople = []PersonRule{
	{When: true, Cause: executor.CauseApproval, After: Span{10 * time.Minute, 10 * time.Minute}, Verb: executor.Approve, Match: Match{Chance: 1}},
	{When: true, Cause: executor.CauseManual, After: Span{time.Hour, time.Hour}, Verb: executor.Approve, Match: Match{Chance: 1}},
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
	bound, err := d.run.Decisions().Consider(it.node, decision, d.now)
	if no, ok := errors.AsType[*executor.Refused](err); ok {
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
	return d.Put(executor.Event{Node: it.node, Body: executor.Decided{Decision: bound}})
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

// expected reports whether a person is still to say something, and there is
// something left to say it about.
func (d *sim) expected() bool {
	if !slices.ContainsFunc(d.agenda, func(it *item) bool { return it.who != nil && !it.gone }) {
		return false
	}
	over := []executor.NodeStatus{executor.Done, executor.Skipped, executor.Cancelled}
	return slices.ContainsFunc(d.run.Views(), func(v machine.NodeView) bool { return !slices.Contains(over, v.Status) })
}
