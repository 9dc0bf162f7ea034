package term

import (
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/columns"
)

// escape returns the length of the colour sequence that text begins with, else 0.
func escape(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	end := 2
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == ';') {
		end++
	}
	if end < len(text) && text[end] == 'm' {
		return end + 1
	}
	return 0
}

// Width is how many columns text takes that may be painted.
func Width(text string) int {
	wide := 0
	for text != "" {
		if n := escape(text); n > 0 {
			text = text[n:]
			continue
		}
		next := strings.Index(text[1:], "\x1b")
		if next < 0 {
			return wide + columns.Of(text)
		}
		wide += columns.Of(text[:next+1])
		text = text[next+1:]
	}
	return wide
}

// Cut shortens text that may be painted to at most width columns, ending in "…".
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	var b strings.Builder
	left, coloured := max(width-1, 0), false
	for i := 0; i < len(text); {
		if n := escape(text[i:]); n > 0 {
			b.WriteString(text[i : i+n])
			coloured = true
			i += n
			continue
		}
		for _, r := range text[i:] {
			if left -= columns.OfRune(r); left < 0 {
				b.WriteString("…")
				if coloured {
					b.WriteString("\x1b[0m")
				}
				return b.String()
			}
			b.WriteRune(r)
			i += len(string(r))
			break
		}
	}
	return b.String()
}

// Wrap breaks a line that may be painted into lines of at most width columns. A colour goes
// on in the next line.
func Wrap(text string, width int) []string {
	if width = max(width, 2); Width(text) <= width {
		return []string{text}
	}
	var out []string
	var b strings.Builder
	colour, used := "", 0
	for i := 0; i < len(text); {
		if n := escape(text[i:]); n > 0 {
			seq := text[i : i+n]
			if colour += seq; strings.HasPrefix(seq, "\x1b[0") {
				colour = ""
			}
			b.WriteString(seq)
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if used += columns.OfRune(r); used > width {
			if colour != "" {
				b.WriteString("\x1b[0m")
			}
			out = append(out, b.String())
			b.Reset()
			b.WriteString(colour)
			used = columns.OfRune(r)
		}
		b.WriteString(text[i : i+size])
		i += size
	}
	return append(out, b.String())
}
