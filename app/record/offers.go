package record

import (
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// Offer is a decision that can be made now.
type Offer struct {
	machine.Way
	Label   string `json:"label"`            // what it is called: "approve", "answer"
	Text    string `json:"text,omitempty"`   // what its message is
	Needs   string `json:"needs,omitempty"`  // what is said where its message is empty; "": it may be
	What    string `json:"what"`             // its effect, in words
	Command string `json:"command"`          // the same at a terminal
	Main    bool   `json:"main,omitempty"`   // worth doing: `ralph status` names it, too
	Tamper  string `json:"tamper,omitempty"` // approve: the change that it accepts
	As      string `json:"-"`                // who decides, where the command says it
	// Approvers who alone may decide so; empty: anybody may.
	Only []string `json:"only,omitempty"`
}

// WaitsForPerson reports whether a sprint waits for a person, or for more budget; what holds
// the whole run is asked once.
func WaitsForPerson(v machine.NodeView) bool {
	return v.Status == executor.Waiting && v.Cause != executor.CauseHeld && v.SameAs == "" && !v.GoesOn &&
		(v.For == executor.ForHuman || v.For == executor.ForBudget)
}

// OffersOf are the decisions that can be made about a sprint now; those that `ralph status`
// names come first.
func OffersOf(r *Record, v machine.NodeView) []Offer {
	first, rest := []Offer{}, []Offer{}
	steps := r.NextSteps(v)
	for _, w := range v.Ways {
		if _, decides := w.Decision(); !decides || w.How == executor.Drafted || IsDraft(r.Epic) && w.Verb == executor.Approve {
			continue // begins a run, or writes a plan: at a terminal
		}
		o := Offer{Way: w, What: effect(w), Command: w.Command() + r.About()}
		i := slices.IndexFunc(steps, func(s NextStep) bool {
			return s.Way != nil && s.Way.Verb == w.Verb && s.Way.How == w.How && s.Way.Key == w.Key
		})
		if i < 0 {
			rest = append(rest, o.named(v))
			continue
		}
		o.What, o.Command, o.As, o.Main = steps[i].What, steps[i].Command, steps[i].As, true
		o.Message = o.Message || steps[i].Way.Message
		first = append(first, o.named(v))
	}
	return append(first, rest...)
}

// mayExplain are the decisions that take a text which nobody is asked for.
var mayExplain = []executor.Verb{executor.Skip, executor.Pause, executor.Cancel}

// named says what an offer about a node is called, and about its message.
func (o Offer) named(v machine.NodeView) Offer {
	o.Message = o.Message || slices.Contains(mayExplain, o.Verb)
	cause := executor.Cause("")
	if v.Status == executor.Waiting {
		cause = v.Cause
	}
	o.Label, o.Text = words.Offer(o.Way, cause), words.OfferText(o.Way, cause)
	if cause == executor.CauseApproval && (o.Verb == executor.Reject || o.Verb == executor.Approve && o.How == "") {
		o.Only = v.Approvers
	}
	if v.Must(o.Way) {
		o.Needs = words.OfferNeeds(o.Way, cause)
	}
	return o
}

// ofRun names an offer about the whole run.
func (o Offer) ofRun() Offer {
	o.Message = o.Message || slices.Contains(mayExplain, o.Verb)
	o.Label, o.Text = words.Offer(o.Way, ""), words.OfferText(o.Way, "")
	if o.Tamper != "" {
		o.Label = "accept the change"
	}
	return o
}

// effect is what a decision does, where `ralph status` does not say it.
func effect(w machine.Way) string {
	if w.How == executor.GatesOnly {
		return "the gates judge what is in its worktree"
	}
	return effectOf[w.Verb]
}

var effectOf = map[executor.Verb]string{
	executor.Approve: "let it pass", executor.Reject: "the next attempt starts with your reason", executor.RetryNode: "try again",
	executor.Skip: "go on without it", executor.Cancel: "end it; what depends on it does not start", executor.Pause: "nothing more of it starts", executor.Resume: "go on",
}

// Question is what waits for a person about the whole run.
type Question struct {
	Cause  string // plan, held, tampered
	Asks   string // what is wanted, in words
	Title  string
	Reason string    // in full
	Since  time.Time // zero: not known
	Offers []Offer
	Next   []NextStep // what to type, or to do by hand
}

// QuestionsOf is what waits for a person about the whole run.
func QuestionsOf(r *Record, run RunJSON) []Question {
	var out []Question
	if !run.PlanApproved {
		out = append(out, Question{
			Cause: "plan", Asks: "the plan waits for approval: nothing starts without it", Title: r.Epic.Epic.Title,
			Offers: []Offer{Offer{Way: machine.Way{Verb: executor.Approve}, What: "let it run as it was compiled", Command: "ralph approve" + r.About(), Main: true, Only: r.Epic.Run.HITL.Approvers}.ofRun()},
		})
	}
	if o := run.View; o.Held.For != "" {
		way := machine.HeldWay(o.Held.For, o.More)
		var only []string
		if way.How == executor.Baseline {
			only = r.Epic.Run.HITL.Approvers
		}
		out = append(out, Question{
			Cause: "held", Asks: "nothing new starts (" + string(o.Held.For) + "): " + words.First(o.Held.Detail), Title: r.Epic.Epic.Title, Reason: o.Held.Detail,
			Offers: []Offer{Offer{Way: way, What: "resume the whole run", Command: way.Line("", "", "") + r.About(), Main: true, Only: only}.ofRun()},
		})
	}
	for _, c := range ChangesOf(r.Run, r.Key, r.About(), nil) {
		if c.State != "open" || c.Grade != "tampered" {
			continue
		}
		q := Question{Cause: "tampered", Asks: c.Text, Title: c.What, Since: c.At, Reason: c.Text}
		if c.Accept != "" {
			q.Offers = []Offer{Offer{Way: machine.Way{Verb: executor.Approve}, What: "accept the change", Command: c.Accept, Tamper: c.ID}.ofRun()}
		}
		for _, s := range []NextStep{{Command: c.Look, What: "look at it"}, {Command: c.Back, What: "put it back"}} {
			if s.Command != "" {
				q.Next = append(q.Next, s)
			}
		}
		out = append(out, q)
	}
	return out
}

// RunOffersOf are the decisions that can be made about the whole run now.
func RunOffersOf(r *Record) []Offer {
	out := []Offer{}
	for _, q := range QuestionsOf(r, RunOf(r)) {
		if q.Cause == "plan" || q.Cause == "held" {
			out = append(out, q.Offers...)
		}
	}
	o := r.Run.Overview()
	say := func(verb executor.Verb, what string) {
		w := machine.Way{Verb: verb}
		out = append(out, Offer{Way: w, What: what, Command: w.Command() + r.About()}.ofRun())
	}
	if o.Open && o.Held.For == "" && r.Held {
		say(executor.Pause, "what runs goes on; nothing new starts")
	}
	if more := someMore(o.Budget); o.Open && o.Held.For == "" && more != "" {
		w := machine.Way{Verb: executor.Resume, Budget: more}
		add := Offer{Way: w, What: "the run may use more", Command: w.Line("", "", "") + r.About()}.ofRun()
		add.Label = "add to the budget"
		out = append(out, add)
	}
	if o.Open {
		say(executor.Cancel, "end the run: what runs has until apply's --grace is over (2 minutes by default)")
	}
	return out
}

// someMore is what may be added to a budget; "" if the run has none.
func someMore(b ir.Budget) string {
	switch {
	case b.USDMicro > 0:
		return "usd=+20"
	case b.Tokens > 0:
		return "tokens=+1M"
	case b.WallMS > 0:
		return "wall=+1h"
	}
	return ""
}
