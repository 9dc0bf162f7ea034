package executor

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// Event is a fact in the journal. Node, Step and Attempt address what it is
// about; they are empty where they do not apply.
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

// Kind returns the word that stands for the event in the journal, such as
// "attempt.started"; "" if it has no body.
func (e Event) Kind() string {
	if e.Body == nil {
		return ""
	}
	return e.Body.EventName()
}

// Events about the run as a whole.
type (
	// RunStarted begins a run or goes on with an interrupted one: starting
	// `ralph apply` is the approval of the plan, by By.
	RunStarted struct {
		Epic   ir.NodeID   `json:"epic"`
		Plan   string      `json:"plan"`
		Digest string      `json:"digest"`           // of the whole epic.json
		Base   Tree        `json:"base"`             // the pinned base
		Branch string      `json:"branch,omitempty"` // that the base was taken from, where the epic names none; "" if nobody knows
		Bases  []NamedTree `json:"bases,omitempty"`  // pinned bases of roots that name their own
		Slots  int         `json:"slots"`            // nodes that may run at the same time
		Only   []ir.NodeID `json:"only,omitempty"`   // only these and what they need
		Rerun  []ir.NodeID `json:"rerun,omitempty"`  // as if their success were not recorded
		Seed   uint64      `json:"seed,omitempty"`   // of jitter
		Wait   bool        `json:"wait,omitempty"`   // stay for people too
		Grace  int64       `json:"grace,omitempty"`  // milliseconds that running attempts get when the run is cancelled; 0: two minutes
		Head   string      `json:"head,omitempty"`   // where the integration branch stands, if it is there; mode branch: else the pinned base
		Merged []ir.NodeID `json:"merged,omitempty"` // done by the base: the base holds their result already
		Theirs []string    `json:"theirs,omitempty"` // accepted commits of others on the integration branch that the base holds
		By     string      `json:"by"`
		User   string      `json:"user,omitempty"` // of the operating system

		// Preflight asks for one: a digest of what prepares a worktree, for which its
		// verdicts hold. "" leaves it out.
		Preflight string `json:"preflight,omitempty"`
		Tried     bool   `json:"tried,omitempty"`   // the preflight stands before it: the base moves only when nothing holds the run
		Watched   bool   `json:"watched,omitempty"` // what others change meanwhile is looked at, and what is trusted is kept
	}
	// RunDraining says that nothing new starts and that what runs is stopped at Until.
	RunDraining struct {
		Until  time.Time `json:"until"`
		Reason string    `json:"reason,omitempty"` // "" is an interrupt; else why: "1.2 reported a fatal result", "cancelled by ann"
	}
	// RunHeld says that nothing new starts until somebody resumes; what runs goes on.
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
	// know: its end is missing. Its own Seq lies above all that they carry (the one
	// gap that a journal may have); their numbers are not given again, and the
	// commits are judged anew when their nodes come to them.
	TailLost struct {
		After int64    `json:"after"` // last event that was there
		Found []Orphan `json:"found"`
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
		Listed int      `json:"listed,omitempty"` // Inputs is empty: they are so many, and stand in the InputsListed before it
		List   string   `json:"list,omitempty"`   // digest of these
	}
	// InputsListed is a part of the list of what a node starts from, where that is too
	// long for one event. It begins nothing: its NodeStarted follows the last part.
	InputsListed struct {
		After  int      `json:"after"` // so many stand in the parts before it; 0 begins the list anew
		Inputs []Result `json:"inputs"`
	}
	// NodeResumed ends a wait.
	NodeResumed struct{}
	// NodeWaiting says for what the node waits; Until is zero if nobody knows.
	NodeWaiting struct {
		For    WaitFor   `json:"for"`
		Until  time.Time `json:"until,omitzero"`
		Cause  Cause     `json:"cause,omitempty"`
		Detail string    `json:"detail,omitempty"`
		Gate   string    `json:"gate,omitempty"`  // approval: the human gate; cause gate: the one that could not be judged
		Loses  []string  `json:"loses,omitempty"` // older results: the commits that were named
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
	}
)

// StepDone is what one step of a success came to: when its gates change, they
// alone run again, on this commit.
type StepDone struct {
	Step   string `json:"step"`
	Judge  string `json:"judge"` // digest of its gates
	Result Tree   `json:"result"`
}

// Events about an attempt.
type (
	// AttemptStarted begins an attempt. From is the commit that the worktree
	// starts at, Start the one that the step as a whole started from.
	AttemptStarted struct {
		Start   string `json:"start"`
		From    string `json:"from"`
		Rejudge bool   `json:"rejudge,omitempty"` // only the gates run, on From
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
	}
)

