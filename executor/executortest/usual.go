package executortest

import (
	"fmt"

	"github.com/ralph-compiler/ralph/executor"
)

// PullURL is that of every pull request that Usual makes.
const PullURL = "https://forge.invalid/7"

// Usual is what a worker reports of an effect when all is well; nth is a number of
// its own for each call, of which the trees are named. It is nil for a kind of effect
// that it does not know.
func Usual(e executor.Effect, nth int) executor.Body {
	tree := executor.Tree{Commit: fmt.Sprint("c", nth), Tree: fmt.Sprint("t", nth)}
	switch e.Kind {
	case executor.EffectBase:
		return executor.BaseMade{Base: tree}
	case executor.EffectPrepare:
		return executor.Prepared{}
	case executor.EffectAgent:
		return Success()
	case executor.EffectCollect:
		return executor.Collected{Result: tree, Files: 1}
	case executor.EffectGate:
		return Verdict(e.Gate, executor.Pass)
	case executor.EffectRed:
		return executor.GateJudged{Gate: e.Gate, Red: true, Verdict: executor.Fail, Tests: "fail"}
	case executor.EffectLand:
		return executor.Landed{Head: executor.Tree{Commit: e.Commit, Tree: "tree-" + e.Commit}}
	case executor.EffectPull:
		return executor.Pulled{Pull: executor.Pull{Number: 7, URL: PullURL}}
	case executor.EffectPoll:
		return executor.PullSeen{State: "merged", Head: executor.Tree{Commit: "target", Tree: "target"}}
	case executor.EffectPublish:
		return executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: "tree-" + e.Commit}}
	}
	return nil
}
