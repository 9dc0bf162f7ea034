package term

import (
	"strings"

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

// widthPainted is Width of text that may hold colours.
func widthPainted(text string) int {
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

// truncatePainted is columns.Truncate of text that may hold colours.
func truncatePainted(text string, width int) string {
	if widthPainted(text) <= width {
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
