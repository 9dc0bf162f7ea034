package machine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// maxPullText bounds the text of a pull request, in bytes.
const maxPullText = 20_000

// pullText is what the pull request of a node, or of the sum, says.
func (r *Run) pullText(e executor.Effect) executor.PullText {
	h := r.epic.Epic
	var n *ir.Node
	if on := r.byID[e.Node]; on != nil && !on.sum {
		n = on.ir
	}
	if n == nil {
		return executor.PullText{Title: oneLine(h.Title), Body: text.Head(r.sumBody(), maxPullText), Onto: cmp.Or(h.Target, h.Base)}
	}
	return executor.PullText{
		Title: oneLine(fmt.Sprintf("%s: %s", n.Key, n.Title)), Body: text.Head(r.nodeBody(n), maxPullText), Onto: r.pullsOnto(n),
	}
}

// pullsOnto is the branch that a node's pull request asks to be merged into.
func (r *rules) pullsOnto(n *ir.Node) string {
	h := r.epic.Epic
	if h.Integration.Mode == "wait" {
		return cmp.Or(h.Target, h.Base)
	}
	only := lists.Map(lists.Keep(n.After, func(a ir.Edge) bool { return a.Type == ir.Blocks }), func(a ir.Edge) ir.Key { return a.Key })
	if len(only) == 1 && h.Integration.Mode == "dag" {
		for i := range r.epic.Nodes {
			if m := &r.epic.Nodes[i]; m.Key == only[0] && m.Git.Branch != "" {
				return m.Git.Branch
			}
		}
	}
	return h.Integration.Branch
}

func (r *Run) nodeBody(n *ir.Node) string {
	var b strings.Builder
	if n.Goal != "" {
		b.WriteString(n.Goal + "\n\n")
	}
	if len(n.Acceptance) > 0 {
		b.WriteString("## Acceptance criteria\n\n")
		for _, a := range n.Acceptance {
			b.WriteString("- " + oneLine(a) + "\n")
		}
		b.WriteByte('\n')
	}
	if v, _ := r.View(n.ID); len(v.Attempts) > 0 {
		a := v.Attempts[len(v.Attempts)-1]
		if a.Outcome.Summary != "" {
			b.WriteString("## What the agent reported\n\n" + a.Outcome.Summary + "\n\n")
		}
		if len(a.Gates) > 0 {
			b.WriteString("## Gates\n\n")
			for _, g := range a.Gates {
				fmt.Fprintf(&b, "- %s: %s\n", g.Gate, g.Verdict)
			}
			b.WriteByte('\n')
		}
		if said, _ := SandboxesSaid(r.epic, v); said != "" {
			b.WriteString(said + "\n\n")
		}
	}
	fmt.Fprintf(&b, "Sprint %s of %s.\n", n.Key, r.epic.Epic.Plan)
	return b.String()
}

func (r *Run) sumBody() string {
	var b strings.Builder
	for _, line := range r.epic.Epic.Description {
		b.WriteString(line + "\n")
	}
	b.WriteString("\n## Sprints\n\n")
	b.WriteString("| Sprint | | Status | Attempts | Gates |\n|---|---|---|---|---|\n")
	for _, v := range r.Views() {
		if v.ID != executor.Integration {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", v.Key, cell(v.Title), v.Status, tries(v), cell(gatesSaid(v)))
		}
	}
	if said, _ := SandboxesSaid(r.epic, r.Views()...); said != "" {
		b.WriteString("\n" + said + "\n")
	}
	fmt.Fprintf(&b, "\nSpent: %s.\n\nMade from %s.\n", costText(r.Overview().Spent), r.epic.Epic.Plan)
	return b.String()
}

func oneLine(s string) string { return text.OneLine(executor.Plain(s)) }

// tries counts the attempts at a node's work; landing its result is not one.
func tries(v NodeView) int {
	return len(lists.Keep(v.Attempts, func(a AttemptLog) bool { return a.Step != LandStep }))
}

// gatesSaid says how the gates judged a node's last attempt.
func gatesSaid(v NodeView) string {
	if len(v.Attempts) == 0 {
		return ""
	}
	judged := v.Attempts[len(v.Attempts)-1].Gates
	return strings.Join(lists.Map(judged, func(g executor.GateJudged) string { return g.Gate + ": " + string(g.Verdict) }), ", ")
}

// cell is text in a table of Markdown.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", "\\|") }

// costText says what was spent. An unreported cost is unknown, not zero.
func costText(s Spent) string {
	figure := func(n int64, known bool, text, what string) string {
		switch {
		case known:
			return text
		case n == 0:
			return what + " unknown"
		}
		return "at least " + text
	}
	return figure(s.Tokens, s.TokensKnown, fmt.Sprintf("%d tokens", s.Tokens), "tokens") + ", " +
		figure(s.USDMicro, s.USDKnown, fmt.Sprintf("$%.2f", float64(s.USDMicro)/1e6), "cost")
}
