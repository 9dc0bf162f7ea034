package runnertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// Column is a runner in the table.
type Column struct {
	Title  string
	Kind   string          // as in Agent
	Runner executor.Runner // asked what it cannot do
}

// Table is what was tried, and case × runner in Markdown: yes, or the number of the reason below it why
// the case does not run.
func Table(columns ...Column) string {
	var b strings.Builder
	var reasons []string
	b.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.Title)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	b.WriteString("| versions that it was tried with |")
	for _, c := range columns {
		tried := "any"
		if p, ok := c.Runner.(executor.Program); ok && p.Describe().Tested != "" {
			tried = strings.ReplaceAll(p.Describe().Tested, " ", "\u00a0")
		}
		fmt.Fprintf(&b, " %s |", tried)
	}
	b.WriteString("\n")
	for _, k := range cases(Agent{}.complete()) {
		fmt.Fprintf(&b, "| %s |", k.Name)
		for _, c := range columns {
			why := reason(c.Kind, c.Runner, k.Needs)
			if why == "" {
				b.WriteString(" yes |")
				continue
			}
			why = c.Title + ": " + why
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
			fmt.Fprintf(&b, " no (%d) |", slices.Index(reasons, why)+1)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, why := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	return b.String()
}
