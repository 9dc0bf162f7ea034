package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// Choose selects the session to ask and checks that its program can answer; with fork, in a
// copy of the session.
func Choose(r *record.Record, v machine.NodeView, crew *Crew, which *Which, fork bool) (Session, executor.Program, error) {
	list, err := which.Of(SessionsOf(r, v, crew), v)
	if err != nil {
		return Session{}, nil, err
	}
	if len(list) == 0 {
		return Session{}, nil, exit.Inputf("there is no agent to ask about %s: %s", v.Key, NoSession(r, v))
	}
	s := list[which.Best(list)]
	program, ok := crew.ProgramOf(s.Kind)
	if !ok {
		return s, nil, exit.Inputf("agent %s cannot be asked: %s", s.Agent, s.Cannot)
	}
	cannot := program.Describe().Cannot
	key := words.QuoteArg(string(v.Key))
	if why, no := cannot[executor.CanResume]; no {
		return s, nil, exit.Inputf("agent %s cannot be asked: it does not continue its sessions (%s).\n  What it printed: ralph log %s%s", s.Agent, why, key, r.About())
	}
	why, no := cannot[executor.CanFork]
	switch {
	case no && fork:
		return s, nil, noCopy(r, v, s, why)
	case !fork && r.Held && v.Status == executor.Running:
		return s, nil, exit.Inputf("%s is at work now, so nothing can be asked in a session of it.\n  Ask a copy (without --in-session), or wait until it has ended", v.Key)
	}
	return s, program, nil
}

// noCopy is the error of a session that cannot be copied.
func noCopy(r *record.Record, v machine.NodeView, s Session, why string) error {
	return exit.Inputf("agent %s cannot work in a copy of its session (%s).\n  To ask in the session itself, which then contains the question: ralph ask %s … --in-session%s", s.Agent, why, words.QuoteArg(string(v.Key)), r.About())
}

