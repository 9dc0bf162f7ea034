package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Command runs command gates. It may be used concurrently.
type Command struct {
	Cap    int64 // bytes kept of each output; 0 is 64 MiB
	Grace  time.Duration
	Filter func(io.Writer) io.WriteCloser // takes secrets out of what is kept; nil: nothing is taken
}

var _ executor.Gate = Command{}

// Mark is the variable by which a gate's processes are found again, even after ralph was
// killed: its value is a file in the attempt's directory.
const Mark = "RALPH_GATE"

// Judge implements executor.Gate. A program that ran is judged, whatever its
// exit code; only what ralph itself could not do is an error.
func (c Command) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	out, err := c.run(ctx, r)
	if _, known := errors.AsType[*executor.Failure](err); err != nil && !known && ctx.Err() == nil {
		out = executor.GateJudged{Gate: r.Name, Verdict: executor.ErrorJudged, Tests: "skip", Message: text.Head(err.Error(), executor.MaxNote)}
		err = nil
	}
	out.Bound()
	return out, err
}

func (c Command) run(ctx context.Context, r executor.GateRun) (out executor.GateJudged, err error) {
	line, err := fill(r.Gate.Run, r, true)
	if err != nil {
		return out, err
	}
	if err := regular.MkdirOwn(r.Files); err != nil {
		return out, err
	}
	base, expect := filepath.Join(r.Files, turn(r)), r.Gate.Expect
	stdout, stderr := base+".log", base+".log"
	if expect.StdoutContains != "" || expect.StderrContains != "" {
		stdout, stderr = base+".out", base+".err"
	}
	env, err := environ(r, base)
	if err != nil {
		return out, err
	}
	wants := [2]needle{{text: []byte(expect.StdoutContains)}, {text: []byte(expect.StderrContains)}}
	pulse := process.NewPulse(func(n int64, line string) {
		if r.Activity != nil {
			r.Activity(executor.Activity{Bytes: n, Line: line})
		}
	})
	defer pulse.End()
	begun := time.Now()
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", line}, Dir: r.Dir, Env: env,
		Stdout: stdout, Stderr: stderr, Cap: c.Cap, Grace: c.Grace, Filter: c.Filter, Mark: Mark, Wall: sandbox.Of(r.Wall),
		Time: time.Duration(r.Gate.TimeoutMS) * time.Millisecond,
		Tap: func(isErr bool, b []byte) { // each needle is told of its own output alone
			pulse.Heard(isErr, b)
			if isErr {
				wants[1].heard(b)
			} else {
				wants[0].heard(b)
			}
		},
	})
	if ctx.Err() != nil && err != nil {
		return out, ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("the shell could not be started: %w", err)
		if _, lasting := errors.AsType[*process.NotStarted](err); lasting {
			err = &executor.Failure{Class: executor.FailConfig, Err: err}
		}
		return out, err
	}
	out = executor.GateJudged{Gate: r.Name, Verdict: executor.Pass, Millis: res.Took.Milliseconds()}
	why := judge(r.Gate, res, wants[0].found, wants[1].found)
	found := found{env: env, Command: line, ExitCode: &res.Code, Stdout: stdout, Stderr: stderr}
	results := readResults(r.Dir, begun, r.Redact, slices.Compact([]string{stdout, stderr})...)
	return out, c.complete(&out, r, why, results, found)
}

// environ is the environment of a gate's command, whose files begin with base.
func environ(r executor.GateRun, base string) (env []string, err error) {
	set := map[string]string{
		"RALPH_EPIC": string(r.Epic), "RALPH_NODE": string(r.Node.Key), "RALPH_ID": string(r.Node.ID),
		"RALPH_STEP": r.Effect.Step, "RALPH_ATTEMPT": strconv.Itoa(r.Effect.Attempt), "RALPH_BRANCH": r.Node.Git.Branch,
	}
	maps.Copy(set, r.Env)
	for k, v := range r.Gate.Env {
		if set[k], err = fill(v, r, false); err != nil {
			return nil, err
		}
	}
	if err := process.Secrets(set, r.Secrets); err != nil {
		return nil, &executor.Failure{Class: executor.FailConfig, Err: fmt.Errorf("gate %s: %w", r.Name, err)}
	}
	set[Mark] = base
	return process.Environ(set), nil
}

