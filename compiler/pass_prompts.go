package compiler

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// passPrompts assembles an agent's prompt, by the fixed rule of the plan
// language: phase, then key, title and goal, then text, tasks, acceptance
// criteria, scope. What is known only at run time follows there.
func (b *build) passPrompts(_ *diag.List) *ir.Epic {
	e := b.own()
	branch := make(map[ir.Key]*ir.Node, len(e.Nodes))
	for i := range e.Nodes {
		branch[e.Nodes[i].Key] = &e.Nodes[i]
	}
	for it, n := range b.nodes(e) {
		d := it.draft
		if len(trimLines(d.Prompt)) > 0 {
			n.Prompt = trimLines(d.Prompt)
			continue
		}
		if p := d.PhaseIndex; p >= 0 && !b.carry(d, len(b.draft.Phases[p].Name)+len(b.draft.Phases[p].Goal), "the phase's name and goal") {
			break
		}
		if !b.carry(d, len(strings.Join(d.Within, "\n")), "the name and goal of what it is a part of") {
			break
		}
		n.Prompt = b.prompt(n, d, branch)
	}
	return e
}

func (u *unit) prompt(n *ir.Node, d *ir.DraftNode, nodes map[ir.Key]*ir.Node) []string {
	var out []string
	block := func(lines ...string) {
		if len(lines) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	if d.PhaseIndex >= 0 {
		p := &u.draft.Phases[d.PhaseIndex]
		own := p.ID == string(n.Key) && p.Name == n.Title // the item leads the group
		if p.Name != "" && !own || p.Goal != "" {
			block(append([]string{phaseHeading(p)}, goal(p.Goal)...)...)
		}
	}
	block(d.Within...)
	block(append([]string{heading(d.Word, string(n.Key), n.Title)}, goal(n.Goal)...)...)
	block(trimLines(d.Description)...)
	block(d.Text...)
	block(mergeTask(n, nodes)...)
	if len(n.Tasks) > 0 {
		lines := []string{"Tasks:"}
		for _, t := range n.Tasks {
			lines = append(lines, "- "+t.Text)
			for _, x := range t.Detail {
				lines = append(lines, "  "+x)
			}
		}
		block(lines...)
	}
	if len(n.Acceptance) > 0 {
		lines := []string{"Acceptance criteria:"}
		for _, a := range n.Acceptance {
			if strings.HasPrefix(a, "  ") {
				lines = append(lines, a)
			} else {
				lines = append(lines, "- "+a)
			}
		}
		block(lines...)
	}
	block(scope(&n.Scope)...)
	return oneLineEach(out)
}

// placeholder is the number of a group that has none yet: "N: " of "Phase N: Polish".
var placeholder = lazyregexp.New(`^[A-Z][:.] `)

// phaseHeading names a group once: its heading may hold the word or the id already.
func phaseHeading(p *ir.DraftPhase) string {
	word, rest, _ := strings.Cut(p.Name, " ")
	switch {
	case p.Word == "" && strings.EqualFold(word, "Phase") && rest != "":
		return p.Name
	case strings.EqualFold(p.Word, p.ID+" phase"): // "Final Phase"
		return heading(p.Word, "", p.Name)
	case p.Word != "":
		return heading(p.Word, p.ID, placeholder.ReplaceAllString(p.Name, ""))
	}
	return heading("Phase", p.ID, p.Name)
}

func heading(word, key, title string) string {
	s := strings.TrimSpace(word + " " + key)
	switch {
	case title == "":
		return s
	case s == "":
		return title
	}
	return s + ": " + title
}

func goal(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	lines[0] = "Goal: " + lines[0]
	return lines
}

// mergeTask is the first job of a node that merges.
func mergeTask(n *ir.Node, nodes map[ir.Key]*ir.Node) []string {
	if n.Kind != ir.Merge || len(n.Merges) < 2 || len(n.Tasks) > 0 {
		return nil
	}
	names := make([]string, 0, len(n.Merges))
	for _, k := range n.Merges {
		if p := nodes[k]; p != nil {
			names = append(names, fmt.Sprintf("%s (%s)", p.Key, p.Title))
		}
	}
	return []string{
		"Merge the work of " + text.AndMore(names[:min(len(names), 20)], len(names)) + " into this branch.",
		"Resolve conflicts so that the intent of each side is kept. Run all tests.",
		"Add an entry to the changelog if the project keeps one.",
	}
}

func scope(s *ir.Scope) []string {
	var lines []string
	if len(s.Owns) > 0 {
		lines = append(lines, "- change only: "+strings.Join(s.Owns, ", "))
	}
	if len(s.Files) > 0 {
		lines = append(lines, "- expected to change: "+strings.Join(s.Files, ", "))
	}
	if len(s.Reads) > 0 {
		lines = append(lines, "- worth reading: "+strings.Join(s.Reads, ", "))
	}
	if len(lines) > 0 {
		lines = append([]string{"Files:"}, lines...)
	}
	return lines
}

// oneLineEach cuts lines that hold line ends: a prompt is an array of lines, so
// that a review shows the line that changed.
func oneLineEach(lines []string) []string {
	for i, l := range lines {
		if strings.ContainsAny(l, "\n\r") {
			out := append([]string(nil), lines[:i]...)
			for _, l := range lines[i:] {
				l = strings.ReplaceAll(strings.ReplaceAll(l, "\r\n", "\n"), "\r", "\n")
				out = append(out, strings.Split(l, "\n")...)
			}
			return out
		}
	}
	return lines
}
