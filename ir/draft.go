package ir

import (
	"encoding/json"

	"github.com/ralph-compiler/ralph/diag"
)

// Draft is what a front end makes and the compiler's passes turn into an Epic
// under a policy. It says what a plan or a foreign file states and nothing
// more: no defaults, no policy. Ranges are places in the source.
type Draft struct {
	Plan        string // path of the plan, relative to the project, forward slashes
	Slug        string
	ID          NodeID // annotated; "" if none
	IDRange     diag.Range
	Title       string
	Range       diag.Range // of the title, or an empty range at the start
	Description []string
	Base        Stated // Source Branch, front matter base
	Target      Stated // Integration Branch, front matter integration
	Policy      Stated // name of a policy block for all sprints
	Owner       string
	Labels      []string
	Phases      []DraftPhase
	Nodes       []DraftNode
	Fragments   []Fragment // hcl fences of the plan as a whole
}

// Stated is a value as a source states it; the zero value states nothing.
type Stated struct {
	Value  string
	Range  diag.Range
	Strict bool // a value that does not fit is an error, not prose
}

// Set reports whether anything was stated.
func (s Stated) Set() bool { return !s.Range.IsZero() }

// DraftPhase is a group of nodes.
type DraftPhase struct {
	ID        string
	Word      string // what the source calls it: "Phase"; "" if nothing
	Name      string
	Goal      string
	Range     diag.Range
	Fragments []Fragment
}

// DraftNode is one item of the source.
type DraftNode struct {
	ID         NodeID // annotated; "" if none
	IDRange    diag.Range
	Key        Key
	KeyRange   diag.Range
	Range      diag.Range // the whole title: heading or first line of the item
	Word       string     // what the source calls it: "Sprint", "Task"; "" if nothing
	Kind       Kind
	Done       bool
	DoneBy     string // what says that it is finished: "heading", "status", "boxes", "phase", "overview"
	DoneRange  diag.Range
	Title      string
	Phase      string
	PhaseIndex int // in Draft.Phases; -1 if none
	Section    string

	Within      []string // title and goal of the plain number that it is a letter of, for the prompt
	Goal        string
	Text        []string // prose, as lines, that goes into the prompt
	Description []string
	Tasks       []Task
	Acceptance  []string
	Scope       Scope
	Offline     bool     // see Node
	New         []string // paths of Scope that the source marks as new
	Labels      []string
	Implements  []string
	Prompt      []string // literal prompt instead of the generated one; nil if none

	Edges []DraftEdge

	// Scalars as stated, still text: the passes check and convert them.
	Branch, Worktree, Base                                    Stated
	Complexity, Priority, Lane, Type, Policy                  Stated
	Attempts, Iterations, Timeout, Deadline, Budget, Estimate Stated
	Access, Model, Session                                    Stated
	Approval                                                  Stated
	OnFailure                                                 Stated // keep or reset what a failed attempt left

	Sandbox *Sandbox // of the steps for which the policy names none; nil: none

	Capability []Stated

	// Start is the step of its policy that work begins at: the steps before it are
	// left out. Not set: the first.
	Start Stated

	Agents    []AgentRef // who does the work, in order
	QA        []AgentRef // who judges it
	Verify    []DraftGate
	Ordered   bool     // its gates run one after another, and a fail ends it
	Outputs   []Output // output schemas of QA gates
	Fragments []Fragment

	Ext map[string]json.RawMessage
}

// DraftEdge is a dependency with the place that states it.
type DraftEdge struct {
	Key   Key
	From  string // number, prose, explicit, import
	Type  EdgeType
	Range diag.Range // the line that made it
}

// AgentRef names an agent in a plan: "- `name` (model) - note".
type AgentRef struct {
	Name  string // a path's file stem, or the name
	Gate  string // of those who judge: the name of the gate; "" is Name
	Path  string // "" when only a name was given
	Model string
	Note  string
	Range diag.Range
}

// DraftGate is a gate that a source defines: of a command, or, with Promise or
// NoErrors, of what the agent itself reports.
type DraftGate struct {
	Name      string // "" if unnamed
	NameRange diag.Range
	Run       string
	Tests     bool   // the project's own tests; with no Run, the compiler finds the command
	Promise   string // text that the agent has to end with
	NoErrors  bool   // no error may have been reported
	Expect    Expect // the zero value: exit code 0
	Evidence  bool   // what it prints is kept as evidence
	Timeout   Stated
	OnFailure Stated
	Range     diag.Range
}

// Output is a json fence that types the output of a QA gate.
type Output struct {
	Gate   string
	Schema json.RawMessage // nil: that of every gate
	Input  json.RawMessage // nil: none
	Range  diag.Range
}

// Fragment is policy text that is in a source: an hcl fence with "ralph" in
// its info string. Source is its content; Range.Start is the offset of its first
// byte, so that offsets in Source translate to places in the file.
type Fragment struct {
	Range  diag.Range // of the content
	Source []byte     // the content only; container prefixes blanked at the same length
}
