package view

import (
	"fmt"
	"io"
	"os/exec"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
)

// plansShown is how many plans of one tool are named.
const plansShown = 3

// FoundPlans names the plans of other tools that are in a project, and what to type.
func FoundPlans(w io.Writer, found []project.FoundPlans) {
	for _, f := range found {
		for _, file := range f.Files[:min(len(f.Files), plansShown)] {
			Sayf(w, "found  %-30s %s\n", file, f.What)
		}
		if more := len(f.Files) - plansShown; more > 0 {
			Sayf(w, "found  %d more of %s\n", more, f.Of)
		}
	}
	if len(found) > 0 {
		sayNext(w, found[0].Files[0], found[0].Format)
	}
}

// sayNext says what to type for a plan that import reads as a format, or compile as it
// is.
func sayNext(w io.Writer, first, as string) {
	drawing := "plan.svg"
	if _, err := exec.LookPath("dot"); err != nil {
		drawing = "plan.mmd"
	}
	lines := [][2]string{
		{"graph " + words.QuotePath(first) + " -o " + drawing, "draws it and changes nothing"},
		{"init --plan " + words.QuotePath(first), "writes its dialect into it, once"},
		{"compile " + words.QuotePath(first), "makes epic.json"},
	}
	if as != "" {
		named := " --as " + as + " " + words.QuotePath(first)
		lines = [][2]string{{"graph" + named + " -o " + drawing, "draws it and changes nothing"}, {"import" + named, "makes epic.json"}}
	}
	wide := 0
	for _, l := range lines {
		wide = max(wide, len(l[0]))
	}
	fmt.Fprint(w, "\nTo use an existing plan:\n")
	for _, l := range lines {
		Sayf(w, "  ralph %-*s  %s\n", wide, l[0], l[1])
	}
}
