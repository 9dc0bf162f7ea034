package syntax

import (
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// finish sets the tasks, checks scalars and trims the prose.
func (r *reader) finish() {
	s := r.s
	labels, tasks := false, false
	for _, l := range lists.Each(s.Labels) {
		if r.kind == itemSection && (l.Name == Tasks || l.Name == Acceptance) {
			l.Items = r.p.keepLive(l.Items)
		}
		if l.Name == Tasks {
			tasks = true
			s.Tasks = append(s.Tasks, l.Items...)
			if len(l.Items) == 0 && l.Value.Value != "" {
				s.Tasks = append(s.Tasks, ListItem{Text: l.Value, Range: l.Value.Range})
			}
			if len(l.Items) == 0 && len(l.Text) > 0 {
				s.Tasks = append(s.Tasks, ListItem{Text: Text{Value: strings.Join(l.Text, " "), Raw: strings.Join(l.Text, " "), Range: l.TextRange}, Range: l.TextRange})
			}
		}
		labels = labels || !l.Name.IsState() && l.From != FromPlain // which is among the tasks
	}
	if r.kind == itemSection && !tasks {
		r.adopt(labels)
	}
	for len(s.Prose) > 0 && s.Prose[len(s.Prose)-1] == "" {
		s.Prose = s.Prose[:len(s.Prose)-1]
	}
	for i := range s.Labels {
		s.Labels[i].At = min(s.Labels[i].At, len(s.Prose))
	}
	r.p.scalars(s)
}

// adopt makes tasks of lists that belong to no label: of those with check boxes,
// and of all if there are none and the section has no labels.
func (r *reader) adopt(labels bool) {
	s := r.s
	taken := lists.Keep(r.loose, func(l looseList) bool { return l.boxed() })
	r.stepsWithText(taken)
	if len(taken) == 0 && !labels {
		taken = r.loose
	}
	for i := range taken {
		s.Tasks = append(s.Tasks, r.p.keepLive(taken[i].items)...)
	}
	if len(taken) == 0 {
		return
	}
	kept := make([]string, 0, len(s.Prose))
	k, j := 0, 0 // next list that was taken, next label: both are in order
	for i := 0; i <= len(s.Prose); i++ {
		for ; j < len(s.Labels) && s.Labels[j].At <= i; j++ {
			s.Labels[j].At = len(kept)
		}
		if i == len(s.Prose) {
			break
		}
		for k < len(taken) && i >= taken[k].to {
			k++
		}
		if k < len(taken) && i >= taken[k].from || s.Prose[i] == "" && (len(kept) == 0 || kept[len(kept)-1] == "") {
			continue
		}
		kept = append(kept, s.Prose[i])
	}
	s.Prose = kept
}

// scalars reports scalar fields that are given twice with different values.
func (p *parser) scalars(s *Section) {
	var first map[LabelName]*Label
	for _, l := range lists.Each(s.Labels) {
		if !l.Name.IsScalar() {
			continue
		}
		if first == nil {
			first = map[LabelName]*Label{}
		}
		m := first[l.Name]
		if m == nil {
			first[l.Name] = l
			continue
		}
		if strings.EqualFold(m.Value.Plain(), l.Value.Plain()) {
			continue
		}
		p.report(diag.Newf("conflicting-values", l.Range(), "%s is given twice", labelWord(l.Name)).WithDetail(
			"It is %q here and %q above; a section has one. Delete one of them.", clip(l.Value.Value, 60), clip(m.Value.Value, 60)).
			WithRelated(m.Range(), "first given here"))
	}
}

var stepForm = lazyregexp.New(`^(?i:step) \d{1,3}[a-z]?\b`)

// stepsWithText gives the steps of a task ("- [ ] **Step 1: Write the test**") the code
// and the text that follow them, outside of the list: apart from each other neither
// would make sense to an agent. Lists of other boxes keep what follows them apart.
func (r *reader) stepsWithText(lists []looseList) {
	for i := range lists {
		for k := range lists[i].items {
			if it := &lists[i].items[k]; it.Box == NoBox || !stepForm.MatchString(it.Text.Value) {
				return
			}
		}
	}
	next := 0 // label: they are in order, too
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
