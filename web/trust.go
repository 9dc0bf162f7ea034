package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Grades of a check.
const (
	trustGood = "good" // nothing to look at
	trustNone = "none" // nothing was to be checked
	trustLook = "look" // a person should
	trustBad  = "bad"  // what is shown may be wrong
)

// mostProofs bounds the proofs of a check.
const mostProofs = 50

// trust is what speaks for the results of an epic, and what does not, each with what proves it.
func (s *Server) trust(ctx context.Context, l *live, _ *http.Request) (Trust, error) {
	l.mu.Lock()
	state, id := l.rec.Space.State(), l.rec.Epic.Epic.ID
	out := Trust{Seq: l.rec.Run.Seq(), Checks: l.checks()}
	begun := len(l.rec.Events) > 0
	l.mu.Unlock()
	sound := TrustCheck{Name: "journal", Title: "The journal", State: trustGood, Text: "nothing has run yet", Proofs: []Proof{}}
	if begun {
		var err error
		sound, err = remembered(ctx, l, "verify", 10*time.Second, func(ctx context.Context) (TrustCheck, error) { return verified(ctx, state, id) })
		if err != nil {
			return out, err
		}
	}
	editable, err := remembered(ctx, l, "editable", 10*time.Second, func(context.Context) (TrustCheck, error) { return l.editable() })
	out.Checks = append([]TrustCheck{sound, editable}, out.Checks...)
	return out, err
}

// editable names the gates whose own files the agents that they judge can edit. The compiler
// warns of them.
func (l *live) editable() (TrustCheck, error) {
	top, err := os.OpenRoot(l.repo.Dir)
	if err != nil {
		return TrustCheck{}, err
	}
	defer func() { _ = top.Close() }() // nothing was written
	epic := locked(l, func() *ir.Epic { return l.rec.Epic })
	var open []Proof
	for _, g := range compiler.EditableGates(top.FS(), epic) {
		keys := lists.Map(g.Keys[:min(len(g.Keys), words.MostNamed)], func(k ir.Key) string { return string(k) })
		open = append(open, Proof{Key: g.Keys[0], Text: fmt.Sprintf("gate %s runs through %s, which the agent of %s can change: without protect it judges what its agent lets it judge",
			g.Gate, words.ListOf(g.Files), text.AndMore(keys, len(g.Keys)))})
	}
	return check("editable", "Gates whose own files an agent can edit", "none", trustLook, open), nil
}

// verified reads the whole journal, with the chain of its digests.
func verified(ctx context.Context, state string, id ir.NodeID) (TrustCheck, error) {
	c := TrustCheck{Name: "journal", Title: "The journal", Proofs: []Proof{}}
	v, err := journal.Verify(ctx, state, id)
	var damage *journal.Damage
	switch {
	case ctx.Err() != nil:
		return c, ctx.Err()
	case errors.As(err, &damage):
		c.State, c.Text = trustBad, err.Error()
		c.Proofs = append(c.Proofs, Proof{Seq: damage.Seq, Text: err.Error()})
		return c, nil
	case err != nil:
		c.State, c.Text = trustBad, err.Error()
		return c, nil
	}
	c.State, c.Text = trustGood, fmt.Sprintf("%s, each with the digest of the one before; the last has %.12s", text.Count(int(v.Events), "event"), v.Hash)
	for _, g := range v.Gaps {
		c.State = trustLook
		c.Proofs = append(c.Proofs, Proof{Seq: g.Before, Text: fmt.Sprintf("events are lost behind %d: %s showed it", g.After, text.Count(g.Found, "commit"))})
	}
	return c, nil
}

