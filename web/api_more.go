package web

import (
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/ir"
)

type (
	// TailLine is the data of an event "line" of GET …/tail: whole lines of the file, or a
	// part of one that is very long. The id of the event is the offset behind them, in bytes.
	TailLine struct {
		Text string `json:"text"`
	}

	// TailEnd is the data of its event "end": nothing more comes. Next is what can be
	// followed now, null if there is nothing.
	TailEnd struct {
		Next *TailOf `json:"next"`
	}
)

type (
	// Plan is GET /epics/{epic}/plan: its plan as it is now, and what it compiles to.
	Plan struct {
		File        string                  `json:"file"` // from the project's top
		Lines       []string                `json:"lines"`
		Keys        []PlanKey               `json:"keys"` // sprints, in the order of the plan
		Diagnostics project.DiagnosticsJSON `json:"diagnostics"`
		Cannot      string                  `json:"cannot,omitempty"` // why it is not compiled
		Stale       bool                    `json:"stale"`            // it compiles to another epic.json
		Changes     *ir.Difference          `json:"changes"`          // from epic.json to that; null if there is none, or it has errors
		Text        string                  `json:"text,omitempty"`   // changes, in words
		Command     string                  `json:"command,omitempty"`
	}

	// PlanKey is where a sprint stands in its plan.
	PlanKey struct {
		Line   int    `json:"line"` // of its heading, from 1
		Key    ir.Key `json:"key"`
		Status string `json:"status,omitempty"` // "": it is new
		Shown  string `json:"shown,omitempty"`  // as of a SprintLine
		Word   string `json:"word,omitempty"`
		Human  bool   `json:"human,omitempty"` // it waits for a person, or for more budget
		Open   string `json:"open,omitempty"`  // the command that opens its heading in an editor, unless it is over
	}

	// Next is GET /epics/{epic}/next: what the next apply would do, as ralph plan --json says
	// it, and how long the rest may take.
	Next struct {
		record.PlanJSON
		Forecast *Forecast `json:"forecast"`
	}
)

type (
	// Result is GET /epics/{epic}/result: what has come of its runs.
	Result struct {
		Branch  string    `json:"branch,omitempty"` // that holds the results; "": there is none yet
		Commit  string    `json:"commit,omitempty"` // its head
		Base    string    `json:"base,omitempty"`   // commit that the work began from
		Note    string    `json:"note,omitempty"`   // why its name has to be written in full
		Review  []string  `json:"review,omitempty"` // commands that show it
		Take    string    `json:"take,omitempty"`   // command that merges it
		LeftOut []Left    `json:"left_out"`         // sprints that are not in it
		Older   []Left    `json:"older"`            // sprints of which it holds an older result
		Runs    []PastRun `json:"runs"`             // oldest first
		Moved   []Moved   `json:"moved_out"`        // files that no commit can hold, moved out of worktrees: there is no other copy
	}
	Moved struct {
		Key ir.Key `json:"key,omitempty"`
		record.MovedJSON
	}
	Left struct {
		Key ir.Key `json:"key"`
		Why string `json:"why"`
	}
	PastRun struct {
		Started time.Time  `json:"started"`
		Ended   *time.Time `json:"ended,omitempty"`
		By      string     `json:"by"`
		Outcome string     `json:"outcome"` // in words; "": it ended by itself
		// Sprints by status at its end, as in an EpicLine; absent: it did not end by itself.
		Counts map[string]int `json:"counts,omitempty"`
	}
)

