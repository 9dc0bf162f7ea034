package gsd

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/text"
)

var (
	// ### Phase 2.1: Name (INSERTED), with or without a check mark.
	roadmapHeading = lazyregexp.New(`^#{2,5}\s+(✅\s*|☑\s*|\[x\]\s*)?Phase\s+(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)\b\s*[:.–—-]*\s*(.*)$`)
	// - [x] **Phase 1: Name** - what it is about
	roadmapBox = lazyregexp.New(`^\s*[-*] \[([ xX])\] \*{0,2}Phase (\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)\b\s*[:.–—-]*\s*([^*]*)`)
	// - [x] 01-02-PLAN.md — what it does; - [ ] 01-02: what it does
	roadmapPlan = lazyregexp.New(`^\s*[-*] \[([ xX])\] \*{0,2}(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)-(\d{1,6}[a-zA-Z]?)(?:-PLAN(?:\.md)?)?\b[*:]{0,3}\s*(?:[:–—-]+\s*)?(.*)$`)
	// **Depends on**: Phase 1, Phase 2
	roadmapLabel = lazyregexp.New(`^\s*(?:[-*] )?\*\*([A-Za-z ]{1,30}?):?\*\*\s*(?:\([^)]*\))?\s*:?\s*(.*)$`)
	// | 1. Foundation | v1.0 | 3/3 | Complete | 2026-01-10 |
	roadmapRow = lazyregexp.New(`^\|\s*(?:Phase )?(\d{1,6}(?:\.\d{1,6}){0,3}[a-zA-Z]?)[. ][^|]*\|(.*)$`)
	// - ✅ **v1.0 MVP** - Phases 1-4 (shipped 2026-01-10)
	roadmapShipped = lazyregexp.New(`(?i)^\s*[-*] ✅.*\bphases? (\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?\b.*\bshipped\b`)
	phaseInText    = lazyregexp.New(`(?i)\bphases?\s+(\d{1,6}(?:\.\d{1,6}){0,3}[a-z]?\b(?:\s*(?:,|&|and|\+|,\s*and|[-–—]|to|through)\s*(?:phase\s+)?\d{1,6}(?:\.\d{1,6}){0,3}[a-z]?\b)*)`)
	rangeInText    = lazyregexp.New(`(?i)(\d{1,6}(?:\.\d{1,6}){0,3}[a-z]?)(?:\s*(?:[-–—]|to|through)\s*(?:phase\s+)?(\d{1,6}(?:\.\d{1,6}){0,3}[a-z]?))?`)
)

// maxLine bounds the lines of a roadmap that are looked at.
const maxLine = 4000

