package compiler

import (
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// scalar returns the value of a label that holds one word or two, without what
// is in parentheses after it: "P0 (Must Have)".
func scalar(lb *syntax.Label) ir.Stated {
	t := lb.Value
	switch {
	case t.Value != "":
	case len(lb.Items) == 1:
		t = lb.Items[0].Text
	case len(lb.Items) == 0 && len(lb.Text) == 1 && len(lb.Fences) == 0: // a paragraph below the label
		t = syntax.Text{Value: lb.Text[0], Raw: lb.Text[0], Range: lb.TextRange}
	}
	v := t.Value
	if lb.Name == syntax.Approval {
		v = t.Plain() // names may be followed by parentheses, too
	} else if i := strings.Index(v, "("); i > 0 && strings.HasSuffix(strings.TrimSpace(v), ")") {
		v = v[:i]
	}
	lead := len(v) - len(strings.TrimLeft(v, " \t"))
	v = strings.TrimSpace(v)
	r := t.Sub(lead, lead+len(v))
	if t.Value == "" {
		r = lb.NameRange
	}
	return ir.Stated{Value: v, Range: r, Strict: lb.From == syntax.FromDirective}
}

// branchValue returns the name of a branch: a code span at the beginning as it is,
// else the value without what prose adds in parentheses, "(after 1.1 merged)".
func branchValue(lb *syntax.Label) ir.Stated {
	s := scalar(lb)
	if name, ok := leadingCode(strings.TrimSpace(lb.Value.Raw)); ok && strings.HasPrefix(lb.Value.Value, name) {
		s.Value, s.Range = name, lb.Value.Sub(0, len(name))
		return s
	}
	if i := strings.IndexByte(s.Value, '('); i > 0 {
		s.Value = strings.TrimSpace(s.Value[:i])
		s.Range.End = min(s.Range.End, s.Range.Start+len(s.Value))
	}
	return s
}

// leadingCode returns the code span that a text begins with.
func leadingCode(raw string) (code string, ok bool) {
	rest := strings.TrimLeft(raw, "`")
	fence := raw[:len(raw)-len(rest)]
	if fence == "" {
		return "", false
	}
	for at := 0; ; {
		i := strings.Index(rest[at:], fence)
		if i < 0 {
			return "", false
		}
		at += i
		run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		if run == len(fence) {
			return strings.TrimSpace(rest[:at]), true
		}
		at += run
	}
}

// entry is one element of a list label.
type entry struct {
	text   string
	at     diag.Range
	detail []string
	value  syntax.Text
}

// entries returns the elements of a list label: its value, its bullets.
func entries(lb *syntax.Label) []entry {
	var out []entry
	if lb.Value.Value != "" {
		out = append(out, entry{text: lb.Value.Value, at: lb.Value.Range, value: lb.Value})
	}
	for _, it := range lists.Each(lb.Items) {
		out = append(out, entry{text: it.Text.Value, at: it.Text.Range, value: it.Text, detail: it.Detail})
	}
	for _, p := range lb.Text {
		out = append(out, entry{text: p, at: lb.TextRange})
	}
	return out
}

// bullet writes a list item as lines of markdown; its detail holds the items
// below it.
func bullet(it *syntax.ListItem) []string {
	out := []string{"- " + it.Text.Value}
	for _, d := range it.Detail {
		out = append(out, strings.TrimRight("  "+d, " "))
	}
	return out
}

// words returns the elements of a list label cut at commas, for labels whose
// elements are words: "**Labels**: api, backend".
func words(lb *syntax.Label) []string {
	return lists.Map(wordsAt(lb), func(s ir.Stated) string { return s.Value })
}

func wordsAt(lb *syntax.Label) []ir.Stated {
	var out []ir.Stated
	for _, e := range entries(lb) {
		off := 0
		for part := range strings.SplitSeq(e.text, ",") {
			v := strings.Trim(strings.TrimSpace(part), "`[]\"'")
			lead := strings.Index(part, v)
			if v != "" {
				r := e.at
				if e.value.Value != "" {
					r = e.value.Sub(off+lead, off+lead+len(v))
				}
				out = append(out, ir.Stated{Value: v, Range: r, Strict: lb.From == syntax.FromDirective})
			}
			off += len(part) + 1
		}
	}
	return out
}

// paragraphs returns everything that a label says, as lines.
func paragraphs(lb *syntax.Label) []string {
	var out []string
	if lb.Value.Value != "" {
		out = append(out, strings.Split(lb.Value.Value, "\n")...)
	}
	out = append(out, lb.Text...)
	for i := range lb.Items {
		out = append(out, bullet(&lb.Items[i])...)
	}
	for _, f := range lists.Each(lb.Fences) {
		out = append(out, strings.TrimRight("```"+f.Lang, " "))
		out = append(out, strings.Split(strings.TrimRight(f.Content, "\n"), "\n")...)
		out = append(out, "```")
	}
	return out
}

func trimLines(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
