package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// A success says what each of several steps came to, so that each can be judged again by
// itself. What is not known of one step is not known of the node.
func TestASuccessSaysWhatItsStepsCameTo(t *testing.T) { // execution §2 (a changed gate re-judges)
	tree := func(name string) executor.Tree { return executor.Tree{Commit: name, Tree: "tree-" + name} }
	for name, c := range map[string]struct {
		steps []string
		at    []executor.Tree
		want  []string
	}{
		"one step":                     {[]string{"implement"}, []executor.Tree{tree("a")}, nil},
		"two steps":                    {[]string{"implement", "review"}, []executor.Tree{tree("a"), tree("b")}, []string{"implement", "review"}},
		"the first is not known":       {[]string{"implement", "review"}, []executor.Tree{{}, tree("b")}, nil},
		"the last is not known":        {[]string{"implement", "review"}, []executor.Tree{tree("a"), {}}, nil},
		"no step":                      {nil, nil, nil},
		"a life of another epic's own": {[]string{"implement", "review"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := &ir.Node{Key: "1.1"}
			for _, s := range c.steps {
				in.Steps = append(in.Steps, ir.Step{Name: s, GateMode: s})
			}
			r := &rules{epic: &ir.Epic{}, digests: map[string]string{}}
			n := &node{ir: in, life: life{work: "w", judge: "j", result: tree("r"), stepsAt: c.at, judgedBy: make([]string, len(c.at))}}
			got := r.done(n)
			if got.Work != "w" || got.Judge != "j" || got.Result != tree("r") {
				t.Errorf("got %+v", got)
			}
			if len(got.Steps) != len(c.want) {
				t.Fatalf("got %+v, want the steps %q", got.Steps, c.want)
			}
			for i, d := range got.Steps {
				if d.Step != c.want[i] || d.Result != c.at[i] || d.Judge != r.judgeOf(n, i) {
					t.Errorf("step %d: got %+v", i, d)
				}
			}
		})
	}
}