// Events about effects.
type (
	// EffectStarted is recorded before an effect begins.
	EffectStarted struct {
		Kind      EffectKind `json:"effect"`
		Gate      string     `json:"gate,omitempty"`
		Iteration int        `json:"iteration,omitempty"`
		Redo      bool       `json:"redo,omitempty"` // it began before, and ralph ended meanwhile
	}
	// EffectFailed says that an effect did not happen, for a reason that is not
	// the agent's doing.
	EffectFailed struct {
		Class  FailureClass `json:"class"`
		Detail string       `json:"detail"`
		Gate   string       `json:"gate,omitempty"`  // of a gate: several may be in flight
		Until  time.Time    `json:"until,omitzero"`  // limit: when it ends, if that was said
		Paths  []string     `json:"paths,omitempty"` // conflict, protected: the first of the paths
		Head   Tree         `json:"head,omitzero"`   // foreign, moved: where the integration branch stands
		Holds  []string     `json:"holds,omitzero"`  // foreign: those of Effect.Known that Head has in its history; nil: nobody looked, it goes on from where ralph put the branch
		Back   bool         `json:"back,omitempty"`  // foreign: Head is in the history of where ralph put the branch: nothing was added
		Usage  Usage        `json:"usage,omitzero"`  // what the turn of an agent cost until it was cut
	}
	// BaseMade is the commit that a node starts from.
	BaseMade struct {
		Base Tree   `json:"base"`
		Head string `json:"head,omitempty"` // modes branch and wait: the branch's head that it was made from
	}
	// Prepared says that the worktree stands at the attempt's commit.
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

// Pull is a pull request.
type Pull struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

// SinceStart lists the first changes since the step's start: what gates judge.
func (c Collected) SinceStart() []FileChange {
	if c.Whole != nil {
		return c.Whole
	}
	return c.Changes
}

// Orphan is a collected commit that the journal does not know.
type Orphan struct {
	Node    ir.NodeID `json:"node"`
	Step    string    `json:"step"`
	Attempt int       `json:"attempt"`
	Start   string    `json:"start"` // its step's start commit
	Result  Tree      `json:"result"`
	Seq     int64     `json:"seq"`            // that it carries
	Work    string    `json:"work,omitempty"` // digest.work that it was made for

	Merged   []string `json:"merged,omitempty"`   // of the step "merge": its parents, in order
	Problems []string `json:"problems,omitempty"` // what ralph's own checks find: with any, it is not adopted
}

// Usage is what a runner says a turn cost, for this turn alone. A nil figure is
// unknown, which is never taken for nothing.
type Usage struct {
	Tokens   *int64 `json:"tokens,omitempty"`
	USDMicro *int64 `json:"usd_micro,omitempty"` // millionths of a US dollar
}

// IsZero reports whether nothing is known.
func (u Usage) IsZero() bool { return u.Tokens == nil && u.USDMicro == nil }

// OrStated fills in figures that are unknown where the policy states that a turn of
// the agent costs nothing: what is expected of other turns is not what they cost.
func (u Usage) OrStated(expected *ir.Cost) Usage {
	fill := func(told, stated *int64) *int64 {
		if told == nil && stated != nil && *stated == 0 {
			return stated
		}
		return told
	}
	if expected != nil {
		u.Tokens, u.USDMicro = fill(u.Tokens, expected.Tokens), fill(u.USDMicro, expected.USDMicro)
	}
	return u
}

// FileChange is one changed file of a commit.
type FileChange struct {
	Path    string `json:"path"`
	Type    string `json:"type"`           // created, modified, deleted, renamed
	From    string `json:"from,omitempty"` // renamed: the old path
	Added   int    `json:"added"`          // lines; -1 for binary files
	Removed int    `json:"removed"`
}

// TestCounts counts test results.
type TestCounts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// MaxNote bounds, in bytes, every text from outside that an event carries;
// events stay below 4 KB so that a distributed engine can carry them.
const MaxNote = 2000

// Tree is a commit and the tree that it holds, as hexadecimal object names.
type Tree struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
}

// NamedTree is a pinned base that some roots name themselves.
type NamedTree struct {
	Name string `json:"name"`
	Tree
}

// Result is what a node gives to those that depend on it.
type Result struct {
	Node ir.NodeID `json:"node"`
	Tree
	Same string `json:"same,omitempty"` // of the sum: commit with the same files that another result was made from; to join it changes nothing
}

