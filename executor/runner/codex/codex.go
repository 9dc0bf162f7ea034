package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lines"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Runner runs Codex CLI, a process for each turn. It is stateless and may be used
// concurrently.
type Runner struct {
	Base runner.Base // how it runs its program

	// Patience is how long Codex may do nothing but wait for a network that is gone or
	// for a rate limit to end; 0 is 5 minutes.
	Patience time.Duration
	// Linger is how long Codex may take to end after its final word; 0 is 15 s.
	Linger time.Duration
}

var _ executor.Program = Runner{}

// program is what is run if the runner's block names nothing else.
const program = "codex"

// Describe implements executor.Program.
func (Runner) Describe() executor.Description {
	return executor.Description{
		Name: "codex", Tested: ">= 0.169.0, < 0.170",
		Cannot: map[executor.Capability]string{
			executor.CanCost:     "Codex says how many tokens a turn took, never what they cost: the model's price is used",
			executor.CanTakeover: "`codex exec` does not report a person writing in its session",
			executor.CanRead:     "Codex edits files with its shell, which a QA agent needs; what it changes is undone afterwards",
			executor.CanSystem:   "the text of the agent is before the prompt",
		},
	}
}

// Check implements executor.Runner: the program and the agent's profile must exist.
func (c Runner) Check(_ context.Context, r executor.AgentRun) error {
	if _, err := runner.Limits(r.Runner.LimitedWhen); err != nil {
		return err
	}
	if _, err := c.Base.Look(r, program); err != nil {
		return err
	}
	env, err := c.Base.Env(r, nil)
	if err != nil {
		return err
	}
	return checkProfile(r, env)
}

// Join implements executor.Program.
func (c Runner) Join(r executor.AgentRun, session string) executor.Join {
	argv, err := c.Base.Argv(r, program)
	if err != nil || session == "" {
		return executor.Join{}
	}
	if r.Wall != nil { // its own sandbox does not nest
		argv = append(argv, "-s", confined(r))
	}
	return executor.Join{Argv: append(argv, "resume", session)}
}

// Run implements executor.Runner.
func (c Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	limited, err := runner.Limits(r.Runner.LimitedWhen)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	temp := tempDir(r)
	also := map[string]string{"TMPDIR": temp}
	if r.Tools != nil {
		also[tokenVar] = r.Tools.Token
	}
	argv, env, err := c.Base.Program(r, also, program)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	if err := checkProfile(r, env); err != nil {
		return executor.AgentEnded{}, err
	}
	if err := makeTemp(temp); err != nil {
		return executor.AgentEnded{}, err
	}
	defer os.RemoveAll(temp)
	t, err := c.Base.Begin(ctx, r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	return t.End(c.turn(t, r, argv, env, limited))
}

// turn runs the program and says how that ended. It starts it anew where its tools would
// all fail: see links.go.
func (c Runner) turn(t *runner.Turn, r executor.AgentRun, argv, env []string, limited *runner.Limit) runner.End {
	var others []string
	if r.Wall == nil { // inside, there are none of the user's
		var err error
		if others, err = c.servers(t.Context(), r, argv, env); err != nil {
			return runner.End{Err: err}
		}
	}
	for n := 1; ; n++ {
		out, again := c.once(t, r, append(slices.Clip(argv), flags(r, others)...), env, limited)
		if !again || n == starts {
			return out
		}
		t.Say("[ralph] Codex is restarted: " + out.Err.Error())
		select {
		case <-t.Context().Done():
			return out
		case <-time.After(pause()):
		}
	}
}

// once starts the program and says how that ended, and whether it is to be started anew.
func (c Runner) once(t *runner.Turn, r executor.AgentRun, argv, env []string, limited *runner.Limit) (out runner.End, again bool) {
	stdin, err := openPrompt(r)
	if err != nil {
		return runner.End{Err: err}, false
	}
	defer stdin.Close()
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	s := &stream{turn: t, end: end, patience: cmp.Or(c.Patience, 5*time.Minute), linger: cmp.Or(c.Linger, 15*time.Second)}
	stdout := &lines.Cutter{Max: maxLine, Each: s.hear}
	spec := runner.SpecOf(t, argv, env)
	links := &linkWatch{end: end}
	spec.Stdin, spec.Tap = stdin, func(stderr bool, b []byte) {
		switch {
		case !stderr:
			_, _ = stdout.Write(b)
		case sandboxed(r):
			links.hear(b)
		}
	}
	spec.Alone = true // it ends its tools in good order
	res, err := process.Run(ctx, spec)
	err = errors.Join(err, stdout.Close())
	s.stop()
	out = runner.End{Final: s.final && s.failed == "", Answer: s.answer, Code: res.Code, Usage: s.used(r)}
	cause := context.Cause(ctx)
	if errors.Is(cause, errLingers) {
		err, cause = nil, nil
	}
	switch {
	case t.Context().Err() != nil:
	case errors.Is(cause, errNoLinks):
		out.Err, again = links.failure()
		again = again && s.thread == ""
		out.Err = c.named(r, out.Err)
	case err != nil && cause != nil && !errors.Is(cause, context.Canceled): // our own reason to end it
		out.Err = c.named(r, cause)
	case err != nil:
		out.Err = runner.CannotRun(r, err)
	case out.Final:
	case limited.Matches(r, res):
		out.Err = limited.Failure(r, c.Base.Time())
	default:
		f := s.failure(r, res, c.Base.Time())
		if f == nil {
			out.Died = died(r, res)
			break
		}
		out.Err = c.named(r, f)
	}
	return out, again
}

// named says whose failure it was, without secrets.
func (c Runner) named(r executor.AgentRun, err error) error {
	f, ok := errors.AsType[*executor.Failure](err)
	if !ok {
		return err
	}
	said := clip(c.Base.Plain(executor.Clean(f.Err.Error())), 600)
	err = fmt.Errorf("agent %s: %s", runner.AgentOf(r), said)
	if f.Class == executor.FailConfig && unauthorized(said) {
		err = runner.Unauthorized(r, err)
	}
	return &executor.Failure{Class: f.Class, Until: f.Until, Err: err}
}

// died says how the program ended without a final word.
func died(r executor.AgentRun, res process.Result) string {
	said := runner.Died(res)
	if res.How == process.Signaled {
		return said
	}
	said += " and without a final word"
	if last := lastError(r); last != "" {
		said += ": " + clip(last, 300)
	}
	return said
}

// clip is the beginning of a text, at most n bytes of it.
func clip(s string, n int) string { return text.Clip(strings.TrimSpace(s), n) }
