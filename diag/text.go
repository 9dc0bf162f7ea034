package diag

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text writes diagnostics for people: a headline with the code, the place, the
// line with a caret under the range, the detail, related places and the edit
// that mends it. The zero value writes plain text without snippets.
type Text struct {
	Files map[string]*File // sources for the snippets, by name

	// Paint colours a piece of text by the severity it belongs to; the zero
	// Severity is for line numbers and frames. Nil: no colour.
	Paint func(Severity, string) string
	// Clean makes text from files harmless for a terminal. Nil: as it is.
	Clean func(string) string
	// Width returns how many columns a text takes. Nil: one for each rune.
	Width func(string) int
	// Fold is how many hints of one code are shown before the rest is only
	// counted; 0 shows all.
	Fold int
}

const maxSnippet = 110 // columns of a source line that are shown around the caret

// Write writes the list as it is sorted and ends with a line that counts.
func (t Text) Write(w io.Writer, list List) error {
	if t.Paint == nil {
		t.Paint = func(_ Severity, s string) string { return s }
	}
	if t.Clean == nil {
		t.Clean = func(s string) string { return s }
	}
	if t.Width == nil {
		t.Width = utf8.RuneCountInString
	}
	var b strings.Builder
	shown, folded := map[Code]int{}, map[Code]int{}
	for _, d := range list {
		if t.Fold > 0 && d.Severity == Hint && shown[d.Code] == t.Fold {
			folded[d.Code]++
			continue
		}
		shown[d.Code]++
		t.one(&b, d)
	}
	for _, c := range slices.Sorted(maps.Keys(folded)) {
		fmt.Fprintf(&b, "%s %d more like it (--format json lists all)\n\n", t.Paint(Hint, "hint["+string(c)+"]:"), folded[c])
	}
	if s := Summary(list); s != "" {
		b.WriteString(s + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary counts by severity: "2 errors, 1 warning"; "" for an empty list.
func Summary(list List) string {
	var parts []string
	for _, s := range []Severity{Error, Warning, Note, Hint} {
		if n := list.Count(s); n == 1 {
			parts = append(parts, "1 "+s.String())
		} else if n > 1 {
			parts = append(parts, strconv.Itoa(n)+" "+s.String()+"s")
		}
	}
	return strings.Join(parts, ", ")
}

func (t Text) one(b *strings.Builder, d Diagnostic) {
	fmt.Fprintf(b, "%s %s\n", t.Paint(d.Severity, d.Severity.String()+"["+string(d.Code)+"]:"), t.Clean(d.Summary))
	gutter := t.gutter(d)
	t.place(b, d.Range, d.Severity, gutter, "-->", "")
	for _, r := range d.Related {
		t.place(b, r.Range, Note, gutter, ":::", r.Message)
	}
	pad := strings.Repeat(" ", gutter)
	if d.Detail != "" {
		for i, line := range wrap(t.Clean(d.Detail), 96-gutter) {
			mark := "="
			if i > 0 {
				mark = " "
			}
			fmt.Fprintf(b, "%s %s %s\n", pad, t.Paint(0, mark), line)
		}
	}
	if d.Fix != nil {
		t.fix(b, *d.Fix, pad)
	}
	if d.More > 0 {
		fmt.Fprintf(b, "%s %s and %s more like it\n", pad, t.Paint(0, "="), thousands(d.More))
	}
	b.WriteByte('\n')
}

// thousands writes 4312 as "4,312".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// gutter is the width of the largest line number that is shown.
func (t Text) gutter(d Diagnostic) int {
	n := 1
	for _, r := range append([]Related{{Range: d.Range}}, d.Related...) {
		if f := t.Files[r.Range.File]; f != nil {
			n = max(n, len(strconv.Itoa(f.Position(r.Range.Start).Line)))
		}
	}
	return n
}

func (t Text) place(b *strings.Builder, r Range, s Severity, gutter int, arrow, message string) {
	if r.IsZero() {
		return
	}
	pad := strings.Repeat(" ", gutter)
	f := t.Files[r.File]
	var p Position
	fmt.Fprintf(b, "%s%s %s", pad, t.Paint(0, arrow), t.Clean(r.File))
	if f != nil {
		p = f.Position(r.Start)
		b.WriteString(":" + p.String())
	}
	if message != "" {
		b.WriteString(": " + t.Clean(message))
	}
	b.WriteByte('\n')
	if f == nil {
		return
	}
	line, start := f.Line(p.Line)
	before, under, after := t.window(line, r.Start-start, r.End-start)
	width := max(t.Width(under), 1)
	fmt.Fprintf(b, "%s %s\n", pad, t.Paint(0, "|"))
	fmt.Fprintf(b, "%s %s %s%s%s\n", t.Paint(0, fmt.Sprintf("%*d", gutter, p.Line)), t.Paint(0, "|"), before, under, after)
	caret := "^" + strings.Repeat("^", width-1)
	if s == Note && arrow == ":::" {
		caret = strings.Repeat("-", width)
	}
	fmt.Fprintf(b, "%s %s %s%s\n", pad, t.Paint(0, "|"), strings.Repeat(" ", t.Width(before)), t.Paint(s, caret))
}

// window cuts the line around [start, end) to what fits on a screen and returns
// the text before, inside and after the range, harmless and without tabs.
func (t Text) window(line string, start, end int) (before, under, after string) {
	start = min(max(start, 0), len(line))
	end = min(max(end, start), len(line))
	show := func(s string) string { return t.Clean(strings.ReplaceAll(s, "\t", "    ")) }
	before, under, after = show(line[:start]), show(line[start:end]), show(line[end:])
	under = cutRight(under, maxSnippet)
	if n := utf8.RuneCountInString(before) + utf8.RuneCountInString(under); n > maxSnippet {
		keep := max(maxSnippet-utf8.RuneCountInString(under)-1, 20)
		runes := []rune(before)
		if len(runes) > keep {
			before = "…" + string(runes[len(runes)-keep:])
		}
	}
	room := maxSnippet - utf8.RuneCountInString(before) - utf8.RuneCountInString(under)
	return before, under, cutRight(after, max(room, 1))
}

func cutRight(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func (t Text) fix(b *strings.Builder, x Fix, pad string) {
	what := t.Clean(strings.TrimRight(x.Text, "\r\n"))
	f := t.Files[x.Range.File]
	switch {
	case f == nil || strings.Contains(what, "\n"):
		return
	case x.Text == "":
		fmt.Fprintf(b, "%s %s fix: delete %s\n", pad, t.Paint(0, "="), quote(t.Clean(cutRight(f.Text(x.Range), 80))))
	case x.Range.Start == x.Range.End:
		fmt.Fprintf(b, "%s %s fix: insert %s at line %d\n", pad, t.Paint(0, "="), quote(what), f.Position(x.Range.Start).Line)
	default:
		fmt.Fprintf(b, "%s %s fix: write %s\n", pad, t.Paint(0, "="), quote(what))
	}
}

func quote(s string) string { return "`" + s + "`" }

// wrap breaks text at spaces into lines of at most width runes; existing line
// breaks stay.
func wrap(text string, width int) []string {
	var lines []string
	for _, para := range strings.Split(text, "\n") {
		line, n := "", 0
		for _, word := range strings.Fields(para) {
			w := utf8.RuneCountInString(word)
			if n > 0 && n+1+w > width {
				lines = append(lines, line)
				line, n = "", 0
			}
			if n > 0 {
				line, n = line+" ", n+1
			}
			line, n = line+word, n+w
		}
		lines = append(lines, line)
	}
	return lines
}
