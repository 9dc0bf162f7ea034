package compiler_test

import (
	"fmt"
	"strings"
)

// below is a plan of n sprints, one in each phase, with text below a heading about
// dependencies.
func below(n int, text func(room int) string) func() string {
	return func() string {
		head := "# P\n" + fill(hostileRoom/2, func(i int) string {
			if i >= n {
				return strings.Repeat(" ", hostileBytes)
			}
			return fmt.Sprintf("## Phase %d: x\n### Sprint %d.1: S\n", i+1, i+1)
		})
		return head + "\n# Dependencies\n\n" + text(hostileRoom-len(head)) + "\n"
	}
}

func mermaid(line func(i int) string) func(int) string {
	return func(room int) string { return "```mermaid\ngraph TD\n" + fill(room-64, line) + "\n```" }
}

func waves(one func(i int) string) func(int) string {
	return func(room int) string {
		return "```json\n{\"waves\": [" + strings.TrimSuffix(fill(room-64, one), ",") + "]}\n```"
	}
}

func lines(one func(i int) string) func(int) string {
	return func(room int) string { return fill(room, one) }
}

// upTo gives what one(i) does for the first n.
func upTo(n int, one func(i int) string) func(int) string {
	return func(i int) string {
		if i >= n {
			return strings.Repeat(" ", hostileBytes)
		}
		return one(i)
	}
}

// hostileOrders are lists, waves and drawings that ask for much.
var hostileOrders = map[string]hostile{
	"a drawn chain":          {plan: below(1999, mermaid(upTo(1999, func(i int) string { return fmt.Sprintf("%s P%d", []string{"", "-->"}[min(i, 1)], i+1) })))},
	"a drawn chain in lines": {plan: below(1999, mermaid(upTo(1998, func(i int) string { return fmt.Sprintf("%d.1 --> %d.1;", i+1, i+2) })))},
	"nodes in one line":      {plan: below(99, mermaid(numbered("a%d[x] --> ")))},
	"nodes of odd shape":     {plan: below(99, mermaid(numbered(`a%d[/x\] --> `)))},
	"nodes that do not end":  {plan: below(99, mermaid(verbatim("a[x(")))},
	"arrows with text":       {plan: below(99, mermaid(numbered("a -- b --> c;")))},
	"nodes side by side": {plan: below(1999, mermaid(upTo(1900, func(i int) string {
		return fmt.Sprintf("%s P%d", []string{"&", "-->", ""}[b2i(i == 900)+2*b2i(i == 0)], i+1)
	})))},
	"a node that all go through": {plan: below(1999, mermaid(func(i int) string { return fmt.Sprintf("P%d --> x --> P%d;", i%1900+1, (i+1)%1900+1) }))},
	"a chain of no names":        {plan: below(99, mermaid(func(i int) string { return fmt.Sprintf("a%d --> a%d --> P%d;", i, i+1, i%99+1) }))},
	"subgraphs in each other":    {plan: below(99, mermaid(numbered("subgraph a%d;")))},
	"subgraphs of many nodes": {plan: below(1999, func(room int) string {
		return mermaid(func(i int) string {
			switch {
			case i < 900:
				return fmt.Sprintf("%s P%d;", []string{"", "subgraph a;"}[b2i(i == 0)], i+1)
			case i == 900:
				return "end;subgraph b;"
			case i < 1900:
				return fmt.Sprintf("P%d;", i)
			case i == 1900:
				return "end;"
			}
			return "a --> b;"
		})(room)
	})},
	"drawings":             {plan: below(99, lines(numbered("```mermaid\ngraph TD\nP1 --> P2 --> P%d0000\n```\n")))},
	"drawings of few":      {plan: below(99, lines(verbatim("```mermaid\ngraph TD\nP1 --> P2\n```\n")))},
	"waves of one":         {plan: below(1999, waves(upTo(1999, numbered(`{"tasks": ["%d.1"]},`))))},
	"a wave behind a wave": {plan: below(1999, waves(upTo(2, func(i int) string { return `{"tasks": [` + ids(i*900, 900) + `]},` })))},
	"deep waves":           {plan: below(99, waves(verbatim(`{"a": [`)))},
	"fences of waves":      {plan: below(99, lines(verbatim("```json\n{\"waves\": [{\"tasks\": [9]}]}\n```\n")))},
	"lines of all phases":  {plan: below(1999, lines(verbatim("- **Phases 1-1999**: Depends on Phases 1-1999\n")))},
	"lines of open ranges": {plan: below(1999, lines(verbatim("- **Phase 2+**: Depends on Phase 1\n")))},
	"lines of phases":      {plan: below(1999, lines(func(i int) string { return fmt.Sprintf("- **Phase %d**: Depends on Phase %d\n", i%1900+2, i%1900+1) }))},
	"lines of all before":  {plan: below(1999, lines(func(i int) string { return fmt.Sprintf("- **Phase %d**: Depends on all previous phases\n", i%1900+2) }))},
	"lines of no phase":    {plan: below(1999, lines(numbered("- **Phase 1%d0000**: Depends on Phase 1\n")))},
	"a long line":          {plan: below(99, lines(func(i int) string { return []string{"- **Phase 2**: Depends on Phase 1", ", Phase 1"}[min(i, 1)] }))},
	"a line of dashes":     {plan: below(99, lines(func(i int) string { return []string{"- **Phase 2**: Depends on Phase 1", " - x. y; z"}[min(i, 1)] }))},
	"sections":             {plan: below(99, lines(verbatim("## Dependencies\n- **Phase 2**: After Phase 3\n")))},
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ids(from, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"%d.1"`, from+i+1))
	}
	return strings.Join(out, ",")
}