type (
	// TimelineRow is an attempt: GET /epics/{epic}/timeline.
	TimelineRow struct {
		Key     ir.Key         `json:"key"`
		Title   string         `json:"title"`
		Phase   string         `json:"phase"`
		Step    string         `json:"step"`
		Attempt int            `json:"n"`
		Run     int            `json:"run"` // in which it began: 1 is the first
		Status  string         `json:"status"`
		Start   time.Time      `json:"start"`
		End     *time.Time     `json:"end,omitempty"`
		Parts   []TimelinePart `json:"parts"` // in the order in which they began; gates may overlap
	}

	// TimelinePart is what went on in an attempt: "wait", "agent", "setup", "gate:pass" and
	// "gate:fail" (a gate that has to fail before the work and did so has passed), "gate"
	// while it judges.
	TimelinePart struct {
		Kind  string     `json:"kind"`
		Gate  string     `json:"gate,omitempty"`
		Start time.Time  `json:"start"`
		End   *time.Time `json:"end,omitempty"` // absent: it goes on
	}

	// Cost is GET /epics/{epic}/cost: what agents cost, also those that judge.
	Cost struct {
		Spent    string     `json:"spent"` // of the budget, in words
		All      CostSum    `json:"all"`
		Lost     CostSum    `json:"lost"` // in attempts that are over and did not pass
		Phases   []CostLine `json:"phases"`
		Agents   []CostLine `json:"agents"`
		Models   []CostLine `json:"models"`
		Outcomes []CostLine `json:"outcomes"` // of attempts
		Sprints  []CostLine `json:"sprints"`  // the costliest, at most 20
	}

	// CostSum is a sum. What is not known is not in it: the figure is a lower bound then.
	CostSum struct {
		Tokens      int64  `json:"tokens"`
		USDMicro    int64  `json:"usd_micro"` // millionths of a US dollar
		TokensKnown bool   `json:"tokens_known"`
		USDKnown    bool   `json:"usd_known"`
		MS          int64  `json:"ms"` // that agents worked
		Text        string `json:"text"`
	}

	// CostLine is the sum of what has a name.
	CostLine struct {
		Name  string `json:"name"`
		Title string `json:"title,omitempty"`
		CostSum
	}

	// Trust is GET /epics/{epic}/trust.
	Trust struct {
		Seq    int64        `json:"seq"`
		Checks []TrustCheck `json:"checks"`
	}

	// TrustCheck is a reason to trust an epic's results, or to look at them.
	TrustCheck struct {
		Name   string  `json:"name"`
		Title  string  `json:"title"`
		State  string  `json:"state"` // good, none (nothing was to be checked), look, bad
		Text   string  `json:"text"`
		Proofs []Proof `json:"proofs"`         // the newest 50, in order
		More   int     `json:"more,omitempty"` // that are older
	}

	// Proof is an event, a file or a command that shows what a check says.
	Proof struct {
		Seq     int64      `json:"seq,omitempty"` // of the event
		At      *time.Time `json:"at,omitempty"`
		Key     ir.Key     `json:"key,omitempty"`
		Step    string     `json:"step,omitempty"`
		Attempt int        `json:"attempt,omitempty"`
		File    string     `json:"file,omitempty"`    // of the attempt
		Command string     `json:"command,omitempty"` // shows it
		Back    string     `json:"back,omitempty"`    // puts it back
		Bad     bool       `json:"bad,omitempty"`
		Text    string     `json:"text"`
	}
)

type (
	// Issue is a sprint as Agent Shepherd names things: GET /issues.
	Issue struct {
		ID           ir.NodeID   `json:"id"`
		Title        string      `json:"title"`
		Status       string      `json:"status"` // open, in_progress, blocked, closed
		Priority     int         `json:"priority"`
		Phase        string      `json:"phase,omitempty"` // its present step
		Policy       string      `json:"policy_name,omitempty"`
		Labels       []string    `json:"labels"`
		Dependencies []IssueEdge `json:"dependencies"`
		Runs         int         `json:"runs"`
		Ralph        IssueOf     `json:"ralph"`
	}
	IssueEdge struct {
		ID   ir.NodeID `json:"id"`
		Type string    `json:"type"` // blocks, parent-child, related, discovered-from
	}

	// IssueOf is where the sprint is found in this API.
	IssueOf struct {
		Epic   string `json:"epic"` // in URLs
		Key    ir.Key `json:"key"`
		Status string `json:"status"` // in ralph's word
	}
)
