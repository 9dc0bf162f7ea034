package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// actionMarks are signs for actions, as terraform's.
var actionMarks = map[machine.Action]struct {
	mark string
	ink  term.Colour
}{
	machine.ActRun: {"+", term.Good}, machine.ActRerun: {"~", term.Warn}, machine.ActMay: {"?", term.Plain}, machine.ActJudge: {"≟", term.Warn},
	machine.ActGoOn: {"▷", term.Good}, machine.ActRunning: {"▶", term.Info}, machine.ActKeep: {"=", term.Faint}, machine.ActDone: {"=", term.Faint}, machine.ActSkip: {"=", term.Faint}, machine.ActWait: {"!", term.Warn},
	machine.ActBlocked: {"■", term.Bad}, machine.ActGone: {"-", term.Faint}, machine.ActLeave: {" ", term.Faint},
}

// actionWords say an action where the sprint is named, and where it is counted; waits
// reports whether it needs a person or another sprint first.
func actionWords(n record.PlannedJSON) (word string, waits bool) {
	switch {
	case n.Action == machine.ActRun && n.ByHand: // apply opens its worktree and waits
		return "by hand", true
	case n.Action == machine.ActRerun && n.ByHand:
		return "by hand again", true
	case n.Action == machine.ActRerun:
		return "run again", false
	case n.Action == machine.ActMay:
		return "may run again", false
	case n.Action == machine.ActWait, n.Needs != "":
		return "waits", true
	}
	return string(n.Action), false
}

// Plan prints the plan. apply is what follows the words "ralph apply" to do it,
// about what follows those of another command.
func Plan(p record.PlanJSON, out io.Writer, epic *ir.Epic, apply, about string) error {
	paint := term.For(out)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  from %.12s\n\n", reveal.Words(epic.Epic.Title), p.Base)
	WritePlanned(&b, paint, p.Nodes)
	if p.Changes {
		free := ""
		if p.Disk.Free >= 0 {
			free = fmt.Sprintf("; %s free", words.Gigabytes(p.Disk.Free))
		}
		fmt.Fprintf(&b, "disk: up to %s for %s, without what builds write%s\n", words.Gigabytes(p.Disk.Need), text.Count(p.Disk.Trees, "worktree"), free)
	}
	writeBaseline(p, &b, paint)
	if len(p.Proposals) > 0 {
		fmt.Fprintln(&b, "\nAgents propose (not done automatically; add what you want to the plan):")
		for _, x := range p.Proposals {
			fmt.Fprintf(&b, "  - %s\n", words.Proposal(x))
		}
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Paint(term.Warn, "warning:"), reveal.Words(w))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", reveal.Words(n))
	}
	switch {
	case p.Cannot != "":
		fmt.Fprintf(&b, "\n%s %s\n", paint.Paint(term.Bad, "ralph apply would not start:"), reveal.Words(p.Cannot))
	case p.Changes || p.Held():
		writePlanSteps(p, &b, apply, about)
	case slices.ContainsFunc(p.Nodes, func(n record.PlannedJSON) bool { return n.Action == machine.ActWait || n.Action == machine.ActBlocked }):
		fmt.Fprintf(&b, "\nNothing would run. What waits for you, and what to type: ralph status%s\n", about)
	default:
		fmt.Fprintf(&b, "\nNothing would run.\n")
	}
	return write(out, b.String())
}

// WritePlanned writes each sprint's planned action, and the number of each kind.
func WritePlanned(b *strings.Builder, paint term.Style, nodes []record.PlannedJSON) {
	wide, wideAction, sprints, counts := 0, 0, 0, map[string]int{}
	for _, n := range nodes {
		wide = max(wide, min(columns.Of(reveal.Words(string(n.Key))), 24))
		word, _ := actionWords(n)
		wideAction = max(wideAction, len(word))
		if n.ID != executor.Integration {
			sprints++
			counts[word]++
		}
	}
	for _, n := range nodes {
		m := actionMarks[n.Action]
		word, waits := actionWords(n)
		if waits {
			m = actionMarks[machine.ActWait]
		}
		line := fmt.Sprintf("%s %s  %s", m.mark, words.PadTo(reveal.Words(string(n.Key)), wide), words.PadTo(word, wideAction))
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(m.ink, line), reveal.Words(words.First(cmp.Or(n.Cause, n.Title))))
	}
	b.WriteByte('\n')
	var parts []string
	for _, word := range []string{"run", "run again", "by hand", "by hand again", "may run again", "judge", "running", "go on", "keep", "done", "skipped", "waits", "blocked", "leave", "gone"} {
		if k := counts[word]; k > 0 {
			if word == "waits" && k > 1 {
				word = "wait"
			}
			parts = append(parts, fmt.Sprintf("%d %s", k, word))
		}
	}
	fmt.Fprintf(b, "%s: %s\n", text.Count(sprints, "sprint"), strings.Join(parts, ", "))
}

// writePlanSteps says what to type to do what is planned.
func writePlanSteps(p record.PlanJSON, b *strings.Builder, apply, about string) {
	about = words.With(" --epic", about, "")
	if p.Held() {
		fmt.Fprintf(b, "\nNothing would start while the base is red: %s; or ralph approve --baseline%s\n", words.MendBase(strings.ReplaceAll(apply, " --rebase", "")), about)
	}
	before := ""
	for _, c := range p.First {
		before += c + about + ", then "
	}
	switch {
	case p.AtWork > 0:
		fmt.Fprintf(b, "\nralph apply (process %d) is running: the next apply does what it leaves.\n", p.AtWork)
	case before != "" || !p.Held():
		fmt.Fprintf(b, "\nTo do it: %sralph apply%s\n", before, apply)
	}
}

// writeBaseline says what gates found on the base before any work.
func writeBaseline(p record.PlanJSON, b *strings.Builder, paint term.Style) {
	if len(p.Baseline) == 0 {
		return
	}
	wide := 0
	for _, x := range p.Baseline {
		wide = max(wide, min(columns.Of(reveal.Words(x.Gate)), 24))
	}
	fmt.Fprintf(b, "\ngates on the base, before any work:\n")
	for _, x := range p.Baseline {
		mark, ink, text := "·", term.Faint, "not tried yet"
		switch x.Verdict {
		case executor.Pass:
			mark, ink, text = "✓", term.Good, "green"
		case executor.Fail, executor.Stop:
			mark, ink, text = "✗", term.Bad, "red: "+words.First(x.Message)+words.With("; in sandbox ", words.Walled(x.Sandbox), "")
		case executor.ErrorJudged:
			mark, ink, text = "!", term.Warn, "no verdict: "+words.First(x.Message)
		}
		text += words.With("; approved by ", x.Approved, "")
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(ink, mark+" "+words.PadTo(reveal.Words(x.Gate), wide)), reveal.Words(text))
	}
}
