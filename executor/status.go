package executor

import "fmt"

// NodeStatus is where a node stands. The zero value is Pending.
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
	nodeStatuses
)

var nodeNames = [nodeStatuses]string{"pending", "ready", "running", "waiting", "done", "blocked", "skipped", "cancelled"}

func (s NodeStatus) String() string { return nodeNames[s] }

// settled reports whether dependents need not wait any longer.
func (s NodeStatus) settled() bool { return s == Done || s == Skipped }

// nodeMoves is the total table of legal moves of a node: nodeMoves[from][to].
// A move to the same status is never one.
var nodeMoves = [nodeStatuses][nodeStatuses]bool{
	Pending:   {Ready: true, Waiting: true, Done: true, Skipped: true, Cancelled: true}, // waiting: the sum, before it begins
	Ready:     {Pending: true, Running: true, Done: true, Skipped: true, Cancelled: true},
	Running:   {Pending: true, Waiting: true, Done: true, Blocked: true, Skipped: true, Cancelled: true},
	Waiting:   {Pending: true, Running: true, Done: true, Blocked: true, Skipped: true, Cancelled: true},
	Done:      {Pending: true},                                                // its work changed, or --rerun
	Blocked:   {Pending: true, Waiting: true, Skipped: true, Cancelled: true}, // waiting: a person's retry goes on where it stood
	Skipped:   {Pending: true},
	Cancelled: {Pending: true},
}

// AttemptStatus is where one try of a step stands. The zero value is invalid.
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
	attemptStatuses
)

var attemptNames = [attemptStatuses]string{"invalid", "running", "passed", "failed", "stopped", "timeout", "stalled", "cancelled", "error"}

func (s AttemptStatus) String() string { return attemptNames[s] }

// MarshalText writes the status's word.
func (s AttemptStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status's word.
func (s *AttemptStatus) UnmarshalText(b []byte) error {
	return parseWord(s, attemptNames[:], 1, string(b), "attempt status")
}

// counts reports whether an attempt that ended so uses up one of the attempts.
func (s AttemptStatus) counts() bool {
	return s == AttemptFailed || s == AttemptTimeout || s == AttemptStalled
}

// attemptMoves is the total table of legal moves of an attempt; an attempt that
// has ended never moves again.
var attemptMoves = [attemptStatuses][attemptStatuses]bool{
	AttemptRunning: {
		AttemptPassed: true, AttemptFailed: true, AttemptStopped: true, AttemptTimeout: true,
		AttemptStalled: true, AttemptCancelled: true, AttemptError: true,
	},
}

// WaitFor says what a waiting node waits for.
type WaitFor string

// What a node may wait for.
const (
	ForHuman  WaitFor = "human"
	ForTimer  WaitFor = "timer"
	ForLimit  WaitFor = "limit"
	ForBudget WaitFor = "budget"
	ForBase   WaitFor = "base" // of the run: a gate that has to be green is red on the base
)

// Cause says why a node waits for a person.
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
	causeOnly      Cause = "only"            // it was interrupted and --only leaves it out
)

// recheck reports whether the next start of apply tries again by itself.
func (c Cause) recheck() bool {
	return c == causeOnly || c == CauseConfig || c == CauseRunner || c == CauseWorkspace || c == CausePull
}

// Verdict is what a gate says about an attempt.
type Verdict string

// Verdicts. Error is never pass and never costs the agent an attempt.
const (
	Pass        Verdict = "pass"
	Fail        Verdict = "fail"
	Stop        Verdict = "stop"
	ErrorJudged Verdict = "error"
)

// parseWord sets *to to the index of word in names, from index from on.
func parseWord[T ~uint8](to *T, names []string, from int, word, what string) error {
	for i := from; i < len(names); i++ {
		if names[i] == word {
			*to = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q", what, word)
}