// checks are the ones that the record answers.
func (l *live) checks() []TrustCheck {
	f := &finder{l: l}
	for _, e := range l.rec.Events {
		f.event(e)
	}
	epic := l.rec.Epic
	for _, w := range epic.Waivers {
		f.waived = append(f.waived, Proof{Key: w.Node, Text: fmt.Sprintf("rule %s, by %s until %s: %s", w.Rule, w.Owner, w.Until, w.Reason)})
	}
	var doubts, others, open []Proof
	for _, v := range l.views() {
		if v.Status == executor.Done || v.Status == executor.Waiting {
			for _, d := range l.rec.Run.Summary().NodeDoubts(v) {
				doubts = append(doubts, Proof{Key: v.Key, Text: d})
			}
		}
	}
	for _, c := range record.ChangesOf(l.rec.Run, l.rec.Key, l.rec.About(), nil) {
		others = append(others, changeProof(c))
	}
	for _, commit := range l.rec.Run.Integration().Others() {
		others = append(others, Proof{Text: fmt.Sprintf("commit %.12s of others is accepted on %s", commit, epic.Epic.Integration.Branch), Command: "git show " + commit})
	}
	agents, gates := confinedNot(epic)
	for _, name := range agents {
		open = append(open, Proof{Text: "agent " + name + " works as you, on your machine: it can read and write what you can"})
	}
	if len(gates) > 0 {
		open = append(open, Proof{Text: fmt.Sprintf("%s %s as you, on your machine: what each starts can read and write what you can: %s", text.Count(len(gates), "gate"), text.Form(len(gates), "judges", "judge"), words.ListOf(gates))})
	}
	level, all := machine.SandboxesSaid(epic, l.views()...)
	if !all && len(open) == 0 {
		open = append(open, Proof{Text: level})
	}
	return []TrustCheck{
		check("doubts", "What ralph itself doubts", "nothing", trustLook, doubts),
		check("waived", "Gates and rules that were waived", "none", trustLook, f.waived),
		check("overrides", "Sprints that count although they were not judged", "none", trustLook, f.overrides),
		check("claims", "Decisions in another's name", "none: each is by who was logged in", trustLook, f.claims),
		check("page", "Decisions from this page", "none", trustGood, f.page),
		check("red-first", "Tests that were seen to fail before the work", "no gate asks for that", trustNone, f.red),
		check("protected", "Protected files, and what else ralph noted in commits", "nothing", trustLook, f.protected),
		check("fresh", "New files that gates protect from now on", "none", trustNone, f.fresh),
		check("others", "Changes and commits by others", "none were seen", trustLook, others),
		check("spoken", "What people wrote in agents' sessions", "nothing", trustLook, f.spoken),
		check("sandbox", "How agents are confined", cmp.Or(strings.TrimSuffix(level, "."), "all are"), trustLook, open),
		check("refused", "What sandboxes refused", "nothing", trustNone, f.refusals()),
	}
}

// changeProof is a change by others in one line.
func changeProof(c words.Change) Proof {
	p := Proof{Text: c.Text, Command: c.Look, Back: c.Back}
	if c.State != string(machine.TamperOpen) {
		p.Text = c.State + ": " + p.Text
	}
	if len(c.During) > 0 {
		p.Text += ", while " + words.ListOf(c.During) + " ran"
	}
	return p
}

func check(name, title, none, state string, proofs []Proof) TrustCheck {
	c := TrustCheck{Name: name, Title: title, State: state, Text: fmt.Sprint(len(proofs)), Proofs: orEmpty(proofs)}
	switch {
	case len(proofs) == 0 && state == trustNone:
		c.Text = none
	case len(proofs) == 0:
		c.State, c.Text = trustGood, none
	case state == trustNone:
		c.State = trustGood
	}
	if name == "red-first" && slices.ContainsFunc(proofs, func(p Proof) bool { return p.Bad }) {
		c.State = trustLook
	}
	if over := len(proofs) - mostProofs; over > 0 {
		c.Proofs, c.More = proofs[over:], over // the newest
	}
	return c
}

