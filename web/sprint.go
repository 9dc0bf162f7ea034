package web

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// sprint is everything about a sprint but its files and its diff.
func (l *live) sprint(key ir.Key) (Sprint, error) {
	v, is := l.byKey(key)
	if !is {
		return Sprint{}, unknown("there is no sprint %s in this epic", key)
	}
	out := Sprint{
		Seq: l.rec.Run.Seq(), Moved: v.Changed, Shown: words.Shown(v), Word: words.Status(v), Asks: words.WhyNot(v), Show: l.rec.Show(record.NodeOf(l.rec.Record, v)),
		After: []SprintLine{}, Before: []SprintLine{}, Offers: record.OffersOf(l.rec.Record, v), Join: l.joins(v), Tail: l.tailOf(v), Bead: l.beadOf(v),
	}
	out.Show.Since = past(v.Since)
	out.Other = l.others()[v.ID]
	out.Behind, out.Begin = []ir.Key{}, []ir.Key{}
	if record.WaitsForPerson(v) || failed(v) {
		out.Holds = l.held(key)
		out.Behind, out.Begin = l.behind(v)
	}
	for _, e := range l.rec.Node(v.ID).After {
		out.After = l.with(out.After, e.Key)
	}
	for _, k := range l.shape().next[key] {
		out.Before = l.with(out.Before, k)
	}
	return out, nil
}

// others are the sprints of which epic.json asks for other work than the run did.
func (l *live) others() map[ir.NodeID]bool {
	out := map[ir.NodeID]bool{}
	if !l.rec.Changed {
		return out
	}
	did := map[ir.NodeID]string{}
	for n := range lists.Refs(l.rec.Epic.Nodes) {
		did[n.ID] = n.Digest.Work
	}
	for n := range lists.Refs(l.rec.Given.Nodes) {
		work, is := did[n.ID]
		out[n.ID] = is && work != n.Digest.Work
	}
	return out
}

func (l *live) with(list []SprintLine, key ir.Key) []SprintLine {
	v, is := l.byKey(key)
	if !is || slices.ContainsFunc(list, func(s SprintLine) bool { return s.Key == key }) {
		return list
	}
	return append(list, sprintLine(v))
}

// joins are the sessions of a sprint's agents, and how a person joins them.
func (l *live) joins(v machine.NodeView) []Joining {
	out := []Joining{}
	for _, s := range run.SessionsOf(l.rec.Record, v, l.agents()) {
		j := Joining{Session: s.Session, Agent: s.Agent, Step: s.Step, Attempt: s.Attempt, Gate: s.Gate, Cannot: s.Cannot}
		if len(s.Joined) > 0 {
			args := make([]string, len(s.Joined))
			for i, a := range s.Joined {
				args[i] = words.QuoteArg(a)
			}
			j.Command = "cd " + words.QuoteArg(s.Dir) + " && " + strings.Join(args, " ")
		}
		out = append(out, j)
	}
	return out
}
