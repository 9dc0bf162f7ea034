package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/ir"
)

func needsText(n *ir.Node) string {
	var list []string
	for _, e := range n.After {
		if e.Type == ir.Blocks {
			list = append(list, string(e.Key))
		}
	}
	return strings.Join(list, ", ")
}

func showSpec(r *record.Record, w *sheet, n *ir.Node) {
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		w.head("%s", head)
		for _, i := range items {
			w.line("  - %s", i)
		}
	}
	var tasks []string
	for _, t := range n.Tasks {
		tasks = append(tasks, t.Text)
	}
	list("Tasks", tasks)
	if record.IsDraft(r.Epic) {
		w.head("Brief")
		for _, l := range n.Acceptance {
			w.line("  %s", l)
		}
	} else {
		list("Acceptance", n.Acceptance)
	}
	list("Owns", n.Scope.Owns)
	if len(n.Steps) == 0 {
		return
	}
	w.head("Steps")
	for i := range n.Steps {
		s := &n.Steps[i]
		who := s.Agent
		if who == "" {
			who = "a person"
		}
		attempts := ""
		if s.Limits.Attempts > 0 { // a person has as many as it takes
			attempts = fmt.Sprintf("; attempts: %d", s.Limits.Attempts)
		}
		w.line("  %s by %s; gates: %s%s", s.Name, who, cmp.Or(strings.Join(s.Gates, ", "), "none"), attempts)
	}
}
