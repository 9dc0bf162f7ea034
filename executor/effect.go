package executor

import (
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// EffectKind names what ralph does to the world.
type EffectKind string

// Effects, in the order in which an attempt needs them.
const (
	EffectBase    EffectKind = "base"    // merge the results that a node depends on
	EffectPrepare EffectKind = "prepare" // put the worktree at a commit, set it up
	EffectAgent   EffectKind = "agent"   // run the agent, one iteration
	EffectCollect EffectKind = "collect" // commit what it left, check it
	EffectGate    EffectKind = "gate"    // run one gate on the collected commit
	EffectPublish EffectKind = "publish" // pin the result, move the branch
)

// Effect is one thing to do. It holds everything that is not in the epic, is
// small and names no path of this machine. Doing it twice is doing it once.
type Effect struct {
	Kind      EffectKind
	Node      ir.NodeID
	Step      string
	Attempt   int
	Iteration int      // of an agent, from 1
	Gate      string   // of a gate
	Inputs    []Result // base: what is merged, in order; publish: what must be an ancestor
	Start     string   // commit that the step started from
	Commit    string   // prepare: where the worktree goes; gate, publish: what was collected
	Base      string   // commit that the node started from
	Old       string   // publish of the sum: where the integration branch stood
	Redo      bool     // it may have happened already, wholly or in part
	Seq       int64    // of its EffectStarted event; 0 until recorded
}

// Key is the effect's identity within an epic: the same key is the same effect,
// however often it is asked for.
func (e Effect) Key(epic ir.NodeID) string {
	return strings.Join([]string{
		string(epic), string(e.Node), e.Step, strconv.Itoa(e.Attempt), string(e.Kind), e.Gate, strconv.Itoa(e.Iteration),
	}, "/")
}

// Integration is the reserved id and key of the sum: the node that joins the
// results of all nodes done into the integration branch when a run ends.
const Integration = "integration"