// AgentEnd says how an agent's program ended.
type AgentEnd string

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

// Outcome is what an agent says about its work. A claim, never a verdict.
type Outcome struct {
	Result        string     `json:"result"`                // success, partial, failed, or "" if it gave none
	NextAction    string     `json:"next_action,omitempty"` // advance_phase, repeat_phase, need_human, none
	Summary       string     `json:"summary,omitempty"`     // at most MaxNote bytes
	SuggestedNext string     `json:"suggested_next_phase,omitempty"`
	NeedsHuman    bool       `json:"needs_human,omitempty"`
	Invalid       string     `json:"invalid,omitempty"` // why what it wrote is no outcome
	Promise       string     `json:"promise,omitempty"` // text of <promise>…</promise>: a claim
	Fatal         bool       `json:"fatal,omitempty"`   // drains the whole run
	Errors        []string   `json:"errors,omitempty"`
	Proposals     []Proposal `json:"created_issues,omitempty"` // work it found; never added to the graph by itself
	Pointers      []string   `json:"pointers,omitempty"`       // artifacts that it names
	Pull          Pull       `json:"pull,omitzero"`            // a pull request that it says it made
}

// Proposal is work that an agent found. The whole of it stands in the outcome file.
type Proposal struct {
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
}

// None reports whether nothing was said.
func (o Outcome) None() bool {
	return o.Result == "" && o.Invalid == "" && o.Promise == "" && !o.NeedsHuman && !o.Fatal && o.NextAction == ""
}

func (RunStarted) EventName() string     { return "run.started" }
func (RunDraining) EventName() string    { return "run.draining" }
func (RunEnded) EventName() string       { return "run.ended" }
func (NodeStarted) EventName() string    { return "node.started" }
func (InputsListed) EventName() string   { return "inputs.listed" }
func (NodeResumed) EventName() string    { return "node.resumed" }
func (NodeWaiting) EventName() string    { return "node.waiting" }
func (NodeBlocked) EventName() string    { return "node.blocked" }
func (NodeDone) EventName() string       { return "node.done" }
func (AttemptStarted) EventName() string { return "attempt.started" }
func (AttemptEnded) EventName() string   { return "attempt.ended" }
func (EffectStarted) EventName() string  { return "effect.started" }
func (EffectFailed) EventName() string   { return "effect.failed" }
func (BaseMade) EventName() string       { return "base.made" }
func (Prepared) EventName() string       { return "prepared" }
func (AgentEnded) EventName() string     { return "agent.ended" }
func (Collected) EventName() string      { return "collected" }
func (GateJudged) EventName() string     { return "gate.judged" }
func (Published) EventName() string      { return "published" }
func (RunHeld) EventName() string        { return "run.held" }
func (RunnerParked) EventName() string   { return "runner.parked" }
func (TailLost) EventName() string       { return "tail.lost" }
func (Decided) EventName() string        { return "decided" }
func (Diagnosed) EventName() string      { return "diagnosed" }
func (Landed) EventName() string         { return "landed" }
func (Pulled) EventName() string         { return "pulled" }
func (PullSeen) EventName() string       { return "pull.seen" }
func (AgentSession) EventName() string   { return "agent.session" }
func (WorkProposed) EventName() string   { return "work.proposed" }
func (HumanSpoke) EventName() string     { return "human.spoke" }

// BlockedBy says what kind of thing blocked a node.
type BlockedBy string

// What blocks a node. "" is not known: an earlier release did not say.
const (
	ByGates  BlockedBy = "gates"        // command, agent or review gates failed its last attempt
	ByPerson BlockedBy = "person"       // a human gate that nobody let pass
	ByStop   BlockedBy = "stop"         // a gate said stop, or the agent reported a fatal result
	ByAgent  BlockedBy = "agent"        // the agent failed: its outcome, its time, a crash
	ByChecks BlockedBy = "checks"       // ralph's own checks of what it left
	ByBudget BlockedBy = "budget"       // of the node or the run
	ByPull   BlockedBy = "pull request" // closed, where nobody would do it better
)

// How the reason of a node begins that its budget, or the run's, blocked.
const (
	BudgetReason    = "its budget: "
	RunBudgetReason = "the run's budget: "
)

// SaidOfTests is what a gate found out about tests, as people read it:
// passed/failed/skipped, or one word where they were not counted; "" if no tests were
// recognised in what it printed.
func (g GateJudged) SaidOfTests() string {
	if said := TestsOf([]GateJudged{g}); said != "skip" {
		return said
	}
	return ""
}