// Ask has the agent of a session answer a question in a separate directory; with fork, in a
// copy of the session. live gets the path of the output file before the turn starts and
// returns a function to call after it.
func Ask(ctx context.Context, r *record.Record, v machine.NodeView, s Session, program executor.Program, question string, fork bool, timeout time.Duration, live func(file string) func()) (answer []byte, err error) {
	commit := s.commit
	if commit == "" {
		commit = r.Run.Bases().Base().Commit
		for _, at := range v.Attempts {
			if at.Step == s.Step && at.Number == s.Attempt {
				commit = cmp.Or(at.From, commit)
			}
		}
	}
	dir, remove, err := r.Space.Trees.Aside(ctx, v.ID, commit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	files, err := regular.MkdirTemp("ralph-ask-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	run := asking(r, v, s, question, commit)
	if run.Wall, err = wallOf(ctx, r, v, s, dir); err != nil {
		return nil, err
	}
	run.Dir, run.Files, run.Keep, run.Fork, run.Answer = dir, files, files, fork, &answer
	if !fork { // what the session cost so far is there
		run.Keep = r.Keep()
	}
	run.Step.Limits.TimeoutMS = timeout.Milliseconds()
	end := live(runner.File(run, runner.OutExt))
	ended, err := mcp.Inner(program).Run(ctx, run) // without the outcome channel: nothing is reported
	end()
	if errors.Is(err, executor.ErrNoCopy) { // which some programs say only when they are asked
		return nil, noCopy(r, v, s, err.Error())
	}
	return answer, askFailed(run, ended, err)
}

// wallOf is the sandbox of the session that is asked; nil: it had none.
func wallOf(ctx context.Context, r *record.Record, v machine.NodeView, s Session, dir string) (*wall.Spec, error) {
	if s.outside {
		return nil, nil
	}
	node := v.ID
	c, _, err := Confine(ctx, r.Epic, r.Space, madeOf(v, s))
	if err != nil {
		return nil, err
	}
	t := effects.Tools{Epic: r.Epic, State: r.Space.State(), Confinement: c}
	in, err := t.Visit(node, stepOf(r, node, s.Step), s.Agent, s.Gate, dir) // a session's home is kept
	w := in.Wall
	if s.Gate != "" { // a judge's session is not of the worktree
		return w, err
	}
	return w.With(wall.Mount{From: r.Space.Dir(node), Optional: true}), err // programs look for the directory of a session (OpenCode)
}

// asking builds the turn that answers the question.
func asking(r *record.Record, v machine.NodeView, s Session, question, commit string) executor.AgentRun {
	agent := r.Epic.Agents[s.Agent]
	n := r.Node(v.ID)
	limits := ir.StepLimits{Iterations: 1, Attempts: 1}
	alias := agent.Model
	for i := range n.Steps {
		if n.Steps[i].Name == s.Step && s.Gate == "" && n.Steps[i].Agent == s.Agent && n.Steps[i].Model != "" {
			alias = n.Steps[i].Model
		}
	}
	if g := r.Epic.Gates[s.Gate]; s.Gate != "" && g.Model != "" {
		alias = g.Model
	}
	return executor.AgentRun{
		Node: n, Step: &ir.Step{Name: s.Step, Agent: s.Agent, Access: "read", Session: "resume", Limits: limits},
		Agent: s.Agent, Slug: agent.Slug, Text: agentTextOf(r, agent), Model: cmp.Or(r.Epic.Models[alias].ID, alias), Alias: r.Epic.Models[alias],
		Runner: r.Epic.Runners[agent.Runner], Effect: executor.Effect{Kind: executor.EffectAgent, Node: v.ID, Step: s.Step, Attempt: s.Attempt, OfAgent: executor.OfAgent{Session: s.Session}},
		Epic: r.Epic.Epic.ID, Name: "ask", Env: r.Epic.Run.Worktree.Env, Read: true, Raw: true, Human: ir.HITL{},
		Prompt: fmt.Appendf(nil, `A person asks you about your work on sprint %s (%s). Answer in plain text, and do nothing else: change no file, report no outcome.
Your current directory holds commit %.12s of it, and nothing that came later.

%s
`, n.Key, n.Title, commit, strings.TrimSpace(question)),
	}
}

// agentTextOf is the text of an agent's file, from the copy that the run made; "" if unknown.
func agentTextOf(r *record.Record, a ir.Agent) string {
	hex, ok := strings.CutPrefix(a.Digest, "sha256:")
	if !ok || len(hex) < 16 {
		return ""
	}
	b, err := regular.ReadOwn(filepath.Join(r.Space.State(), "agents", hex[:16]+".md"))
	if err != nil {
		return "" // the session knows it
	}
	return record.Body(string(b))
}

// askFailed returns the error for a turn that gave no answer; nil if it ended well.
func askFailed(run executor.AgentRun, ended executor.AgentEnded, err error) error {
	var f *executor.Failure
	switch {
	case err == nil && ended.End == executor.EndTimeout:
		return exit.Inputf("agent %s did not answer within %s (--timeout)", run.Agent, words.Brief(time.Duration(run.Step.Limits.TimeoutMS)*time.Millisecond))
	case err == nil && ended.End == executor.EndExited && ended.ExitCode != 0:
		return exit.Inputf("no answer: agent %s ended with exit code %d: %s", run.Agent, ended.ExitCode, ended.Tail)
	case err == nil && ended.End == executor.EndExited:
		return nil
	case err == nil:
		return exit.Inputf("agent %s did not answer: it %s", run.Agent, ended.End)
	case errors.As(err, &f) && f.Class == executor.FailSession:
		return exit.Inputf("the program of agent %s no longer knows session %s: %w", run.Agent, run.Effect.Session, err)
	case errors.As(err, &f) && f.Class == executor.FailLimit && f.Until != "":
		return exit.Inputf("%w (until %s)", err, f.Until)
	}
	return exit.Inputf("no answer: %w", err)
}
