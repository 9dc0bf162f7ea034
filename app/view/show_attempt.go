package view

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func showAttempt(r *record.Record, w *sheet, v machine.NodeView, a machine.AttemptLog) {
	w.head("%s #%d: %s%s", a.Step, a.Number, words.Attempt(v, a), words.Because(a.Reason))
	who := workedOn(r, v, a)
	if a.Model != "" {
		who += ", model " + a.Model
	}
	w.field("  by", who)
	if !a.Started.IsZero() {
		when := a.Started.Local().Format(time.DateTime)
		if !a.Ended.IsZero() {
			when += ", took " + words.Took(a)
		}
		w.field("  when", when)
	}
	if a.Millis > 0 || a.Turns > 0 || a.Untold > 0 {
		u := a.Usage
		known := machine.Spent{Millis: a.Millis, TokensKnown: u.Tokens != nil && a.Untold == 0, USDKnown: u.USDMicro != nil && a.Untold == 0}
		if u.Tokens != nil {
			known.Tokens = *u.Tokens
		}
		if u.USDMicro != nil {
			known.USDMicro = *u.USDMicro
		}
		w.field("  spent", strings.TrimSuffix(text.Count(max(a.Turns+a.Untold, 1), "turn")+", "+words.Spent(known), ", "))
	}
	w.field("  session", a.Session)
	w.field("  says", a.Outcome.Summary)
	w.field("  from", a.From)
	if a.Commit != "" {
		w.field("  commit", fmt.Sprintf("%s  %s, +%d −%d", a.Commit, text.Count(a.Collected.Files, "file"), a.Collected.Added, a.Collected.Removed))
	}
	for _, p := range a.Problems {
		w.field("  problem", p)
	}
	for _, p := range a.Collected.Listed {
		w.field("  noted", p)
	}
	showGates(r, w, a)
	dir := effects.Files(r.Space.State(), v.ID, a.Step, a.Number)
	if list := record.AttemptFiles(dir); len(list) > 0 {
		var names []string
		for _, f := range list {
			names = append(names, f.Name)
		}
		w.field("  files", dir+string(filepath.Separator))
		w.line("    %s", strings.Join(names, "  "))
	}
}

// showGates writes the verdicts on an attempt, and the gates that gave none yet.
func showGates(r *record.Record, w *sheet, a machine.AttemptLog) {
	for _, g := range a.Gates {
		tests := ""
		if g.Counts == nil && g.SaidOfTests() != "" {
			tests = ", tests: " + g.SaidOfTests()
		}
		cut := ""
		if n := a.UntoldOf[g.Gate]; n > 0 {
			cut = ", and " + cutTurns(n)
		}
		w.line("  gate %s: %s  (%s%s%s)", g.Gate, g.Verdict, words.Millis(g.Millis), tests, cut)
		if c := g.Counts; c != nil {
			w.line("    %d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
		}
		if doubt := r.Run.Summary().Doubt(g); doubt != "" {
			w.line("    ! %s", doubt)
		}
		if len(g.Failed) > 0 {
			w.line("    failed: %s", words.ListOf(g.Failed))
		}
		if g.Verdict != executor.Pass && g.Message != "" {
			w.text("    " + strings.ReplaceAll(strings.TrimRight(g.Message, "\n"), "\n", "\n    "))
		}
		if g.Evidence != "" {
			w.line("    evidence: %s", g.Evidence)
		}
	}
	for _, g := range slices.Sorted(maps.Keys(a.UntoldOf)) {
		if !slices.ContainsFunc(a.Gates, func(j executor.GateJudged) bool { return j.Gate == g }) {
			w.line("  gate %s: no verdict yet  (%s)", g, cutTurns(a.UntoldOf[g]))
		}
	}
}

// workedOn is who made an attempt.
func workedOn(r *record.Record, v machine.NodeView, a machine.AttemptLog) string {
	switch {
	case a.Person == "":
		return a.Agent
	case v.Kind == ir.Manual || r.Epic.Agents[a.Agent].Human:
		return a.Person
	}
	return a.Person + " (a person's own fix)"
}

// cutTurns says that the cost of turns that were cut off is unknown.
func cutTurns(n int) string { return text.Count(n, "turn") + " cut, at a cost that is unknown" }
