package machine

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// partsOf names the parts of an effect that its kind may fill.
var partsOf = map[executor.EffectKind][]string{
	executor.EffectBase: {"OfBase"}, executor.EffectPrepare: {"OfTree"}, executor.EffectRed: {"OfTree"}, executor.EffectAgent: {"OfAgent", "OfTree"},
	executor.EffectDiagnose: {"OfTree"}, executor.EffectCollect: {"OfTree"}, executor.EffectGate: {"OfGate"},
	executor.EffectPublish: {"OfBranch"}, executor.EffectLand: {"OfBranch"}, executor.EffectPull: nil, executor.EffectPoll: {"Pull"},
}

// OwnParts fails the test if effects hold parts of other kinds.
func OwnParts(t testing.TB, all []executor.Effect) {
	t.Helper()
	for _, e := range all {
		may, ok := partsOf[e.Kind]
		if !ok {
			t.Fatalf("no effect is of kind %q", e.Kind)
		}
		v := reflect.ValueOf(e)
		for _, part := range []string{"OfAgent", "OfBase", "OfTree", "OfGate", "OfBranch", "Pull"} {
			if f := v.FieldByName(part); !f.IsZero() && !slices.Contains(may, part) {
				t.Fatalf("effect %s holds %s: %+v", e.Kind, part, f)
			}
		}
		if tree := e.OfTree; e.Kind != executor.EffectPrepare && e.Kind != executor.EffectCollect {
			if tree.Merge, tree.Paths = false, nil; !reflect.ValueOf(tree).IsZero() {
				t.Fatalf("effect %s says how a tree is handled: %+v", e.Kind, tree)
			}
		}
	}
}
