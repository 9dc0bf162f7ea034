package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Gates are seen failing before any work: on the commit that the step starts from, before
// its first attempt in this life, and not in a step that the machine made up.
func TestWhenGatesHaveToBeSeenFailing(t *testing.T) { // execution §3 (red first)
	r := &rules{epic: &ir.Epic{Gates: map[string]ir.Gate{"red": {Kind: "command", RedFirst: true}, "unit": {Kind: "command"}}}}
	for name, c := range map[string]struct {
		gates []string
		from  string
		logs  []string // steps of the attempts of this life, the open one last
		aside bool
		want  bool
	}{
		"at first":                        {gates: []string{"unit", "red"}, from: "base", logs: []string{"implement"}, want: true},
		"after another step":              {gates: []string{"red"}, from: "base", logs: []string{"plan", "implement"}, want: true},
		"after an attempt":                {gates: []string{"red"}, from: "base", logs: []string{"implement", "implement"}},
		"where work is there already":     {gates: []string{"red"}, from: "work", logs: []string{"implement"}},
		"without such a gate":             {gates: []string{"unit"}, from: "base", logs: []string{"implement"}},
		"in a step that the machine made": {gates: []string{"red"}, from: "base", logs: []string{"merge"}, aside: true},
	} {
		n := &node{ir: &ir.Node{Steps: []ir.Step{{Name: "implement", Gates: c.gates}}}}
		n.life = life{starts: []string{"base"}, first: 1, attempt: attempt{from: c.from}}
		if c.aside {
			n.life.step, n.life.aside = asideStep, &aside{step: ir.Step{Name: "merge", Gates: c.gates}, inputs: []executor.Result{{Tree: executor.Tree{Commit: "base"}}}}
		}
		n.logs = []AttemptLog{{Step: "implement"}} // of an earlier life
		for _, s := range c.logs {
			n.logs = append(n.logs, AttemptLog{Step: s})
		}
		if got := r.redDue(n); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
