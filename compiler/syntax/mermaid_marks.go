package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// The marks of mermaid: brackets around texts, and arrows.

// nodeShapes are the brackets around the text of a node, the longer ones first.
var nodeShapes = []struct{ open, shut, other string }{
	{"(((", ")))", ""},
	{"((", "))", ""},
	{"([", "])", ""},
	{"[[", "]]", ""},
	{"[(", ")]", ""},
	{"{{", "}}", ""},
	{"[/", "/]", `\]`},
	{`[\`, `\]`, "/]"},
	{"[", "]", ""},
	{"(", ")", ""},
	{"{", "}", ""},
	{">", "]", ""},
}

func (m *mermaidReader) shape() (string, bool) {
	for _, s := range nodeShapes {
		if !strings.HasPrefix(m.src[m.at:], s.open) {
			continue
		}
		from := m.at + len(s.open)
		line := m.line(from)
		text, n := "", -1
		if inner := strings.TrimLeft(line, " \t"); strings.HasPrefix(inner, `"`) {
			if k := strings.IndexByte(inner[1:], '"'); k >= 0 {
				lead := len(line) - len(inner)
				text, n = inner[1:1+k], lead+k+2
				n += len(line[n:]) - len(strings.TrimLeft(line[n:], " \t"))
			}
		} else if n = closing(line, s.open, s.shut, s.other); n >= 0 {
			text = line[:n]
		}
		if n < 0 || !strings.HasPrefix(line[n:], s.shut) && (s.other == "" || !strings.HasPrefix(line[n:], s.other)) {
			return "", m.fail("the text of a node is not closed")
		}
		m.at = from + n + len(s.shut)
		return drawnText(text), true
	}
	return "", true
}

// closing finds the end of a node's text, after brackets inside it.
func closing(line, open, shut, other string) int {
	if len(open) > 1 && other == "" {
		return strings.Index(line, shut)
	}
	depth := 0
	for i := range len(line) {
		switch {
		case other != "":
			if strings.HasPrefix(line[i:], shut) || strings.HasPrefix(line[i:], other) {
				return i
			}
		case line[i] == shut[0] && depth == 0:
			return i
		case line[i] == shut[0]:
			depth--
		case line[i] == open[0]:
			depth++
		}
	}
	return -1
}

// link reads an arrow with its text; seen is false for one that is not drawn.
func (m *mermaidReader) link() (seen, ok bool) {
	line := m.line(m.at)
	if n := len(line) - len(strings.TrimLeft(line, "~")); n >= 3 {
		m.at += n
		return false, true
	}
	n := -1
	switch {
	case strings.HasPrefix(line, "--"):
		n = stroke(line, "-")
	case strings.HasPrefix(line, "=="):
		n = stroke(line, "=")
	case strings.HasPrefix(line, "-."):
		n = dotted(line)
	}
	if n < 0 || n < len(line) && (line[n] == 'x' || line[n] == 'o') && n > 0 && line[n-1] != '>' {
		return false, m.fail("the arrow is not known")
	}
	m.at += n
	m.spaces()
	if !m.has("|") {
		return true, true
	}
	k := strings.IndexByte(m.line(m.at+1), '|')
	if k < 0 {
		return false, m.fail("the text of an arrow is not closed")
	}
	m.at += k + 2
	return true, true
}

// stroke returns the length of "-->", "---" or "-- text -->"; -1 for what is no
// such arrow.
func stroke(line, mark string) int {
	head := func(line string) int { // with three strokes, or with its point
		n := len(line) - len(strings.TrimLeft(line, mark))
		switch {
		case strings.HasPrefix(line[n:], ">"):
			return n + 1
		case n > 2:
			return n
		}
		return -1
	}
	if n := head(line); n >= 0 {
		return n
	}
	n := len(line) - len(strings.TrimLeft(line, mark))
	k := strings.Index(line[n:], mark+mark) // behind its text
	if k <= 0 || strings.TrimSpace(line[n:n+k]) == "" || line[n] == 'x' || line[n] == 'o' {
		return -1
	}
	end := head(line[n+k:])
	if end < 0 {
		return -1
	}
	return n + k + end
}

// dotted returns the length of "-.->", "-.-" or "-. text .->"; -1 for what is no
// such arrow.
func dotted(line string) int {
	n := len(line) - len(strings.TrimLeft(line[1:], "."))
	if n >= len(line) || line[n] != '-' {
		k := strings.Index(line[n:], ".-")
		if k <= 0 || strings.TrimSpace(line[n:n+k]) == "" {
			return -1
		}
		n += k + 1
	}
	return len(line) - len(strings.TrimPrefix(line[n+1:], ">"))
}

// drawnText cleans the text of a node: quotation marks, tags and emphasis go.
func drawnText(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "\"`")
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<':
			if k := strings.IndexByte(s[i:min(len(s), i+32)], '>'); k > 0 {
				i += k
				b.WriteByte(' ')
				continue
			}
			b.WriteByte(c)
		case c == '\\' && i+1 < len(s) && s[i+1] == 'n':
			i++
			b.WriteByte(' ')
		case c == '*' || c == '`' || c < ' ':
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return text.OneLine(b.String())
}
