package executor

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// Prompt builds what the agent of a node's open attempt is told: the prompt of
// the epic, and then what is known only now: the results it builds on, what
// earlier steps found, feedback, and how to report. It is built from the epic
// and the record alone, never from what an agent said in a chat.
func (r *Run) Prompt(id ir.NodeID) string {
	n := r.byID[id]
	if n == nil || n.ir == nil || n.stepNow() == nil {
		return ""
	}
	var b strings.Builder
	section := func(title string, lines ...string) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		if title != "" {
			fmt.Fprintf(&b, "## %s\n\n", title)
		}
		for _, l := range lines {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	section("", n.ir.Prompt...)
	step := n.stepNow()
	here := []string{fmt.Sprintf("You work on step %q of sprint %s.", step.Name, n.ir.Key)}
	if step.Access == "read" {
		here = append(here, "Change no files in this step: what you report is its result.")
	}
	if step.Note != "" {
		here = append(here, step.Note)
	}
	if lines := r.mergeTask(n); len(lines) > 0 {
		here = append(append(here, ""), lines...)
	}
	section("This step", here...)
	if lines := r.basis(n); len(lines) > 0 && r.mergeTask(n) == nil {
		section("What your worktree already contains", lines...)
	}
	if lines := n.earlier(); len(lines) > 0 {
		section("What earlier steps reported", lines...)
	}
	if lines := r.Feedback(id); len(lines) > 0 {
		section("Feedback: what to mend", lines...)
	}
	section("How to report", contract...)
	return b.String()
}

// basis names the results that the node starts from.
func (r *Run) basis(n *node) []string {
	var out []string
	for _, in := range n.life.inputs {
		if d := r.byID[in.Node]; d != nil && d.ir != nil {
			out = append(out, fmt.Sprintf("- %s: %s", d.ir.Key, d.ir.Title))
		}
	}
	return out
}

func (n *node) earlier() []string {
	var out []string
	for i, note := range n.life.notes {
		if i < n.life.step && note != "" {
			out = append(out, n.ir.Steps[i].Name+":", "", quote(note), "")
		}
	}
	return out
}

// contract is the end of every prompt: how an outcome is reported.
var contract = []string{
	"When you are done, write a JSON object to the file that RALPH_OUTCOME names:",
	"",
	`    {"result": "success", "summary": "what you did, in a few sentences"}`,
	"",
	`"result" is "success", "partial" or "failed". With "partial" you are asked again to go on.`,
	`Add "next_action": "need_human" and ask in "summary" if only a person can decide.`,
	"Your word starts the gates; it does not replace them.",
}
