package diag

import (
	"strings"
	"testing"
)

func TestTextPointsAtTheRange(t *testing.T) {
	src := "# Plan\n\n### Sprint 1.1: A\n\n**Depends on**: 1.9\n"
	f := NewFile("plans/x.md", []byte(src))
	at := strings.Index(src, "1.9")
	d := Diagnostic{
		Code: "unknown-item", Severity: Error, Summary: "there is no item 1.9",
		Detail: "The nearest id is 1.1. Write an id that is in a heading.", Range: f.Range(at, at+3),
	}.WithRelated(f.Range(8, 25), "the only item").WithFix(f.Range(at, at+3), "1.1")
	var b strings.Builder
	if err := (Text{Files: map[string]*File{f.Name: f}}).Write(&b, List{d}); err != nil {
		t.Fatal(err)
	}
	want := `error[unknown-item]: there is no item 1.9
 --> plans/x.md:5:17
  |
5 | **Depends on**: 1.9
  |                 ^^^
 ::: plans/x.md:3:1: the only item
  |
3 | ### Sprint 1.1: A
  | -----------------
  = The nearest id is 1.1. Write an id that is in a heading.
  = fix: write ` + "`1.1`" + `

1 error
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestTextFoldsHintsOnly(t *testing.T) {
	var l List
	for range 5 {
		l.Add(Diagnostic{Code: "a-hint", Severity: Hint, Summary: "could be better"})
		l.Add(Diagnostic{Code: "a-warning", Severity: Warning, Summary: "look here"})
	}
	var b strings.Builder
	_ = Text{Fold: 2}.Write(&b, l)
	if n := strings.Count(b.String(), "could be better"); n != 2 {
		t.Errorf("%d hints shown, want 2", n)
	}
	if n := strings.Count(b.String(), "look here"); n != 5 {
		t.Errorf("%d warnings shown, want 5", n)
	}
	if !strings.Contains(b.String(), "hint[a-hint]: 3 more like it") || !strings.HasSuffix(b.String(), "5 warnings, 5 hints\n") {
		t.Errorf("no account of what was folded:\n%s", b.String())
	}
}

func TestTextBoundsLongLinesAndOddRanges(t *testing.T) {
	src := strings.Repeat("x", 5000) + "HERE" + strings.Repeat("y", 5000) + "\tend"
	f := NewFile("a.md", []byte(src))
	for name, r := range map[string]Range{
		"in the middle of a long line": f.Range(5000, 5004),
		"the whole line":               f.Range(0, len(src)),
		"at the end of the file":       f.Range(len(src), len(src)),
		"beyond the end of the file":   f.Range(len(src)+10, len(src)+20),
	} {
		var b strings.Builder
		_ = Text{Files: map[string]*File{"a.md": f}}.Write(&b, List{{Code: "c", Severity: Error, Summary: "s", Range: r}})
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(line)); n > 130 {
				t.Errorf("%s: a line of %d columns", name, n)
			}
		}
	}
}

func TestPositionCountsRunesAndLineEndings(t *testing.T) {
	f := NewFile("a", []byte("é→x\r\nsecond\n"))
	for name, c := range map[string]struct {
		offset int
		want   string
	}{
		"behind two runes of five bytes": {5, "1:3"},
		"the first byte of line two":     {8, "2:1"},
		"the end of the file":            {100, "3:1"},
	} {
		if got := f.Position(c.offset).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if text, off := f.Line(1); text != "é→x" || off != 0 {
		t.Errorf("line 1 is %q at %d", text, off)
	}
}

func TestSortIsTotalAndDropsRepetitions(t *testing.T) {
	l := List{
		{Code: "b", Severity: Hint, Range: Range{"x", 3, 4}},
		{Code: "a", Severity: Error, Range: Range{"x", 3, 4}},
		{Code: "a", Severity: Error, Range: Range{"x", 3, 4}},
		{Code: "c", Severity: Error, Range: Range{"a", 9, 9}},
	}
	l.Sort()
	var got []string
	for _, d := range l {
		got = append(got, string(d.Code))
	}
	if strings.Join(got, "") != "cab" {
		t.Errorf("sorted %v, want [c a b]", got)
	}
}
