package view

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// showAttempt writes an attempt of the node v; log is the machine's account of it.
func showAttempt(w *sheet, v machine.NodeView, a record.AttemptJSON, log machine.AttemptLog) {
	w.head("%s #%d: %s%s", a.Step, a.Number, words.Attempt(v, log), words.Because(a.Reason))
	w.field("  by", a.By+words.With(", model ", a.Model, ""))
	when := dateTime(log.Started)
	if when != "" && a.Ended != nil {
		when += ", took " + words.Took(log)
	}
	w.field("  when", when)
	if a.AgentMillis > 0 || a.Iterations > 0 || log.Untold > 0 {
		w.field("  spent", strings.TrimSuffix(text.Count(max(a.Iterations+log.Untold, 1), "turn")+", "+words.Spent(spentBy(log)), ", "))
	}
	w.field("  session", a.Session)
	w.field("  sandbox", words.Sandboxed(a.Sandbox))
	w.field("  says", log.Outcome.Summary)
	w.field("  from", log.From)
	if a.Commit != "" {
		w.field("  commit", fmt.Sprintf("%s  %s, +%d −%d", a.Commit, text.Count(a.FilesChanged, "file"), a.Added, a.Removed))
	}
	for _, p := range a.Problems {
		w.field("  problem", p)
	}
	for _, p := range log.Collected.Listed {
		w.field("  noted", p)
	}
	showGates(w, a, log)
	if list := record.AttemptFiles(a.Files); len(list) > 0 {
		names := lists.Map(list, func(f record.AttemptFile) string { return f.Name })
		w.field("  files", a.Files+string(filepath.Separator))
		w.line("    %s", strings.Join(names, "  "))
	}
}

// spentBy is what the turns of an attempt's agent cost; where one was cut, at least.
func spentBy(a machine.AttemptLog) machine.Spent {
	u := a.Usage
	out := machine.Spent{Millis: a.Millis, TokensKnown: u.Tokens != nil && a.Untold == 0, USDKnown: u.USDMicro != nil && a.Untold == 0}
	if u.Tokens != nil {
		out.Tokens = *u.Tokens
	}
	if u.USDMicro != nil {
		out.USDMicro = *u.USDMicro
	}
	return out
}

// showGates writes the verdicts on an attempt, and the gates that gave none yet.
func showGates(w *sheet, a record.AttemptJSON, log machine.AttemptLog) {
	for i, g := range a.Gates {
		tests := ""
		if said := log.Gates[i].SaidOfTests(); g.Counts == nil && said != "" {
			tests = ", tests: " + said
		}
		cut := ""
		if n := log.UntoldOf[g.Gate]; n > 0 {
			cut = ", and " + cutTurns(n)
		}
		w.line("  gate %s: %s  (%s%s%s)", g.Gate, g.Verdict, words.Millis(g.Millis), tests, cut)
		if in := words.Walled(g.Sandbox); in != "" && (len(g.Sandbox.Refused) > 0 || g.Verdict != string(executor.Pass)) {
			w.line("    sandbox: %s", in)
		}
		if c := g.Counts; c != nil {
			w.line("    %d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
		}
		if g.Doubt != "" {
			w.line("    ! %s", g.Doubt)
		}
		if len(g.Failed) > 0 {
			w.line("    failed: %s", words.ListOf(g.Failed))
		}
		if g.Verdict != string(executor.Pass) && g.Message != "" {
			w.text("    " + strings.ReplaceAll(strings.TrimRight(g.Message, "\n"), "\n", "\n    "))
		}
		if g.Evidence != "" {
			w.line("    evidence: %s", g.Evidence)
		}
	}
	for _, e := range a.Erred {
		state := "no verdict"
		if e.Again {
			state = "asked again"
		}
		w.line("  gate %s: %s%s", e.Gate, state, words.Because(e.Message))
	}
	for _, g := range slices.Sorted(maps.Keys(log.UntoldOf)) {
		if !slices.ContainsFunc(a.Gates, func(j record.GateJSON) bool { return j.Gate == g }) {
			w.line("  gate %s: no verdict yet  (%s)", g, cutTurns(log.UntoldOf[g]))
		}
	}
}

// cutTurns says that the cost of turns that were cut off is unknown.
func cutTurns(n int) string { return text.Count(n, "turn") + " cut, at a cost that is unknown" }