// confinedNot are the agents that work, and the gates that judge, without a sandbox.
func confinedNot(epic *ir.Epic) (agents, gates []string) {
	works := map[string]bool{}
	for i := range epic.Nodes {
		for _, s := range epic.Nodes[i].Steps {
			if s.Agent != "" && !epic.Agents[s.Agent].Human && epic.StepConfined(&s, false).Name == "" {
				works[s.Agent] = true
			}
		}
	}
	for name, g := range epic.Gates {
		if g.Runs() && epic.GateConfined(name, false).Name == "" {
			gates = append(gates, name)
		}
	}
	slices.Sort(gates)
	return slices.Sorted(maps.Keys(works)), gates
}

// finder collects proofs from events.
type finder struct {
	l                                                              *live
	waived, overrides, claims, page, red, fresh, protected, spoken []Proof

	refused map[string]map[string]int // how often a host was, by sandbox
}

// sandboxed counts what a turn or a gate was refused.
func (f *finder) sandboxed(s *executor.Sandboxed) {
	if s == nil || len(s.Refused) == 0 {
		return
	}
	if f.refused == nil {
		f.refused = map[string]map[string]int{}
	}
	if f.refused[s.Name] == nil {
		f.refused[s.Name] = map[string]int{}
	}
	for _, r := range s.Refused {
		f.refused[s.Name][r.Host] += r.Times
	}
}

// refusals are what each sandbox refused.
func (f *finder) refusals() []Proof {
	var out []Proof
	for _, name := range slices.Sorted(maps.Keys(f.refused)) {
		out = append(out, Proof{Text: fmt.Sprintf("refused: %s (sandbox %s)", executor.RefusedHosts(executor.Refusals(f.refused[name])), name)})
	}
	return out
}

func (f *finder) event(e executor.Event) {
	p := Proof{Seq: e.Seq, At: timeOf(e.At), Step: e.Step, Attempt: e.Attempt}
	if e.Node != "" {
		p.Key = ir.Key(f.l.rec.Key(e.Node))
	}
	say := func(list *[]Proof, text string) {
		p.Text = text
		*list = append(*list, p)
	}
	switch b := e.Body.(type) {
	case executor.Decided:
		f.decision(b.Decision, say)
	case executor.AgentEnded:
		f.sandboxed(b.Sandbox)
	case executor.GateJudged:
		f.sandboxed(b.Sandbox)
		if b.Red {
			p.File, p.Bad = "red-"+text.FileName(b.Gate)+".log", b.Verdict != executor.Fail
			say(&f.red, map[bool]string{true: "gate " + b.Gate + " did not fail before the work: " + string(b.Verdict), false: "gate " + b.Gate + " failed before the work"}[p.Bad])
		}
	case executor.Collected:
		p.File = "changes.json"
		for i, x := range b.Listed {
			if i < b.Fresh {
				say(&f.fresh, x)
			} else {
				say(&f.protected, x)
			}
		}
		for _, x := range b.Problems {
			if x != executor.NothingChanged { // no work, which fails an attempt or precedes a question, is no reason for distrust
				say(&f.protected, "refused: "+x)
			}
		}
	case executor.EffectFailed:
		if b.Class == executor.FailProtected {
			say(&f.protected, "refused: "+words.First(b.Detail))
		}
	case executor.HumanSpoke:
		say(&f.spoken, words.First(b.Text))
	}
}

// decision sorts a decision by what it takes on trust.
func (f *finder) decision(d executor.Decision, say func(list *[]Proof, text string)) {
	said := words.Decision(d)
	switch {
	case d.How == executor.Baseline:
		say(&f.waived, said)
	case d.How == executor.Override, d.How == executor.KeepOld, d.Verb == executor.Skip, d.Tamper != "":
		say(&f.overrides, said)
	}
	if d.User != "" && d.User != d.By && d.Via == "" {
		say(&f.claims, said)
	}
	if d.From != "" {
		say(&f.page, said)
	}
}
