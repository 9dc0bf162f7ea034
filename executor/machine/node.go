package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// stage says what a running node needs next: an effect (base, prepare, red,
// agent, diagnose, collect, gate, publish, land, pull, poll) or a decision (the
// others).
type stage uint8

const (
	stageBase stage = iota
	stageOpen
	stagePrepare
	stageRed
	stageAgent
	stageCollect
	stageAsk
	stageTaken  // a person took the session over: wait for them
	stageSpoken // a person's words in the session become feedback
	stageDiagnose
	stageDiagnosed
	stageGate
	stageVerdict
	stageFailed  // the attempt failed: block, wait or open the next
	stageStopped // block
	stageHand    // a conflict is prepared in the worktree, for a person
	stagePublish
	stageLanding // wait for the turn to land
	stageLand
	stagePull
	stageReview // a person merges or closes the pull request
	stagePoll
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

	status executor.NodeStatus
	wait   executor.NodeWaiting
	reason string // why it is blocked

	blockedBy    executor.BlockedBy
	blockedJudge string // digest of the gates by which it was

	life      life
	asleep    *asleep        // a life that goes on if what it needs comes out the same
	work      string         // of its present or last life
	print     string         // of the same
	numbers   map[string]int // last attempt number by step; never restarts
	successes []success
	logs      []AttemptLog      // of all its attempts, oldest first
	after     int64             // successes up to this Seq do not count (--rerun)
	accepted  *success          // what makes it done; nil: nothing of its own
	kept      *executor.Kept    // recovered, and not resumed yet
	orphans   []executor.Orphan // commits that the journal had lost, not yet judged
	pull      executor.Pull     // its last pull request
	people    nodePeople        // what they said about it
	says      []Comment         // what happened to it, for people
	cost      cost
	booked    purse             // what turns in flight have reserved of its budget
	class     class             // in which it is queued while it is ready
	key       ir.Key            // as it was called when it began last
	since     time.Time         // when it came to its status
	heard     time.Time         // its last event
	changed   int64             // the same: its number
	began     time.Time         // its present or last life; zero: never
	backoff   time.Duration     // the last one that it was made to wait before it was tried again
	human     time.Time         // when a person last wrote in a session of its agents; zero: never
	byBase    bool              // it is done because the base holds its result
	passes    bool              // it is done without a result: through is set
	through   []executor.Result // what passes through it to those that need it
}

// typed is the node's key as a word of a command that people paste.
func (n *node) typed() string { return shellword.Quote(string(n.ir.Key)) }

// life is one time that a node is run: for one digest of work and one base.
// A new life has a new allowance of attempts.
type life struct {
	work, judge string
	inputs      []executor.Result
	print       string // of inputs
	base        executor.Tree
	unclean     bool   // base is a resolved conflict: its tree identifies nothing
	resolved    string // tree that a conflict of the same trees was resolved to
	stale       bool   // run for another epic than the present one: only counted

	stage    stage
	flight   []executor.Effect // that have begun and were not reported
	redo     []executor.Effect // that began, and ralph ended meanwhile: kind and gate
	failures int               // of one kind of effect in a row, not the agent's doing
	failing  executor.EffectKind
	lostAt   map[executor.EffectKind]int // workers in a row, by the effect that they were lost at
	trouble  *trouble

	step     int
	starts   []string // start commit of each step
	used     []int    // attempts that count, by the step they went to
	tip      string   // commit that the next attempt starts from under keep
	streak   int      // same signature in a row
	sign     string
	signAt   int               // step whose attempt had it
	aside    *aside            // the step that the machine made up, while step is asideStep
	mended   bool              // its gates changed since they blocked it: they judge what it left
	judging  []int             // steps whose gates alone run again, on their recorded commits
	made     []executor.Result // what the success whose gates run again was made from
	stepsAt  []executor.Tree   // what each step came to, for NodeDone
	judgedBy []string          // of several steps: digest of the gates that each passed; "": not known
	standin  int               // how far the present step's fallback agents are used
	stalls   int               // attempts that a diagnosis began anew
	attempt  attempt
	notes    []string          // summary of each step's last passed attempt
	first    int               // index in node.logs of this life's first attempt
	word     executor.Decision // of a person, not carried out yet: reject, retry

	result executor.Tree // published, while it lands
	pull   executor.Pull
	polls  int
	was    string // base of what a person handed in, if it is another
	lost   bool   // the journal lost how the open attempt ended, and its commit was found
	why    string // why it is blocked, where no attempt says it
}

