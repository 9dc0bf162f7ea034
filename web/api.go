package web

import (
	"encoding/json"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// The answers of /api/v1. Fields are added, never renamed. Times are UTC. Types that
// commands print with --json are used as they are.
type (
	// Session is who is asked: GET /session.
	Session struct {
		Version      string       `json:"version"` // of ralph
		User         string       `json:"user"`    // who decides without "as"
		ReadOnly     bool         `json:"read_only"`
		Repositories []Repository `json:"repositories"`
	}

	// Repository is one that the server was started for, and its epics: GET /repos.
	Repository struct {
		ID      string     `json:"id"` // first part of its epics' ids in URLs
		Dir     string     `json:"dir"`
		Name    string     `json:"name"`              // last part of Dir
		Epics   []EpicLine `json:"epics"`             // in the order of their ranks
		Trouble []string   `json:"trouble,omitempty"` // runs that cannot be read, and why
	}

	// EpicLine is an epic in a list.
	EpicLine struct {
		ID      string         `json:"id"`   // in URLs
		Epic    ir.NodeID      `json:"epic"` // its own id
		Title   string         `json:"title"`
		Slug    string         `json:"slug"`
		Plan    string         `json:"plan"`
		File    string         `json:"file"`              // for --epic, from the repository's directory
		Changed bool           `json:"changed,omitempty"` // epic.json is another one since the last run
		Draft   bool           `json:"draft,omitempty"`   // its one sprint writes a plan
		Seq     int64          `json:"seq"`               // of its last event
		Run     record.RunJSON `json:"run"`
		Says    string         `json:"says"`   // run.state, in words
		Counts  map[string]int `json:"counts"` // sprints by status; "goes on" and "interrupted" apart
		Total   int            `json:"total"`
		Waits   int            `json:"waits"`            // for a person
		Failed  int            `json:"failed"`           // blocked by something that went wrong in themselves
		Spent   string         `json:"spent"`            // of the budget, in words
		Ended   *time.Time     `json:"ended,omitempty"`  // the last run
		Rank    int            `json:"rank"`             // in lists: 0 waits for a person, 1 failed or was interrupted, 2 is at work, 3 can begin, 4 has ended
		Apply   string         `json:"apply"`            // command that goes on with its run, where no apply is at work
		Broken  string         `json:"broken,omitempty"` // why what is shown may be old: its journal cannot be read any more
	}

	// Inbox is what waits for people, and what failed: GET /inbox.
	Inbox struct {
		Items    []InboxItem `json:"items"` // oldest first
		Failures []Failure   `json:"failures"`
	}

	// InboxItem is one thing that waits for a person.
	InboxItem struct {
		Epic      string            `json:"epic"` // in URLs
		EpicTitle string            `json:"epic_title"`
		Repo      string            `json:"repo"`          // its name
		Key       ir.Key            `json:"key,omitempty"` // of the sprint; "": the whole run
		Title     string            `json:"title"`
		Status    string            `json:"status"`
		Cause     string            `json:"cause,omitempty"`
		Asks      string            `json:"asks"`             // what is wanted, in words
		Reason    string            `json:"reason,omitempty"` // in full
		Since     *time.Time        `json:"since,omitempty"`
		Gate      string            `json:"gate,omitempty"`
		Approvers []string          `json:"approvers,omitempty"`
		Verdicts  []record.GateJSON `json:"verdicts"` // of its present attempt
		Files     int               `json:"files"`    // changed in its present attempt
		Added     int               `json:"added"`
		Removed   int               `json:"removed"`
		Offers    []record.Offer    `json:"offers"`
		Next      []record.NextStep `json:"next"`            // what to type, or to do by hand
		Holds     int               `json:"holds"`           // sprints that depend on it and cannot start
		Behind    []ir.Key          `json:"behind"`          // those of them that depend on it directly
		Begin     []ir.Key          `json:"begin"`           // those of these that can begin once it is approved
		Seq       int64             `json:"seq"`             // of the epic: to be sent back as "seen"
		Other     bool              `json:"other,omitempty"` // as of Sprint
	}

	// Failure is one cause for which sprints of an epic are blocked.
	Failure struct {
		Epic      string         `json:"epic"` // in URLs
		EpicTitle string         `json:"epic_title"`
		Repo      string         `json:"repo"`
		Reason    string         `json:"reason"`
		Keys      []ir.Key       `json:"keys"`
		Title     string         `json:"title"` // of the first of them
		Gate      string         `json:"gate,omitempty"`
		Failed    []string       `json:"failed,omitempty"` // names of tests
		Tries     int            `json:"tries"`            // attempts of all of them
		Holds     int            `json:"holds"`            // other sprints that cannot start
		Behind    []ir.Key       `json:"behind"`           // those of them that depend on these directly
		Offers    []record.Offer `json:"offers"`           // about the first of them
		Seq       int64          `json:"seq"`
	}

	// SprintLine is a sprint in a list.
	SprintLine struct {
		Key    ir.Key     `json:"key"`
		Title  string     `json:"title"`
		Phase  string     `json:"phase,omitempty"`
		Status string     `json:"status"`
		Shown  string     `json:"shown"`            // its status for people: also "interrupted", and "goes on" of one that is decided
		Word   string     `json:"word"`             // that, in words
		Human  bool       `json:"human,omitempty"`  // it waits for a person, or for more budget
		Free   bool       `json:"free,omitempty"`   // it is ready, and only a slot is missing
		For    string     `json:"for,omitempty"`    // what it waits for
		Doing  string     `json:"doing,omitempty"`  // while it runs
		Reason string     `json:"reason,omitempty"` // first line
		Since  *time.Time `json:"since,omitempty"`
		Tries  int        `json:"tries"`
		Spent  string     `json:"spent,omitempty"`
		WorkMS int64      `json:"work_ms"`
	}

	// Epic is GET /epics/{epic}.
	Epic struct {
		EpicLine
		Repo      string             `json:"repo"`
		Dir       string             `json:"dir"`
		Digest    string             `json:"digest"`
		Inbox     []InboxItem        `json:"inbox"`
		Failures  []Failure          `json:"failures"`
		Running   []SprintLine       `json:"running"`
		Upcoming  []SprintLine       `json:"upcoming"` // what starts next, at most 20
		Sprints   []SprintLine       `json:"sprints"`  // all of them, in the epic's order
		Proposals []machine.Proposed `json:"proposals"`
		Changes   []words.Change     `json:"changes"` // by others
		Doubts    []string           `json:"doubts"`
		Offers    []record.Offer     `json:"offers"`          // about the whole run
		Command   string             `json:"command"`         // that continues it at a terminal; "" while an apply is at work
		Forecast  *Forecast          `json:"forecast"`        // null if it is not known, or stuck
		Stuck     string             `json:"stuck,omitempty"` // what nothing moves without, in words: it waits for people alone
	}

	// Forecast is when the run may end: of 20 seeded plays of the rest with the epic's own
	// durations.
	Forecast struct {
		P50MS int64  `json:"p50_ms"`
		P90MS int64  `json:"p90_ms"`
		Slots int    `json:"slots"`
		Note  string `json:"note"` // what it assumes
	}

	// Graph is GET /epics/{epic}/graph. It changes only with epic.json.
	Graph struct {
		Digest   string      `json:"digest"`
		Phases   []Phase     `json:"phases"`
		Nodes    []GraphNode `json:"nodes"`
		Critical []ir.Key    `json:"critical"` // longest path, first sprint first
	}
	Phase struct {
		Key   string `json:"key"`
		Title string `json:"title"`
	}
	GraphNode struct {
		Key   ir.Key      `json:"key"`
		Title string      `json:"title"`
		Phase string      `json:"phase"`
		Kind  ir.Kind     `json:"kind"`
		After []GraphEdge `json:"after"`
	}
	GraphEdge struct {
		Key  ir.Key `json:"key"`
		Type string `json:"type"` // blocks, related, …; only blocks schedules
	}

	// Statuses is GET /epics/{epic}/status: what changes of a graph.
	Statuses struct {
		Seq   int64             `json:"seq"`
		State map[ir.Key]string `json:"state"` // status, or "interrupted"; "waiting human" for those that wait for a person
	}

	// Entry is an event, in words: GET /epics/{epic}/log, newest first, and the streams.
	Entry struct {
		Epic   string    `json:"epic"` // in URLs
		Seq    int64     `json:"seq"`
		At     time.Time `json:"at"`
		Kind   string    `json:"kind"`
		Key    ir.Key    `json:"key,omitempty"`
		Status string    `json:"status,omitempty"` // of the sprint, after it
		Text   string    `json:"text"`
	}

	// Log is a page of the log. Before is what to ask for to get the next, older page; 0 if
	// there is none.
	Log struct {
		Entries []Entry        `json:"entries"`
		Before  int64          `json:"before"`
		Kinds   map[string]int `json:"kinds,omitempty"` // how many events of each kind the journal has, whatever is asked for
	}

	// Sprint is GET /epics/{epic}/nodes/{key}.
	Sprint struct {
		Seq    int64           `json:"seq"`
		Moved  int64           `json:"moved"` // the event that changed what can be decided: a decision that has seen less is refused
		Shown  string          `json:"shown"` // as of a SprintLine
		Word   string          `json:"word"`  // that, in words
		Asks   string          `json:"asks,omitempty"`
		Other  bool            `json:"other,omitempty"` // its text or its policy is another one in epic.json: apply runs it again, whatever is decided
		Show   record.ShowJSON `json:"show"`
		After  []SprintLine    `json:"after"`  // what it depends on
		Before []SprintLine    `json:"before"` // what depends on it
		Holds  int             `json:"holds"`  // as of InboxItem, while it waits for a person or is blocked
		Behind []ir.Key        `json:"behind"`
		Begin  []ir.Key        `json:"begin"`
		Offers []record.Offer  `json:"offers"`
		Join   []Joining       `json:"join"`           // its agents' sessions, newest first
		Tail   *TailOf         `json:"tail"`           // what is being written now
		Bead   *run.Bead       `json:"bead,omitempty"` // as this run tells it
	}

	// Joining is how to join a session of an agent.
	Joining struct {
		Session string `json:"session"`
		Agent   string `json:"agent"`
		Step    string `json:"step"`
		Attempt int    `json:"attempt"`
		Gate    string `json:"gate,omitempty"`
		Command string `json:"command,omitempty"`
		Cannot  string `json:"cannot,omitempty"`
	}

	// TailOf is a file that a program is writing.
	TailOf struct {
		Step    string `json:"step"`
		Attempt int    `json:"attempt"`
		File    string `json:"file"`
	}

	// Diff is what a sprint, or one attempt, changed: GET …/diff.
	Diff struct {
		record.ChangeJSON
		Patch     string `json:"patch"` // unified diff; names and secrets are redacted
		Truncated bool   `json:"truncated,omitempty"`
		Command   string `json:"command,omitempty"` // shows more of it at a terminal, where it is truncated
	}

	// FileLine is a file of an attempt: GET …/attempts/{step}/{attempt}/files.
	FileLine struct {
		Name string `json:"name"`
		Size int64  `json:"size"` // bytes
		What string `json:"what"` // prompt, log, gate, other
	}
	FileList struct {
		Files []FileLine `json:"files"`
	}

	// FileSearch is GET …/attempts/{step}/{attempt}/search: where a text is in a file. If less
	// of it was searched than it has, there may be more hits.
	FileSearch struct {
		Size     int64     `json:"size"`     // bytes
		Searched int64     `json:"searched"` // of them, from the beginning: of a very large file, or a slow disk, not all
		Total    int64     `json:"total"`    // hits in what was searched
		Hits     []FileHit `json:"hits"`     // those that were asked for
	}
	FileHit struct {
		Number int64  `json:"number"` // from 1, in the file
		Line   int64  `json:"line"`   // from 1
		At     int64  `json:"at"`     // byte, from 0
		Length int    `json:"length"` // in bytes
		Text   string `json:"text"`   // of its line, what is around it
	}

	// RunGraph is GET /epics/{epic}/runs: the attempts, as a graph.
	RunGraph struct {
		Runs  []AgentRun `json:"runs"` // oldest first
		Edges []RunEdge  `json:"edges"`
	}
	AgentRun struct {
		ID       string     `json:"id"` // "1.2a/implement/2"
		Key      ir.Key     `json:"key"`
		Title    string     `json:"title"` // of its sprint
		Step     string     `json:"step"`
		Attempt  int        `json:"attempt"`
		Agent    string     `json:"agent,omitempty"`
		Status   string     `json:"status"` // of the attempt, in words
		Shown    string     `json:"shown"`  // that, without what it waits for
		Reason   string     `json:"reason,omitempty"`
		Session  string     `json:"session,omitempty"`
		Started  *time.Time `json:"started,omitempty"`
		Ended    *time.Time `json:"ended,omitempty"`
		WorkMS   int64      `json:"work_ms"`         // without what it waited; 0 while it is open
		Spent    string     `json:"spent,omitempty"` // with those that judged it
		Commit   string     `json:"commit,omitempty"`
		Verdicts []Verdict  `json:"verdicts"`
	}
	Verdict struct {
		Gate    string `json:"gate"`
		Verdict string `json:"verdict"`
	}
	RunEdge struct {
		From string `json:"from"`
		To   string `json:"to"`
		Type string `json:"type"` // retry, next (step), blocks (sprint)
	}

	// Decide is the body of POST …/decisions. The same id counts once.
	Decide struct {
		ID      string        `json:"id"`
		Verb    executor.Verb `json:"verb"`
		How     executor.How  `json:"how,omitempty"`
		Message string        `json:"message,omitempty"`
		As      string        `json:"as,omitempty"`
		Seen    int64         `json:"seen"`             // seq of what was shown
		Budget  string        `json:"budget,omitempty"` // resume: what is added, as ralph resume --budget reads it
		Tamper  string        `json:"tamper,omitempty"` // approve: the change that is accepted
		Digest  string        `json:"digest,omitempty"` // approve: of the epic, or of the gate, that was shown
		Gate    string        `json:"gate,omitempty"`   // approve: the rest of what was shown
		Result  string        `json:"result,omitempty"`
		Base    string        `json:"base,omitempty"`
	}

	// Decided is the answer to a decision that counts.
	Decided struct {
		Taken   bool   `json:"taken"`             // false: sent, and not read yet
		Text    string `json:"text"`              // what was decided, and what comes next
		Command string `json:"command,omitempty"` // to type now: no apply is at work, and this does not end or hold its run
		Dir     string `json:"dir"`               // where to type it
		User    string `json:"user"`              // as whom it is on record
		By      string `json:"by"`                // claimed name
	}

	// Open is the code of a link that opens the page once, and Opened what it is for.
	Open struct {
		Code string `json:"code"`
	}
	Opened struct {
		Token string `json:"token"`
	}

	// Fault is the answer to a request that was not granted.
	Fault struct {
		Error  string `json:"error"`
		Hint   string `json:"hint,omitempty"`
		Reason string `json:"reason"` // stale, refused, unknown, token, invalid, busy, broken
	}

	// Raw is JSON of another specification: OpenAPI, Agent Shepherd's.
	Raw = json.RawMessage
)
