package executor

import (
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// EffectKind names an action of ralph on the outside world.
type EffectKind string

// Effects, in the order in which an attempt needs them.
const (
	EffectBase     EffectKind = "base"     // merge the results that a node depends on
	EffectPrepare  EffectKind = "prepare"  // put the worktree at a commit, set it up
	EffectRed      EffectKind = "red"      // run a red_first gate before the agent: it has to fail
	EffectAgent    EffectKind = "agent"    // run the agent, one iteration
	EffectDiagnose EffectKind = "diagnose" // let another agent look at a stalled one
	EffectCollect  EffectKind = "collect"  // commit what it left, check it
	EffectGate     EffectKind = "gate"     // run one gate on the collected commit
	EffectPublish  EffectKind = "publish"  // pin the result, move the branch
	EffectLand     EffectKind = "land"     // modes branch and wait: move the integration branch to the merged result
	EffectPull     EffectKind = "pull"     // push the branch, create or update its pull request
	EffectPoll     EffectKind = "poll"     // ask what became of the pull request
)

// Effect is one action. It holds everything that is not in the epic, is small and names no
// path of this machine. Effects are idempotent.
type Effect struct {
	Kind      EffectKind
	Node      ir.NodeID
	Step      string
	Attempt   int
	Iteration int      // of an agent, from 1
	Gate      string   // of a gate
	Agent     string   // agent, diagnose, gates judged by an agent: who; a fallback agent may stand in
	Session   string   // agent: the handle to continue with, "" for a fresh session
	TimeMS    int64    // agent: what the turns before it left of the step's time; 0 = unlimited
	Onto      Onto     // base: what the node starts from instead of its merged inputs
	Merge     bool     // prepare, collect: of the run-time step "merge"; Inputs are merged in the worktree, Paths are in conflict
	Apart     bool     // gate: in a detached worktree of its own, beside other gates
	Stay      bool     // close, apart: put the worktree back and leave it for the next gate
	Person    bool     // prepare: leave the tree as it is; collect: a person's own fix, checks are only listed
	Was       string   // collect, of a person: the base that their work was made on, if it is another
	AsIs      bool     // prepare: a session goes on in the tree, which is left as it is; where it is not there any more, prepare as ever: Prepared.Anew
	Paths     []string // merge: what merge-tree found in conflict
	Pull      Pull     // poll: which pull request
	Resolved  string   // base: tree that a conflict of these trees was resolved to; used where it still is there
	Inputs    []Result // base: what is merged, in order; publish, land: what must be an ancestor; merge: what is merged
	Start     string   // commit that the step started from
	Commit    string   // prepare: where the worktree goes; gate, publish: what was collected
	Base      string   // commit that the node started from
	Old       string   // publish of the sum, land: where the integration branch was
	Known     []string // publish of the sum: commits of which a foreign branch is asked whether it holds them
	Redo      bool     // it may have happened already, wholly or in part
	Seq       int64    // of its EffectStarted event; 0 until recorded

	Cost Usage // that is reserved while it is in flight
}

// Key is the effect's identity within an epic: the same key is the same effect,
// however often it is asked for.
func (e Effect) Key(epic ir.NodeID) string {
	return strings.Join([]string{
		string(epic), string(e.Node), e.Step, strconv.Itoa(e.Attempt), string(e.Kind), e.Gate, strconv.Itoa(e.Iteration),
	}, "/")
}

// Started is what the journal records before the effect begins.
func (e Effect) Started() Event {
	return Event{
		Node: e.Node, Step: e.Step, Attempt: e.Attempt,
		Body: EffectStarted{Kind: e.Kind, Gate: e.Gate, Iteration: e.Iteration, Redo: e.Redo},
	}
}

// Says is an event reported by the worker of the started effect.
func (e Effect) Says(b Body) Event {
	return Event{Node: e.Node, Step: e.Step, Attempt: e.Attempt, Of: e.Seq, Body: b}
}

// Onto names what a node starts from in the modes that move a branch while they run.
type Onto string

// Starts of a node.
const (
	OntoInputs Onto = ""            // its merged inputs (mode dag)
	OntoHead   Onto = "integration" // the head of the integration branch (mode branch)
	OntoTarget Onto = "target"      // the fetched head of the target branch (mode wait)
)

// MergeStep is the reserved name of the step that begins when results conflict.
const MergeStep = "merge"

// Preflight is the reserved word for what precedes every start: the policy's gates are
// tried on the pinned bases. It names no node.
const Preflight = "preflight"

// Integration is the reserved id and key of the sum: the node that joins the
// results of all nodes done into the integration branch when a run ends.
const Integration = "integration"
