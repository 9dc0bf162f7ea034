package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/mcp"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// askArgs are the flags of ask.
type askArgs struct {
	epic      record.Flag
	which     sessionFlags
	inSession bool
	timeout   time.Duration
}

func newAskCommand() *cobra.Command {
	a := &askArgs{}
	cmd := &cobra.Command{
		Use:   "ask KEY QUESTION",
		Short: "Ask the agent that did a sprint why it did it so",
		Long: `Ask forks the session of the agent that did the work, or of another one that you choose
as for ralph session, asks the copy your question and prints its answer. The copy may
only read, in a directory of its own that holds the commit that the session's attempt
left; afterwards that is taken away. The session, the record and the sprint stay as
they are, so ask at any time, also while ralph apply is at work.

Where the agent's program cannot fork a session, --in-session asks in the session
itself: the question becomes a part of it, for later attempts that go on with it, too,
and its agent may be in the sprint's own worktree. Not while the sprint is at work.

The question may be - for standard input. Exit code 1 when there is no answer.`,
		Example: `  ralph ask 1.2a "why bcrypt?"
  ralph ask 1.2a "what did you look at?" --gate blind-review
  ralph ask 1.2a "what went wrong?" --attempt 1
  git diff | ralph ask 1.2a -`,
		Args: countArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0], args[1]) },
	}
	addEpicFlag(&a.epic, cmd)
	a.which.add(cmd)
	cmd.Flags().BoolVar(&a.inSession, "in-session", false, "ask in the session itself, not in a copy of it")
	cmd.Flags().DurationVar(&a.timeout, "timeout", 10*time.Minute, "time for the answer")
	return cmd
}

