package effects

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// diagnoseTime bounds the turn of an agent that looks at a stalled one, in ms.
const diagnoseTime = 10 * 60 * 1000

// diagnose lets another agent say what to do about one that stalled.
func (w *Worker) diagnose(e *executor.Effect, q *executor.Request) (work, error) {
	n, step := w.find(q)
	name := cmp.Or(e.Agent, step.Stall.Agent)
	limits := ir.StepLimits{Iterations: 1, Attempts: 1, TimeoutMS: diagnoseTime}
	if t := step.Limits.TimeoutMS; t > 0 {
		limits.TimeoutMS = min(t, diagnoseTime)
	}
	look := &ir.Step{Name: step.Name, Agent: name, Access: "read", Session: "fresh", Limits: limits}
	run, runner, err := w.agentRun(e, n, look, name, w.Epic.Agents[name].Model)
	if err != nil {
		return nil, err
	}
	run.Name, run.Read, run.Raw = fmt.Sprintf("diagnose-%d", max(e.Iteration, 1)), true, true
	run.Prompt = []byte(diagnosis(n, step, *q.Stalled, run.Files))
	run.Schema = diagnosisSchema
	return func(ctx context.Context) (executor.Body, error) {
		var answer []byte
		var reported json.RawMessage
		run := run
		run.Answer, run.Reported = &answer, &reported
		c, err := w.confine(stay{in: w.Epic.StepConfined(step, e.Node == executor.Integration), whose: ofAgent, who: name, agent: name, node: n.ID, dir: run.Dir})
		if err != nil {
			return nil, err
		}
		if run.Wall = c.spec(); run.Wall != nil && q.Stalled.Turn != "" {
			for _, ext := range []string{".out", ".stream.jsonl"} {
				run.Wall.Mounts = append(run.Wall.Mounts, wall.Mount{From: filepath.Join(run.Files, q.Stalled.Turn+ext), Optional: true})
			}
		}
		ended, err := runner.Run(ctx, run)
		if err = errors.Join(c.because(err), c.done()); err != nil {
			return nil, err
		}
		if reported != nil { // it fits the schema; what the agent says beside it does not count
			answer = reported
		}
		said := readDiagnosis(answer)
		said.Agent, said.Usage = name, w.stated(name, ended.Usage)
		if ended.End != executor.EndExited {
			said.Action, said.Note = "human", fmt.Sprintf("the agent %s, who should have looked at it, gave no answer (%s)", name, ended.End)
		}
		return said, nil
	}, nil
}

// diagnosisSchema is what a diagnosis has to look like.
var diagnosisSchema = json.RawMessage(`{"type":"object","required":["action","note"],"properties":{"action":{"type":"string","enum":["retry","fail","human"]},"note":{"type":"string"}}}`)

// diagnosis is what the agent is told that looks at a stalled one, whose files are
// in a directory.
func diagnosis(n *ir.Node, step *ir.Step, a executor.Stalled, files string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The agent %s showed no sign of life for a long time while it worked on step %q of sprint %s (%s), and was stopped.\n",
		cmp.Or(a.Agent, step.Agent), step.Name, n.Key, n.Title)
	b.WriteString("You are in its worktree, as it left it. Find out why it stalled. Change nothing.\n")
	if a.Turn != "" {
		turn := filepath.Join(files, a.Turn)
		fmt.Fprintf(&b, "\nWhat it did is in these files, as far as its program tells it:\n\n- %s.out: what it said, the tools it called, and what they answered\n- %s.stream.jsonl: its program's own events, one a line, with the time at which each came\n", turn, turn)
	}
	if tail := strings.TrimRight(a.Tail, "\n"); tail != "" {
		b.WriteString("\nThe end of its output:\n\n    " + strings.ReplaceAll(tail, "\n", "\n    ") + "\n")
	}
	b.WriteString(`
Call report_outcome, if you have that tool; else answer with one JSON object and nothing after it:

    {"action": "retry", "note": "what you found, and what the next attempt should do differently"}

"action" is "retry" (the attempt begins again and counts nothing), "fail" (it counts
as failed; the note is its feedback) or "human" (only a person can help).
`)
	return b.String()
}

// readDiagnosis reads the last JSON object of an answer; an unclear answer becomes a
// question to a person.
func readDiagnosis(answer []byte) executor.Diagnosed {
	said := strings.TrimSpace(string(answer))
	if i := strings.LastIndex(said, "```json"); i >= 0 {
		said, _, _ = strings.Cut(said[i+len("```json"):], "```")
	} else if i := strings.LastIndexByte(said, '{'); i >= 0 {
		said = strings.Trim(said[i:], "` \n")
	}
	var out executor.Diagnosed
	if err := json.Unmarshal([]byte(strings.TrimSpace(said)), &out); err != nil {
		return executor.Diagnosed{Action: "human", Note: executor.Plain("the diagnosis is not a JSON object: " + err.Error())}
	}
	switch out.Action {
	case "retry", "fail", "human":
	default:
		out.Note = fmt.Sprintf("the diagnosis names no action that ralph knows (%q): %s", text.Head(out.Action, 40), out.Note)
		out.Action = "human"
	}
	out.Note = executor.Plain(out.Note)
	return executor.Diagnosed{Action: out.Action, Note: out.Note}
}
