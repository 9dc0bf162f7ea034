package syntax

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// A check mark beside a task says that it is done, and that is in no prompt and in no
// digest. A task that is struck through is cancelled.

var (
	checkRun    = "(?:[" + checkMarks + "]\ufe0f?)"
	leadChecks  = lazyregexp.New(`^([ *_~]*)(?:` + checkRun + `[ \x{00a0}]*)+`)
	trailChecks = lazyregexp.New(`(?:[ \x{00a0}]*` + checkRun + `)+([ *_~]*)$`)
	listMark    = lazyregexp.New(`^[ \t]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+`)
	// aside is what may stand behind text that is struck through: a reason, a full stop.
	aside = lazyregexp.New(`^[\s.,:;!` + regexp.QuoteMeta(checkMarks) + `\x{fe0f}]*(?:\([^()]*\)[\s.]*|[-–—]+ .*)?$`)
)

// unchecked takes the check marks off both ends of a text, if anything else is in it.
func unchecked(s string) string {
	if !strings.ContainsAny(s, checkMarks) {
		return s
	}
	cut := trailChecks.ReplaceAllString(leadChecks.ReplaceAllString(s, "$1"), "$1")
	if strings.Trim(cut, " *_~\u00a0") == "" {
		return s
	}
	return cut
}

// uncheckedText is the text without the check marks at its ends.
func (in *inline) uncheckedText() Text {
	cut := unchecked(in.Value)
	if cut == in.Value {
		return in.Text
	}
	at := strings.Index(in.Value, cut)
	if at < 0 { // marks of emphasis were between
		return in.Text
	}
	t := in.text(at, at+len(cut))
	t.Raw = unchecked(in.Raw)
	return t
}

// uncheckedLine is a line of a list without the check marks.
func uncheckedLine(line string) string {
	mark := listMark.FindString(line)
	if mark == "" {
		return line
	}
	return mark + unchecked(line[len(mark):])
}

// allStruck reports whether all of a text is struck through, but for a reason behind it.
func (in *inline) allStruck() bool {
	if len(in.strikes) == 0 {
		return false
	}
	first := in.strikes[0]
	return strings.Trim(in.Value[:first.start], checkMarks+" \ufe0f\u00a0") == "" && first.end > first.start && aside.MatchString(in.Value[first.end:])
}

// keepLive leaves out the items that are struck through.
func (p *parser) keepLive(items []ListItem) []ListItem {
	if !slices.ContainsFunc(items, func(it ListItem) bool { return it.Struck }) {
		return items // mostly
	}
	return lists.Keep(items, func(it ListItem) bool {
		if it.Struck {
			p.struckLines = append(p.struckLines, it.Text.Range)
		}
		return !it.Struck
	})
}

// struckTasks notes the tasks and criteria that are left out.
func (p *parser) struckTasks() {
	if at := p.struckLines; len(at) > 0 {
		p.report(diag.Newf("cancelled", at[0], "%s cancelled", text.Counted(len(at), "struck-through task or criterion is", "struck-through tasks and criteria are")).WithDetail(
			"A task or an acceptance criterion inside ~~ is in no prompt, and neither is what is below it. Remove the ~~ to bring it back.").
			WithAll(at[1:], maxRelated-1, "cancelled too"))
	}
}