// trouble is an effect that did not happen.
type trouble struct {
	executor.EffectFailed
	kind  executor.EffectKind
	agent string
}

// attempt is the open try of a step.
type attempt struct {
	status  executor.AttemptStatus
	step    string
	number  int
	from    string
	rejudge bool
	checks  bool // what is judged again is to be checked before
	person  string
	agent   string
	turns
	red       int  // red_first gates that failed as they should
	dirty     bool // the worktree has to be put back before another gate
	gates     []gateState
	end       executor.AgentEnded
	collected executor.Collected
	judged    []executor.GateJudged
	diagnosed *executor.Diagnosed
	waived    bool              // a person let it go on to its gates, whatever its agent said
	leaving   bool              // a person ended it: what is in the worktree is collected before
	own       executor.Prepared // of a person who works: what of theirs is in the worktree
}

// gateState is what is known of one gate of the open attempt.
type gateState struct {
	done     bool
	spared   bool // of the sum: no node that is joined has it
	wrong    int  // invalid verdicts in a row
	failures int  // of its runner, in a row
	lostAt   int  // workers in a row
	standin  int  // how far its fallback agents are used
	trouble  *executor.EffectFailed
	spoken   bool // a person wrote in its agent's session since its turn began
}

// success says that a node passed for (work, inputs).
type success struct {
	seq         int64
	work, judge string
	print       string
	base        string // tree of the merged inputs
	inputs      []executor.Result
	result      executor.Tree
	steps       []executor.StepDone
	merged      bool   // the pinned base holds it
	pullOnly    bool   // of the sum: it moved no branch, in another mode
	asked       string // of the sum: digest of the gates that judged it
	at          time.Time
}

// AttemptLog is the record of an attempt, for feedback and reports.
type AttemptLog struct {
	Step     string
	Number   int
	Status   executor.AttemptStatus // AttemptRunning while it is open
	Reason   string
	Replaced bool   // cancelled, and another one has its place: it was answered, or its node started again
	Start    string // commit that the step started from
	From     string // commit that the worktree started at
	Outcome  executor.Outcome
	ExitCode int
	Tail     string
	Commit   string
	Problems []string
	Gates    []executor.GateJudged // verdicts that count
	Erred    []Erred               // what gave none, oldest first

	Started   time.Time
	Ended     time.Time     // zero while it is open
	Work      time.Duration // of it, without what it waited; 0 while it is open
	before    time.Duration // its node had worked when it began
	Agent     string        // who really worked
	Model     string
	Session   string
	Usage     executor.Usage // of its turns together; nil figures are unknown
	Turns     int            // iterations
	Untold    int            // turns that were cut and did not say what they used
	UntoldOf  map[string]int // the same of gates' agents, by gate
	Turn      string         // base name of the files of its agent's last turn; "" if none began
	Millis    int64          // of the agent's turns
	Person    string
	Collected executor.Collected
	Feedback  []string              // what its agent was told about the attempt before
	Rejudge   bool                  // only gates ran
	ByHand    bool                  // not a try: a conflict is prepared for a person
	Red       []executor.GateJudged // of red_first gates, before the agent
	Said      []executor.Decision   // what people said before it began, for its agent
	Meanwhile []executor.Decision   // what people said while it waited, for its agent's next turn
	Diagnosed *executor.Diagnosed   // what an agent said about it when it stalled

	Sessions []SessionLog            // of every turn of its agents and of its gates' agents, in order
	Proposed []executor.WorkProposed // while it went on
	Spoken   []executor.HumanSpoke   // what people wrote in its agents' sessions
	Taken    bool                    // a person took its agent's session over
	Sandbox  *executor.Sandboxed     // of its agent's last turn, also of one that was cut; nil: it had none
}

