package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// stage says what a running node needs next: an effect (base, prepare, agent,
// collect, gate, publish) or a decision (the others).
type stage uint8

const (
	stageBase stage = iota
	stageOpen
	stagePrepare
	stageAgent
	stageCollect
	stageAsk
	stageGate
	stageVerdict
	stageFailed  // the attempt failed: block, wait or open the next
	stageStopped // block
	stagePublish
	stageFinish
)

// node is everything the events say about one node.
type node struct {
	ir    *ir.Node // nil: gone from the epic
	id    ir.NodeID
	index int // in Run.nodes; -1: gone
	sum   bool

	deps, dependents []int // blocks edges, deps in the order of After
	unsettled        int   // deps that are not settled
	selected         bool  // by --only

	status NodeStatus
	wait   NodeWaiting
	reason string // why it is blocked

	life      life
	numbers   map[string]int // last attempt number by step; never restarts
	successes []success
	logs      []AttemptLog // of all its attempts, oldest first
	after     int64        // successes up to this Seq do not count (--rerun)
	accepted  *success     // what makes it done; nil: nothing of its own
	people    people       // what they said about it
	cost      cost
	key       ir.Key    // as it was called when it began last
	since     time.Time // when it came to its status
	began     time.Time // its present or last life; zero: never
	passes    bool      // it is done without a result: through is set
	through   []Result  // what passes through it to those that need it
}

// life is one time that a node is run: for one digest of work and one base.
// A new life has a new allowance of attempts.
type life struct {
	work, judge string
	inputs      []Result
	print       string // of inputs
	base        Tree
	stale       bool // run for another epic than the present one: only counted

	stage    stage
	flying   bool // its effect has begun and was not reported
	effect   Effect
	redo     bool // the next effect may have happened already
	failures int  // of effects in a row, not the agent's doing
	trouble  *EffectFailed

	step    int
	starts  []string // start commit of each step
	used    []int    // attempts that count, by the step they went to
	tip     string   // commit that the next attempt starts from under keep
	streak  int      // same signature in a row
	sign    string
	rejudge bool
	word    Decision // of a person, not carried out yet: reject, retry
	attempt attempt
	notes   []string // summary of each step's last passed attempt
	first   int      // index in node.logs of this life's first attempt
}

// attempt is the open try of a step.
type attempt struct {
	status    AttemptStatus
	step      string
	number    int
	from      string
	rejudge   bool
	iteration int
	gate      int // index of the next gate
	asked     int // errors of that gate in a row
	end       AgentEnded
	collected Collected
	judged    []GateJudged
	person    string // whose own work it is: no agent runs
}

// success says that a node passed for (work, inputs).
type success struct {
	seq         int64
	work, judge string
	print       string
	base        string // tree of the merged inputs
	inputs      []Result
	result      Tree
}

// AttemptLog is what is remembered of an attempt, for feedback and reports.
type AttemptLog struct {
	Step     string
	Number   int
	Status   AttemptStatus // AttemptRunning while it is open
	Reason   string
	Start    string // commit that the step started from
	From     string // commit that the worktree started at
	Outcome  Outcome
	ExitCode int
	Tail     string
	Commit   string
	Problems []string
	Gates    []GateJudged

	Started   time.Time
	Ended     time.Time // zero while it is open
	Agent     string    // who really worked
	Model     string
	Session   string
	Usage     Usage // of its turns together; nil figures are unknown
	Turns     int   // iterations
	Millis    int64 // of the agent's turns
	Person    string
	Collected Collected
	Feedback  []string   // what its agent was told about the attempt before
	Said      []Decision // what people said before it began, for its agent
}

// fingerprint is the base identity of a node as far as it is known without
// merging: the ordered list of ids and trees that it starts from.
func fingerprint(inputs []Result) string {
	var b strings.Builder
	for _, in := range inputs {
		b.WriteString(string(in.Node))
		b.WriteByte(':')
		b.WriteString(in.Tree.Tree)
		b.WriteByte('\n')
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// match returns the newest success for work whose base is the one with this
// fingerprint or, if base is known, this tree.
func (n *node) match(work, print, base string) *success {
	for i := len(n.successes) - 1; i >= 0; i-- {
		s := &n.successes[i]
		if s.seq > n.after && s.work == work && (s.print == print || base != "" && s.base == base) {
			return s
		}
	}
	return nil
}

func (n *node) stepNow() *ir.Step {
	if n.life.step < 0 || n.life.step >= len(n.ir.Steps) {
		return nil
	}
	return &n.ir.Steps[n.life.step]
}

func (n *node) stepIndex(name string) int {
	for i := range n.ir.Steps {
		if n.ir.Steps[i].Name == name {
			return i
		}
	}
	return -1
}

// hasAgent reports whether somebody works in the step; else only gates judge.
func (n *node) hasAgent(s *ir.Step) bool {
	return n.ir.Kind == ir.Manual || n.ir.Kind != ir.GateKind && s.Agent != ""
}

// next returns the index of the step that a failure of step i goes to.
func (n *node) next(i int) int {
	if j := n.stepIndex(n.ir.Steps[i].Next); j >= 0 && j <= i {
		return j
	}
	for j := i; j >= 0; j-- {
		if n.ir.Steps[j].Access == "write" {
			return j
		}
	}
	return i
}

// rewind makes an effect that began and was not reported due once more, from
// where it can be done again: an agent or a gate whose turn was cut needs its
// worktree put back first.
func (l *life) rewind() {
	if !l.flying {
		return
	}
	l.flying, l.redo = false, true
	switch l.stage {
	case stageAgent:
		l.stage, l.attempt.iteration = stagePrepare, 0
	case stageGate:
		l.stage = stagePrepare
	}
}

// class groups nodes that compete for the same limits.
type class struct{ lane, runner string }
