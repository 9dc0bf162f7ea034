package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// What lets other gates judge a blocked node once more, each alone.
func TestWhatOtherGatesMayJudge(t *testing.T) { // execution §2
	for name, c := range map[string]struct {
		change func(*node)
		want   bool
	}{
		"blocked by gates that are others":    {func(*node) {}, true},
		"blocked by a landing":                {func(n *node) { n.logs[0].Step = LandStep }, true},
		"by the same gates":                   {func(n *node) { n.ir.Digest.Judge = "j" }, false},
		"by gates that are these":             {func(n *node) { n.blockedJudge = "other" }, false},
		"by something else":                   {func(n *node) { n.blockedBy = executor.ByAgent }, false},
		"and not asked for":                   {func(n *node) { n.selected = false }, false},
		"for another text":                    {func(n *node) { n.life.stale = true }, false},
		"without an attempt in this life":     {func(n *node) { n.life.first = 1 }, false},
		"recovered, with nothing of it known": {func(n *node) { n.logs = nil }, false},
		"in a step that is gone":              {func(n *node) { n.logs[0].Step = "gone" }, false},
	} {
		n := &node{
			ir:     &ir.Node{Digest: ir.NodeDigest{Judge: "other"}, Steps: []ir.Step{{Name: "s"}}},
			status: executor.Blocked, blockedBy: executor.ByGates, selected: true, life: life{judge: "j"}, logs: []AttemptLog{{Step: "s"}},
		}
		c.change(n)
		if got := n.otherGates(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatIsToBeJudgedOnly(t *testing.T) { // execution §2
	for name, c := range map[string]struct {
		change func(*node)
		want   bool
	}{
		"it waits for its turn":    {func(*node) {}, true},
		"nothing was mended":       {func(n *node) { n.life.mended = false }, false},
		"it runs":                  {func(n *node) { n.status = executor.Running }, false},
		"a person is asked":        {func(n *node) { n.wait.For = executor.ForHuman }, false},
		"its gates have begun":     {func(n *node) { n.life.attempt.status = executor.AttemptRunning }, false},
		"its attempt had its turn": {func(n *node) { n.life.attempt.status = executor.AttemptFailed }, true},
	} {
		n := &node{status: executor.Waiting, wait: executor.NodeWaiting{For: executor.ForTimer}, life: life{mended: true}}
		c.change(n)
		if got := n.toBeJudged(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		life life
		want bool
	}{
		"a life of work":           {life{}, false},
		"its gates were mended":    {life{mended: true}, true},
		"its successes are judged": {life{judging: []int{0}}, true},
	} {
		if got := c.life.onlyJudges(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
