package rules

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// Requirements returns the ids of the requirements that a wish states, in their order,
// each once: REQ-001, FR-12, NFR-3 wherever they are, and ids such as R1.2 or US-4
// where a line begins with one, and "Requirement 3" where a heading does. Text in
// fences and struck-through text is ignored.
func Requirements(wish string) []string {
	var out []string
	seen := map[string]bool{}
	fence := ""
	for line := range strings.Lines(wish) {
		text := strings.TrimSpace(line)
		if mark := fenceMark(text); mark != "" && fence == "" {
			fence = mark
			continue
		} else if fence != "" {
			if strings.HasPrefix(mark, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		text = struck.ReplaceAllString(text, " ")
		found := anywhere.FindAllString(text, -1)
		if m := atStart.FindStringSubmatch(text); m != nil {
			found = append([]string{m[1]}, found...)
		}
		if m := numbered.FindStringSubmatch(text); m != nil {
			found = append([]string{"Requirement " + m[1]}, found...)
		}
		for _, id := range found {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

var (
	struck   = lazyregexp.New(`~~[^~]*~~`)
	anywhere = lazyregexp.New(`\b(?:REQ|FR|NFR)(?:-[A-Z]{1,12}){0,2}-?[0-9]{1,6}(?:\.[0-9]{1,4}){0,3}\b`)
	numbered = lazyregexp.New(`^#{1,6}\s+Requirement\s+([0-9]{1,4})(?:[:.)]|\s|$)`)
	atStart  = lazyregexp.New(`^(?:[-*+>|#\s]|\d+[.)]\s|\[[ xX]\]|[*_]{2})*((?:R|RQ|UR|SR|BR|US|UC)-?[0-9]{1,6}(?:\.[0-9]{1,4}){0,3})(?:[*_]{2})?(?:[:.)|]|\s[-–—]\s|\s*\||$|\s)`)
)

// fenceMark returns the marks that a line opens or ends a fence with.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}