// Erred is a gate that gave no verdict when it was asked: it is asked again, by itself or once
// a person says so.
type Erred struct {
	Gate    string
	Class   executor.FailureClass // "": what it said was no verdict
	Why     string
	Agent   string // that judged
	Session string // of that
	At      time.Time
}

// SessionLog is the session of an agent's past or present turn.
type SessionLog struct {
	Session string // handle
	Agent   string
	Turn    string // base name of the turn's files; "" if it was told only when the turn was over
	Gate    string // of a gate's agent
	Fresh   bool   // made for this turn
	At      time.Time
}

// fingerprint is the base identity of a node as far as it is known without
// merging: the ordered list of ids and trees that it starts from.
func fingerprint(inputs []executor.Result) string {
	var room [1024]byte
	b := room[:0]
	for _, in := range inputs {
		b = append(append(b, in.Node...), ':')
		b = append(append(b, in.Tree.ID()...), '\n') // of a branch's head only the commit is known
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// match returns the newest success for work whose base is the one with this
// fingerprint or, if base is known, this tree.
func (n *node) match(work, print, base string) *success {
	return newest(n.successes, func(s *success) bool {
		return s.seq > n.after && s.work == work && (s.print == print || base != "" && s.base == base)
	})
}

func (n *node) stepNow() *ir.Step {
	l := &n.life
	if l.step == asideStep && l.aside != nil {
		return &l.aside.step
	}
	if n.ir == nil || l.step < 0 || l.step >= len(n.ir.Steps) {
		return nil
	}
	return &n.ir.Steps[l.step]
}

// stepIndex returns the place of a step, asideStep for the one that the machine
// made up, -1 if there is none.
func (n *node) stepIndex(name string) int {
	if a := n.life.aside; a != nil && a.step.Name == name {
		return asideStep
	}
	return n.ir.StepIndex(name)
}

// hasAgent reports whether an agent works in the step; else only gates judge.
func (n *node) hasAgent(s *ir.Step) bool {
	return n.ir.Kind == ir.Manual || s.Agent != "" && (n.ir.Kind != ir.GateKind || n.life.step == asideStep && s == n.stepNow())
}

// next returns the index of the step that a failure of step i goes to.
func (n *node) next(i int) int {
	if i == asideStep {
		if n.life.aside.merge {
			return asideStep
		}
		i = len(n.ir.Steps) - 1 // what failed to land goes back as if the last step had failed
	}
	if i < 0 {
		return i
	}
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

// rewind makes effects that began and were not reported due once more, from
// where they can be done again: an agent whose session is known goes on in it, on
// the tree as it is, unless a person has that session; any other agent or gate
// whose turn was cut needs its worktree put back first.
func (r *rules) rewind(n *node) {
	l := &n.life
	for _, e := range l.flight {
		l.redo = append(l.redo, executor.Effect{Kind: e.Kind, Gate: e.Gate})
		switch e.Kind {
		case executor.EffectAgent:
			l.stage = stagePrepare
			if l.attempt.cut(e); l.attempt.spoken && l.attempt.session != "" && !l.stale {
				l.attempt.iteration, l.attempt.going, l.attempt.end = e.Iteration, goesFresh, executor.AgentEnded{End: executor.EndTakenOver}
				r.takenOver(n)
			}
		case executor.EffectGate, executor.EffectRed:
			l.stage = stagePrepare
		default:
			continue
		}
		l.redo = append(l.redo, executor.Effect{Kind: executor.EffectPrepare})
	}
	l.flight = nil
}

// again takes note that an effect begins, and reports whether it began before.
func (l *life) again(kind executor.EffectKind, gate string, forget bool) bool {
	for i, e := range l.redo {
		if e.Kind == kind && e.Gate == gate {
			if forget {
				l.redo = slices.Delete(l.redo, i, i+1)
			}
			return true
		}
	}
	return false
}

// class groups nodes that compete for the same limits.
type class struct {
	lane, runner string
	first        turn
}
