package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
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
func drawsGraph(a *project.Args, i int) string {
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

// drawn reports whether a file holds a drawing of ralph's in the format that is asked for.
func (a *graphArgs) drawn(b []byte) bool {
	own := ownDrawings[cmp.Or(a.format, "dot")]
	return own != nil && own.Match(b)
}

// checkOutput checks --format against the name of the output file.
func (a *graphArgs) checkOutput() error {
	if a.out == "" || a.out == "-" {
		return nil
	}
	switch end := strings.ToLower(filepath.Ext(a.out)); end {
	case ".md", ".markdown", ".hcl":
		return exit.Usagef("-o %s: that is the name of a %s; draw into a file called .svg, .dot, .mmd (mermaid) or .json", a.out, project.KindOf(a.out))
	case ".png", ".pdf", ".jpg", ".jpeg":
		return exit.Usagef("-o %s: ralph draws .svg, .dot, .mmd (mermaid) and .json; for this: ralph graph … | dot -T%s > %s", a.out, end[1:], words.QuotePath(a.out))
	default:
		for _, f := range drawingFormats {
			if f.end == end {
				a.format = cmp.Or(a.format, f.format)
			}
			if f.end == end && a.format != f.format {
				return exit.Usagef("-o %s: such a file does not hold %s; leave --format out, or give the file another name", a.out, a.format)
			}
		}
	}
	return nil
}

// write creates the output file; only a drawing is replaced.
func (a *graphArgs) write(say io.Writer, drawing []byte) error {
	if err := project.ConfinedIn(filepath.Dir(a.out), a.out); err != nil {
		return err
	}
	old, err := regular.ReadFile(a.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return exit.Inputf("%w", err)
	case len(bytes.TrimSpace(old)) > 0 && !a.drawn(old):
		return exit.Inputf("%s exists and is not a drawing by ralph, so it is not replaced; name another file with -o, or delete it", a.out)
	}
	if err := atomicfile.Write(a.out, drawing, 0o644); err != nil {
		return exit.Inputf("%w", err)
	}
	view.Sayf(say, "wrote %s\n", filepath.ToSlash(a.out))
	return nil
}
