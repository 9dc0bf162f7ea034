package web

import (
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// inboxes is what waits in all epics.
func (s *Server) inboxes() (any, error) {
	out := Inbox{Items: []InboxItem{}, Failures: []Failure{}}
	for _, l := range s.house.all() {
		l.mu.Lock()
		out.Items = append(out.Items, l.inbox()...)
		out.Failures = append(out.Failures, l.failures()...)
		l.mu.Unlock()
	}
	slices.SortStableFunc(out.Items, func(a, b InboxItem) int { return since(a.Since).Compare(since(b.Since)) })
	return out, nil
}

// inbox is what waits for people in an epic, oldest first.
func (l *live) inbox() []InboxItem {
	out := l.aboutRun(record.RunOf(l.rec.Record))
	for _, v := range l.views() {
		if asksPerson(v) {
			out = append(out, l.item(v))
		}
	}
	slices.SortStableFunc(out, func(a, b InboxItem) int { return since(a.Since).Compare(since(b.Since)) })
	return out
}

// item is a sprint that waits.
func (l *live) item(v machine.NodeView) InboxItem {
	out := l.blank(string(v.Cause), words.Asked(v))
	out.Key, out.Title, out.Status, out.Reason = v.Key, v.Title, v.Status.String(), v.Reason
	out.Since, out.Gate, out.Approvers = record.TimeJSON(v.Since), v.Gate, v.Approvers
	out.Offers, out.Next, out.Holds = l.offers(v), orEmpty(l.rec.NextSteps(v)), l.held(v.Key)
	if out.Cause == "" {
		out.Cause = string(v.For)
	}
	if k := len(v.Attempts) - 1; k >= 0 {
		a := record.AttemptOf(l.rec.Record, v.ID, v.Attempts[k])
		out.Verdicts, out.Files, out.Added, out.Removed = orEmpty(a.Gates), a.FilesChanged, a.Added, a.Removed
	}
	return out
}

func (l *live) blank(cause, asks string) InboxItem {
	return InboxItem{
		Epic: l.id, EpicTitle: l.rec.Epic.Epic.Title, Repo: filepath.Base(l.repo.Dir), Status: executor.Waiting.String(), Cause: cause, Asks: asks,
		Verdicts: []record.GateJSON{}, Offers: []Offer{}, Next: []record.NextStep{}, Seq: l.rec.Run.Seq(),
	}
}

// aboutRun is what waits for a person about the whole run.
func (l *live) aboutRun(run record.RunJSON) []InboxItem {
	out := []InboxItem{}
	r := l.rec
	if !run.PlanApproved {
		i := l.blank("plan", "the plan waits for approval: nothing starts without it")
		i.Title = r.Epic.Epic.Title
		i.Offers = []Offer{{Way: machine.Way{Verb: executor.Approve}, What: "let it run as it was compiled", Command: "ralph approve" + r.About(), Main: true}}
		out = append(out, i)
	}
	if o := run.View; o.Held.For != "" {
		i := l.blank("held", "nothing new starts ("+string(o.Held.For)+"): "+words.First(o.Held.Detail))
		i.Title, i.Reason = r.Epic.Epic.Title, o.Held.Detail
		way := machine.HeldWay(o.Held.For, o.More)
		i.Offers = []Offer{{Way: way, What: "resume the whole run", Command: way.Line("", "", "") + r.About(), Main: true}}
		out = append(out, i)
	}
	for _, c := range record.ChangesOf(r.Run, r.Key, r.About(), nil) {
		if c.State != "open" || c.Grade != "tampered" {
			continue
		}
		i := l.blank("tampered", c.Text)
		i.Title, i.Since, i.Reason = c.What, record.TimeJSON(c.At), c.Text
		if c.Accept != "" {
			i.Offers = []Offer{{Way: machine.Way{Verb: executor.Approve}, What: "accept the change", Command: c.Accept, Tamper: c.ID}}
		}
		for _, command := range []string{c.Look, c.Back} {
			if command != "" {
				i.Next = append(i.Next, record.NextStep{Command: command, What: map[bool]string{true: "look at it", false: "put it back"}[command == c.Look]})
			}
		}
		out = append(out, i)
	}
	return out
}

// offers are the decisions that can be made about a sprint now; those that `ralph status`
// names come first.
func (l *live) offers(v machine.NodeView) []Offer {
	var first, rest []Offer
	steps := l.rec.NextSteps(v)
	for _, w := range v.Ways {
		if _, decides := w.Decision(); !decides || w.How == executor.Drafted || record.IsDraft(l.rec.Epic) && w.Verb == executor.Approve {
			continue // begins a run, or writes a plan: at a terminal
		}
		o := Offer{Way: w, What: effectOf[w.Verb], Command: w.Command() + l.rec.About()}
		i := slices.IndexFunc(steps, func(s record.NextStep) bool {
			return s.Way != nil && s.Way.Verb == w.Verb && s.Way.How == w.How && s.Way.Key == w.Key
		})
		if i < 0 {
			rest = append(rest, o)
			continue
		}
		o.What, o.Command, o.Main = steps[i].What, steps[i].Command, true
		o.Message = o.Message || steps[i].Way.Message
		first = append(first, o)
	}
	return append(orEmpty(first), rest...)
}

// effectOf is what decisions do, where `ralph status` does not say it.
var effectOf = map[executor.Verb]string{
	executor.Approve: "let it pass", executor.Reject: "the next attempt starts with your reason", executor.RetryNode: "try again",
	executor.Skip: "go on without it", executor.Cancel: "end it; what depends on it does not start", executor.Pause: "nothing more of it starts", executor.Resume: "go on",
}

// runOffers are the decisions about the whole run.
func (l *live) runOffers() []Offer {
	out := []Offer{}
	for _, i := range l.aboutRun(record.RunOf(l.rec.Record)) {
		if i.Cause == "plan" || i.Cause == "held" {
			out = append(out, i.Offers...)
		}
	}
	o := l.rec.Run.Overview()
	say := func(verb executor.Verb, what string) {
		w := machine.Way{Verb: verb}
		out = append(out, Offer{Way: w, What: what, Command: w.Command() + l.rec.About()})
	}
	if o.Open && o.Held.For == "" && l.rec.Held {
		say(executor.Pause, "what runs goes on; nothing new starts")
	}
	if o.Open {
		say(executor.Cancel, "end the run: what runs is stopped")
	}
	return out
}
