package shepherd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as.
const Format = "shepherd"

// Losses are what a line of runs.jsonl lacks.
var Losses = []foreign.Loss{
	{Field: "/status", What: "a stopped attempt, one that ran out of time and one that could not be judged are all `failed`; `ralph.status` says which. An attempt that failed at its gates is `failed`, too, whatever its agent reported in `outcome`"},
	{Field: "/outcome", What: "it is what the agent reported. Where it reported nothing, it is made of how the attempt ended, and `ralph.reported` is false"},
	{Field: "/agent_id", What: "of a step that a person does: who decided; empty while nobody has"},
	{Field: "/capability", What: "the first that the step asks for; all of them are in `ralph.capabilities`"},
	{Field: "/attempt_index", What: "counts from 1 for each step, and goes on after `ralph retry`"},
	{Field: "messages and tool calls", What: "stay in the files of the attempt (`ralph log KEY --raw`)"},
	{Field: "nodes without an attempt", What: "those that were skipped, or done by the plan, have no run and no line"},
}

// runLine is the line of a run. The order of its keys is that of the specification.
type runLine struct {
	ID      string    `json:"id"`
	Issue   ir.NodeID `json:"issue_id"`
	Agent   string    `json:"agent_id"`
	Policy  string    `json:"policy_name"`
	Phase   string    `json:"phase"`
	Can     string    `json:"capability"`
	Attempt int       `json:"attempt_index"`
	Status  string    `json:"status"` // running, completed, failed, cancelled, stalled
	Started string    `json:"start_time"`
	Ended   string    `json:"end_time,omitempty"`
	Millis  *int64    `json:"duration_ms,omitempty"`
	Session string    `json:"session_id,omitempty"`
	Outcome *outcome  `json:"outcome,omitempty"` // not while it runs
	Error   *failure  `json:"error_details,omitempty"`
	Trace   string    `json:"decision_trace_id,omitempty"`
	Extra   extra     `json:"ralph"`
}

// outcome is the structured outcome.
type outcome struct {
	Result  string            `json:"result"`      // success, partial, failed
	Next    string            `json:"next_action"` // advance_phase, repeat_phase, need_human, none
	Summary string            `json:"summary"`
	Suggest string            `json:"suggested_next_phase,omitempty"`
	Human   bool              `json:"needs_human"`
	Issues  []json.RawMessage `json:"created_issues"`
	Points  []json.RawMessage `json:"pointers"`
}

// failure is the error information.
type failure struct {
	Type    string   `json:"type"`    // how the attempt ended: failed, stopped, timeout, stalled, cancelled, error
	Message string   `json:"message"` // why
	Errors  []string `json:"errors,omitempty"`
}

// extra is what ralph knows besides.
type extra struct {
	Epic         ir.NodeID `json:"epic"`
	Key          ir.Key    `json:"key"`
	Title        string    `json:"title"`
	Status       string    `json:"status"` // of the attempt, in ralph's word
	Reported     bool      `json:"reported"`
	Capabilities []string  `json:"capabilities,omitempty"`
	Model        string    `json:"model,omitempty"`
	Iterations   int       `json:"iterations"`
	Tokens       *int64    `json:"tokens,omitempty"`
	USD          *float64  `json:"usd,omitempty"`
	From         string    `json:"from,omitempty"`
	Commit       string    `json:"commit,omitempty"`
	Files        []file    `json:"files,omitempty"`
	Gates        []gate    `json:"gates,omitempty"`
}

type file struct {
	Path      string `json:"path"`
	Operation string `json:"operation"` // created, modified, deleted, renamed
}

type gate struct {
	Gate    string   `json:"gate"`
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"` // pass, fail, stop, error
	Message string   `json:"message,omitempty"`
	Agent   string   `json:"agent,omitempty"`
	By      string   `json:"by,omitempty"`
	Millis  int64    `json:"duration_ms"`
	Tests   string   `json:"tests,omitempty"`
	Failed  []string `json:"failed_tests,omitempty"`
	Tokens  *int64   `json:"tokens,omitempty"`
	USD     *float64 `json:"usd,omitempty"`
}

// run is an attempt with the node that it is of.
type run struct {
	node    *ir.Node
	history *ir.NodeHistory
	*ir.Attempt
	last bool // of its node
}

// Encode writes a line for each attempt of each node, oldest first. h may be nil:
// nothing has run, and nothing is written.
func Encode(w io.Writer, e *ir.Epic, h *ir.History) ([]foreign.Breach, error) {
	var runs []run
	for _, n := range lists.Each(e.Nodes) {
		nh := h.Node(n.ID)
		for k := range nh.Attempts {
			runs = append(runs, run{node: n, history: nh, Attempt: &nh.Attempts[k], last: k == len(nh.Attempts)-1})
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return a.Started.Compare(b.Started) })
	var breaches []foreign.Breach
	list := make([]runLine, len(runs))
	for i, r := range runs {
		var found []foreign.Breach
		list[i], found = r.line(e)
		breaches = append(breaches, found...)
	}
	return breaches, foreign.WriteLines(w, list)
}

