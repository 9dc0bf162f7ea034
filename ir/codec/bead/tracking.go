package bead

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// devExecution is an attempt as a bead has it.
type devExecution struct {
	Attempt     int     `json:"attempt"`
	SessionID   string  `json:"session_id"` // "" if its program has none
	AgentPath   string  `json:"agent_path"`
	Model       string  `json:"model"`
	StartedAt   *string `json:"started_at"`
	CompletedAt *string `json:"completed_at"` // null while it runs
	Status      *string `json:"status"`       // completed, failed, timeout; null while it runs
	Feedback    *string `json:"feedback_from_qa"`
}

// qaExecution is a gate's verdict on an attempt as a bead has it.
type qaExecution struct {
	Attempt     int             `json:"attempt"`    // which attempt it judged
	SessionID   *string         `json:"session_id"` // "" if its program has none; null if no agent judges
	AgentPath   string          `json:"agent_path"` // the name of the gate if no agent judges
	Model       *string         `json:"model"`
	StartedAt   *string         `json:"started_at"`
	CompletedAt *string         `json:"completed_at"`
	Status      string          `json:"status"` // pass, fail, stop
	Message     string          `json:"message"`
	Details     json.RawMessage `json:"details"`
}

// tracking writes what became of a node: its attempts, numbered over all its steps,
// after those that the bead came with.
func (w *writer) tracking(o *foreign.Object, n *ir.Node, nh *ir.NodeHistory, k *kept) error {
	before := k.number("attempt_count")
	devs, judged, others := foreign.List(k.metadata["dev_agent_executions"]), foreign.List(k.metadata["qa_agent_executions"]), foreign.List(k.metadata["gate_executions"])
	for i, a := range lists.Each(nh.Attempts) {
		number := before + i + 1
		if a.Agent != "" {
			devs = append(devs, rawJSON(w.execution(number, a, work(n).Model, k)))
		}
		for j := range a.Gates {
			if g := w.judgement(number, &a.Gates[j], k); g.SessionID != nil {
				judged = append(judged, rawJSON(g))
			} else {
				others = append(others, rawJSON(g))
			}
		}
	}
	foreign.Put(o, "attempt_count", before+len(nh.Attempts))
	foreign.Put(o, "scrum_master_session_id", orNull(k.text("scrum_master_session_id")))
	foreign.Put(o, "dev_agent_session_id", orNull(k.or("dev_agent_session_id", devSession(n, nh.Attempts))))
	foreign.Put(o, "dev_agent_executions", devs)
	foreign.Put(o, "qa_agent_executions", judged)
	if len(others) > 0 {
		foreign.Put(o, "gate_executions", others)
	}
	foreign.Put(o, "pr_url", orNull(cmp.Or(nh.PRURL, k.text("pr_url"))))
	foreign.Put(o, "pr_number", null)
	foreign.Put(o, "scrum_result", null)
	if number := cmp.Or(nh.PRNumber, k.number("pr_number")); number != 0 {
		foreign.Put(o, "pr_number", number)
	}
	switch {
	case nh.Scrum != nil:
		r, err := scrumResult(nh, before, k)
		if err != nil {
			return err
		}
		foreign.Put(o, "scrum_result", r)
	case k.metadata["scrum_result"] != nil:
		foreign.Put(o, "scrum_result", k.metadata["scrum_result"])
	}
	return nil
}

// devSession is the first session in which the node's work was done; the first of any
// agent if there is none.
func devSession(n *ir.Node, attempts []ir.Attempt) string {
	first := ""
	for i := range attempts {
		switch a := &attempts[i]; {
		case a.Session == "" || a.Agent == "":
		case a.Step == work(n).Name:
			return a.Session
		case first == "":
			first = a.Session
		}
	}
	return first
}

// execution is an attempt; the format asks for a model also where none is used: wished
// is the one that the bead has.
func (w *writer) execution(number int, a *ir.Attempt, wished string, k *kept) devExecution {
	file := cmp.Or(a.AgentPath, agentPath(w.e.Agents[a.Agent], a.Agent))
	ended, status := a.Ended, a.Words["execution"]
	for i := range a.Gates { // the agent was done when the first gate began
		if g := a.Gates[i].Started; !g.IsZero() && (ended.IsZero() || g.Before(ended)) {
			if ended = g; a.Ended.IsZero() {
				status = "completed"
			}
		}
	}
	return devExecution{
		Attempt: number, SessionID: a.Session, AgentPath: k.said(file), Model: w.model(cmp.Or(a.Model, wished)), StartedAt: stamp(a.Started),
		CompletedAt: stamp(ended), Status: orNull(status), Feedback: orNull(strings.Join(a.Feedback, "\n")),
	}
}

