package compiler

import (
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Kiro and cc-sdd end an item with a line _Requirements: 1.1, 2.3_, and a property test
// with **Validates: Requirements 1.1**. The ids are what the item implements; the line
// stays what it is for agents.

var (
	requirementLine = lazyregexp.New(`^(?:\*\*|__|\*|_)(?:Validates:[ \t]*)?(?:Requirements?|Reqs?)\b[ \t]*:?[ \t]*([^*]+?)(?:\*\*|__|\*|_)`)
	requirementID   = lazyregexp.New(`^(?:[A-Za-z]{1,12}-?)?\d{1,5}(?:[.-]\d{1,5}){0,4}[a-z]?$`)
)

// requirements adds the ids of the lines of a section that name requirements.
func requirements(sec *syntax.Section, n *ir.DraftNode) {
	seen := lists.Set(n.Implements)
	line := func(raw string) {
		raw = strings.TrimSpace(raw)
		if raw == "" || raw[0] != '_' && raw[0] != '*' {
			return
		}
		m := requirementLine.FindStringSubmatch(raw)
		if m == nil {
			return
		}
		for part := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return strings.ContainsRune(",;&，、 \t", r) }) {
			if id := strings.Trim(part, "[]`."); requirementID.MatchString(id) && !seen[id] && len(n.Implements) < maxEntries {
				seen[id] = true
				n.Implements = append(n.Implements, id)
			}
		}
	}
	var items func(list []syntax.ListItem)
	items = func(list []syntax.ListItem) {
		for i := range list {
			line(list[i].Text.Raw)
			items(list[i].Items)
		}
	}
	items(sec.Tasks)
	for _, l := range sec.Prose {
		line(strings.TrimLeft(l, "-*+ \t"))
		line(l)
	}
}
