package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/internal/text"
)

// maxRelated bounds the places that one diagnostic lists.
const maxRelated = 8

// quoted writes a name from the plan for a summary: short, printable.
func quoted(s string) string { return strconv.Quote(clip(s, 24)) }

// clip shortens s to at most n bytes, at a character, and leaves out what a
// terminal would act on.
func clip(s string, n int) string {
	if hasControl(s) || strings.ContainsAny(s, "\n\t\r") {
		s = strings.Map(func(r rune) rune {
			if isControl(r) {
				return -1
			}
			if r < ' ' {
				return ' '
			}
			return r
		}, s)
	}
	return text.Clip(s, n)
}

// clipped lists the names of at most so many of all.
func clipped[T any](all []T, most int, name func(T) string) string {
	names := lists.Map(all[:min(len(all), most)], func(t T) string { return clip(name(t), 40) })
	if len(all) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

func nearest(word string, known []string) (string, bool) {
	if len(word) > 40 {
		return "", false
	}
	return spell.Nearest(word, known)
}

// directiveKeys lists the fields of a directive, sorted.
func directiveKeys() []string {
	out := lists.Map(labelSpecs, func(s labelSpec) string { return string(s.name) })
	slices.Sort(out)
	return out
}
