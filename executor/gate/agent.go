package gate

import (
	"cmp"
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
// gate's prompt and the contract of the answer, and works in the worktree. After an
// invalid verdict it is asked once more; then it is an error.
func (a Agent) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	q := &question{r: r, files: r.Files, dir: r.Dir, env: r.Env, node: r.Node, read: readVerdict}
	return q.judge(ctx, a.Runners, q.input)
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
	read   func(answers []string, fits *jsonschema.Schema) (verdict, error)
}

// judge asks for a verdict on what input describes. What keeps ralph from asking makes
// the verdict an error.
func (q *question) judge(ctx context.Context, runners map[string]executor.Runner, input func(context.Context) (string, error)) (executor.GateJudged, error) {
	err := q.prepare(ctx, input)
	if ctx.Err() != nil {
		return executor.GateJudged{}, ctx.Err()
	}
	if err != nil {
		return q.failed(err.Error()), nil
	}
	return q.ask(ctx, runners)
}

// prepare writes the prompt and what it names.
func (q *question) prepare(ctx context.Context, input func(context.Context) (string, error)) (err error) {
	if err := regular.MkdirOwn(q.files); err != nil {
		return err
	}
	q.schema = schemaText(q.r.Gate)
	if q.fits, err = schemaOf(q.r.Gate); err != nil {
		return err
	}
	what, err := input(ctx)
	if err != nil {
		return err
	}
	task, err := q.task()
	q.prompt = join(what, task)
	return err
}

// ask runs the agent, and once more if what it answered was no verdict.
func (q *question) ask(ctx context.Context, runners map[string]executor.Runner) (executor.GateJudged, error) {
	r := q.r
	out := q.failed("")
	runner := runners[r.Runner.Kind]
	if runner == nil {
		return out, &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf("gate %s: no runner of kind %q can be used", r.Name, r.Runner.Kind)}
	}
	limit := time.Duration(r.Gate.TimeoutMS) * time.Millisecond
	var said string // what was wrong with the first answer
	for turn := range 2 {
		run := q.run(turn, limit, said, out.Session)
		var answer []byte
		var reported json.RawMessage
		run.Answer, run.Reported = &answer, &reported
		ended, err := runner.Run(ctx, run)
		add(&out, ended, turn)
		var f *executor.Failure
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case errors.As(err, &f) && f.Class != executor.FailLimit:
			return out, f
		case err != nil && f == nil:
			return out, &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("gate %s: %w", r.Name, err)}
		case ended.End == executor.EndTakenOver:
			out.Message = fmt.Sprintf("a person wrote in the session of agent %s, which gave no verdict", r.Agent)
			return out, nil
		case ended.End == executor.EndStalled:
			out.Message = fmt.Sprintf("agent %s gave no sign of life, and no verdict", r.Agent)
			return out, nil
		case ended.End != executor.EndExited:
			out.Message = fmt.Sprintf("agent %s gave no verdict within %s", r.Agent, time.Duration(r.Gate.TimeoutMS)*time.Millisecond)
			return out, nil
		}
		v, why := q.verdict(answer, reported, run.OutcomeFile())
		if why == nil && v.status == executor.Pass {
			v, why = q.passed(v, ended.ExitCode)
		}
		if why == nil {
			return q.judged(out, v)
		}
		if f != nil { // the limit, and no verdict in spite of it
			return out, f
		}
		out.Message = fmt.Sprintf("agent %s gave no valid verdict: %v", r.Agent, why)
		if t := lastSaid(ended.Tail); ended.ExitCode != 0 && t != "" {
			out.Message += fmt.Sprintf("\nIt ended with exit code %d: %s", ended.ExitCode, t)
		}
		out.Message = text.Head(clean(out.Message), executor.MaxNote)
		said = why.Error()
		if r.Gate.TimeoutMS > 0 {
			if limit -= time.Duration(ended.Millis) * time.Millisecond; limit < time.Second {
				break // no time to ask again
			}
		}
	}
	return out, nil
}

// verdict reads what was answered. What was reported through the tool counts alone:
// ralph itself took it and knows that it is whole, and no word around it can be
// mistaken for it. A text may quote what it judges.
func (q *question) verdict(answer []byte, reported json.RawMessage, file string) (verdict, error) {
	if reported != nil {
		return parseVerdict(reported, q.fits)
	}
	if !q.tooled() {
		return q.read(answers(answer, file), q.fits)
	}
	v, err := q.read(answers(answer, ""), q.fits) // no agent was asked to write a file
	if err != nil {
		err = fmt.Errorf("report_outcome was not called, and of the last message: %w", err)
	}
	return v, err
}

// passed is a pass that the agent's end does not contradict, and a fail if it is not all
// that the gate requires of one.
func (q *question) passed(v verdict, exitCode int) (verdict, error) {
	if exitCode != 0 {
		return v, fmt.Errorf("it says pass, but the agent ended with exit code %d", exitCode)
	}
	return required(v, q.r.Gate)
}

// tooled reports whether the agent is a program that calls tools, so that it may
// have report_outcome: all are but commands.
func (q *question) tooled() bool { return q.r.Runner.Kind != "command" }

func (q *question) again() string {
	if q.tooled() {
		return "call report_outcome, or if you do not have it, answer with the JSON object alone."
	}
	return "with the JSON object alone."
}

// run is one turn.
func (q *question) run(turn int, limit time.Duration, said, session string) executor.AgentRun {
	r := q.r
	prompt, name := q.prompt, q.name()
	if turn > 0 {
		name += "-again"
		prompt += "\n\n## Your last answer could not be used\n\n" + said + "\n\nAnswer again, as described above: " + q.again() + "\n"
	}
	effect := r.Effect
	effect.Session = cmp.Or(session, effect.Session)
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
		Dir: q.dir, Files: q.files, Name: name, Prompt: []byte(prompt), Env: q.env, Read: true, Raw: true, Activity: r.Activity, Wall: r.Wall,
	}
}

func (q *question) name() string { return turn(q.r) }

// add counts what a turn cost. What one turn did not say is not known of the sum.
func add(j *executor.GateJudged, e executor.AgentEnded, turn int) {
	j.Millis += e.Millis
	j.Model, j.Session = cmp.Or(e.Model, j.Model), cmp.Or(e.Session, j.Session)
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
	return new(*a + *b)
}

// failed is a verdict that could not be given, and why.
func (q *question) failed(why string) executor.GateJudged {
	return executor.GateJudged{
		Gate: q.r.Name, Verdict: executor.ErrorJudged, Message: text.Head(clean(why), executor.MaxNote), Tests: "skip",
		Agent: q.r.Agent, Model: q.r.Model,
	}
}

// judged completes a verdict and keeps what it says.
func (q *question) judged(out executor.GateJudged, v verdict) (executor.GateJudged, error) {
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
	out.Bound()
	return out, nil
}
