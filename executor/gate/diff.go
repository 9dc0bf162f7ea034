package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// inlineDiff is how much of a diff is in a prompt, in bytes; the rest is only
// in the file.
const inlineDiff = 48 << 10

// shownDiff is a diff as a judge is given it: what does not show is written out.
type shownDiff struct {
	file io.Writer
	head strings.Builder // its beginning, whole lines
	size int             // of all of it, in bytes
	mid  bool            // in a line

	names               []string // of the files
	unread, cut, hidden []string // of those whose end is not in head, that ralph has cut, in which something does not show
}

// writeDiff writes the whole diff to a file. It returns its beginning, and what is
// told beside it; name is how the prompt calls the file.
func writeDiff(ctx context.Context, r executor.GateRun, path, name string) (head, note string, err error) {
	f, err := regular.CreateOwn(path, 0o600)
	if err != nil {
		return "", "", err
	}
	d := &shownDiff{file: f}
	lines := &reveal.Lines{Each: d.line}
	err = errors.Join(r.Diff(ctx, lines), lines.Close(), f.Close())
	if err != nil {
		return "", "", fmt.Errorf("write the diff: %w", err)
	}
	return d.head.String(), d.note(name), nil
}

func (d *shownDiff) line(text string, hidden int, goesOn bool) error {
	begins := !d.mid
	d.mid = goesOn
	switch {
	case !begins:
	case strings.HasPrefix(text, "diff --git "):
		d.names = append(d.names, nameIn(text))
	case strings.HasPrefix(text, `\ `) && strings.Contains(text, " are not shown"): // no line of a file begins so
		d.mark(&d.cut)
	}
	if hidden > 0 {
		d.mark(&d.hidden)
	}
	if !goesOn {
		text += "\n"
	}
	d.size += len(text)
	if d.size <= inlineDiff {
		d.head.WriteString(text)
	} else {
		d.mark(&d.unread)
	}
	_, err := io.WriteString(d.file, text)
	return err
}

// mark adds the present file to a list.
func (d *shownDiff) mark(list *[]string) {
	if n := len(d.names); n > 0 && (len(*list) == 0 || (*list)[len(*list)-1] != d.names[n-1]) {
		*list = append(*list, d.names[n-1])
	}
}

// note says what a judge must not pass over.
func (d *shownDiff) note(name string) string {
	var b strings.Builder
	say := func(list []string, format string, args ...any) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n"+format+"\n\n", args...)
		if n := len(list); n > mostNames {
			list = append(list[:mostNames:mostNames], fmt.Sprintf("and %d more", n-mostNames))
		}
		b.WriteString(fence("text", strings.Join(list, "\n")))
	}
	if d.size > inlineDiff && len(d.unread) == 0 {
		fmt.Fprintf(&b, "\nThis is the beginning of the diff; all of it is in %s.\n", name)
	}
	say(d.unread, "This is the beginning of the diff, %d of %d KiB; all of it is in %s. Read there, too, before you judge:",
		(d.head.Len()+1023)>>10, (d.size+1023)>>10, name)
	say(d.cut, "Not even there is the whole of:")
	say(d.hidden, `Some characters do not show, or change how others do; they are written as \u202e or \x1b. Such are in:`)
	return b.String()
}

// mostNames is how many files a list in a prompt names.
const mostNames = 50

// nameIn is the name of a file in the line that begins its diff.
func nameIn(line string) string {
	names := strings.TrimPrefix(line, "diff --git ")
	half := len(names) / 2
	was, is := strings.TrimPrefix(names[:half], "a/"), strings.TrimPrefix(strings.TrimPrefix(names[half:], " "), "b/")
	if was == is {
		return is
	}
	return names // renamed, or with quotes
}