// TestsOf sums what the gates of an attempt printed about tests; where none printed
// numbers it is the worst of their words.
func TestsOf(gates []GateJudged) string {
	var sum TestCounts
	counted, word := false, "skip"
	for _, g := range gates {
		if g.Counts != nil {
			counted = true
			sum.Passed, sum.Failed, sum.Skipped = sum.Passed+g.Counts.Passed, sum.Failed+g.Counts.Failed, sum.Skipped+g.Counts.Skipped
		}
		if g.Tests == "fail" || g.Tests == "pass" && word == "skip" {
			word = g.Tests
		}
	}
	if counted {
		return fmt.Sprintf("%d/%d/%d", sum.Passed, sum.Failed, sum.Skipped)
	}
	return word
}

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

// Kept is what has to be known of a node to go on with it where there is no
// journal: in another clone, on another machine. A tracker keeps it as JSON. It is
// small; what does not fit is left out, the least needed first: reasons, older
// attempts, what lists can be found again from the epic, what steps came to.
type Kept struct {
	Status    string         `json:"status"`           // its word: done, blocked, …
	Reason    string         `json:"reason,omitempty"` // why it is blocked, or waits
	BlockedBy BlockedBy      `json:"blocked_by,omitempty"`
	By        string         `json:"by,omitempty"` // who skipped, cancelled or paused it
	Paused    bool           `json:"paused,omitempty"`
	Success   *KeptSuccess   `json:"success,omitempty"`
	Life      *KeptLife      `json:"life,omitempty"`    // of a node that is not done
	Numbers   map[string]int `json:"numbers,omitempty"` // last attempt number by step: never given again
	Attempts  []KeptAttempt  `json:"attempts,omitempty"`
	Pull      Pull           `json:"pull,omitzero"`
	Spent     KeptSpent      `json:"spent,omitzero"` // in all
	Added     ir.Budget      `json:"added,omitzero"` // to its budget, by people
}

// KeptSuccess is a success for (work, inputs): NodeDone with what it was made from.
type KeptSuccess struct {
	Work   string     `json:"work"`
	Judge  string     `json:"judge"`
	Print  string     `json:"inputs_digest"`  // of the ordered list of inputs: ids and trees
	Base   string     `json:"base,omitempty"` // tree of the merged inputs, if it identifies them
	Inputs []Result   `json:"inputs,omitempty"`
	Result Tree       `json:"result"`
	Steps  []StepDone `json:"steps,omitempty"`
	At     time.Time  `json:"at"`
	Merged bool       `json:"merged,omitempty"` // the pinned base holds it
	Aside  bool       `json:"aside,omitempty"`  // put aside by --rerun
}

// KeptLife is how far a node came that is not done, for one work and one base.
type KeptLife struct {
	Work   string         `json:"work"`
	Judge  string         `json:"judge"`
	Print  string         `json:"inputs_digest"`
	Step   string         `json:"step,omitempty"`  // the present one
	Used   map[string]int `json:"used,omitempty"`  // attempts that count, by the step that they went to
	Steps  []StepDone     `json:"steps,omitempty"` // those before Step
	Tip    string         `json:"tip,omitempty"`   // commit that the next attempt starts from
	Sign   string         `json:"sign,omitempty"`  // of the last failure, for the breaker
	Streak int            `json:"streak,omitempty"`
	Logs   int            `json:"logs,omitempty"` // how many of the last attempts were in it
	Spent  KeptSpent      `json:"spent,omitzero"` // in this allowance
}

// KeptAttempt is an attempt in short.
type KeptAttempt struct {
	Step   string        `json:"step"`
	Number int           `json:"n"`
	Status AttemptStatus `json:"status"` // running: nobody judged what it left
	Reason string        `json:"reason,omitempty"`
	Commit string        `json:"commit,omitempty"`
	Tree   string        `json:"tree,omitempty"`
	Agent  string        `json:"agent,omitempty"`
	At     time.Time     `json:"at"` // when it began
}

// KeptSpent is what something has cost; what nobody reported is counted apart.
type KeptSpent struct {
	Tokens   int64 `json:"tokens,omitempty"`
	USDMicro int64 `json:"usd_micro,omitempty"`
	Millis   int64 `json:"ms,omitempty"`
	NoTokens int   `json:"no_tokens,omitempty"` // turns that said nothing about it
	NoUSD    int   `json:"no_usd,omitempty"`
}

// IsOf reports whether a worker of that start, or of one that is not known, says an event.
func (e Event) IsOf(f Effect) bool { return e.Of == 0 || e.Of == f.Seq }

