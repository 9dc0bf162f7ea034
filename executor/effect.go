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

// Effect is one action: what all kinds share, and a part for each kind that needs more,
// which is zero in effects of other kinds. It holds everything that is not in the epic, is
// small and names no path of this machine. Effects are idempotent.
type Effect struct {
	Kind      EffectKind
	Node      ir.NodeID
	Step      string
	Attempt   int
	Iteration int      // agent, poll: from 1
	Gate      string   // red, gate
	Agent     string   // agent, diagnose, gates judged by an agent: who; a fallback agent may stand in
	Start     string   // commit that the step started from
	Base      string   // commit that the node started from
	Commit    string   // it is about: prepare: where the worktree goes; from gate on: what was collected
	Inputs    []Result // base: what is merged, in order; publish, land: what must be an ancestor; OfTree.Merge: what is merged

	OfAgent
	OfBase
	OfTree
	OfGate
	OfBranch
	Pull Pull // poll: which pull request

	Redo bool  // it may have happened already, wholly or in part
	Seq  int64 // of its EffectStarted event; 0 until recorded
	Cost Usage // that is reserved while it is in flight
}

// OfAgent is what an agent's turn is about.
type OfAgent struct {
	Session string // the handle to continue with, "" for a fresh session
	TimeMS  int64  // what the turns before it left of the step's time; 0 = unlimited
}

// OfBase is what the merge of a node's inputs is about.
type OfBase struct {
	Onto     Onto   // what the node starts from instead of its merged inputs
	Resolved string // tree that a conflict of these trees was resolved to; used where it still is there
}

// OfTree is what preparing and collecting a worktree is about. Merge and Paths stand in all
// effects of the step "merge" that come before its gates.
type OfTree struct {
	Merge  bool     // Inputs are merged in the worktree, Paths are in conflict
	Paths  []string // what merge-tree found in conflict
	Person bool     // prepare: leave the tree as it is; collect: a person's own fix, checks are only listed
	Judged bool     // collect: what Commit holds is on record, and only checked, all that the node changed
	Given  string   // collect: what a person handed in, on which this attempt goes on: what is under it is theirs
	Was    string   // collect, of a person: the base that their work was made on, if it is another
	AsIs   bool     // prepare: a session goes on in the tree, which is left as it is; where it is not there any more, prepare as ever: Prepared.Anew
}

// OfGate is what running a gate is about.
type OfGate struct {
	Apart bool // in a detached worktree of its own, beside other gates
	Stay  bool // close, apart: put the worktree back and leave it for the next gate
}

// OfBranch is what moving the integration branch is about: publish of the sum, and land.
type OfBranch struct {
	Old   string   // where the branch was
	Known []string // publish: commits of which a foreign branch is asked whether it holds them
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
