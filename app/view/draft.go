package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Draft prints a plan that waits for approval: its tree, its dependencies, what may run at
// the same time, and what is still open.
func Draft(w io.Writer, d *draft.Draft, s *draft.Shown) error {
	paint := term.For(w)
	var b strings.Builder
	say := func(format string, args ...any) { b.WriteString(reveal.Words(fmt.Sprintf(format, args...))) }
	fmt.Fprintf(&b, "\n%s", paint.Paint(term.Bold, reveal.Words(s.Epic.Epic.Title)))
	say("  %s, %s by %s\n", d.Plan, d.Attempt(), d.Planner())
	sayTree(say, s.Result)
	stats := s.Epic.Stats()
	say("\n%s, %s, %s:\n", text.Count(stats.Nodes, "sprint"), text.Count(stats.Edges, "edge"), text.Count(len(stats.Waves), "wave"))
	for i, wave := range stats.Waves {
		say("  wave %d: %s\n", i+1, JoinKeys(wave, " "))
	}
	if s.Changes != nil {
		writeChanges(&b, paint, s.Changes)
	}
	sayLines(say, "Commands of the plan, run when it is applied:", s.Settings.Commands)
	sayLines(say, "Settings of the plan:", s.Settings.Chosen)
	sayLines(say, "Warnings of the compiler:", s.Settings.Warnings)
	if s.Other != "" {
		say("\n%s. This preview uses the policy here. To have the plan judged by it: commit, then run the same ralph draft again.\n", s.Other)
	}
	if len(s.Open) > 0 {
		say("\nOpen questions:\n")
		for _, q := range s.Open {
			say("  - %s\n", q)
		}
	}
	say("\n  plan:  %s\n  graph: %s\n\n", d.Look(), s.Drawing)
	WriteSteps(&b, d.NextSteps(d.View))
	return write(w, b.String())
}

// mostSettings bounds how many lines of one kind are shown to the approver.
const mostSettings = 40

func sayLines(say func(string, ...any), title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	say("\n%s\n", title)
	for _, line := range lines[:min(len(lines), mostSettings)] {
		say("  %s\n", line)
	}
	if more := len(lines) - mostSettings; more > 0 {
		say("  … %d more\n", more)
	}
}

// sayTree writes the sprints of a plan below their phases, with what each waits for.
func sayTree(say func(string, ...any), res compiler.Result) {
	byKey := make(map[ir.Key]*ir.Node, len(res.Epic.Nodes))
	wide := 0
	for n := range lists.Refs(res.Epic.Nodes) {
		byKey[n.Key] = n
		wide = max(wide, len(n.Key))
	}
	phases := lists.Table(res.Trace.Phases(), func(p ir.DraftPhase) (string, ir.DraftPhase) { return p.ID, p })
	last := ""
	for _, key := range res.Trace.Keys() {
		n := byKey[key]
		if n == nil {
			continue
		}
		if n.Phase != last {
			last = n.Phase
			p := phases[n.Phase]
			say("\n  %s\n", strings.TrimRight(strings.TrimSpace(p.Word+" "+p.ID)+": "+p.Name, ": "))
		}
		line := fmt.Sprintf("    %-*s  %s", wide, n.Key, n.Title)
		if n.Kind != ir.Work {
			line += " (" + string(n.Kind) + ")"
		}
		after := lists.Map(lists.Keep(n.After, func(e ir.Edge) bool { return e.Type == ir.Blocks }), func(e ir.Edge) ir.Key { return e.Key })
		if len(after) > 0 {
			line += "  ← " + JoinKeys(after, ", ")
		}
		say("%s\n", line)
	}
}

// writeChanges prints what is kept, changed, new and removed, and what would run again.
func writeChanges(b *strings.Builder, paint term.Style, c *draft.Changed) {
	b.WriteString("\n" + paint.Paint(term.Bold, "What changes") + "\n")
	if c.Note != "" {
		b.WriteString(c.Note + "\n")
	}
	if c.Diff == nil {
		for _, x := range []struct {
			word string
			keys []ir.Key
		}{{"kept", c.Kept}, {"without an id before", c.Added}, {"removed", c.Removed}} {
			if len(x.keys) > 0 {
				b.WriteString(reveal.Words(fmt.Sprintf("  %s: %s\n", x.word, JoinKeys(x.keys, ", "))))
			}
		}
		return
	}
	if len(c.Kept) > 0 {
		b.WriteString(reveal.Words(fmt.Sprintf("kept as they are: %s\n", JoinKeys(c.Kept, ", "))))
	}
	b.WriteString(reveal.Words(c.Diff.Text()))
	if !c.Ran {
		b.WriteString("\nNothing of the plan has run yet.\n")
		return
	}
	b.WriteString("\n" + paint.Paint(term.Bold, "What would run") + "\n")
	WritePlanned(b, paint, c.Planned)
}

// Prompts prints the prompts of a draft's agents.
func Prompts(w io.Writer, epic *ir.Epic) error {
	n := &epic.Nodes[0]
	var b strings.Builder
	for k := range n.Steps {
		lines := n.Prompt
		if len(n.Steps[k].Prompt) > 0 {
			lines = n.Steps[k].Prompt
		}
		if len(n.Steps) > 1 {
			fmt.Fprintf(&b, "<!-- step %s, agent %s -->\n\n", n.Steps[k].Name, n.Steps[k].Agent)
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
		if k < len(n.Steps)-1 {
			b.WriteString("\n")
		}
	}
	return write(w, b.String())
}
