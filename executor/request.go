package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/ir"
)

// Late is the content of a prompt besides the epic's text, without the feedback.
type Late struct {
	Task    []string `json:"task,omitempty"`  // in place of the epic's text
	About   bool     `json:"about,omitempty"` // what the sprint is about follows it
	Basis   []string `json:"basis,omitempty"` // what the worktree contains
	Earlier []string `json:"earlier,omitempty"`
	Older   []string `json:"older,omitempty"`
	Turn    []string `json:"turn,omitempty"`
	ByFile  bool     `json:"by_file,omitempty"` // it reports by a file, not by a tool
}

// Prompt builds what Node.Prompt does from a request for an agent's turn. n and step are
// the request's, of the epic or made up.
func (q *Request) Prompt(n *ir.Node, step *ir.Step, left ...string) []byte {
	return q.Late.Prompt(n, step, q.Feedback, left)
}

// Prompt builds the prompt.
func (t *Late) Prompt(n *ir.Node, step *ir.Step, feedback, left []string) []byte {
	all := make([]string, 0, 64)
	section := func(title string, lines ...string) {
		if len(all) > 0 {
			all = append(all, "")
		}
		if title != "" {
			all = append(all, title, "")
		}
		all = append(all, lines...)
	}
	some := func(title string, lines []string) {
		if len(lines) > 0 {
			section(title, lines...)
		}
	}
	switch {
	case len(t.Task) > 0:
		section("", t.Task...)
		if t.About {
			section("## What the sprint is about: not to be done now, it is the next step", n.Prompt...)
		}
	case len(step.Prompt) > 0:
		section("", step.Prompt...)
	default:
		section("", n.Prompt...)
	}
	here := []string{"You work on step " + strconv.Quote(step.Name) + " of sprint " + string(n.Key) + "."}
	if step.Access == "read" {
		here = append(here, "Change no files in this step: what you report is its result.")
	}
	if step.Note != "" {
		here = append(here, step.Note)
	}
	section("## This step", here...)
	some("## What your worktree already contains", t.Basis)
	some("## What earlier steps reported", t.Earlier)
	some("## Files that earlier steps left", left)
	some("## An earlier try", t.Older)
	some("## Feedback: what to fix", feedback)
	some("## This turn", t.Turn)
	if t.ByFile {
		section("## How to report", byFile...)
	} else {
		section("## How to report", byTool...)
	}
	return joined(all)
}

// joined is a text of lines.
func joined(lines []string) []byte {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	out := make([]byte, 0, size)
	for _, l := range lines {
		out = append(append(out, l...), '\n')
	}
	return out
}

// Request is what a worker must know of the run to perform an effect, besides the epic:
// plain data that survives JSON unchanged. Its lists must not be modified.
type Request struct {
	Effect   Effect          `json:"effect"`
	Lists    ListRef         `json:"lists,omitzero"`     // the effect's Inputs and Known, where they are too long: these are empty
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

// Refer replaces the effect's lists by a reference, if they are too long for a request.
func (q *Request) Refer() {
	e := &q.Effect
	if sizeOf(e.Inputs)+len(e.Known)*commitSize > mostListed {
		l := e.lists()
		q.Lists = ListRef{Listed: l.len(), List: l.digest()}
		e.Inputs, e.Known = nil, nil
	}
}

// Complete returns a request with the lists it refers to.
func (q *Request) Complete(l Lists) (*Request, error) {
	if (ListRef{Listed: l.len(), List: l.digest()}) != q.Lists {
		return nil, fmt.Errorf("it refers to %d entries, and was given others", q.Lists.Listed)
	}
	whole := *q
	whole.Lists = ListRef{}
	for _, x := range l {
		if x.What == "known" {
			commits(x.What, &whole.Effect.Known).set(x.Entries)
		} else {
			whole.Effect.Inputs = x.Entries
		}
	}
	return &whole, nil
}

// StepReport is the report of the agent of a step's last passed attempt.
type StepReport struct {
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	Summary string `json:"summary,omitempty"`
}

// Stalled is what is known of an agent that another one diagnoses.
type Stalled struct {
	Agent string `json:"agent,omitempty"`
	Turn  string `json:"turn,omitempty"`
	Tail  string `json:"tail,omitempty"`
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
