package syntax

import (
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

var stepForm = lazyregexp.New(`^(?i:step) \d{1,3}[a-z]?\b`)

// stepsWithText gives the steps of a task ("- [ ] **Step 1: Write the test**") the code
// and the text that stand behind them, outside of the list: apart from each other neither
// would make sense to an agent. Lists of other boxes keep what follows them apart.
func (r *reader) stepsWithText(lists []looseList) {
	for i := range lists {
		for k := range lists[i].items {
			if it := &lists[i].items[k]; it.Box == NoBox || !stepForm.MatchString(it.Text.Value) {
				return
			}
		}
	}
	next := 0 // label: they stand in order, too
	for i := range lists {
		l := &lists[i]
		end := len(r.s.Prose)
		if i+1 < len(lists) {
			end = lists[i+1].from
		}
		for next < len(r.s.Labels) && r.s.Labels[next].At < l.to {
			next++
		}
		if next < len(r.s.Labels) { // what follows a label is its own
			end = min(end, r.s.Labels[next].At)
		}
		from := l.to
		for from < end && r.s.Prose[from] == "" {
			from++
		}
		to := end
		for to > from && (r.s.Prose[to-1] == "" || r.s.Prose[to-1] == "---") {
			to--
		}
		if from == to || len(l.items) == 0 {
			continue
		}
		last := &l.items[len(l.items)-1]
		last.Detail = append(last.Detail[:len(last.Detail):len(last.Detail)], r.s.Prose[from:to]...)
		l.to = to
	}
}