func (r run) line(e *ir.Epic) (runLine, []foreign.Breach) {
	var breaches []foreign.Breach
	breach := func(is bool, pointer, format string, args ...any) {
		if is {
			breaches = append(breaches, foreign.Breach{Node: r.node.Key, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
		}
	}
	out := runLine{
		ID: fmt.Sprintf("run-%s-%s-%d", r.node.ID, r.Step, r.Number), Issue: r.node.ID, Agent: cmp.Or(r.Agent, r.decider()),
		Policy: r.node.Policy, Phase: r.Step, Attempt: r.Number, Status: cmp.Or(r.Words["run"], "failed"), Started: stamp(r.Started),
		Ended: stamp(r.Ended), Session: r.Session, Trace: r.Trace,
		Extra: extra{
			Epic: e.Epic.ID, Key: r.node.Key, Title: r.node.Title, Status: r.Attempt.Status, Model: r.Model, Iterations: r.Iterations,
			Tokens: r.Tokens, USD: dollars(r.USDMicro), From: r.From, Commit: r.Commit,
		},
	}
	for i := range r.node.Steps {
		if s := &r.node.Steps[i]; s.Name == r.Step && len(s.Capabilities) > 0 {
			out.Can, out.Extra.Capabilities = s.Capabilities[0], s.Capabilities
		}
	}
	out.Extra.Files = lists.Map(r.Files, func(f ir.FileChange) file { return file{f.Path, f.Type} })
	for _, g := range r.Gates {
		out.Extra.Gates = append(out.Extra.Gates, gate{
			g.Gate, g.Kind, g.Verdict, g.Message, g.Agent, g.By, g.Millis, g.Tests, g.Failed, g.Tokens, dollars(g.USDMicro),
		})
	}
	if !r.Ended.IsZero() {
		ms := r.Ended.Sub(r.Started).Milliseconds()
		out.Millis = &ms
		out.Outcome, out.Extra.Reported = r.outcome()
		breach(!out.Extra.Reported && r.Agent != "", "/outcome", "must be what the agent reports; %s reported nothing in %s #%d", cmp.Or(out.Agent, "nobody"), r.Step, r.Number)
		if r.Attempt.Status != "passed" {
			out.Error = &failure{Type: r.Attempt.Status, Message: r.why(), Errors: r.Errors}
		}
	}
	breach(out.Agent == "" && !r.Ended.IsZero(), "/agent_id", "must be an agent; nobody worked in %s #%d", r.Step, r.Number)
	breach(out.Trace == "", "/decision_trace_id", "must name the events of the journal; those of %s #%d are not known", r.Step, r.Number)
	return out, breaches
}

// decider is the person whose decision ended a step that no agent works in.
func (r run) decider() string {
	for _, g := range slices.Backward(r.Gates) {
		if g.Kind == "human" && g.By != "" {
			return g.By
		}
	}
	return ""
}

// why is the reason for which an attempt did not pass.
func (r run) why() string {
	if r.Reason != "" {
		return r.Reason
	}
	for _, g := range r.Gates {
		if g.Verdict != "pass" {
			return fmt.Sprintf("gate %s: %s", g.Gate, g.Message)
		}
	}
	return r.Attempt.Status
}

// outcome is what the agent reported; where it reported nothing, how it ended.
func (r run) outcome() (*outcome, bool) {
	out := &outcome{}
	// It may have any shape: a key that does not fit is left out.
	var said map[string]json.RawMessage
	if json.Unmarshal(r.Attempt.Outcome, &said) == nil {
		read := func(key string, to any) { _ = json.Unmarshal(said[key], to) }
		read("result", &out.Result)
		read("next_action", &out.Next)
		read("summary", &out.Summary)
		read("suggested_next_phase", &out.Suggest)
		read("needs_human", &out.Human)
		read("created_issues", &out.Issues)
		read("pointers", &out.Points)
	}
	reported := slices.Contains([]string{"success", "partial", "failed"}, out.Result)
	if !reported {
		out.Result = "failed"
		if r.Attempt.Status == "passed" {
			out.Result = "success"
		}
	}
	out.Human = out.Human || out.Next == "need_human"
	if !slices.Contains([]string{"advance_phase", "repeat_phase", "need_human", "none"}, out.Next) {
		out.Next = r.next(out.Human)
	}
	if out.Summary = cmp.Or(out.Summary, r.Summary); out.Summary == "" && r.Attempt.Status != "passed" {
		out.Summary = r.why()
	}
	if out.Issues == nil {
		out.Issues = []json.RawMessage{}
	}
	if out.Points == nil {
		out.Points = []json.RawMessage{}
	}
	return out, reported
}

// next is what followed an attempt whose agent asked for nothing.
func (r run) next(human bool) string {
	steps := r.node.Steps
	switch {
	case human:
		return "need_human"
	case r.Attempt.Status == "passed" && len(steps) > 0 && steps[len(steps)-1].Name != r.Step:
		return "advance_phase"
	case r.Attempt.Status == "passed":
		return "none"
	case r.last && r.history.Waits == "human":
		return "need_human"
	case r.Attempt.Status == "cancelled", r.last && (r.history.Status == "blocked" || r.history.Status == "cancelled"):
		return "none"
	}
	return "repeat_phase"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func dollars(micro *int64) *float64 {
	if micro == nil {
		return nil
	}
	usd := float64(*micro) / 1e6
	return &usd
}
