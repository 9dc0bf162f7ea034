package beadsmith

import (
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// The events of a BeadManager, as Event.Event has them.
const (
	TaskStarted      = "taskStarted"      // TaskDefinition
	BeadStarted      = "beadStarted"      // BeadNumber
	BeadComplete     = "beadComplete"     // BeadResult
	BeadFailed       = "beadError"        // BeadError
	AwaitingApproval = "awaitingApproval" // BeadResult
	BeadApproved     = "beadApproved"     // BeadNumber
	BeadRejected     = "beadRejected"     // Rejection
	TaskCompleted    = "taskCompleted"    // TaskSummary
	TaskFailed       = "taskFailed"       // Problem
	TaskPaused       = "taskPaused"       // nothing
	TaskResumed      = "taskResumed"      // nothing
	TaskCancelled    = "taskCancelled"    // nothing
	DAGUpdated       = "dagUpdated"       // Graph
)

// Event is a line of `ralph apply --events beadsmith`.
type Event struct {
	Event   string    `json:"event"`
	At      string    `json:"at"`
	Node    ir.Key    `json:"node,omitempty"` // "" for dagUpdated
	Task    ir.NodeID `json:"task,omitempty"`
	Payload Payload   `json:"payload,omitempty"` // what a listener is given; nil: nothing
}

// Payload is what a listener is given with an event: one of the types below.
type Payload interface{ payload() }

// BeadNumber is the number of a bead within its task.
type BeadNumber int

func (TaskDefinition) payload() {}
func (BeadNumber) payload()     {}
func (BeadResult) payload()     {}
func (BeadError) payload()      {}
func (Rejection) payload()      {}
func (TaskSummary) payload()    {}
func (Problem) payload()        {}
func (Graph) payload()          {}

// Line writes the event as JSON with a line end.
func (e Event) Line() ([]byte, error) {
	b, err := foreign.JSON(e)
	return append(b, '\n'), err
}

// NewEvent is what happened to a node at a time; node is nil for the whole.
func NewEvent(name string, at time.Time, node *ir.Node, payload Payload) Event {
	e := Event{Event: name, At: stamp(at), Payload: payload}
	if node != nil {
		e.Node, e.Task = node.Key, node.ID
	}
	return e
}

// Problem is an Error as JSON has it.
type Problem struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"` // of a task: budget, iterations, stop, cancelled
}

// BeadError is an error of a bead.
type BeadError struct {
	BeadNumber int     `json:"beadNumber"`
	Error      Problem `json:"error"`
}

// Rejection says why a bead was rejected; the feedback is never empty.
type Rejection struct {
	BeadNumber int    `json:"beadNumber"`
	Feedback   string `json:"feedback"`
}

// Graph is what can be done in the graph of an epic, as keys.
type Graph struct {
	Ready   []ir.Key `json:"ready"` // waits for a slot, not for other nodes
	Running []ir.Key `json:"running"`
	Waiting []ir.Key `json:"waiting"` // for a person, a time, a limit or a budget
	Blocked []ir.Key `json:"blocked"` // not satisfied; nothing more is tried
	Pending int      `json:"pending"` // need others first
	Settled int      `json:"settled"` // done, skipped or cancelled
}

// Summary is how a node ended.
func Summary(node *ir.Node, n *ir.NodeHistory) TaskSummary {
	return TaskSummary{
		BeadCount: Imported(node) + len(n.Attempts), TotalTokensUsed: n.Tokens, Success: n.Status == "done" || n.Status == "skipped",
		Status: n.Words["task"], CompletedAt: stamp(n.Ended), ErrorMessage: errorOf(n),
	}
}

func errorOf(n *ir.NodeHistory) string {
	if n.Status == "done" || n.Status == "skipped" {
		return ""
	}
	return n.Reason
}

// Imported is the highest number among the beads of another program that a node
// has: ralph's own are counted on from it.
func Imported(node *ir.Node) int {
	var s TaskState
	s.imported(keptOf(node).Beads)
	return s.BeadNumber
}
