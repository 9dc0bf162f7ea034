package web

import (
	"slices"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// mostHolding bounds the sprints that a sentence names.
const mostHolding = 4

// stuck says what nothing moves without. It is "" while anything is at work, can begin, or goes
// on by itself, before the first run, and when nothing is left to do.
func (l *live) stuck(run record.RunJSON) string {
	var waits, failed, left []string
	ends := map[string]bool{}
	for _, v := range l.views() {
		name := string(v.Key)
		switch {
		case v.Status == executor.Running:
			return ""
		case record.WaitsForPerson(v):
			waits = append(waits, name)
			ends[endOf(v.Cause)] = true
		case v.Status == executor.Blocked:
			failed = append(failed, name)
		case v.Status == executor.Ready, v.Status == executor.Waiting && v.SameAs == "":
			if run.Held == "" && run.PlanApproved {
				return ""
			}
			left = append(left, name)
		case v.Status == executor.Pending:
			left = append(left, name)
		}
	}
	const says = "waiting for you: nothing moves until "
	switch {
	case len(waits)+len(failed)+len(left) == 0:
		return ""
	case !run.PlanApproved:
		return says + "the plan is approved"
	case run.Held != "":
		return says + "the run is resumed"
	case len(waits) > 0 && len(failed) > 0:
		return says + oneOf(waits) + " is " + endsOf(ends) + ", or " + oneOf(failed) + afresh
	case len(waits) > 0:
		return says + oneOf(waits) + " is " + endsOf(ends)
	case len(failed) > 0 && len(left) > 0:
		return says + oneOf(failed) + afresh
	}
	return ""
}

// afresh is what failed sprints move by.
const afresh = " is tried again or skipped"

// endOf is what ends a wait.
func endOf(c executor.Cause) string {
	switch c {
	case executor.CauseApproval:
		return "approved"
	case executor.CauseQuestion:
		return "answered"
	}
	return "decided"
}

// endsOf is what ends waits of several kinds.
func endsOf(ends map[string]bool) string {
	for end := range ends {
		if len(ends) == 1 {
			return end
		}
	}
	return "decided"
}

// oneOf names some sprints, each of which is enough.
func oneOf(keys []string) string {
	if more := len(keys) - mostHolding; more > 0 {
		return text.Or(append(slices.Clone(keys[:mostHolding]), text.Counted(more, "other", "others")))
	}
	return text.Or(keys)
}

// behind are the sprints that depend directly on one and have not begun; begin are those of
// them that can begin once it is approved.
func (l *live) behind(v machine.NodeView) (behind, begin []ir.Key) {
	behind, begin = []ir.Key{}, []ir.Key{}
	passes := l.passes(v)
	for _, key := range l.shape().next[v.Key] {
		next, is := l.byKey(key)
		if !is || next.Status != executor.Pending || slices.Contains(behind, key) {
			continue
		}
		behind = append(behind, key)
		if passes && !slices.ContainsFunc(next.Needs, func(k ir.Key) bool { return k != v.Key }) {
			begin = append(begin, key)
		}
	}
	return behind, begin
}

// passes reports whether an approval is all that a sprint lacks: it waits for the last one of its
// last step.
func (l *live) passes(v machine.NodeView) bool {
	steps := l.rec.Node(v.ID).Steps
	if v.Cause != executor.CauseApproval || len(steps) == 0 || steps[len(steps)-1].Name != v.Step || len(v.Attempts) == 0 {
		return false
	}
	judged := v.Attempts[len(v.Attempts)-1].Gates
	return !slices.ContainsFunc(steps[len(steps)-1].Gates, func(gate string) bool {
		passed := slices.ContainsFunc(judged, func(g executor.GateJudged) bool { return g.Gate == gate && g.Verdict == executor.Pass })
		return gate != v.Gate && !passed
	})
}

// behindAll are the sprints that depend directly on some others and have not begun.
func (l *live) behindAll(keys []ir.Key) []ir.Key {
	all := []ir.Key{}
	for _, key := range keys {
		if v, is := l.byKey(key); is {
			more, _ := l.behind(v)
			all = lists.Include(all, more...)
		}
	}
	return all
}
