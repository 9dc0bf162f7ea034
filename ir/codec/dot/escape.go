package dot

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

var inHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "[", "&#91;", "]", "&#93;")

// html escapes text for an HTML-like label.
func html(s string) string { return inHTML.Replace(ir.Printable(s)) }

var inString = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`)

// quoted writes a string of the DOT language. Line ends in s stay line ends;
// Graphviz replaces entities in strings, too.
func quoted(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = ir.Printable(l)
	}
	return `"` + inString.Replace(strings.Join(lines, "\n")) + `"`
}

// wrap breaks s at spaces into lines of about width columns, at most lines of
// them; what does not fit ends in an ellipsis. Words that are too long are cut.
func wrap(s string, width, lines int) []string {
	var out []string
	line, used := "", 0
	flush := func() {
		if line != "" {
			out = append(out, line)
		}
		line, used = "", 0
	}
	for word := range strings.FieldsSeq(ir.Printable(text.Shorten(s, 4*width*lines))) {
		for {
			head, rest := split(word, width)
			n := columns.Of(head)
			if used+1+n > width {
				flush()
			}
			if used > 0 {
				line, used = line+" ", used+1
			}
			line, used = line+head, used+n
			if rest == "" {
				break
			}
			word = rest
		}
	}
	flush()
	if len(out) > lines {
		out = out[:lines]
		out[lines-1] += "…"
	}
	return out
}

// split cuts a word after width columns.
func split(word string, width int) (head, rest string) {
	n := 0
	for i, r := range word {
		if n += columns.OfRune(r); n > width && i > 0 {
			return word[:i], word[i:]
		}
	}
	return word, ""
}
