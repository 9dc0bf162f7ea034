package project

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// drawingFormats are the formats of drawings by file extension.
var drawingFormats = []struct{ end, format string }{
	{".svg", "svg"}, {".dot", "dot"}, {".gv", "dot"}, {".mmd", "mermaid"}, {".mermaid", "mermaid"}, {".json", "json"},
}

// isPicture reports whether a file has an extension that only drawings have.
func isPicture(file string) bool {
	return slices.Contains([]string{".svg", ".dot", ".gv", ".mmd", ".mermaid", ".png", ".pdf"}, strings.ToLower(filepath.Ext(file)))
}

// drawsGraph is the command that draws the plan of epic i.
func (a *Args) drawsGraph(i int) string {
	switch {
	case a.As != "":
		text := "ralph graph --as " + words.QuoteArg(a.As)
		for _, file := range a.Plans {
			text += " " + words.QuotePath(file)
		}
		return text
	case a.Dialect != "":
		return "ralph graph " + words.QuotePath(a.Plans[i]) + " --dialect " + words.QuoteArg(a.Dialect)
	}
	return "ralph graph " + words.QuotePath(a.Plans[i])
}

// ownDrawings match the beginning of drawings by ralph.
var ownDrawings = map[string]*lazyregexp.Regexp{
	"dot":     lazyregexp.New(`^digraph (?:epic|policy) \{`),
	"mermaid": lazyregexp.New(`^flowchart (?:TD|TB|LR)\r?\n +(?:subgraph p|n)[0-9]`),
	"svg":     lazyregexp.New(`(?s)^<\?xml.*?<title>(?:epic|policy)</title>`),
	"json":    lazyregexp.New(`^(?:\{\r?\n  "epic": "[^\n]*\n  "title": "[^\n]*\n  "nodes": \[|\[\r?\n  \{\r?\n    "name": "[^\n]*\n    "nodes": \[)`),
}

// drawn reports whether b is a drawing of ralph's in a format; "" is dot.
func drawn(b []byte, format string) bool {
	own := ownDrawings[cmp.Or(format, "dot")]
	return own != nil && own.Match(b)
}

// DrawingFormat is the format of a drawing in a file: the one that is asked for, else that of
// the file's name, which must fit.
func DrawingFormat(out, format string) (string, error) {
	if out == "" || out == "-" {
		return format, nil
	}
	switch end := strings.ToLower(filepath.Ext(out)); end {
	case ".md", ".markdown", ".hcl":
		return "", exit.Usagef("-o %s: that is the name of a %s; draw into a file called .svg, .dot, .mmd (mermaid) or .json", out, KindOf(out))
	case ".png", ".pdf", ".jpg", ".jpeg":
		return "", exit.Usagef("-o %s: ralph draws .svg, .dot, .mmd (mermaid) and .json; for this: ralph graph … | dot -T%s > %s", out, end[1:], words.QuotePath(out))
	default:
		for _, f := range drawingFormats {
			if f.end == end {
				format = cmp.Or(format, f.format)
			}
			if f.end == end && format != f.format {
				return "", exit.Usagef("-o %s: that extension does not match %s; leave out --format, or rename the file", out, format)
			}
		}
	}
	return format, nil
}

// WriteDrawing creates the output file; only a drawing of that format is replaced.
func WriteDrawing(out, format string, drawing []byte) error {
	if err := ConfinedIn(filepath.Dir(out), out); err != nil {
		return err
	}
	return WriteOver(out, drawing, " and is not a drawing by ralph", func(old []byte) bool { return drawn(old, format) })
}
