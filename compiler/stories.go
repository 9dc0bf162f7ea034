package compiler

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Spec-kit writes what a feature has to do into spec.md beside tasks.md: user stories
// with acceptance scenarios. Items with the label US1 do the work of User Story 1, so its
// scenarios are acceptance criteria of theirs.

const (
	specFile     = "spec.md"
	maxSpecBytes = 1 << 20
	maxScenarios = 50 // of a story
)

// story is a user story of a spec.md.
type story struct {
	number    string
	at        diag.Range // of the heading
	scenarios []string
}

var (
	storyLabel   = lazyregexp.New(`^US-?0{0,3}([1-9]\d{0,4})$`)
	storyHeading = lazyregexp.New(`(?i)^#{2,6}[ \t]+(?:\PL{0,8})?(?:user[ \t]+story|US)[ \t-]?0{0,3}([1-9]\d{0,4})\b`)
	boldLine     = lazyregexp.New(`^(\*\*|__)([^*_]{1,60}?):?(\*\*|__)[ \t]*(?:\([^)]{0,60}\))?[ \t]*:?[ \t]*(.*)$`)
	listLine     = lazyregexp.New(`^[ \t]{0,8}(?:[-*+]|\d{1,4}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$`)
)

// byStory are the items that have the label of a user story, by its number.
func (u *unit) byStory() map[string][]*ir.DraftNode {
	labelled := map[string][]*ir.DraftNode{}
	for _, n := range lists.Each(u.draft.Nodes) {
		for _, label := range n.Labels {
			if m := storyLabel.FindStringSubmatch(label); m != nil {
				labelled[m[1]] = append(labelled[m[1]], n)
			}
		}
	}
	return labelled
}

// readStories reads the spec.md beside the plan, if an item has the label of a user
// story, and gives its scenarios to these items. One note says so.
func (u *unit) readStories(diags *diag.List) {
	labelled := u.byStory()
	at := path.Join(path.Dir(u.source.Path), specFile)
	if len(labelled) == 0 || at == path.Clean(u.source.Path) {
		return
	}
	src, err := u.c.readProject(at, maxSpecBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		diags.Add(diag.New("spec-unread", u.draft.Range, "the spec.md beside the plan is not read").
			WithDetail("%s. Acceptance scenarios of user stories would become acceptance criteria of the items with their label. Fix the file, or remove it.", worldError(at, err)))
		return
	}
	f := diag.NewFile(at, src)
	u.c.files[at] = f
	var names []string
	items, first := 0, diag.Range{}
	for _, s := range readStories(f) {
		to := labelled[s.number]
		if len(to) == 0 || len(s.scenarios) == 0 {
			continue
		}
		delete(labelled, s.number) // a story counts where it is first
		if len(names) == 0 {
			first = s.at
		}
		said := ""
		if n := len(s.scenarios); n > maxScenarios {
			said = fmt.Sprintf(" (the first %d of %d)", maxScenarios, n)
			s.scenarios = s.scenarios[:maxScenarios]
		}
		names = append(names, "US"+s.number+said)
		items += len(to)
		for _, n := range to {
			for i, text := range s.scenarios {
				n.Acceptance = append(n.Acceptance, fmt.Sprintf("US%s.%d: %s", s.number, i+1, text))
			}
		}
	}
	if len(names) == 0 {
		return
	}
	none := ""
	if left := slices.Sorted(maps.Keys(labelled)); len(left) > 0 {
		for i := range left {
			left[i] = "US" + left[i]
		}
		none = fmt.Sprintf(" It has no scenarios of %s.", text.AndMore(left[:min(len(left), maxNamed)], len(left)))
	}
	diags.Add(diag.New("story-acceptance", u.draft.Range, "acceptance criteria come from spec.md").
		WithDetail("The scenarios of %s in %s became acceptance criteria of %s with these labels.%s When that file changes, compile again.", text.AndMore(names[:min(len(names), maxNamed)], len(names)), at, text.Count(items, "item"), none).
		WithRelated(first, "the first of these stories"))
}

// readStories finds the user stories of a spec and their acceptance scenarios: the list
// below a line "Acceptance Scenarios", up to the next heading, label or paragraph.
func readStories(f *diag.File) []*story {
	var out []*story
	var in *story // nil: outside of all
	listing, gap, fenced, comment, offset := false, false, false, false, 0
	for line := range strings.Lines(string(f.Bytes)) {
		start := offset
		offset += len(line)
		line = strings.TrimRight(line, " \t\r\n")
		text := strings.TrimSpace(line)
		if comment || strings.HasPrefix(text, "<!--") {
			comment = !strings.Contains(text, "-->")
			continue
		}
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fenced, listing = !fenced, false
		}
		switch {
		case fenced, text == "":
		case strings.HasPrefix(line, "#"):
			if m := storyHeading.FindStringSubmatch(line); m != nil {
				in = &story{number: m[1], at: f.Range(start, start+len(line))}
				out = append(out, in)
				listing = false
			} else if listing = in != nil && isScenarios(strings.Trim(strings.TrimLeft(line, "#"), " \t*_:")); !listing && strings.HasPrefix(line, "## ") {
				in = nil
			}
		case in == nil:
		default:
			listing = in.line(line, text, listing, gap)
		}
		gap = text == "" && !fenced
	}
	return out
}

// line reads a line below the heading of a story and returns whether scenarios are
// listed from then on; gap: an empty line is before it.
func (in *story) line(line, text string, listing, gap bool) bool {
	if m := boldLine.FindStringSubmatch(line); m != nil && !syntax.ScenarioWord(m[2]) {
		listing = isScenarios(m[2])
		if listing && m[4] != "" {
			in.add(m[4])
		}
		return listing
	}
	m := listLine.FindStringSubmatch(line)
	switch {
	case !listing:
	case m != nil:
		in.add(m[1])
	case len(in.scenarios) > 0 && (!gap || strings.HasPrefix(line, " ")):
		in.goOn(text)
	case syntax.ScenarioWord(text):
		in.add(text)
	default:
		return !gap
	}
	return listing
}

// add adds a scenario; a line that begins with When, Then, And or But belongs to the one
// before.
func (s *story) add(text string) {
	text = plainText(text)
	if w, _, _ := strings.Cut(strings.ToLower(text), " "); len(s.scenarios) > 0 && (w == "when" || w == "then" || w == "and" || w == "but") {
		s.goOn(text)
		return
	}
	if text != "" {
		s.scenarios = append(s.scenarios, text)
	}
}

func (s *story) goOn(text string) {
	last := &s.scenarios[len(s.scenarios)-1]
	if len(*last) < maxScenarioBytes {
		*last += " " + plainText(text)
	}
}

// maxScenarioBytes bounds what lines that go on make of a scenario.
const maxScenarioBytes = 4000

func isScenarios(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return strings.HasPrefix(name, "acceptance scenario") || strings.HasPrefix(name, "acceptance criteri")
}

func plainText(s string) string {
	return text.OneLine(strings.NewReplacer("**", "", "__", "").Replace(s))
}