func (a *askArgs) run(cmd *cobra.Command, key, question string) error {
	if a.timeout <= 0 {
		return exit.Usagef("--timeout %s: write a time above 0", a.timeout)
	}
	if err := process.Supported(); err != nil {
		return exit.Inputf("%w", err)
	}
	if question == "-" {
		b, err := project.ReadStdin(cmd.InOrStdin())
		if err != nil {
			return err
		}
		question = string(b)
	}
	if strings.TrimSpace(question) == "" {
		return exit.Usagef("the question is empty")
	}
	file, err := a.epic.Path()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(background(cmd), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := record.Open(ctx, file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	v, err := viewOf(r, key)
	if err != nil {
		return err
	}
	crew := run.NewCrew(r.Epic)
	s, program, err := a.choose(r, v, crew)
	if err != nil {
		return errors.Join(err, crew.Close())
	}
	answer, said, err := askAgent(r, ctx, v, s, program, question, a, cmd.OutOrStdout())
	answer = []byte(crew.Redact.String(string(answer)))
	err = errors.Join(err, crew.Close())
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted; nothing was changed")}
	case err != nil:
		return err
	}
	return sayAnswer(cmd.OutOrStdout(), answer, said)
}

// choose finds the session that is asked, and makes sure that it can be.
func (a *askArgs) choose(r *record.Record, v machine.NodeView, crew *run.Crew) (sessionJSON, executor.Program, error) {
	list, err := a.which.of(sessionsOf(r, v, crew), v)
	if err != nil {
		return sessionJSON{}, nil, err
	}
	if len(list) == 0 {
		return sessionJSON{}, nil, exit.Inputf("nobody can be asked about %s: %s", v.Key, noSession(r, v))
	}
	s := list[a.which.best(list)]
	program, ok := crew.ProgramOf(s.Kind)
	if !ok {
		return s, nil, exit.Inputf("agent %s cannot be asked: %s", s.Agent, s.Cannot)
	}
	cannot := program.Describe().Cannot
	key := words.QuoteArg(string(v.Key))
	if why, no := cannot[executor.CanResume]; no {
		return s, nil, exit.Inputf("agent %s cannot be asked: it does not go on with its sessions (%s).\n  What it printed: ralph log %s%s", s.Agent, why, key, r.About())
	}
	why, no := cannot[executor.CanFork]
	switch {
	case no && !a.inSession:
		return s, nil, exit.Inputf("agent %s cannot work in a copy of its session (%s).\n  To ask in the session itself, of which the question then is a part: ralph ask %s … --in-session%s", s.Agent, why, key, r.About())
	case a.inSession && r.Held && v.Status == executor.Running:
		return s, nil, exit.Inputf("%s is at work now, so nothing can be asked in a session of it.\n  Ask a copy (without --in-session), or wait until it has ended", v.Key)
	}
	return s, program, nil
}

// askAgent lets the agent of a session answer a question, in a directory that nobody
// else uses. What it says meanwhile goes to a terminal; said is all that went there.
func askAgent(r *record.Record, ctx context.Context, v machine.NodeView, s sessionJSON, program executor.Program, question string, a *askArgs, out io.Writer) (answer []byte, said string, err error) {
	commit := s.commit
	if commit == "" {
		commit = r.Run.Base().Commit
		for _, at := range v.Attempts {
			if at.Step == s.Step && at.Number == s.Attempt {
				commit = cmp.Or(at.From, commit)
			}
		}
	}
	dir, remove, err := r.Space.Aside(ctx, v.ID, commit)
	if err != nil {
		return nil, "", exit.Inputf("%w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	files, err := regular.MkdirTemp("ralph-ask-")
	if err != nil {
		return nil, "", exit.Inputf("%w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	run := asking(r, v, s, question, commit)
	run.Dir, run.Files, run.Keep, run.Fork, run.Answer = dir, files, files, !a.inSession, &answer
	if a.inSession { // what the session cost so far stands there
		run.Keep = r.Keep()
	}
	run.Step.Limits.TimeoutMS = a.timeout.Milliseconds()
	var live *tail
	if term.IsTerminal(out) {
		live = followFile(runner.File(run, runner.OutExt), out)
	}
	ended, err := mcp.Inner(program).Run(ctx, run) // without the outcome channel: nothing is reported
	if live != nil {
		said = live.end()
	}
	return answer, said, askFailed(run, ended, err)
}

// asking is the turn that answers.
func asking(r *record.Record, v machine.NodeView, s sessionJSON, question, commit string) executor.AgentRun {
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
		Runner: r.Epic.Runners[agent.Runner], Effect: executor.Effect{Kind: executor.EffectAgent, Node: v.ID, Step: s.Step, Attempt: s.Attempt, Session: s.Session},
		Epic: r.Epic.Epic.ID, Name: "ask", Env: r.Epic.Run.Worktree.Env, Read: true, Raw: true, Human: ir.HITL{},
		Prompt: fmt.Appendf(nil, `A person asks you about your work on sprint %s (%s). Answer in plain text, and do nothing else: change no file, report no outcome.
Your current directory holds commit %.12s of it, and nothing that came later.

%s
`, n.Key, n.Title, commit, strings.TrimSpace(question)),
	}
}

// agentTextOf is what an agent was told to be: the copy that the run made.
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

// askFailed is the error that says why there is no answer.
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
		return exit.Inputf("the program of agent %s does not know session %s any more: %w", run.Agent, run.Effect.Session, err)
	case errors.As(err, &f) && f.Class == executor.FailLimit && f.Until != "":
		return exit.Inputf("%w (until %s)", err, f.Until)
	}
	return exit.Inputf("no answer: %w", err)
}

// sayAnswer prints the answer, unless the terminal has it already.
func sayAnswer(out io.Writer, answer []byte, said string) error {
	text := strings.TrimSpace(reveal.Words(string(answer)))
	if text == "" && strings.TrimSpace(said) == "" {
		return exit.Inputf("the agent ended without an answer")
	}
	if strings.HasSuffix(squeezed(said), squeezed(text)) {
		return nil
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// squeezed is a text without its white space.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

// tail prints what is written to a file as it comes.
type tail struct {
	path string
	out  io.Writer
	said strings.Builder
	stop chan struct{}
	work sync.WaitGroup
}

func followFile(path string, out io.Writer) *tail {
	t := &tail{path: path, out: out, stop: make(chan struct{})}
	t.work.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.stop:
				t.more(true)
				return
			case <-tick.C:
				t.more(false)
			}
		}
	})
	return t
}

// more prints the whole lines that came; at last also one without an end.
func (t *tail) more(last bool) {
	b, err := readPart(t.path, int64(t.said.Len()), 1<<20)
	if err != nil {
		return // not there yet
	}
	if !last {
		b = b[:bytes.LastIndexByte(b, '\n')+1]
	}
	t.said.Write(b)
	text := reveal.Words(string(b))
	if last && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(t.out, text) // the answer is printed with its error
}

// end waits for the rest and returns all that was printed.
func (t *tail) end() string {
	close(t.stop)
	t.work.Wait()
	return t.said.String()
}
