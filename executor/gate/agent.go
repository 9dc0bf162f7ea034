package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Agent judges by asking an agent (QA). It may be used concurrently.
type Agent struct {
	Runners map[string]executor.Runner // by kind
}

var _ executor.Gate = Agent{}

// Judge implements executor.Gate. The agent gets its own file, the input, the
// gate's prompt and the contract of the answer, and works in the worktree. An
// answer that is no valid verdict is asked for once more; then it is an error.
func (a Agent) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	q := question{r: r, files: r.Files, dir: r.Dir, env: r.Env, node: r.Node}
	if err := regular.MkdirOwn(r.Files); err != nil {
		return q.failed(err.Error()).GateJudged, nil
	}
	schema, why := schemaOf(r.Gate)
	if why != "" {
		return q.failed(why).GateJudged, nil
	}
	input, why, err := q.input(ctx)
	switch {
	case ctx.Err() != nil:
		return executor.GateJudged{}, ctx.Err()
	case err != nil:
		return q.failed(err.Error()).GateJudged, nil
	case why != "":
		return q.failed(why).GateJudged, nil
	}
	task, err := q.task()
	if err != nil {
		return q.failed(err.Error()).GateJudged, nil
	}
	q.prompt = join(input, task)
	q.schema, q.fits = schemaText(r.Gate), schema
	q.read = func(answers []string) (verdict, string) { return readVerdict(answers, schema) }
	return q.ask(ctx, a.Runners)
}

// question is what an agent is asked for a verdict, at most twice.
type question struct {
	r      executor.GateRun
	files  string // where the files of its turns go
	dir    string // where it works
	env    map[string]string
	node   *ir.Node // what it may know of it
	prompt string
	schema json.RawMessage // of the answer
	fits   *jsonschema.Schema
	read   func(answers []string) (verdict, string)
}

// ask runs the agent, and once more if what it answered was no verdict.
func (q question) ask(ctx context.Context, runners map[string]executor.Runner) (executor.GateJudged, error) {
	r := q.r
	out := q.failed("")
	runner := runners[r.Runner.Kind]
	if runner == nil {
		return out.GateJudged, &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf("gate %s: no runner of kind %q can be used", r.Name, r.Runner.Kind)}
	}
	limit := time.Duration(r.Gate.TimeoutMS) * time.Millisecond
	var said string // what was wrong with the first answer
	for turn := range 2 {
		run := q.run(turn, limit, said, out.Session)
		var answer []byte
		var reported json.RawMessage
		run.Answer, run.Reported = &answer, &reported
		ended, err := runner.Run(ctx, run)
		out.add(ended, turn)
		var f *executor.Failure
		switch {
		case ctx.Err() != nil:
			return out.GateJudged, ctx.Err()
		case errors.As(err, &f) && f.Class != executor.FailLimit:
			return out.GateJudged, f
		case err != nil && f == nil:
			return out.GateJudged, &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("gate %s: %w", r.Name, err)}
		case ended.End == executor.EndTakenOver:
			out.Message = fmt.Sprintf("a person wrote in the session of agent %s, which gave no verdict", r.Agent)
			return out.GateJudged, nil
		case ended.End == executor.EndStalled:
			out.Message = fmt.Sprintf("agent %s gave no sign of life, and no verdict", r.Agent)
			return out.GateJudged, nil
		case ended.End != executor.EndExited:
			out.Message = fmt.Sprintf("agent %s gave no verdict within %s", r.Agent, time.Duration(r.Gate.TimeoutMS)*time.Millisecond)
			return out.GateJudged, nil
		}
		v, why := q.verdict(answer, reported, run.OutcomeFile())
		if why == "" && v.status == executor.Pass && ended.ExitCode != 0 {
			why = fmt.Sprintf("it says pass, but the agent ended with exit code %d", ended.ExitCode)
		}
		if why == "" {
			return q.judged(out.GateJudged, v)
		}
		if f != nil { // the limit, and no verdict in spite of it
			return out.GateJudged, f
		}
		out.Message = fmt.Sprintf("agent %s gave no valid verdict: %s", r.Agent, why)
		if t := lastSaid(ended.Tail); ended.ExitCode != 0 && t != "" {
			out.Message += fmt.Sprintf("\nIt ended with exit code %d: %s", ended.ExitCode, t)
		}
		out.Message = text.Head(clean(out.Message), executor.MaxNote)
		said = why
		if r.Gate.TimeoutMS > 0 {
			if limit -= time.Duration(ended.Millis) * time.Millisecond; limit < time.Second {
				break // no time to ask again
			}
		}
	}
	return out.GateJudged, nil
}

