package executor

import (
	"fmt"
)

// NodeStatus is the status of a node. The zero value is Pending.
type NodeStatus uint8

// Statuses of a node.
const (
	Pending   NodeStatus = iota // waits for what it depends on
	Ready                       // could start; waits for a slot
	Running                     // holds a slot
	Waiting                     // for a person, a time, a limit or a budget; holds no slot
	Done                        // satisfied
	Blocked                     // not satisfied; nothing more is tried
	Skipped                     // satisfied by a person's word, without a result
	Cancelled                   // not satisfied, by a person's word
	NodeStatuses
)

var NodeNames = [NodeStatuses]string{"pending", "ready", "running", "waiting", "done", "blocked", "skipped", "cancelled"}

func (s NodeStatus) String() string { return NodeNames[s] }

// Settled reports whether dependents need not wait any longer.
func (s NodeStatus) Settled() bool { return s == Done || s == Skipped }

// InReason reports whether the reason of a node with this status says the status
// itself: "skipped by ann", "done by the base".
func (s NodeStatus) InReason() bool { return s == Skipped || s == Cancelled || s == Done }

// NodeMoves is the total table of a node's legal transitions: NodeMoves[from][to].
// A transition to the same status is never legal.
var NodeMoves = [NodeStatuses][NodeStatuses]bool{
	Pending:   {Ready: true, Waiting: true, Done: true, Skipped: true, Cancelled: true}, // waiting: the sum, before it begins; one that goes on where it was
	Ready:     {Pending: true, Running: true, Done: true, Skipped: true, Cancelled: true},
	Running:   {Pending: true, Waiting: true, Done: true, Blocked: true, Skipped: true, Cancelled: true},
	Waiting:   {Pending: true, Running: true, Done: true, Blocked: true, Skipped: true, Cancelled: true},
	Done:      {Pending: true},                                                // its work changed, or --rerun
	Blocked:   {Pending: true, Waiting: true, Skipped: true, Cancelled: true}, // waiting: a person's retry continues where it was
	Skipped:   {Pending: true},
	Cancelled: {Pending: true},
}

// AttemptStatus is the status of one attempt at a step. The zero value is invalid.
type AttemptStatus uint8

// Statuses of an attempt.
const (
	AttemptRunning   AttemptStatus = iota + 1
	AttemptPassed                  // every gate passed
	AttemptFailed                  // the agent or a gate said fail; counts
	AttemptStopped                 // a gate said stop: the node is blocked
	AttemptTimeout                 // the step's time was used up; counts
	AttemptStalled                 // no sign of life; counts
	AttemptCancelled               // given up by a person or with its node; counts nothing
	AttemptError                   // not the agent's doing; counts nothing
	AttemptStatuses
)

var attemptNames = [AttemptStatuses]string{"invalid", "running", "passed", "failed", "stopped", "timeout", "stalled", "cancelled", "error"}

func (s AttemptStatus) String() string { return attemptNames[s] }

