package compiler

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// What a label does not take is text of its item and is in the prompt at the label's
// place: parts of a value that name nothing, text below a list, fences that mean nothing
// there.

// leftovers puts back what the labels of items did not take, once it is known what their
// values can name.
func (l *lowering) leftovers() {
	var known *depend.Names
	for i := range l.tree.Items {
		text := &l.texts[i]
		labels, whole := l.tree.Items[i].Body.Labels, text.added
		for k, lb := range lists.Each(labels) {
			switch {
			case len(whole) > 0 && whole[0].label == k: // all of it is prose
				whole = whole[1:]
			case lb.From == syntax.FromDirective || lb.From == syntax.FromCell || lb.From == syntax.FromFrontMatter:
			case lb.Name.IsDependency():
				if known == nil {
					known = depend.NewNames(&l.deps)
				}
				text.insert(k, lb.At, l.unnamed(lb, known))
			default:
				text.insert(k, lb.At, untaken(lb))
			}
		}
		l.draft.Nodes[i].Text = trimLines(text.done())
	}
	l.texts = nil
}

// unnamed returns the lines of a dependency label that hold anything but
// dependencies.
func (l *lowering) unnamed(lb *syntax.Label, known *depend.Names) (out []string) {
	unread := func(t syntax.Text) []depend.Span {
		if t.Range.Start >= t.Range.End || t.Range.Start < 0 || t.Range.End > len(l.tree.File.Bytes) {
			return nil
		}
		return known.Unread(depend.Statement{Text: l.tree.File.Text(t.Range), At: t.Range})
	}
	var item func(it *syntax.ListItem) bool
	item = func(it *syntax.ListItem) bool {
		return len(unread(it.Text)) > 0 || slices.ContainsFunc(it.Items, func(it syntax.ListItem) bool { return item(&it) }) || moreThanLists(it.Detail)
	}
	var below []string
	if len(lb.Text) > 0 && (!l.textIsValue(lb) || len(unread(syntax.Text{Range: lb.TextRange})) > 0) {
		below = append(below, lb.Text...)
	}
	for i := range lb.Items {
		if item(&lb.Items[i]) {
			below = append(below, bullet(&lb.Items[i])...)
		}
	}
	below = append(below, paragraphs(&syntax.Label{Fences: lb.Fences})...)
	own := l.linesOf(lb, unread(lb.Value))
	if len(below) > 0 && len(own) == 0 && lb.Value.Value == "" {
		own = lb.Lines
	}
	return append(slices.Clip(own), below...)
}

// textIsValue reports whether the paragraphs below a dependency label, and nothing else, are its value.
func (l *lowering) textIsValue(lb *syntax.Label) bool {
	return lb.Value.Value == "" && len(lb.Items) == 0 && !lb.TextRange.IsZero() &&
		strings.HasSuffix(l.tree.File.Text(lb.TextRange), lb.Text[len(lb.Text)-1])
}

// linesOf returns the lines of a label in which parts of its value are.
func (l *lowering) linesOf(lb *syntax.Label, parts []depend.Span) (out []string) {
	if len(parts) == 0 {
		return nil
	}
	src := l.tree.File.Bytes
	if n := bytes.Count(src[lb.NameRange.Start:lb.Value.Range.End], []byte{'\n'}); n+1 != len(lb.Lines) {
		return lb.Lines
	}
	k, last, at := 0, -1, lb.NameRange.Start
	for _, sp := range parts {
		to := max(at, lb.Value.Range.Start+sp.Start)
		k += bytes.Count(src[at:to], []byte{'\n'})
		if at = to; k > last {
			out, last = append(out, lb.Lines[k]), k
		}
	}
	return out
}

// moreThanLists reports whether lines below a list item are anything but list items.
func moreThanLists(detail []string) bool {
	return slices.ContainsFunc(detail, func(line string) bool {
		line = strings.TrimLeft(line, " \t0123456789")
		return line != "" && strings.IndexByte("-*+.)", line[0]) < 0
	})
}

// untaken returns what other labels leave: of those whose list is their value the text
// beside it, of those whose entries are words what is below the entries.
func untaken(lb *syntax.Label) (out []string) {
	rest := syntax.Label{}
	switch lb.Name {
	case syntax.Tasks:
		if rest.Fences = lb.Fences; len(lb.Items) > 0 {
			rest.Value, rest.Text = lb.Value, lb.Text
		}
	case syntax.Acceptance:
		rest.Fences = lb.Fences
	case syntax.Owns, syntax.Files, syntax.Reads, syntax.DevAgents, syntax.QAAgents, syntax.LabelsLabel, syntax.Implements, syntax.Capability:
		rest.Fences = lb.Fences
		rest.Items = lists.Keep(lb.Items, func(it syntax.ListItem) bool { return len(it.Detail) > 0 })
	case syntax.Verify:
		rest.Items = lists.Keep(lb.Items, func(it syntax.ListItem) bool { return moreThanFences(it.Detail) })
	default:
		if !lb.Name.IsScalar() {
			return nil
		}
		rest = syntax.Label{Text: lb.Text, Items: lb.Items, Fences: lb.Fences}
		switch {
		case lb.Value.Value != "":
		case len(lb.Items) == 1 && len(lb.Items[0].Detail) == 0:
			rest.Items = nil
		case len(lb.Items) == 0:
			rest.Text = nil
		}
	}
	out = paragraphs(&rest)
	if len(out) > 0 && rest.Value.Value == "" {
		out = append(slices.Clip(lb.Lines[:min(1, len(lb.Lines))]), out...)
	}
	return out
}

// moreThanFences reports whether lines below a list item are anything but fences.
func moreThanFences(detail []string) bool {
	fence := ""
	for _, line := range detail {
		switch line = strings.TrimSpace(line); {
		case fence != "":
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:3]
		case line != "":
			return true
		}
	}
	return false
}
