package term

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/columns"
)

// screen is a terminal of a few columns that understands what a block writes.
type screen struct {
	columns  int
	rows     [][]rune
	row, col int
}

func (s *screen) line() *[]rune {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	return &s.rows[s.row]
}

func (s *screen) write(text string) {
	for i := 0; i < len(text); {
		rest := text[i:]
		var n int
		switch {
		case rest[0] == '\n':
			s.row, s.col = s.row+1, 0
			s.line()
			i++
		case rest[0] == '\r':
			s.col = 0
			i++
		case strings.HasPrefix(rest, "\x1b[J"):
			*s.line() = (*s.line())[:min(s.col, len(*s.line()))]
			s.rows = s.rows[:s.row+1]
			i += 3
		case strings.HasPrefix(rest, "\x1b[K"):
			*s.line() = (*s.line())[:min(s.col, len(*s.line()))]
			i += 3
		case strings.HasPrefix(rest, "\x1b[?"):
			i += strings.IndexAny(rest, "hl") + 1
		case escape(rest) > 0:
			i += escape(rest)
		case strings.HasPrefix(rest, "\x1b["):
			_, _ = fmt.Sscanf(rest, "\x1b[%dA", &n)
			s.row = max(s.row-n, 0)
			i += strings.IndexByte(rest, 'A') + 1
		default:
			r := []rune(rest)[0]
			if s.col >= s.columns {
				s.row, s.col = s.row+1, 0
			}
			l := s.line()
			for len(*l) <= s.col {
				*l = append(*l, ' ')
			}
			(*l)[s.col] = r
			s.col += columns.Of(string(r))
			i += len(string(r))
		}
	}
}

// resize wraps every line again, as terminals do.
func (s *screen) resize(columns int) {
	var rows [][]rune
	at := 0
	for i, l := range s.rows {
		if i == s.row {
			at = len(rows)
		}
		for len(l) > columns {
			rows = append(rows, l[:columns])
			l = l[columns:]
		}
		rows = append(rows, l)
	}
	s.columns, s.rows, s.row = columns, rows, at
}

func (s *screen) String() string {
	var b strings.Builder
	for _, l := range s.rows {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestABlockStaysBelowWhatScrollsBy(t *testing.T) {
	s := &screen{columns: 40}
	b := &Block{w: writerFunc(func(p []byte) { s.write(string(p)) }), size: func() (int, int) { return s.columns, 24 }}
	b.Draw(nil, []string{"one", "two"})
	b.Draw([]byte("done 1\n"), []string{"two"})
	b.Draw([]byte("done 2\n"), []string{"two", "three", "four"})
	if got, want := s.String(), "done 1\ndone 2\ntwo\nthree\nfour"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Clear()
	if got, want := s.String(), "done 1\ndone 2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestABlockSurvivesANarrowTerminalAndItsResize(t *testing.T) {
	s := &screen{columns: 40}
	b := &Block{w: writerFunc(func(p []byte) { s.write(string(p)) }), size: func() (int, int) { return s.columns, 24 }}
	long := (Style{on: true}).Paint(Good, strings.Repeat("läng ", 20))
	b.Draw([]byte("above\n"), []string{long, "short"})
	if got, want := s.String(), "above\n"+strings.Repeat("läng ", 7)+"län…\nshort"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.resize(12)
	b.Draw(nil, []string{long, "short"})
	if got, want := s.String(), "above\nläng läng …\nshort"; got != want {
		t.Errorf("after the resize\n%s\nwant\n%s", got, want)
	}
	b.size = func() (int, int) { return 12, 3 }
	b.Draw(nil, []string{"1", "2", "3", "4"})
	if got, want := s.String(), "above\n1\n2"; got != want {
		t.Errorf("on a low screen\n%s\nwant\n%s", got, want)
	}
}

func TestPaintedTextIsCutByWhatShows(t *testing.T) {
	on := Style{on: true}
	for name, c := range map[string]struct {
		in    string
		width int
		want  string
	}{
		"text that fits is left alone": {on.Paint(Bad, "abc"), 3, on.Paint(Bad, "abc")},
		"colours take no room":         {on.Paint(Bold, "ab") + "cdef", 5, on.Paint(Bold, "ab") + "cd…\x1b[0m"},
		"wide characters count twice":  {"日本語", 5, "日本…"},
		"nothing fits":                 {"abc", 0, "…"},
	} {
		if got := Cut(c.in, c.width); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestPaintedTextIsWrappedByWhatShows(t *testing.T) {
	on := Style{on: true}
	for name, c := range map[string]struct {
		in    string
		width int
		want  []string
	}{
		"text that fits is one line":        {"abc", 3, []string{"abc"}},
		"a line without text is a line":     {"", 3, []string{""}},
		"a colour goes on":                  {on.Paint(Good, "abcd") + "e", 3, []string{"\x1b[32mabc\x1b[0m", "\x1b[32md\x1b[0me"}},
		"a wide character is not cut":       {"a日本", 4, []string{"a日", "本"}},
		"what is narrower than a character": {"日本", 1, []string{"日", "本"}},
	} {
		if got := Wrap(c.in, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSizeOfWhatIsNoTerminal(t *testing.T) {
	if c, r := Size(&bytes.Buffer{}); c != 80 || r != 24 {
		t.Errorf("%d × %d", c, r)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