// Visit is the environment of a program that a person starts where a gate's command runs.
// Secrets that this ralph was not given are left out.
func Visit(r executor.GateRun) ([]string, error) {
	r.Secrets = maps.Clone(r.Secrets)
	maps.DeleteFunc(r.Secrets, func(_, variable string) bool {
		_, given := os.LookupEnv(variable)
		return !given
	})
	env, err := environ(r, "")
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, Mark+"=") }), err
}

// complete fills in what the verdict is, what it found and what proves it.
func (c Command) complete(out *executor.GateJudged, r executor.GateRun, why string, s *results, f found) (err error) {
	s.hear(r.Dir, slices.Compact([]string{f.Stdout, f.Stderr})...)
	if why != "" {
		out.Verdict = executor.Fail
		s.printed(f.Stdout, f.Stderr)
		if out.Message, err = feedback(why, s, f.Stdout, f.Stderr); err != nil {
			return err
		}
		out.Message = f.hidden() + out.Message
		if out.Signature, err = signature(why, s.failed, f.Stdout, f.Stderr); err != nil {
			return err
		}
	}
	s.into(out)
	if why == "" && s.counts.Failed > 0 {
		out.Message = fmt.Sprintf("%d tests failed, and yet the command did what is expected of it: does it lose its exit code?", s.counts.Failed)
	}
	if err := s.keepTests(r); err != nil {
		return err
	}
	out.Evidence, err = evidence(r, *out, f)
	return err
}

// judge compares what the command did with what is expected; all must hold. It
// returns why it failed, "" if it passed.
func judge(g ir.Gate, res process.Result, saidOut, saidErr bool) string {
	want := g.Expect
	switch {
	case res.How == process.TimedOut:
		return fmt.Sprintf("it did not end within %s", time.Duration(g.TimeoutMS)*time.Millisecond)
	case res.How == process.Signaled:
		return fmt.Sprintf("it was killed by signal %d (%s)", res.Signal, res.Signal)
	case res.Code != want.ExitCode && want.ExitCode == 0:
		return fmt.Sprintf("exit code %d", res.Code)
	case res.Code != want.ExitCode:
		return fmt.Sprintf("exit code %d, not %d as expected", res.Code, want.ExitCode)
	case want.StdoutContains != "" && !saidOut:
		return fmt.Sprintf("its stdout does not contain %q", want.StdoutContains)
	case want.StderrContains != "" && !saidErr:
		return fmt.Sprintf("its stderr does not contain %q", want.StderrContains)
	}
	return ""
}

func tail(stdout, stderr string) (string, error) {
	size := int64(executor.MaxNote - 200)
	if stdout == stderr {
		return process.Tail(stdout, size)
	}
	a, err := process.Tail(stdout, size/2)
	if err != nil {
		return "", err
	}
	b, err := process.Tail(stderr, size/2)
	return strings.TrimSpace(a) + "\n" + strings.TrimSpace(b), err
}

// fill puts values for ${run.name} into the command (quoted for the shell: a
// branch name is text, never code) or into a variable's value.
func fill(text string, r executor.GateRun, quoted bool) (string, error) {
	values := map[string]string{
		"worktree": r.Dir, "branch": r.Node.Git.Branch, "attempt": strconv.Itoa(r.Effect.Attempt),
	}
	var odd error
	out, err := executor.Fill(text, func(name string) (string, bool) {
		v, ok := values[name]
		if ok && quoted {
			if !shellword.Plain(v) && !bare(text, "${run."+name+"}") {
				odd = fmt.Errorf("run.%s is %q, which a shell reads as more than a word, and is within quotes, in a here-document or behind a backslash. Write ${run.%[1]s} without quotes, or give it as a variable: env = { VALUE = \"${run.%[1]s}\" }", name, v)
			}
			if v == "" || !shellword.Plain(v) {
				v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
			}
		}
		return v, ok
	})
	if odd != nil {
		return "", fmt.Errorf("gate %s: %w", r.Name, odd)
	}
	if err != nil {
		return "", fmt.Errorf("gate %s: %w (a command gate knows worktree, branch and attempt)", r.Name, err)
	}
	return out, nil
}

// turn is the base name of the files of a judgement. What a red_first gate found
// before the work stays beside what it found after it.
func turn(r executor.GateRun) string {
	if r.Effect.Kind == executor.EffectRed {
		return "red-" + text.FileName(r.Name)
	}
	return "gate-" + text.FileName(r.Name)
}