// Timed reports whether a wait ends by itself.
func (w NodeWaiting) Timed() bool {
	return w.For == ForTimer || w.For == ForLimit || w.For == ForBudget && !w.Until.IsZero()
}

// Decided reports whether the wait is over: the node only needs a place.
func (w NodeWaiting) Decided() bool { return w.For == ForTimer && w.Until.IsZero() }

// Events of a preflight. They are about the run as a whole, and may stand before
// the first run: a preflight can be asked for alone.
type (
	// PreflightStarted says which gates are about to be tried.
	PreflightStarted struct {
		Setup string   `json:"setup"` // digest of what prepares a worktree
		Gates []string `json:"gates"`
	}
	// BaselineJudged is what a gate said about a base, before any work. Its verdict
	// holds for the tree of the base, the gate's digest and the setup.
	BaselineJudged struct {
		Gate    string      `json:"gate"`
		Also    []string    `json:"also,omitempty"` // gates with the same digest
		Digest  string      `json:"digest"`         // of the gate
		Setup   string      `json:"setup"`
		Base    Tree        `json:"base"`
		Of      string      `json:"of,omitempty"`    // name of the base, where a root names its own
		Green   bool        `json:"green,omitempty"` // the gate says baseline = "green"
		Verdict Verdict     `json:"verdict"`
		Message string      `json:"message,omitempty"` // at most MaxNote bytes
		Millis  int64       `json:"ms"`
		Log     string      `json:"log,omitempty"`    // its output: a file below the epic's state
		Counts  *TestCounts `json:"counts,omitempty"` // nil: it printed no results that ralph reads
	}
	// PreflightEnded closes a preflight; Detail says why not all were tried.
	PreflightEnded struct {
		Detail string `json:"detail,omitempty"`
	}
)

func (PreflightStarted) EventName() string { return "preflight.started" }

func (BaselineJudged) EventName() string { return "baseline.judged" }

func (PreflightEnded) EventName() string { return "preflight.ended" }

// Red reports whether the gate fails on the base: what gave no verdict is no red. It
// is no green either.
func (b BaselineJudged) Red() bool { return b.Verdict == Fail || b.Verdict == Stop }

// Binding is what a verdict on a base, and a person's word about it, hold for.
type Binding struct{ Tree, Digest, Setup string }

func (b Binding) Compare(o Binding) int {
	return cmp.Or(cmp.Compare(b.Tree, o.Tree), cmp.Compare(b.Digest, o.Digest), cmp.Compare(b.Setup, o.Setup))
}

func (b BaselineJudged) Binding() Binding { return Binding{b.Base.Tree, b.Digest, b.Setup} }

// Events that begin a journal that has to be written anew, because the old one is
// lost: what a tracker kept of it. They stand before the first RunStarted; commits
// that nobody is known to have judged stand before them, in a TailLost.
type (
	// RunRecovered says on which base the run was, and where ralph put the
	// integration branch.
	RunRecovered struct {
		From   string      `json:"from"`   // the tracker and the epic's name in it: "bd bd-epic"
		Digest string      `json:"digest"` // of the epic.json that the lost journal was about
		Base   Tree        `json:"base"`   // the pinned one
		Bases  []NamedTree `json:"bases,omitempty"`
		Head   string      `json:"head,omitempty"`   // where ralph put the integration branch, if it stands there
		Others []string    `json:"others,omitempty"` // heads of accepted commits of others that are in it
		Holds  []string    `json:"holds,omitzero"`   // the base, results and heads of others that are in it, as git says; nil: nobody looked
		Lost   int64       `json:"lost"`             // last event of the lost journal, as far as that is known
		Spent  KeptSpent   `json:"spent,omitzero"`
		Added  ir.Budget   `json:"added,omitzero"`
		By     string      `json:"by"`
	}
	// NodeRecovered is what was kept of a node, without what was not found: a
	// success whose commit is nowhere is none.
	NodeRecovered struct {
		Kept
		Key  ir.Key `json:"key"`
		Note string `json:"note,omitempty"` // what was kept and is not taken over, and why
	}
)

func (RunRecovered) EventName() string { return "run.recovered" }

func (NodeRecovered) EventName() string { return "node.recovered" }

// Millis is a time to the millisecond, in UTC: what another engine, or a replay, reads
// back is what was said.
func Millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// ToMillis is an event whose times are to the millisecond, whoever made it.
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

// ID names the files: their tree, or the commit of one whose tree is not known.
func (t Tree) ID() string { return cmp.Or(t.Tree, t.Commit) }
