package machine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Prompt builds the prompt of the agent of a node's open attempt: the epic's prompt,
// then what is known only now: the results it builds on, findings of earlier steps,
// feedback, and how to report. It is built from the epic and the record alone, never
// from an agent's words in a chat. left are files that agents of earlier steps left
// for it.
func (o Node) Prompt(left ...string) []byte {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil || n.stepNow() == nil {
		return nil
	}
	return o.r.late(n).Prompt(n.ir, n.stepNow(), o.Feedback(), left)
}

// late collects what the prompt of the node's open attempt says besides the epic's text.
func (gr *graph) late(n *node) *executor.Late {
	t := &executor.Late{Earlier: n.earlier(), Older: n.olderLife(), Turn: n.turn()}
	switch {
	case n.life.step == asideStep:
		t.Task, t.About = gr.mergePrompt(n), len(n.ir.Prompt) > 0
	case n.sum:
		t.Task = mendSum
	}
	if n.life.step != asideStep {
		t.Basis = gr.basis(n)
	}
	a := gr.epic.Agents[n.life.attempt.agent]
	t.ByFile = a.Human || gr.epic.Runners[a.Runner].Kind == "command"
	return t
}

var mendSum = []string{
	"You fix the integration of all results of the plan: they merge, but not all gates pass on the whole.",
	"Change as little as necessary, and remove nothing that a result contributed.",
}

// mergePrompt says what the agent of a merge step finds in its worktree.
func (gr *graph) mergePrompt(n *node) []string {
	a := n.life.aside
	out := []string{
		"Your worktree holds a git merge that stopped at a conflict. Resolve it: that is all there is to do in this step.",
		"", "What is merged, in this order:", "",
	}
	var merged []string
	for _, in := range a.inputs {
		line := "- " + gr.nameOf(in.Node)
		if d := gr.byID[in.Node]; d != nil && d.ir != nil && !d.sum {
			line += ": " + d.ir.Title
			if d.ir.Git.Branch != "" {
				line += " (branch " + d.ir.Git.Branch + ")"
			}
		}
		merged = append(merged, line+", commit "+in.Commit)
	}
	out = append(append(out, fewer(merged)...), "", "In conflict:", "")
	for _, p := range a.paths {
		if strings.ContainsFunc(p, func(c rune) bool { return !unicode.IsPrint(c) }) { // a line break would say something of its own
			p = strconv.Quote(p)
		}
		out = append(out, "- "+p)
	}
	if len(a.paths) == 0 {
		out = append(out, "- what git status says")
	}
	return append(out, "",
		"Keep what each side wants. Leave no conflict markers, and change nothing outside of these paths:",
		"ralph compares the rest with what git merged by itself. Do not abort the merge; ralph commits it.")
}

// olderLife names the last attempt that was made for another text or another
// base, on the first attempt of a life.
func (n *node) olderLife() []string {
	if n.life.first == 0 || len(n.logs) != n.life.first+1 {
		return nil
	}
	last := n.logs[n.life.first-1]
	line := fmt.Sprintf("This sprint was tried before, for another text or on another base: attempt %d of step %s (%s).", last.Number, last.Step, last.Status)
	if last.Commit == "" {
		return []string{line}
	}
	return []string{line, "What it left is commit " + last.Commit + "; look at it with git show if it helps. Your worktree does not contain it."}
}

// turn is what the agent is told in a turn that is not an attempt's first, or that
// goes on after it was cut or a person had the session.
func (n *node) turn() []string {
	a := &n.life.attempt
	switch {
	case a.status != executor.AttemptRunning:
		return nil
	case a.going == goesTaken:
		return []string{
			"A person took over meanwhile. Your worktree is as it was left: what is in it is part of your work.",
			"Finish what is still to be done, as that person wants it, and report.",
		}
	case a.going == goesCut && a.reminded:
		return append(n.remind(), "Your answer to this was cut off.")
	case a.going == goesCut:
		return []string{
			"Your turn was interrupted. Your worktree is as you left it, unless somebody changed something there meanwhile.",
			"Check how far you were, and continue there; do not start over. If the work is done, only report it now.",
		}
	case a.iteration < 2:
		return nil
	case a.end.Outcome.Invalid != "":
		return n.remind()
	case a.end.Outcome.Summary != "":
		return []string{"Continue where your last turn ended. It reported:", "", quote(a.end.Outcome.Summary)}
	}
	return []string{"Continue where your last turn ended."}
}

// remind asks once more for an outcome.
func (n *node) remind() []string {
	return []string{
		"Your last turn ended without a valid outcome: " + strings.TrimRight(text.FirstLine(n.life.attempt.end.Outcome.Invalid), ".") + ".",
		"If the work is done, only report it now, as described below.",
	}
}

// mostBuiltOn bounds what a prompt and a context list of what a node builds on, in bytes.
const mostBuiltOn = 8 << 10

// fewer bounds a list in a prompt.
func fewer(lines []string) []string {
	bytes := 0
	for i, l := range lines {
		if bytes += len(l); bytes > mostBuiltOn && i > 0 {
			return append(lines[:i], fmt.Sprintf("- and %d more", len(lines)-i))
		}
	}
	return lines
}

// basis names the results that the node starts from.
func (gr *graph) basis(n *node) []string {
	var out []string
	for _, in := range n.life.inputs {
		if d := gr.byID[in.Node]; d != nil && d.ir != nil {
			out = append(out, "- "+string(d.ir.Key)+": "+d.ir.Title)
		}
	}
	return fewer(out)
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