// verdict reads what was answered; why says why it is none. What was reported
// through the tool counts alone: ralph itself took it and knows that it is whole, and
// no word around it can be mistaken for it. A text may quote what it judges.
func (q question) verdict(answer []byte, reported json.RawMessage, file string) (v verdict, why string) {
	if reported != nil {
		v, err := parseVerdict(reported, q.fits)
		if err != nil {
			return verdict{}, err.Error()
		}
		return v, ""
	}
	if q.tooled() {
		file = "" // nobody was told to write one
	}
	v, why = q.read(answers(answer, file))
	if why != "" && q.tooled() {
		why = "report_outcome was not called, and of the last message: " + why
	}
	return v, why
}

// tooled reports whether the agent is a program that calls tools, so that it may
// have report_outcome: all are but commands.
func (q question) tooled() bool { return q.r.Runner.Kind != "command" }

func (q question) again() string {
	if q.tooled() {
		return "call report_outcome, or if you do not have it, answer with the JSON object alone."
	}
	return "with the JSON object alone."
}

// run is one turn.
func (q question) run(turn int, limit time.Duration, said, session string) executor.AgentRun {
	r := q.r
	prompt, name := q.prompt, q.name()
	if turn > 0 {
		name += "-again"
		prompt += "\n\n## Your last answer could not be used\n\n" + said + "\n\nAnswer again, as described above: " + q.again() + "\n"
	}
	effect := r.Effect
	if turn > 0 && session != "" {
		effect.Session = session
	}
	step := &ir.Step{Name: r.Effect.Step, Agent: r.Agent, Model: r.Gate.Model, Access: "read", Session: "fresh"}
	if r.Gate.TimeoutMS > 0 {
		step.Limits.TimeoutMS = max(limit.Milliseconds(), 1)
	}
	known := r.Context
	if len(r.Gate.Sees) > 0 && !q.sees("plan") {
		known = nil // what it does not see it cannot ask for
	}
	return executor.AgentRun{
		Node: q.node, Step: step, Agent: r.Agent, Slug: r.Slug, Text: r.Text, Model: r.Model, Alias: r.Alias, Runner: r.Runner, Effect: effect, Epic: r.Epic,
		Schema: q.schema, Context: known, Keep: r.Keep, Human: r.Human, Record: r.Record,
		Dir: q.dir, Files: q.files, Name: name, Prompt: []byte(prompt), Env: q.env, Read: true, Raw: true, Activity: r.Activity,
	}
}

func (q question) name() string { return turn(q.r) }

// judging is a verdict in the making.
type judging struct{ executor.GateJudged }

// add counts what a turn cost. What one turn did not say is not known of the sum.
func (j *judging) add(e executor.AgentEnded, turn int) {
	j.Millis += e.Millis
	if e.Model != "" {
		j.Model = e.Model
	}
	if e.Session != "" {
		j.Session = e.Session
	}
	if turn == 0 {
		j.Usage = e.Usage
		return
	}
	j.Usage = executor.Usage{Tokens: sum(j.Usage.Tokens, e.Usage.Tokens), USDMicro: sum(j.Usage.USDMicro, e.Usage.USDMicro)}
}

func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a + *b
	return &n
}

// failed is a verdict that could not be given, and why.
func (q question) failed(why string) judging {
	return judging{executor.GateJudged{
		Gate: q.r.Name, Verdict: executor.ErrorJudged, Message: text.Head(clean(why), executor.MaxNote), Tests: "skip",
		Agent: q.r.Agent, Model: q.r.Model,
	}}
}

// judged completes a verdict and keeps what it says.
func (q question) judged(out executor.GateJudged, v verdict) (executor.GateJudged, error) {
	out.Verdict, out.Message = v.status, text.Head(strings.TrimSpace(clean(v.message)), executor.MaxNote)
	if v.status != executor.Pass {
		out.Signature = signText(out.Message)
	}
	out.Counts = v.counts
	digest, err := keep(filepath.Join(q.r.Files, q.name()+".json"), v.raw, q.r.Redact)
	if err == nil {
		out.Details = digest
		out.Evidence, err = evidence(q.r, out, found{})
	}
	if err != nil { // a verdict that could not be kept is none
		out.Verdict, out.Message, out.Signature = executor.ErrorJudged, text.Head("the verdict could not be kept: "+err.Error(), executor.MaxNote), ""
	}
	bound(&out)
	return out, nil
}
