package ir

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// markdownBytes bounds a comment: GitHub refuses more than 65,536 characters.
const markdownBytes = 60_000

// Markdown renders the difference as a comment of a pull request: weakenings
// first, long parts folded, at most 60,000 bytes. Everything that comes from
// the epics is in code spans or fences, where it is neither markup nor a
// mention.
func (d *Difference) Markdown() string {
	p := &markdownPrinter{}
	if d.Empty() {
		return "**ralph**: the compiled plan is the same.\n"
	}
	p.write("### ralph: " + span(d.New.Slug) + "\n\n")
	p.write("| nodes | added | removed | renamed | changed | weaker |\n|---|---|---|---|---|---|\n")
	p.write(fmt.Sprintf("| %d → %d | %d | %d | %d | %d | %d |\n", d.Old.Nodes, d.New.Nodes,
		len(d.Added), len(d.Removed), len(d.Renamed), len(d.Changed), len(d.Weaker)))

	p.section("⚠️ Weaker than before", len(d.Weaker), 40, func(i int) string {
		w := d.Weaker[i]
		return "- " + span(w.Message) + keysOf(w.Nodes) + "\n"
	})
	p.section("Removed", len(d.Removed), 20, func(i int) string { return d.Removed[i].item() })
	p.section("Added", len(d.Added), 20, func(i int) string { return d.Added[i].item() })
	p.section("Renamed", len(d.Renamed), 20, func(i int) string {
		r := d.Renamed[i]
		return fmt.Sprintf("- %s → %s %s\n", span(string(r.Old)), span(string(r.New)), span(r.Title))
	})
	p.section("Changed", len(d.Changed), 6, func(i int) string {
		c := d.Changed[i]
		return fmt.Sprintf("- **%s** %s%s\n%s", span(string(c.Key)), span(c.Title), effects[c.Effect], markdownChanges(c.Fields))
	})
	edges := append(append([]EdgeRef{}, d.EdgesRemoved...), d.EdgesAdded...)
	p.section("Dependencies", len(edges), 12, func(i int) string {
		sign := "added"
		if i < len(d.EdgesRemoved) {
			sign = "removed"
		}
		return "- " + sign + ": " + span(edges[i].sentence()) + "\n"
	})
	p.section("Agents, gates, runners", len(d.Entries), 6, func(i int) string {
		c := d.Entries[i]
		return fmt.Sprintf("- %s %s: %s\n%s", c.kind(), span(c.Name), c.What, markdownChanges(c.Fields))
	})
	p.section("The plan as a whole", min(1, len(d.Plan)), 1, func(int) string { return markdownChanges(d.Plan) })
	if p.left > 0 {
		p.b.WriteString(fmt.Sprintf("\n_%d more entries do not fit a comment: run `ralph diff`._\n", p.left))
	}
	return p.b.String()
}

func (r NodeRef) item() string {
	return fmt.Sprintf("- **%s** %s\n", span(string(r.Key)), span(r.Title))
}

func keysOf(keys []Key) string {
	if len(keys) == 0 {
		return ""
	}
	return " in " + span(strings.Trim(inNodes(keys, 12), " ()"))
}

// markdownChanges renders changes below a list item.
func markdownChanges(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		if len(c.Lines) == 0 {
			fmt.Fprintf(&b, "  - %s: %s → %s\n", span(c.Path), span(text.Shorten(orNothing(c.Old), 121)), span(text.Shorten(orNothing(c.New), 121)))
			continue
		}
		lines := make([]string, 0, min(len(c.Lines), 61))
		for i, l := range c.Lines {
			if i == 60 {
				lines = append(lines, fmt.Sprintf(" … %d more lines", len(c.Lines)-i))
				break
			}
			lines = append(lines, Printable(text.Shorten(l, 301)))
		}
		fence := strings.Repeat("`", max(3, longestRun(strings.Join(lines, "\n"))+1))
		fmt.Fprintf(&b, "  - %s\n\n    %sdiff\n", span(c.Path), fence)
		for _, l := range lines {
			b.WriteString("    " + l + "\n")
		}
		b.WriteString("    " + fence + "\n\n")
	}
	return b.String()
}

// span writes s as a code span that s cannot leave.
func span(s string) string {
	s = Printable(text.Shorten(s, 301))
	if s == "" {
		return "``` ```"
	}
	ticks := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) != s {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

type markdownPrinter struct {
	b    strings.Builder
	left int // entries that did not fit
}

func (p *markdownPrinter) write(s string) { p.b.WriteString(s) }

// section writes n items below a heading; more than open of them are folded.
func (p *markdownPrinter) section(title string, n, open int, item func(i int) string) {
	if n == 0 {
		return
	}
	if p.left > 0 {
		p.left += n
		return
	}
	folded := n > open
	if folded {
		p.write(fmt.Sprintf("\n<details><summary><b>%s</b> (%d)</summary>\n\n", title, n))
	} else {
		p.write("\n**" + title + "**\n\n")
	}
	for i := range n {
		text := item(i)
		if p.b.Len()+len(text) > markdownBytes {
			p.left = n - i
			break
		}
		p.write(text)
	}
	if folded {
		p.write("\n</details>\n")
	}
}
