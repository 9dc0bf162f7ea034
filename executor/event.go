package executor

import (
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Event is a fact in the journal. Node, Step and Attempt address its subject; they are
// empty where they do not apply.
type Event struct {
	Seq     int64     // consecutive, from 1
	At      time.Time // UTC, to the millisecond; never used for order
	Node    ir.NodeID
	Step    string
	Attempt int   // from 1
	Of      int64 // of what the worker of an effect says: Seq of the EffectStarted; 0 in journals of earlier releases
	Body    Body
}

// Body is what happened. The set is closed: see kinds in event_json.go.
type Body interface{ EventName() string }

// Kind returns the event's word in the journal, such as "attempt.started"; "" if it has
// no body.
func (e Event) Kind() string {
	if e.Body == nil {
		return ""
	}
	return e.Body.EventName()
}

// Events about the run as a whole.
type (
	// RunStarted begins a run or continues with an interrupted one: starting
	// `ralph apply` is the approval of the plan, by By.
	RunStarted struct {
		Epic   ir.NodeID   `json:"epic"`
		Plan   string      `json:"plan"`
		Digest string      `json:"digest"`           // of the whole epic.json
		Base   Tree        `json:"base"`             // the pinned base
		Branch string      `json:"branch,omitempty"` // that the base was taken from, where the epic names none; "" if unknown
		Bases  []NamedTree `json:"bases,omitempty"`  // pinned bases of roots that name their own
		Slots  int         `json:"slots"`            // nodes that may run at the same time
		Only   []ir.NodeID `json:"only,omitempty"`   // only these and what they need
		Rerun  []ir.NodeID `json:"rerun,omitempty"`  // as if their success were not recorded
		Seed   uint64      `json:"seed,omitempty"`   // of jitter
		Wait   bool        `json:"wait,omitempty"`   // stay for people too
		Grace  int64       `json:"grace,omitempty"`  // milliseconds that running attempts get when the run is cancelled; 0: two minutes
		Head   string      `json:"head,omitempty"`   // where the integration branch is, if it exists; mode branch: else the pinned base
		Merged []ir.NodeID `json:"merged,omitempty"` // done by the base: the base holds their result already
		Ticked []ir.NodeID `json:"ticked,omitempty"` // done by the plan, although they were blocked or at work
		Theirs []string    `json:"theirs,omitempty"` // accepted commits of others on the integration branch that the base holds
		By     string      `json:"by"`
		User   string      `json:"user,omitempty"` // of the operating system
		ListRef

		// Preflight asks for one: a digest of what prepares a worktree, for which its
		// verdicts hold. "" leaves it out.
		Preflight string `json:"preflight,omitempty"`
		Tried     bool   `json:"tried,omitempty"`   // the preflight stands before it: the base moves only when nothing holds the run
		Sandbox   string `json:"sandbox,omitempty"` // that a person asked for in place of the policy's: none
		Watched   bool   `json:"watched,omitempty"` // what others change meanwhile is looked at, and what is trusted is kept
	}
	// RunDraining says that nothing new starts and that what runs is stopped at Until.
	RunDraining struct {
		Until  time.Time `json:"until"`
		Reason string    `json:"reason,omitempty"` // "" is an interrupt; else why: "1.2 reported a fatal result", "cancelled by ann"
	}
	// RunHeld says that nothing new starts until a person resumes; what runs continues.
	RunHeld struct {
		For    WaitFor `json:"for"` // human (pause), budget or base
		Detail string  `json:"detail"`
	}
	// RunnerParked says that a runner is not asked before Until: its limit is used
	// up, or it does not answer. Probe: one agent tries then, before the others.
	RunnerParked struct {
		Runner string    `json:"runner"`
		Until  time.Time `json:"until"`
		Probe  bool      `json:"probe,omitempty"`
		Detail string    `json:"detail,omitempty"`
	}
	// TailLost says that commits of this epic were found that the journal does not
	// know: its end is missing. Its own Seq is above all that they carry (the one
	// gap that a journal may have); their numbers are not given again, and the
	// commits are judged anew when their nodes come to them.
	TailLost struct {
		After int64    `json:"after"` // last event that was there
		Found []Orphan `json:"found"`
		ListRef
	}
	// RunEnded closes a run.
	RunEnded struct {
		Interrupted bool           `json:"interrupted,omitempty"`
		Counts      map[string]int `json:"counts"`            // nodes by status
		GoesOn      int            `json:"goes_on,omitempty"` // of those that wait: with the next run, without anybody
		Outcome     RunOutcome     `json:"outcome,omitempty"` // "": written by an earlier ralph
		Reason      string         `json:"reason,omitempty"`  // of the run as a whole: what holds it, who cancelled it, what was tampered with
	}
)

// Events about a node. All but NodeStarted, InputsListed and NodeResumed end its running.
type (
	// NodeStarted begins a life of the node: it is run for this work and these inputs.
	NodeStarted struct {
		Key    ir.Key   `json:"key"`
		Work   string   `json:"work"`
		Judge  string   `json:"judge"`
		Inputs []Result `json:"inputs,omitempty"`
		ListRef
	}
	// NodeResumed ends a wait.
	NodeResumed struct{}
	// NodeWaiting says what the node waits for; Until is zero if unknown.
	NodeWaiting struct {
		For    WaitFor   `json:"for"`
		Until  time.Time `json:"until,omitzero"`
		Cause  Cause     `json:"cause,omitempty"`
		Detail string    `json:"detail,omitempty"`
		Gate   string    `json:"gate,omitempty"`  // approval: the human gate; cause gate: the one that could not be judged
		Loses  []string  `json:"loses,omitempty"` // older results: the commits that were named
		ListRef
	}
	// NodeBlocked says that nothing more is tried, and why.
	NodeBlocked struct {
		Reason string    `json:"reason"`
		By     BlockedBy `json:"by,omitempty"`
		Judge  string    `json:"judge,omitempty"` // digest of the gates by which it was
	}
	// Decided is what a person said, about a node or (without one) the run.
	Decided struct {
		Decision
	}
	// NodeDone records a success for (work, inputs), judged by Judge.
	NodeDone struct {
		Work   string     `json:"work"`
		Judge  string     `json:"judge"`
		Result Tree       `json:"result"`
		Steps  []StepDone `json:"steps,omitempty"` // of nodes with more than one
		Asked  string     `json:"asked,omitempty"` // of the sum: digest of the gates that judged it; "": all that it has
		ListRef
	}
)

// Events about an attempt.
type (
	// AttemptStarted begins an attempt. From is the commit that the worktree
	// starts at, Start the one that the step as a whole started from.
	AttemptStarted struct {
		Start   string `json:"start"`
		From    string `json:"from"`
		Rejudge bool   `json:"rejudge,omitempty"` // only the gates run, on From
		Checks  bool   `json:"checks,omitempty"`  // with Rejudge: ralph's own checks, too
		Person  string `json:"person,omitempty"`  // whose own fix it is: no agent runs, what the worktree holds is collected
		Agent   string `json:"agent,omitempty"`   // who works, if it is not the step's agent
		Resumes bool   `json:"resumes,omitempty"` // goes on in the session of the attempt before
		ByHand  bool   `json:"by_hand,omitempty"` // a conflict is laid out for a person: no agent runs
	}
	// AttemptEnded is the verdict on an attempt.
	AttemptEnded struct {
		Status    AttemptStatus `json:"status"`
		Reason    string        `json:"reason,omitempty"`
		Signature string        `json:"signature,omitempty"` // of the failure, for the breaker
		Next      string        `json:"next,omitempty"`      // step that a failure goes to
		Note      string        `json:"note,omitempty"`      // what was not done, such as a suggestion of the agent that the plan does not know
		Free      bool          `json:"free,omitempty"`      // by a person's word: it costs no attempt, and the breaker forgets
		Judge     string        `json:"judge,omitempty"`     // of a node with several steps, passed: digest of the gates of this one; "" in events of earlier releases
	}
)

// Replaced reports whether another attempt takes its place, by a person's answer or by
// what they wrote in its session.
func (b AttemptEnded) Replaced() bool { return b.Status == AttemptCancelled && b.Free }

// Events about effects.
type (
	// EffectStarted is recorded before an effect begins.
	EffectStarted struct {
		Kind      EffectKind `json:"effect"`
		Gate      string     `json:"gate,omitempty"`
		Iteration int        `json:"iteration,omitempty"`
		Redo      bool       `json:"redo,omitempty"` // it began before, and ralph ended meanwhile
	}
	// EffectFailed says that an effect did not happen, for a reason that is not the
	// agent's fault.
	EffectFailed struct {
		Class  FailureClass `json:"class"`
		Detail string       `json:"detail"`
		Gate   string       `json:"gate,omitempty"`  // of a gate: several may be in flight
		Until  time.Time    `json:"until,omitzero"`  // limit: when it ends, if that was said
		Paths  []string     `json:"paths,omitempty"` // conflict, protected: the first of the paths
		Head   Tree         `json:"head,omitzero"`   // foreign, moved: where the integration branch stands
		Holds  []string     `json:"holds,omitzero"`  // foreign: those of Effect.Known that Head has in its history; nil: not checked, it goes on from where ralph put the branch
		Back   bool         `json:"back,omitempty"`  // foreign: Head is in the history of where ralph put the branch: nothing was added
		Usage  Usage        `json:"usage,omitzero"`  // what the turn of an agent cost until it was cut
		ListRef

		Sandbox *Sandboxed `json:"sandbox,omitempty"` // that the turn of an agent was in; nil: none
	}
	// BaseMade is the commit that a node starts from.
	BaseMade struct {
		Base Tree   `json:"base"`
		Head string `json:"head,omitempty"` // modes branch and wait: the branch's head that it was made from
	}
	// Prepared says that the worktree is at the attempt's commit.
	Prepared struct {
		Saved   string   `json:"saved,omitempty"`   // ref under which what was left there is kept
		Paths   []string `json:"paths,omitempty"`   // merge: in conflict in the worktree now, the first of them
		Moved   []string `json:"moved,omitempty"`   // what was left there and no commit can hold, and where it is now
		Skipped []string `json:"skipped,omitempty"` // what was left out on purpose: "submodules"
		Anew    bool     `json:"anew,omitempty"`    // the tree that a session was to go on in is not there any more
		Work    string   `json:"work,omitempty"`    // commit of a person's own work that stays there
		Merge   string   `json:"merge,omitempty"`   // commit that the person has to merge into it: in conflict in Paths
	}
	// AgentEnded is what the agent reported.
	AgentEnded struct {
		Outcome  Outcome  `json:"outcome"`
		ExitCode int      `json:"exit_code"`
		End      AgentEnd `json:"end"`
		Millis   int64    `json:"ms"`
		Tail     string   `json:"tail,omitempty"` // end of its output, at most MaxNote bytes
		Agent    string   `json:"agent,omitempty"`
		Model    string   `json:"model,omitempty"`   // that really ran
		Session  string   `json:"session,omitempty"` // handle, at most 200 bytes
		Usage    Usage    `json:"usage,omitzero"`
		Note     string   `json:"note,omitempty"` // what ralph did about it, such as a suggestion that was ignored

		Sandbox *Sandboxed `json:"sandbox,omitempty"` // that it ran in; nil: none
	}
	// AgentSession says in which session an agent works, as soon as that is known:
	// before its first prompt where the program allows it. A turn that is cut goes on
	// in it, on the tree as it is.
	AgentSession struct {
		Session string `json:"session"` // handle, at most 200 bytes
		Agent   string `json:"agent"`
		Turn    string `json:"turn"`            // base name of the turn's files
		Gate    string `json:"gate,omitempty"`  // of a gate's agent
		Fresh   bool   `json:"fresh,omitempty"` // made for this turn; else it is gone on with
	}
	// WorkProposed is work that an agent found while it worked; it is never added to
	// the graph by itself.
	WorkProposed struct {
		Proposal
		Agent string `json:"agent"`
		Gate  string `json:"gate,omitempty"`
	}
	// HumanSpoke says that a person wrote in the agent's session.
	HumanSpoke struct {
		Session string    `json:"session"`
		Said    time.Time `json:"said"`           // when, as the program tells it
		Text    string    `json:"text,omitempty"` // at most MaxNote bytes
		Gate    string    `json:"gate,omitempty"`
	}
	// Diagnosed is what an agent said about a stalled one.
	Diagnosed struct {
		Action string `json:"action"` // retry, fail, human; anything else is human
		Note   string `json:"note"`
		Agent  string `json:"agent,omitempty"` // who said it
		Usage  Usage  `json:"usage,omitzero"`
	}
	// Collected is the commit that the attempt left, and what ralph's own checks
	// found; any problem fails the attempt before a gate is paid for.
	Collected struct {
		Result   Tree         `json:"result"`
		Files    int          `json:"files"`             // that this attempt changed; Changed, Added, Removed and Changes count alike
		Changed  []string     `json:"changed,omitempty"` // the first of them
		Problems []string     `json:"problems,omitempty"`
		Added    int          `json:"added,omitempty"`   // lines
		Removed  int          `json:"removed,omitempty"` // lines
		Changes  []FileChange `json:"changes,omitempty"` // the first of them; all stand in changes.json of the attempt's files
		Whole    []FileChange `json:"whole,omitzero"`    // the first changes since the step's start, where the attempt started later
		Lacks    string       `json:"lacks,omitempty"`   // of a person's work: the base that is not in it, for them to merge
		Listed   []string     `json:"listed,omitempty"`  // found and allowed: new protected files, refs that moved, a person's own breaches
		Fresh    int          `json:"fresh,omitempty"`   // the first of Listed that name new protected files, which gates allow; 0 also in events of earlier releases
	}
	// GateJudged is a gate's verdict on the collected commit.
	GateJudged struct {
		Gate      string      `json:"gate"`
		Verdict   Verdict     `json:"verdict"`
		Message   string      `json:"message"` // at most MaxNote bytes
		Signature string      `json:"signature,omitempty"`
		Tests     string      `json:"tests"` // pass, fail; skip: none ran, or none was recognised
		Millis    int64       `json:"ms"`
		Red       bool        `json:"red,omitempty"`    // run before the agent, to see it fail
		Counts    *TestCounts `json:"counts,omitempty"` // nil: it printed no results that ralph reads
		Failed    []string    `json:"failed,omitempty"` // names of failed tests, the first of them
		Agent     string      `json:"agent,omitempty"`
		Model     string      `json:"model,omitempty"`
		Session   string      `json:"session,omitempty"`
		Usage     Usage       `json:"usage,omitzero"`
		Details   string      `json:"details,omitempty"`  // digest of the validated output, kept as gate-<name>.json
		Evidence  string      `json:"evidence,omitempty"` // digest of the evidence file, kept beside the log
		Again     string      `json:"again,omitempty"`    // why it was run once more, in a fresh directory: this is what it said there
		Removed   []string    `json:"removed,omitempty"`  // new files that the gate left, taken away again
		By        string      `json:"by,omitempty"`       // human gates: who decided

		Sandbox *Sandboxed `json:"sandbox,omitempty"` // that it ran in; nil: none
	}
	// Published says that the node's result is pinned (or, for the sum, that the
	// integration branch has moved to it).
	Published struct {
		Result Tree   `json:"result"`
		Branch string `json:"branch,omitempty"`
		Pinned string `json:"pinned,omitempty"` // of the sum: ref that keeps where the branch stood, if the new head does not
	}
	// Landed says that the integration branch moved to a commit with the result in it.
	Landed struct {
		Head Tree `json:"head"`
	}
	// Pulled says that the pull request is there and up to date.
	Pulled struct {
		Pull Pull `json:"pull"`
	}
	// PullSeen is what became of a pull request.
	PullSeen struct {
		State   string `json:"state"`             // open, merged, closed
		Head    Tree   `json:"head,omitzero"`     // merged: the fetched head of the target, which holds it
		Comment string `json:"comment,omitempty"` // closed: its last comment
	}
)

// MaxNote bounds, in bytes, every text from outside that an event carries;
// events stay below 4 KB so that a distributed engine can carry them.
const MaxNote = 2000

// Ends of an agent.
const (
	EndExited  AgentEnd = "exited"
	EndTimeout AgentEnd = "timeout"
	EndStalled AgentEnd = "stalled"

	// EndTakenOver: a person wrote in the session (HumanSpoke). With on_human_message
	// = pause the turn ends at once and the session is theirs; with review it ends when
	// the session is idle, with cooldown when it was idle for so long.
	EndTakenOver AgentEnd = "taken_over"
)

// BlockedBy is the kind of thing that blocked a node.
type BlockedBy string

// What blocks a node. "" is not known: an earlier release did not say.
const (
	ByGates  BlockedBy = "gates"        // command, agent or review gates failed its last attempt
	ByPerson BlockedBy = "person"       // a human gate without an approval
	ByStop   BlockedBy = "stop"         // a gate said stop, or the agent reported a fatal result
	ByAgent  BlockedBy = "agent"        // the agent failed: its outcome, its time, a crash
	ByChecks BlockedBy = "checks"       // ralph's own checks of what it left
	ByBudget BlockedBy = "budget"       // of the node or the run
	ByPull   BlockedBy = "pull request" // closed, where no one would do it better
)

// How the reason of a node begins that its budget, or the run's, blocked.
const (
	BudgetReason    = "its budget: "
	RunBudgetReason = "the run's budget: "
)

// RunOutcome is how a run ended.
type RunOutcome string

const (
	RunDone        RunOutcome = "done"
	RunBlocked     RunOutcome = "blocked"  // or cancelled
	RunTampered    RunOutcome = "tampered" // see Run.Tampered; whatever else came of it
	RunWaiting     RunOutcome = "waiting"  // for a person, a budget, or kept back
	RunInterrupted RunOutcome = "interrupted"
	RunKilled      RunOutcome = "killed" // no event says so: it has no end
)

// IsOf reports whether an event is from a worker of that start, or of an unknown one.
func (e Event) IsOf(f Effect) bool { return e.Of == 0 || e.Of == f.Seq }

// Timed reports whether a wait ends by itself.
func (w NodeWaiting) Timed() bool {
	return w.For == ForTimer || w.For == ForLimit || w.For == ForBudget && !w.Until.IsZero()
}

// Decided reports whether the wait is over: the node only needs a slot.
func (w NodeWaiting) Decided() bool { return w.For == ForTimer && w.Until.IsZero() }

// Millis is a time to the millisecond, in UTC, so that another engine, or a replay, reads
// back what was written.
func Millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// ToMillis is an event whose times are to the millisecond, regardless of its maker.
func (e Event) ToMillis() Event {
	e.At = Millis(e.At)
	switch b := e.Body.(type) {
	case RunDraining:
		b.Until = Millis(b.Until)
		e.Body = b
	case RunnerParked:
		b.Until = Millis(b.Until)
		e.Body = b
	case NodeWaiting:
		b.Until = Millis(b.Until)
		e.Body = b
	case EffectFailed:
		b.Until = Millis(b.Until)
		e.Body = b
	case HumanSpoke:
		b.Said = Millis(b.Said)
		e.Body = b
	}
	return e
}
