package effects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// agent runs one iteration of the step's agent, or of its stand-in.
func (w *Worker) agent(e *executor.Effect, q *executor.Request) (work, error) {
	n, step := w.find(q)
	run, runner, err := w.agentRun(e, n, step, cmp.Or(e.Agent, step.Agent), step.Model)
	if err != nil {
		return nil, err
	}
	run.Name = fmt.Sprintf("agent-%d", max(e.Iteration, 1))
	run.Read = step.Access == "read"
	if e.TimeMS != step.Limits.TimeoutMS {
		left := *step
		left.Limits.TimeoutMS = e.TimeMS
		run.Step = &left
	}
	left, paths, err := w.left(n, q.Reports)
	if err != nil {
		return nil, err
	}
	run.Prompt = q.Prompt(n, step, left...)
	run.Context = executor.WithFeedback(q.Context, q.Feedback)
	if notes := strings.Join(q.Feedback, "\n"); notes != "" {
		run.Notes = []byte(notes + "\n")
	}
	return func(ctx context.Context) (executor.Body, error) {
		c, err := w.enter(e, n, step, &run, paths)
		if err != nil {
			return nil, err
		}
		ended, err := runner.Run(ctx, run) // a thousand wait here: what is on their stacks is kept
		return w.leave(ctx, e, &run, c, &ended, err)
	}, nil
}

// enter makes ready for a turn: its files, and its sandbox, in which files of other
// attempts can be read.
func (w *Worker) enter(e *executor.Effect, n *ir.Node, step *ir.Step, run *executor.AgentRun, others []string) (*confined, error) {
	if e.Redo {
		if err := setAside(run.Files, run.Name); err != nil {
			return nil, err
		}
	}
	c, err := w.confine(stay{in: w.Epic.StepConfined(step, e.Node == executor.Integration), whose: ofAgent, who: run.Agent, agent: run.Agent, node: n.ID, dir: run.Dir})
	if err != nil {
		return nil, err
	}
	if run.Wall = c.spec(); run.Wall != nil {
		for _, p := range others {
			run.Wall.Mounts = append(run.Wall.Mounts, wall.Mount{From: p, Optional: true})
		}
		run.Prompt = append(slices.Clip(run.Prompt), c.told()...)
	}
	return c, nil
}

// leave says how a turn ended.
func (w *Worker) leave(ctx context.Context, e *executor.Effect, run *executor.AgentRun, c *confined, ended *executor.AgentEnded, err error) (executor.Body, error) {
	if ended.Sandbox = c.account(); ended.Sandbox != nil { // what came without it fits
		ended.Bound()
	}
	if ended.Sandbox.OutOfMemory() != "" && ctx.Err() == nil { // what it did, not what happened to it
		ended.End, ended.ExitCode, ended.Outcome, err = executor.EndExited, outOfMemory, executor.Outcome{}, nil
	}
	err = errors.Join(err, c.done())
	if ended.Agent == "" {
		ended.Agent = run.Agent
	}
	if ended.Model = cmp.Or(ended.Model, run.Model); !w.Epic.UsesModel(run.Agent) {
		ended.Model = ""
	}
	if err = errors.Join(err, w.plainFiles(run.Files)); err != nil {
		f := Failed(ctx, e.Gate, err)
		f.Usage, f.Sandbox = ended.Usage, ended.Sandbox
		return f, nil
	}
	ended.Usage = w.stated(ended.Agent, ended.Usage)
	return *ended, nil
}

// outOfMemory is the exit code of a turn whose sandbox had used up its memory: 128 and SIGKILL.
const outOfMemory = 137

// stated is what a turn used, with what the policy says of an agent that costs nothing
// where the turn said nothing.
func (w *Worker) stated(agent string, u executor.Usage) executor.Usage {
	return u.OrStated(w.Epic.Agents[agent].Expect)
}

// setAside keeps the output of a turn that was cut, which the same turn would
// write over: as cut-1-agent-1.out.
func setAside(dir, turn string) error {
	for _, ext := range []string{".out", ".err", ".stream.jsonl"} {
		from := filepath.Join(dir, turn+ext)
		st, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!st.Mode().IsRegular() || st.Size() == 0) {
			continue
		}
		to := ""
		for k := 1; err == nil; k++ {
			to = filepath.Join(dir, fmt.Sprintf("cut-%d-%s%s", k, turn, ext))
			_, err = os.Lstat(to)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return nil
}

// agentRun fills in what a turn of any agent needs but its prompt. own is the
// model that the step or gate names for its own agent.
func (w *Worker) agentRun(e *executor.Effect, n *ir.Node, step *ir.Step, name, own string) (executor.AgentRun, executor.Runner, error) {
	agent, ok := w.Epic.Agents[name]
	if !ok {
		return executor.AgentRun{}, nil, &executor.Bug{What: fmt.Sprintf("node %s: agent %q is not in the epic", n.Key, name)}
	}
	r := w.Epic.Runners[agent.Runner]
	runner := w.Runners[r.Kind]
	if runner == nil {
		return executor.AgentRun{}, nil, &executor.Bug{What: fmt.Sprintf("no runner of kind %q was given", r.Kind)}
	}
	files, err := w.files(e)
	if err != nil {
		return executor.AgentRun{}, nil, err
	}
	if name != step.Agent {
		own = cmp.Or(agent.Model, own)
	}
	return executor.AgentRun{
		Node: n, Step: step, Agent: name, Slug: agent.Slug, Text: w.Agents[name], Runner: r, Effect: *e,
		Model: w.model(cmp.Or(own, agent.Model)), Alias: w.Epic.Models[cmp.Or(own, agent.Model)],
		Keep: w.keep(), Human: w.Epic.HITLOf(n), Record: w.says(e),
		Epic: w.Epic.Epic.ID, Dir: w.Workspace.Dir(e.Node), Files: files, Env: w.identified(r),
		Activity: w.activity(e),
	}, runner, nil
}

// identified is the environment of an agent, with who commits unless its runner says so.
func (w *Worker) identified(r ir.Runner) map[string]string {
	env := maps.Clone(w.env())
	for name, value := range w.Identity {
		if _, set := env[name]; !set && !slices.Contains(r.Env, name) {
			if env == nil {
				env = map[string]string{}
			}
			env[name] = value
		}
	}
	return env
}

// model is the model for the program: the one that the alias stands for, else the alias.
func (w *Worker) model(alias string) string { return cmp.Or(w.Epic.Models[alias].ID, alias) }

func (t *Tools) activity(e *executor.Effect) func(executor.Activity) {
	if t.Activity == nil {
		return nil
	}
	return func(a executor.Activity) {
		if t.Redact != nil {
			a.Line = t.Redact(a.Line)
		}
		t.Activity(*e, a)
	}
}

// says returns what lets the program of an effect put facts on record.
func (w *Worker) says(e *executor.Effect) func(context.Context, executor.Body) error {
	return func(ctx context.Context, b executor.Body) error {
		return w.record(ctx, e.Says(executor.Redacted(b, w.Redact)))
	}
}

// keep is where runners keep what outlives a turn.
func (w *Worker) keep() string { return filepath.Join(w.State, "runners") }
