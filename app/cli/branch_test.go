//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// What an agent merged by itself is in the branch whatever becomes of its sprint:
// the account asks git. execution §5 (the sum)
func TestTheAccountKnowsWhatAnAgentMerged(t *testing.T) {
	t.Parallel()
	one := func(e *ir.Epic) { e.Run.Concurrency.Nodes = 1 }
	s := newSite(t, `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ "$RALPH_NODE" = 1.2 ]; then
	git add -A && git commit -q -m work && git merge -q --no-edit ralph/x/1-1
fi`, executortest.Epic([]string{"1.1", "1.2"}, one))
	s.apply(exit.Done)
	result := s.git("rev-parse", "refs/ralph/bd-epic/nodes/bd-1-1/result")
	if _, err := s.tryGit("merge-base", "--is-ancestor", result, "refs/ralph/bd-epic/nodes/bd-1-2/result"); err != nil {
		t.Fatal("the agent of 1.2 has not merged 1.1")
	}
	s.seal(executortest.Epic([]string{"1.2"}, one))
	want := "an older result of 1.1, " + result[:7] + " (no longer in the epic)"
	for _, said := range []string{s.apply(exit.Done).out, s.ralph("status").out} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
}