// roadmap reads the phases: what they are called, what they wait for, which are
// finished, and the titles of their plans.
func (d *decoding) roadmap(f *diag.File) {
	lines := withoutComments(f.Bytes)
	var in *phase
	list, fenced, offset := "", false, 0
	for l := range strings.Lines(lines) {
		start := offset
		offset += len(l)
		l = strings.TrimRight(l, "\r\n")
		at := f.Range(start, start+len(l))
		if len(l) > maxLine {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := roadmapHeading.FindStringSubmatch(l); m != nil {
			in, list = d.phase(number(m[2])), ""
			in.at = at
			in.name = phaseName(m[3])
			if m[1] != "" || finishedMark.MatchString(strings.TrimSpace(m[3])) {
				in.finished(at)
			}
			continue
		}
		switch {
		case strings.HasPrefix(l, "# "):
			if !d.titled {
				d.draft.Title = text.OneLine(strings.TrimPrefix(strings.TrimPrefix(l, "# "), "Roadmap:"))
				d.titled = true
			}
			in = nil
		case strings.HasPrefix(l, "## "), strings.HasPrefix(l, "### "):
			in = nil
		}
		d.roadmapLine(in, l, at, &list)
	}
}

// roadmapLine reads a line that is no heading of a phase.
func (d *decoding) roadmapLine(in *phase, l string, at diag.Range, list *string) {
	if m := roadmapBox.FindStringSubmatch(l); m != nil {
		p := d.phase(number(m[2]))
		if p.at.IsZero() {
			p.at, p.name = at, phaseName(m[3])
		}
		if m[1] != " " {
			p.finished(at)
		}
		return
	}
	if m := roadmapPlan.FindStringSubmatch(l); m != nil {
		p := d.phase(number(m[2]))
		p.outlined[number(m[3])] = outline{title: text.OneLine(m[4]), ticked: m[1] != " ", open: m[1] == " ", at: at}
		return
	}
	if m := roadmapRow.FindStringSubmatch(l); m != nil {
		if slices.ContainsFunc(strings.Split(m[2], "|"), complete) {
			d.phase(number(m[1])).finished(at)
		}
		return
	}
	if m := roadmapShipped.FindStringSubmatch(l); m != nil {
		for _, p := range numbersBetween(m[1], m[2]) {
			d.phase(p).finished(at)
		}
		return
	}
	if in != nil {
		d.phaseLine(in, l, at, list)
	}
}

// phaseLine reads a line below the heading of a phase; list is the label that a list is
// under.
func (d *decoding) phaseLine(in *phase, l string, at diag.Range, list *string) {
	if m := roadmapLabel.FindStringSubmatch(l); m != nil {
		*list = ""
		switch label := strings.ToLower(m[1]); label {
		case "goal":
			in.goal = append(in.goal, m[2])
		case "depends on":
			if strings.TrimSpace(m[2]) == "" {
				*list = label
			} else {
				d.dependsOn(in, m[2], at)
			}
		case "success criteria":
			*list = label
		case "status":
			if w, _, _ := strings.Cut(strings.TrimLeft(m[2], "✅✓ "), " "); complete(w) {
				in.finished(at)
			}
		}
		return
	}
	s, ok := bulleted(strings.TrimSpace(l))
	switch {
	case *list == "depends on" && ok:
		d.dependsOn(in, s, at)
	case *list == "success criteria" && ok:
		in.goal = append(in.goal, "At its end this is true: "+text.OneLine(s))
	case *list == "success criteria" && s != "" && len(in.goal) > 0 && strings.HasPrefix(l, " "):
		in.goal[len(in.goal)-1] += " " + s
	}
}

// complete reports whether a cell or a status says that a phase is finished.
func complete(s string) bool {
	s = strings.ToLower(strings.TrimLeft(strings.TrimSpace(s), "✅✓ "))
	return s == "complete" || s == "completed" || s == "done"
}

func (p *phase) finished(at diag.Range) {
	if !p.done {
		p.done, p.doneAt = true, at
	}
}

// numbersBetween are the whole numbers of phases from one to another, at most a hundred.
func numbersBetween(from, to string) []string {
	out := []string{number(from)}
	if to == "" {
		return out
	}
	for n := 0; n < 100 && compareNumbers(out[len(out)-1], number(to)) < 0; n++ {
		out = append(out, next(out[len(out)-1]))
	}
	return out
}

// dependsOn reads what a phase waits for: in parentheses is a reason, unless a phase
// is named nowhere else.
func (d *decoding) dependsOn(in *phase, value string, at diag.Range) {
	first, _, _ := strings.Cut(value, "(")
	switch strings.ToLower(strings.Trim(first, " .*_-–—")) {
	case "nothing", "none":
		in.free = true
		return
	}
	named := phaseInText.FindAllStringSubmatch(first, -1)
	if len(named) == 0 {
		named = phaseInText.FindAllStringSubmatch(value, -1)
	}
	for _, m := range named {
		for _, x := range rangeInText.FindAllStringSubmatch(m[1], -1) {
			n := need{text: number(x[1]), at: at}
			if x[2] != "" {
				n.to = number(x[2])
			}
			in.after = append(in.after, n)
		}
	}
	if len(named) == 0 {
		d.prose(value, at, "the phases before it are waited for, as everywhere. Write Phase 1, or Nothing")
	}
}

// phaseName is the name of a phase without what follows it.
func phaseName(s string) string {
	s = text.OneLine(strings.Trim(strings.TrimSpace(s), "*"))
	for _, mark := range []string{"(INSERTED)", "✅", "✓", "✔", "☑"} {
		s = strings.TrimSpace(strings.TrimSuffix(s, mark))
	}
	return strings.TrimRight(strings.TrimRight(s, " *"), " :-–—")
}

// finishedMark ends the heading of a finished phase: a check mark, or a status word in
// capitals after a dash, a colon or in parentheses. "NOT DONE" does not count.
var finishedMark = lazyregexp.New(`(?:[✅✓✔☑]|[-–—:(\[]\s*\**(?:COMPLETED?|DONE)\**[)\]]?)\**$`)
