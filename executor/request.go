package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// Request is what a worker has to know of the run to do an effect, besides the epic: plain
// data that stays the same through JSON. Its lists must not be changed.
type Request struct {
	Effect   Effect          `json:"effect"`
	Step     *ir.Step        `json:"step,omitempty"`     // that the machine made up; nil: it stands in the epic
	Late     *Late           `json:"late,omitempty"`     // agent: what its prompt says besides the epic's text
	Feedback []string        `json:"feedback,omitempty"` // agent, gates: stands in the prompt, the context and the notes; here it stands once
	Told     int             `json:"told,omitempty"`     // gates: so many lines of Feedback the agent was told
	Context  json.RawMessage `json:"context,omitempty"`  // agent, gates: without the feedback, see WithFeedback
	Reports  []StepReport    `json:"reports,omitempty"`  // agent: of earlier steps, for the files that they left
	Left     int             `json:"left,omitempty"`     // gates: see GateRun
	Outcome  Outcome         `json:"outcome,omitzero"`   // collect, gates: what the agent reported
	Changed  []FileChange    `json:"changed,omitempty"`  // gates
	Listed   []string        `json:"listed,omitempty"`   // gates
	Earlier  []GateJudged    `json:"earlier,omitempty"`  // gates: what others found in this attempt
	Stalled  *Stalled        `json:"stalled,omitempty"`  // diagnose
	Pull     *PullText       `json:"pull,omitempty"`     // pull
}

// StepReport is what the agent of a step's last attempt that passed reported.
type StepReport struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	Summary string `json:"summary,omitempty"`
}

// Stalled is what is known of an agent that another one looks at.
type Stalled struct {
	Agent string `json:"agent,omitempty"`
	Turn  string `json:"turn,omitempty"`
	Tail  string `json:"tail,omitempty"`
}

// Request collects what the worker of an effect has to know. It changes nothing.
func (r *Run) Request(e Effect) Request {
	q := Request{Effect: e}
	n := r.byID[e.Node]
	if n == nil || n.ir == nil {
		return q
	}
	if n.sum || !slices.ContainsFunc(r.epic.Nodes[n.index].Steps, func(s ir.Step) bool { return s.Name == e.Step }) {
		q.Step = r.Step(e.Node, e.Step)
	}
	a, _ := r.Attempt(e.Node, e.Step, e.Attempt)
	switch e.Kind {
	case EffectAgent:
		q.Feedback, q.Context, q.Late = r.Feedback(e.Node), r.context(e.Node), r.late(n)
		q.Reports = n.stepReports(e.Step)
	case EffectPull:
		text := r.pullText(e)
		q.Pull = &text
	case EffectCollect:
		q.Outcome = a.Outcome
	case EffectDiagnose:
		q.Stalled = &Stalled{Agent: a.Agent, Turn: a.Turn, Tail: a.Tail}
	case EffectGate, EffectRed:
		q.Feedback, q.Context, q.Left = r.Feedback(e.Node), r.context(e.Node), r.Left(e.Node)
		q.Told = min(len(a.Feedback), len(q.Feedback))
		q.Outcome, q.Changed, q.Listed = a.Outcome, a.Collected.SinceStart(), a.Collected.Listed
		for _, j := range a.Gates {
			if !j.Red && j.Gate != e.Gate {
				q.Earlier = append(q.Earlier, j)
			}
		}
	}
	return q
}

// stepReports are the reports of the steps before one.
func (n *node) stepReports(step string) (out []StepReport) {
	for k := range n.ir.Steps {
		if n.ir.Steps[k].Name == step {
			return out
		}
		for _, a := range slices.Backward(n.logs) {
			if a.Step == n.ir.Steps[k].Name && a.Status == AttemptPassed {
				out = append(out, StepReport{a.Step, a.Number, a.Outcome.Summary})
				break
			}
		}
	}
	return nil
}

// WithFeedback is a context with the feedback, as the last of its fields.
func WithFeedback(context json.RawMessage, feedback []string) json.RawMessage {
	said := strings.TrimSpace(strings.Join(feedback, "\n"))
	if len(context) == 0 || said == "" {
		return context
	}
	var b bytes.Buffer
	b.Write(context[:len(context)-1])
	b.WriteString(`,"feedback":`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(said); err != nil {
		panic(err) // a text always has a form in JSON
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '}')
}
