package machine

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// about is what an agent may ask for about its task while it works.
type about struct {
	Sprint     ir.Key     `json:"sprint"`
	ID         ir.NodeID  `json:"id"`
	Title      string     `json:"title"`
	Goal       string     `json:"goal,omitempty"`
	Tasks      []string   `json:"tasks,omitempty"`
	Acceptance []string   `json:"acceptance,omitempty"`
	Paths      *ir.Scope  `json:"paths,omitempty"`
	Step       string     `json:"step"`
	Attempt    int        `json:"attempt"`
	Contains   []part     `json:"worktree_contains,omitempty"` // results that it builds on
	More       int        `json:"and_more,omitempty"`          // results that are not listed
	Conflicts  []string   `json:"in_conflict,omitempty"`       // of a merge
	Earlier    []stepNote `json:"earlier_steps,omitempty"`
}

// part is a result that a node builds on.
type part struct {
	Sprint  ir.Key `json:"sprint"`
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"` // what its agent reported
}

type stepNote struct {
	Step string `json:"step"`
	Said string `json:"said"`
}

// Context is what the agent of a node's open attempt, or an agent judging it, may ask
// for during its work, as JSON: the sprint, the results that it builds on, reports of
// earlier steps, and the feedback. Like the prompt it is built from the epic and the
// record alone. It is nil without an open attempt.
func (o Node) Context() json.RawMessage {
	n := o.r.byID[o.id]
	if n == nil || n.ir == nil {
		return nil
	}
	return executor.WithFeedback(o.r.context(n), n.openFeedback())
}

// context is the same without the feedback.
func (gr *graph) context(n *node) json.RawMessage {
	if n.stepNow() == nil || n.life.attempt.status != executor.AttemptRunning {
		return nil
	}
	a := &n.life.attempt
	out := about{Sprint: n.ir.Key, ID: n.id, Title: n.ir.Title, Step: a.step, Attempt: a.number}
	from := n.life.inputs
	if n.life.step == asideStep { // the sprint itself is not the task now
		from, out.Conflicts = n.life.aside.inputs, n.life.aside.paths
	} else {
		out.Goal, out.Acceptance = n.ir.Goal, n.ir.Acceptance
		out.Tasks = lists.Map(n.ir.Tasks, func(t ir.Task) string { return strings.Join(append([]string{t.Text}, t.Detail...), "\n") })
		if s := n.ir.Scope; len(s.Owns)+len(s.Files)+len(s.Reads) > 0 {
			out.Paths = &s
		}
		for i, said := range n.life.notes {
			if i < n.life.step && said != "" {
				out.Earlier = append(out.Earlier, stepNote{n.ir.Steps[i].Name, said})
			}
		}
	}
	size := 0
	for _, in := range from {
		d := gr.byID[in.Node]
		if d == nil || d.ir == nil {
			continue
		}
		p := part{d.ir.Key, d.ir.Title, d.reported()}
		if size += len(p.Sprint) + len(p.Title) + len(p.Summary); size > 2*mostBuiltOn && len(out.Contains) > 0 {
			out.More++
			continue
		}
		out.Contains = append(out.Contains, p)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		panic(err) // texts and numbers always have a form in JSON
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// reported is what the agent said whose work passed last.
func (n *node) reported() string {
	if l := newest(n.logs, func(l *AttemptLog) bool { return l.Status == executor.AttemptPassed && l.Outcome.Summary != "" }); l != nil {
		return l.Outcome.Summary
	}
	return ""
}
