package view

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/term"
)

// mostScrolled is how many lines of a log are kept.
const mostScrolled = 20_000

// scroll is a long text, and which part of it is shown.
type scroll struct {
	lines []string // whole ones
	shown []string // broken to the width of the screen
	top   int
}

// set takes another text; what is shown stays where it was.
func (s *scroll) set(text string, columns int) {
	s.lines = strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\t", "    "), "\n"), "\n")
	s.wrap(columns)
}

// wrap breaks the lines for another width.
func (s *scroll) wrap(columns int) {
	s.shown = nil
	for _, l := range s.lines {
		s.shown = append(s.shown, term.Wrap(l, columns)...)
	}
}

// add appends lines. If the last line was shown on a screen of some rows it still is.
func (s *scroll) add(lines []string, columns, rows int) {
	ended := s.ended(rows)
	if len(s.lines) == 1 && s.lines[0] == "" {
		s.lines, s.shown = nil, nil
	}
	for _, l := range lines {
		l = strings.ReplaceAll(l, "\t", "    ")
		s.lines = append(s.lines, l)
		s.shown = append(s.shown, term.Wrap(l, columns)...)
	}
	if over := len(s.lines) - mostScrolled; over > 0 {
		s.lines = s.lines[over:]
		was := len(s.shown)
		s.wrap(columns)
		s.top -= was - len(s.shown)
	}
	if ended {
		s.top = len(s.shown)
	}
	s.move(0, rows)
}

// ended reports whether the last line is shown.
func (s *scroll) ended(rows int) bool { return s.top+rows >= len(s.shown) }

func (s *scroll) move(by, rows int) { s.top = max(0, min(s.top+by, len(s.shown)-rows)) }

// part is what fits into some rows.
func (s *scroll) part(rows int) []string {
	from := max(0, min(s.top, len(s.shown)-rows))
	return s.shown[from:min(len(s.shown), from+rows)]
}

// find goes to the next line, or the one before, that has text, round the end.
func (s *scroll) find(text string, by int) bool {
	k := len(s.shown)
	for i := 1; i <= k; i++ {
		at := ((s.top+by*i)%k + k) % k
		if strings.Contains(strings.ToLower(s.shown[at]), strings.ToLower(text)) {
			s.top = at
			return true
		}
	}
	return false
}
