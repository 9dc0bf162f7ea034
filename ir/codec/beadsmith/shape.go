package beadsmith

import (
	"encoding/json"
	"time"

	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as and --events, and of its keys in Node.Ext.
const Format = "beadsmith"

// TaskDefinition is a task to be executed.
type TaskDefinition struct {
	ID              string            `json:"id"`
	Description     string            `json:"description"`
	WorkspaceRoot   string            `json:"workspaceRoot"`
	SuccessCriteria []json.RawMessage `json:"successCriteria"`       // Criterion, and what else was read
	TokenBudget     *int64            `json:"tokenBudget"`           // null: no limit
	MaxIterations   int               `json:"maxIterations"`         // 0: no one works on it
	TestCommand     string            `json:"testCommand,omitempty"` // of tests_pass without a command of its own
}

// Criterion is a condition for a task to be complete.
type Criterion struct {
	Type   string          `json:"type"` // tests_pass, done_tag, no_errors, custom
	Config CriterionConfig `json:"config"`
}

// CriterionConfig says what a criterion asks for; what does not apply is left out.
type CriterionConfig struct {
	Agent    string `json:"agent,omitempty"`
	Command  string `json:"command,omitempty"`
	ExitCode int    `json:"exitCode,omitempty"`
	Gate     string `json:"gate"`
	Kind     string `json:"kind,omitempty"`
	Marker   string `json:"marker,omitempty"`
	Pattern  string `json:"pattern,omitempty"`
}

// TaskState is a task, its state, and all attempts.
type TaskState struct {
	TaskDefinition
	Key                  string                 `json:"key"`    // what people type
	Status               string                 `json:"status"` // idle, running, paused, awaiting_approval, completed, failed
	FailureCode          string                 `json:"failureCode,omitempty"`
	Reason               string                 `json:"reason,omitempty"` // why it stands there
	CurrentBeadID        string                 `json:"currentBeadId,omitempty"`
	BeadNumber           int                    `json:"beadNumber"` // 0: none yet
	BeadStatus           string                 `json:"beadStatus"`
	BeadIterationCount   int                    `json:"beadIterationCount"`
	TokenBudgetRemaining *int64                 `json:"tokenBudgetRemaining"` // null: no limit, or not counted
	LastBeadSummary      *BeadSummary           `json:"lastBeadSummary,omitempty"`
	Beads                []Recorded[Bead]       `json:"beads"`
	BeadResults          []Recorded[BeadResult] `json:"beadResults"`
}

// Recorded is what an attempt left: ralph's own, or as it was imported from another program.
type Recorded[Own any] struct {
	Own      Own
	Imported json.RawMessage // nil: it is ralph's own
}

// MarshalJSON writes the one that it is.
func (r Recorded[Own]) MarshalJSON() ([]byte, error) {
	if r.Imported != nil {
		return r.Imported, nil
	}
	return foreign.JSON(r.Own)
}

// Bead is one attempt at a task.
type Bead struct {
	ID                  string       `json:"id"`     // TASK/STEP/N
	TaskID              string       `json:"taskId"` // id of the node
	BeadNumber          int          `json:"beadNumber"`
	Status              string       `json:"status"`
	StartedAt           string       `json:"startedAt"`
	CompletedAt         string       `json:"completedAt,omitempty"`
	StartCheckpointHash string       `json:"startCheckpointHash,omitempty"`
	Prompt              string       `json:"prompt"`
	Response            string       `json:"response"`
	FilesChanged        []FileChange `json:"filesChanged"`
	TestResults         []TestResult `json:"testResults,omitempty"`
	CommitHash          string       `json:"commitHash,omitempty"`
	TokensUsed          *int64       `json:"tokensUsed"` // null: unknown, never 0
	IterationCount      int          `json:"iterationCount"`
	Errors              []string     `json:"errors"`
	RejectionFeedback   string       `json:"rejectionFeedback,omitempty"`
}

// FileChange is a changed file.
type FileChange struct {
	FilePath     string `json:"filePath"`
	ChangeType   string `json:"changeType"` // created, modified, deleted
	Diff         string `json:"diff"`
	LinesAdded   int    `json:"linesAdded"`
	LinesRemoved int    `json:"linesRemoved"`
}

// TestResult is a test, or a command that judged the bead.
type TestResult struct {
	Name       string `json:"name"`
	Passed     bool   `json:"passed"`
	Output     string `json:"output,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
}

// BeadSummary is a bead in five figures.
type BeadSummary struct {
	BeadNumber   int    `json:"beadNumber"`
	Status       string `json:"status"`
	FilesChanged int    `json:"filesChanged"`
	TokensUsed   *int64 `json:"tokensUsed"`
	TestsPassed  *bool  `json:"testsPassed,omitempty"`
}

// BeadResult is the result of a bead.
type BeadResult struct {
	BeadNumber   int          `json:"beadNumber"`
	FilesChanged []string     `json:"filesChanged"`
	CommitHash   string       `json:"commitHash,omitempty"`
	TestResults  []TestResult `json:"testResults,omitempty"`
	Errors       []string     `json:"errors"`
	TokensUsed   *int64       `json:"tokensUsed"`
	Success      bool         `json:"success"` // it ran without errors
	IsDone       bool         `json:"isDone"`  // the agent said that it is done
}

// TaskSummary is how a task ended.
type TaskSummary struct {
	BeadCount       int    `json:"beadCount"`
	TotalTokensUsed *int64 `json:"totalTokensUsed"`
	Success         bool   `json:"success"`
	Status          string `json:"status"`
	CompletedAt     string `json:"completedAt"`
	ErrorMessage    string `json:"errorMessage,omitempty"`
}

// stamp writes a time as a Date writes itself; "" if there is none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
