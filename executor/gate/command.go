package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
)

// Command runs command gates. It may be used concurrently.
type Command struct {
	Without []string // variables that no gate gets: the epic's secrets
	Cap     int64    // bytes kept of each output; 0 is 64 MiB
	Grace   time.Duration
}

var _ executor.Gate = Command{}

// Mark is the variable by which the processes of a gate are found again, even
// after ralph was killed: its value is a file in the attempt's directory.
const Mark = "RALPH_GATE"

// Judge implements executor.Gate. A program that ran is judged, whatever its
// exit code; only what ralph itself could not do is an error.
func (c Command) Judge(ctx context.Context, r executor.GateRun) (executor.GateJudged, error) {
	out := executor.GateJudged{Gate: r.Name, Verdict: executor.ErrorJudged, Tests: "skip"}
	line, err := fill(r.Gate.Run, r, true)
	if err != nil {
		out.Message = err.Error()
		return out, nil
	}
	base := filepath.Join(r.Files, "gate-"+fileName(r.Name))
	stdout, stderr := base+".log", base+".log"
	if r.Gate.Expect.StdoutContains != "" || r.Gate.Expect.StderrContains != "" {
		stdout, stderr = base+".out", base+".err"
	}
	set := map[string]string{
		"RALPH_EPIC": string(r.Epic), "RALPH_NODE": string(r.Node.Key), "RALPH_ID": string(r.Node.ID),
		"RALPH_STEP": r.Effect.Step, "RALPH_ATTEMPT": strconv.Itoa(r.Effect.Attempt), "RALPH_BRANCH": r.Node.Git.Branch,
	}
	maps.Copy(set, r.Env)
	for k, v := range r.Gate.Env {
		if set[k], err = fill(v, r, false); err != nil {
			out.Message = err.Error()
			return out, nil
		}
	}
	set[Mark] = base
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", line}, Dir: r.Dir, Env: process.Environ(c.Without, set),
		Stdout: stdout, Stderr: stderr, Cap: c.Cap, Grace: c.Grace, Mark: Mark,
		Time: time.Duration(r.Gate.TimeoutMS) * time.Millisecond,
	})
	if err != nil {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out.Message = clip("the shell could not be started: "+err.Error(), executor.MaxNote)
		return out, nil
	}
	out.Millis = res.Took.Milliseconds()
	why, err := judge(r, res, stdout, stderr)
	if err != nil {
		out.Message = clip(err.Error(), executor.MaxNote)
		return out, nil
	}
	if why == "" {
		out.Verdict, out.Tests = executor.Pass, "pass"
		return out, nil
	}
	out.Verdict, out.Tests = executor.Fail, "fail"
	text, err := tail(stdout, stderr)
	if err != nil {
		out.Message = clip(err.Error(), executor.MaxNote)
		return out, nil
	}
	headline := why
	if l := lastLine(text); l != "" {
		headline += ": " + clip(l, 160)
	}
	out.Message = clip(headline+"\n"+text, executor.MaxNote)
	out.Signature, err = signature(why, stdout, stderr)
	return out, err
}

// judge compares what the command did with what is expected; all must hold. It
// returns why it failed, "" if it passed.
func judge(r executor.GateRun, res process.Result, stdout, stderr string) (string, error) {
	want := r.Gate.Expect
	switch {
	case res.How == process.TimedOut:
		return fmt.Sprintf("it did not end within %s", time.Duration(r.Gate.TimeoutMS)*time.Millisecond), nil
	case res.How == process.Signaled:
		return fmt.Sprintf("it was killed by signal %d (%s)", res.Signal, res.Signal), nil
	case res.Code != want.ExitCode && want.ExitCode == 0:
		return fmt.Sprintf("exit code %d", res.Code), nil
	case res.Code != want.ExitCode:
		return fmt.Sprintf("exit code %d, not %d as expected", res.Code, want.ExitCode), nil
	}
	for _, x := range []struct{ what, text, path string }{
		{"stdout", want.StdoutContains, stdout}, {"stderr", want.StderrContains, stderr},
	} {
		if x.text == "" {
			continue
		}
		has, err := holds(x.path, x.text)
		if err != nil {
			return "", err
		}
		if !has {
			return fmt.Sprintf("its %s does not contain %q", x.what, x.text), nil
		}
	}
	return "", nil
}

// holds reports whether a file contains text, reading it in pieces.
func holds(path, text string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf := make([]byte, 0, 64<<10+len(text))
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, []byte(text)) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if keep := len(text) - 1; len(buf) > keep {
			buf = append(buf[:0], buf[len(buf)-keep:]...)
		}
	}
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

// lastLine is the last line of output that says something.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// fill puts values for ${run.name} into the command (quoted for the shell: a
// branch name is text, never code) or into a variable's value.
func fill(text string, r executor.GateRun, quoted bool) (string, error) {
	values := map[string]string{
		"worktree": r.Dir, "branch": r.Node.Git.Branch, "attempt": strconv.Itoa(r.Effect.Attempt),
	}
	out, err := executor.Fill(text, func(name string) (string, bool) {
		v, ok := values[name]
		if ok && quoted {
			v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
		}
		return v, ok
	})
	if err != nil {
		return "", fmt.Errorf("gate %s: %w (a command gate knows worktree, branch and attempt)", r.Name, err)
	}
	return out, nil
}

// fileName makes a gate's name fit for a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
