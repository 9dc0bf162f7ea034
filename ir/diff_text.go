package ir

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// Text renders the difference for a terminal, without colour, weakenings first.
// Everything that comes from the epics is made printable.
func (d *Difference) Text() string {
	if d.Empty() {
		return "no difference\n"
	}
	p := &textPrinter{}
	p.line(0, "%s", d.Summary())
	p.head("Weaker than before", len(d.Weaker))
	for _, w := range d.Weaker {
		p.line(1, "! %s%s", w.Message, inNodes(w.Nodes, 12))
	}
	p.refs("Removed", "-", d.Removed)
	p.refs("Added", "+", d.Added)
	p.head("Renamed", len(d.Renamed))
	for _, r := range d.Renamed {
		p.line(1, "~ %s → %s  %s", r.Old, r.New, r.Title)
	}
	p.head("Changed", len(d.Changed))
	for _, c := range d.Changed {
		p.line(1, "~ %s  %s%s", c.Key, c.Title, effects[c.Effect])
		p.changes(3, c.Fields)
	}
	p.head("Dependencies", len(d.EdgesAdded)+len(d.EdgesRemoved))
	for _, e := range d.EdgesRemoved {
		p.line(1, "- %s", e.sentence())
	}
	for _, e := range d.EdgesAdded {
		p.line(1, "+ %s", e.sentence())
	}
	p.head("Agents, gates, runners", len(d.Entries))
	for _, c := range d.Entries {
		p.line(1, "%s %s %s", signs[c.What], c.kind(), c.Name)
		p.changes(3, c.Fields)
	}
	p.head("The plan as a whole", len(d.Plan))
	p.changes(1, d.Plan)
	return p.b.String()
}

var (
	effects = map[string]string{"runs": "  (runs again)", "judged": "  (is judged again)"}
	signs   = map[string]string{"added": "+", "removed": "-", "changed": "~"}
)

// Summary is the difference in one line, of counts.
func (d *Difference) Summary() string {
	parts := []string{}
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(len(d.Weaker), "weaker")
	add(len(d.Removed), "removed")
	add(len(d.Added), "added")
	add(len(d.Renamed), "renamed")
	add(len(d.Changed), "changed")
	add(len(d.EdgesAdded)+len(d.EdgesRemoved), "dependencies")
	add(len(d.Entries), "agents, gates or runners")
	add(len(d.Plan), "plan settings")
	if len(parts) == 0 {
		parts = append(parts, "no difference")
	}
	return fmt.Sprintf("%s: %s → %s: %s", Printable(d.New.Slug), text.Count(d.Old.Nodes, "node"), text.Count(d.New.Nodes, "node"), strings.Join(parts, ", "))
}

func (e EdgeRef) sentence() string {
	verb := map[EdgeType]string{
		Blocks: "waits for", ParentChild: "is part of", Related: "is related to", DiscoveredFrom: "was discovered from",
	}[e.Type]
	verb = cmp.Or(verb, "– "+string(e.Type)+" –")
	return fmt.Sprintf("%s %s %s (%s)", e.Node, verb, e.Key, e.From)
}

// inNodes lists nodes in parentheses, at most most of them.
func inNodes(keys []Key, most int) string {
	if len(keys) == 0 {
		return ""
	}
	shown := make([]string, 0, most+1)
	for _, k := range keys[:min(len(keys), most)] {
		shown = append(shown, string(k))
	}
	if more := len(keys) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return " (" + strings.Join(shown, ", ") + ")"
}

type textPrinter struct{ b strings.Builder }

// head begins a section, if anything is in it.
func (p *textPrinter) head(title string, entries int) {
	if entries > 0 {
		p.b.WriteString("\n" + title + "\n")
	}
}

func (p *textPrinter) line(indent int, format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", indent))
	p.b.WriteString(Printable(fmt.Sprintf(format, args...)))
	p.b.WriteByte('\n')
}

func (p *textPrinter) refs(title, sign string, refs []NodeRef) {
	p.head(title, len(refs))
	for _, r := range refs {
		p.line(1, "%s %s  %s", sign, r.Key, r.Title)
	}
}

func (p *textPrinter) changes(indent int, changes []Change) {
	for _, c := range changes {
		if len(c.Lines) == 0 {
			p.line(indent, "%s: %s → %s", c.Path, text.Shorten(orNothing(c.Old), 201), text.Shorten(orNothing(c.New), 201))
			continue
		}
		p.line(indent, "%s:", c.Path)
		for _, l := range c.Lines {
			p.line(indent+1, "%s", l)
		}
	}
}

func orNothing(s string) string { return cmp.Or(s, "(nothing)") }

// kind is one entry of the table: "sandbox" of "sandboxes".
func (c *EntryChange) kind() string {
	if c.Table == "sandboxes" {
		return "sandbox"
	}
	return strings.TrimSuffix(c.Table, "s")
}