// MarshalText writes the status's word.
func (s AttemptStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status's word.
func (s *AttemptStatus) UnmarshalText(b []byte) error {
	return ParseWord(s, attemptNames[:], 1, string(b), "attempt status")
}

// Counts reports whether an attempt with this end uses up one of the attempts.
func (s AttemptStatus) Counts() bool {
	return s == AttemptFailed || s == AttemptTimeout || s == AttemptStalled
}

// AttemptMoves is the total table of an attempt's legal transitions; an ended attempt
// never moves again.
var AttemptMoves = [AttemptStatuses][AttemptStatuses]bool{
	AttemptRunning: {
		AttemptPassed: true, AttemptFailed: true, AttemptStopped: true, AttemptTimeout: true,
		AttemptStalled: true, AttemptCancelled: true, AttemptError: true,
	},
}

// WaitFor is what a waiting node waits for.
type WaitFor string

// What a node may wait for.
const (
	ForHuman  WaitFor = "human"
	ForTimer  WaitFor = "timer"
	ForLimit  WaitFor = "limit"
	ForBudget WaitFor = "budget"
	ForBase   WaitFor = "base" // of the run: a gate that has to be green is red on the base
)

// Cause is the reason why a node waits for a person.
type Cause string

// Causes of waiting for a person.
const (
	CauseConflict  Cause = "conflict"        // two dependencies do not merge
	CauseConfig    Cause = "configuration"   // program missing, not executable, wrong file
	CauseRunner    Cause = "runner"          // the runner kept failing
	CauseWorkspace Cause = "workspace"       // git or setup failed
	CauseGate      Cause = "gate"            // a gate could not be judged
	CauseQuestion  Cause = "question"        // the agent asked
	CauseApproval  Cause = "approval"        // a human gate: all others passed
	CauseManual    Cause = "manual"          // a person does the work
	CauseDiagnosis Cause = "diagnosis"       // the agent stalled, and a person should look
	CausePaused    Cause = "paused"          // by a person's word
	CausePull      Cause = "pull request"    // a person merges or closes it
	CauseHandedIn  Cause = "handed in"       // what a person handed in was made on another base, or for another text
	CauseTakeover  Cause = "takeover"        // a person works in the agent's session
	CauseForeign   Cause = "foreign commits" // on the integration branch
	CauseOlder     Cause = "older results"   // the integration branch holds some, of nodes that are not done now
	CauseProtected Cause = "protected"       // a merge changed what is protected
	CauseDeadline  Cause = "deadline"        // the node's deadline is past; nothing new is begun
	CauseHeld      Cause = "run held"        // the whole run is paused, or its budget is used up
	CauseOnly      Cause = "only"            // it was interrupted and --only leaves it out
)

// Recheck reports whether the next start of apply tries again by itself.
func (c Cause) Recheck() bool {
	return c == CauseOnly || c == CauseConfig || c == CauseRunner || c == CauseWorkspace || c == CausePull
}

// Verdict is a gate's judgement of an attempt.
type Verdict string

// Verdicts. Error is never pass and never costs the agent an attempt.
const (
	Pass        Verdict = "pass"
	Fail        Verdict = "fail"
	Stop        Verdict = "stop"
	ErrorJudged Verdict = "error"
)

// ParseWord sets *to to the index of word in names, from index from on.
func ParseWord[T ~uint8](to *T, names []string, from int, word, what string) error {
	for i := from; i < len(names); i++ {
		if names[i] == word {
			*to = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q", what, word)
}

// Vocabulary is the set of status words of one of the formats that ralph reads and
// writes.
type Vocabulary string

// Vocabularies. Those of attempts speak of one try, the others of a node.
const (
	WordsIssue     Vocabulary = "issue"      // open, in_progress, closed, blocked (scrum agents and bd)
	WordsBead      Vocabulary = "bead"       // running, awaiting_approval, approved, rejected, skipped (a task's beads)
	WordsTask      Vocabulary = "task"       // idle, running, paused, awaiting_approval, completed, failed
	WordsRalphBead Vocabulary = "ralph-bead" // pending, in_progress, completed, failed, blocked
	WordsShepherd  Vocabulary = "shepherd"   // open, in_progress, blocked, closed
	WordsExecution Vocabulary = "execution"  // of an attempt: completed, failed, timeout
	WordsRun       Vocabulary = "run"        // of an attempt: pending, running, completed, failed, cancelled, stalled
)

// attemptWords gives the word for each status of an attempt, from running on:
// running, passed, failed, stopped, timeout, stalled, cancelled, error.
var attemptWords = map[Vocabulary][AttemptStatuses - 1]string{
	WordsExecution: {"", "completed", "failed", "failed", "timeout", "timeout", "failed", "failed"},
	WordsRun:       {"running", "completed", "failed", "failed", "failed", "stalled", "cancelled", "failed"},
}

// Word is the vocabulary's word for an attempt's status, "" for a vocabulary of nodes,
// and for what it has no word for: an execution in progress.
func (s AttemptStatus) Word(in Vocabulary) string {
	words, ok := attemptWords[in]
	if !ok || s < AttemptRunning || s >= AttemptStatuses {
		return ""
	}
	return words[s-1]
}