func (w *writer) judgement(number int, g *ir.GateResult, k *kept) qaExecution {
	file := cmp.Or(g.AgentPath, agentPath(w.e.Agents[g.Agent], g.Agent))
	session := &g.Session
	if file == "" {
		file, session = g.Gate, nil
	}
	return qaExecution{
		Attempt: number, SessionID: session, AgentPath: k.said(file), Model: orNull(w.model(cmp.Or(g.Model, w.e.Gates[g.Gate].Model))), StartedAt: stamp(g.Started),
		CompletedAt: stamp(g.Ended), Status: verdict(g.Verdict), Message: g.Message, Details: details(g),
	}
}

// verdict is a gate's verdict in the words of the format: what gave none did not pass.
func verdict(v string) string {
	if v == "error" {
		return "fail"
	}
	return v
}

// details are what a gate's agent said besides status and message, or what tests
// counted; {} if nothing.
func details(g *ir.GateResult) json.RawMessage {
	var said map[string]json.RawMessage
	if json.Unmarshal(g.Details, &said) == nil {
		delete(said, "status")
		delete(said, "message")
		if own := said["details"]; len(said) == 1 && len(own) > 0 && own[0] == '{' {
			return own
		}
		if raw, err := foreign.JSON(said); err == nil {
			return raw
		}
	}
	var o foreign.Object
	if c := g.Counts; c != nil {
		o = foreign.Object{
			foreign.Key("total", c.Passed+c.Failed+c.Skipped), foreign.Key("passed", c.Passed), foreign.Key("failed", c.Failed), foreign.Key("skipped", c.Skipped),
		}
	}
	if len(g.Failed) > 0 {
		foreign.Put(&o, "failed_tests", g.Failed)
	}
	return foreign.Raw(o)
}

// scrumResult writes how a node ended in the order and the types of the format: null
// where there is nothing.
func scrumResult(nh *ir.NodeHistory, before int, k *kept) (foreign.Object, error) {
	var r struct {
		BeadID       string  `json:"bead_id"`
		Success      bool    `json:"success"`
		PRURL        string  `json:"pr_url"`
		PRNumber     int     `json:"pr_number"`
		BeadUpdated  bool    `json:"bead_updated"`
		AttemptCount int     `json:"attempt_count"`
		Error        *string `json:"error"`
		Fatal        bool    `json:"fatal"`
		QAResults    []struct {
			AgentPath string `json:"agent_path"`
			Status    string `json:"status"`
			Message   string `json:"message"`
			Gate      string `json:"gate"`
		} `json:"qa_results"`
	}
	if err := json.Unmarshal(nh.Scrum, &r); err != nil {
		return nil, err
	}
	results := []foreign.Object{}
	for _, q := range r.QAResults {
		_, last := nh.Verdict(q.Gate)
		results = append(results, foreign.Object{
			foreign.Key("agent_path", k.said(q.AgentPath)), foreign.Key("status", verdict(q.Status)), foreign.Key("message", q.Message),
			foreign.Key("details", details(cmp.Or(last, &ir.GateResult{}))),
		})
	}
	o := foreign.Object{
		foreign.Key("bead_id", r.BeadID), foreign.Key("success", r.Success), foreign.Key("pr_url", orNull(r.PRURL)), foreign.Key("pr_number", null),
		foreign.Key("bead_updated", r.BeadUpdated), foreign.Key("attempt_count", before+r.AttemptCount), foreign.Key("qa_results", results),
		foreign.Key("error", r.Error), foreign.Key("fatal", r.Fatal),
	}
	if r.PRNumber != 0 {
		foreign.Put(&o, "pr_number", r.PRNumber)
	}
	return o, nil
}

// stamp is a time as the format has it; null if it is not known.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	layout := time.RFC3339
	if t = t.UTC().Truncate(time.Millisecond); t.Nanosecond() != 0 {
		layout = "2006-01-02T15:04:05.000Z07:00" // three digits: others do not read one or two
	}
	s := t.Format(layout)
	return &s
}

// null is where there is nothing.
var null json.RawMessage

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
