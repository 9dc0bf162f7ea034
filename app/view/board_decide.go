package view

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
)

// ask begins a decision with a verb about what a page shows.
func (m boardModel) ask(p BoardPage, verb executor.Verb) (boardModel, tea.Cmd) {
	i := offerOf(p.Offers, verb)
	if i < 0 {
		name := string(p.Key)
		if name == "" {
			name = "the run"
		}
		m.told = fmt.Sprintf("%s cannot be decided about %s now", verb, name)
		return m, nil
	}
	return m.offered(p, p.Offers[i]), nil
}

// offerOf is the decision that the key of a verb takes, a plain one if there is one; -1 if
// none has the verb.
func offerOf(offers []record.Offer, verb executor.Verb) int {
	if i := slices.IndexFunc(offers, func(o record.Offer) bool { return o.Verb == verb && o.How == executor.HowPlain }); i >= 0 {
		return i
	}
	return slices.IndexFunc(offers, func(o record.Offer) bool { return o.Verb == verb })
}

// offered begins a decision.
func (m boardModel) offered(p BoardPage, o record.Offer) boardModel {
	m.told = ""
	m.asking = &asking{page: p, offer: o, must: o.Needs != ""}
	if o.Message || o.Verb == executor.Reject {
		m.asking.text = &typing{}
	}
	return m
}

// answered is a key that is pressed while a decision is about to be made.
func (m boardModel) answered(k tea.KeyPressMsg) (boardModel, tea.Cmd) {
	a := *m.asking
	key := k.String()
	switch {
	case key == "esc", key == "ctrl+c", a.text == nil && (key == "n" || key == "q"):
		m.asking = nil
		m.told = "nothing was decided"
		return m, nil
	case a.text == nil && key == "y":
		m.asking, m.told = nil, "…"
		d, at := a.decision(), a.page.Spot
		return m, func() tea.Msg { return m.door.decide(at, d, a.offer.Budget) }
	case a.text == nil:
	case key == "enter":
		if a.said = strings.TrimSpace(a.text.text); a.said != "" || !a.must {
			a.text = nil
		}
	default:
		text := a.text.key(k)
		a.text = &text
	}
	m.asking = &a
	return m, nil
}

// decision is what is decided, bound to what was shown.
func (a *asking) decision() executor.Decision {
	o := a.offer
	d := executor.Decision{Verb: o.Verb, How: o.How, Message: a.said, By: o.As, Tamper: o.Tamper, Seen: executor.Sight{Seq: a.page.Seq}}
	if b := a.page.Approval; b != nil && o.Verb == executor.Approve && o.How == executor.HowPlain {
		d.Gate, d.Digest, d.Result, d.Base = b.Gate, b.Digest, b.Result, b.Base
	}
	return d
}

// command is what decides the same at a terminal.
func (a *asking) command() string {
	w := a.offer.Way
	if !w.Message && a.said == "" {
		return a.offer.Command
	}
	as := ""
	if a.offer.As != "" {
		as = " --as " + words.QuoteArg(a.offer.As)
	}
	w.Message = a.said != ""
	return w.Line(words.QuoteArg(string(w.Key)), as, words.QuoteArg(a.said)) + a.page.Flag
}
