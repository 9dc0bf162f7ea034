package ir

import (
	"encoding/json"
	"slices"
	"time"
)

// History is what has happened to an epic, as codecs write it: plain records that
// app fills from the journal and the files of the attempts. An epic that was
// never applied has one, too: every node of it is pending.
type History struct {
	Top     string    // absolute path of the repository's working tree; "" if unknown
	Base    string    // branch that the base was taken from; "" if unknown
	Started time.Time // of the first run; zero: never
	Ended   time.Time // of the last run; zero: it goes on, or there was none
	Program string    // that writes it, "ralph 1.2.3"
	Status  string    // of the epic as a whole, in S2's words: created, planning, ready_for_build, building, paused, complete
	Nodes   map[NodeID]*NodeHistory
	Runs    []json.RawMessage // lines of runs.jsonl, oldest first
}

// Node returns a node's history: an empty, pending one if nothing is known of it.
func (h *History) Node(id NodeID) *NodeHistory {
	if h != nil && h.Nodes[id] != nil {
		return h.Nodes[id]
	}
	return &NodeHistory{Status: "pending", Words: map[string]string{}}
}

// NodeHistory is what has happened to one node.
type NodeHistory struct {
	Status   string            // pending, ready, running, waiting, blocked, done, skipped, cancelled
	Words    map[string]string // the same in the words of each vocabulary of nodes: issue, bead, task, ralph-bead, shepherd
	Reason   string            // why it is there, one line
	Failure  string            // budget, iterations, stop, cancelled; "" if it has not failed
	Waits    string            // human, timer, limit, budget; "" if it does not wait
	Started  time.Time         // zero: never
	Updated  time.Time
	Ended    time.Time // zero: it has not ended
	Worktree string    // absolute path; "" if unknown
	PRURL    string
	PRNumber int
	Attempts []Attempt
	Backoff  time.Duration   // the last wait before it was tried again; 0: there was none
	Scrum    json.RawMessage // the scrum result (executor.ScrumResult); nil while it has not ended
	Comments []Comment       // structured lines of what happened, oldest first
	Tokens   *int64          // nil: unknown
	Budget   Budget          // with what people added; 0 is no limit
}

// Comment is a line of a node's history for people.
type Comment struct {
	Author string
	Text   string
	At     time.Time
}

// Attempt is one try of a step.
type Attempt struct {
	Step       string
	Number     int               // from 1, for this step
	Status     string            // running, passed, failed, stopped, timeout, stalled, cancelled, error
	Words      map[string]string // in the vocabularies of attempts: execution, run
	Reason     string
	Agent      string // who really worked; "" if no agent did
	AgentPath  string
	Model      string
	Session    string
	Started    time.Time
	Ended      time.Time // zero while it is open
	Iterations int       // turns of the agent
	Feedback   []string  // what the agent was told about the attempt before
	Summary    string
	Outcome    json.RawMessage // what the agent reported; nil if nothing
	Promise    string
	Errors     []string
	Prompt     string // of the last turn; "" if it is not kept any more
	Response   string // the last message, or the end of the output
	From       string // commit that its worktree started at
	Commit     string
	Files      []FileChange
	Tokens     *int64 // nil: unknown
	USDMicro   *int64
	Gates      []GateResult // in the order in which they were judged
	Trace      string       // its events in the journal, "epic:first-last"; "" if unknown
}

// FileChange is a changed file of an attempt.
type FileChange struct {
	Path    string // relative to the repository
	From    string // renamed: the old path
	Type    string // created, modified, deleted, renamed
	Diff    string // unified; "" if it is not there any more, or too long
	Added   int    // lines; -1 for binary files
	Removed int
}

// GateResult is a verdict on an attempt.
type GateResult struct {
	Gate      string
	Kind      string // command, agent, review, human, outcome
	Agent     string
	AgentPath string
	Model     string
	Session   string
	Verdict   string // pass, fail, stop, error
	Message   string
	Details   json.RawMessage // the validated output of an agent's gate; nil if it has none or is gone
	Started   time.Time       // as far as the journal says
	Ended     time.Time
	Millis    int64
	Tests     string // pass, fail, skip
	Counts    *TestCounts
	Results   []TestResult // nil: no tool reported, or the file is gone
	Failed    []string     // names of failed tests, the first of them
	By        string       // human gates: who decided
	Tokens    *int64
	USDMicro  *int64
}

// TestResult is a test that ran while a gate judged.
type TestResult struct {
	Name   string
	State  string // pass, fail, skip
	Output string // of a failed one, clipped
	Millis int64
}

// TestCounts counts test results.
type TestCounts struct{ Passed, Failed, Skipped int }

// Verdict is the last one of a gate, with the index of its attempt; nil if there is none.
func (n *NodeHistory) Verdict(gate string) (attempt int, g *GateResult) {
	for i, a := range slices.Backward(n.Attempts) {
		for k := range slices.Backward(a.Gates) {
			if a.Gates[k].Gate == gate {
				return i, &a.Gates[k]
			}
		}
	}
	return 0, nil
}
