package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// helloTime bounds a hello turn.
const helloTime = time.Minute

// helloPrompt asks for a report and nothing else.
const helloPrompt = `This is a test of the connection between ralph and you. Change nothing and look at nothing.
Call the tool report_outcome once, with {"result": "success", "summary": "hello"}. Then end your turn with the word hello.
If you have no such tool, say so.
`

// hello lets a runner do a turn in an empty directory, with the model that it is
// configured for, and looks at how its report came back.
func (c *configured) hello(ctx context.Context, name string, by executor.Runner) Finding {
	f := Finding{Name: "hello " + name, State: "error"}
	ended, reported, took, err := c.turn(ctx, name, by)
	model := cmp.Or(c.models[name].ID, "the program's own model")
	if ended.Model != "" {
		model = ended.Model
	}
	f.Detail = fmt.Sprintf("%s, %s; %s", model, words.Brief(took), spentOn(ended.Usage))
	var fail *executor.Failure
	switch {
	case errors.As(err, &fail) && fail.Class == executor.FailLimit && fail.Until != "":
		f.Hint = fmt.Sprintf("%v (until %s)", err, fail.Until)
	case err != nil:
		f.Hint = err.Error()
	case ended.End != executor.EndExited:
		f.Hint = fmt.Sprintf("it gave no answer within %s (%s)", helloTime, ended.End)
	case ended.ExitCode != 0:
		f.Hint = fmt.Sprintf("it ended with exit code %d: %s", ended.ExitCode, ended.Tail)
	case len(reported) > 0 && ended.Outcome.Result == "success":
		f.State = "ok"
		f.Detail += "; report_outcome came back"
	case ended.Outcome.Result == "success":
		f.State = "warning"
		f.Hint = "it reported success, but not with the tool report_outcome: outcomes will be read from files and last messages"
	case ended.Outcome.Invalid != "":
		f.State = "warning"
		f.Hint = "it answered, but reported nothing: " + ended.Outcome.Invalid
	default:
		f.State = "warning"
		f.Hint = fmt.Sprintf("it answered, and reported %q", ended.Outcome.Result)
	}
	return f
}

// turn runs the hello turn in directories that are removed afterwards.
func (c *configured) turn(ctx context.Context, name string, by executor.Runner) (ended executor.AgentEnded, reported json.RawMessage, took time.Duration, err error) {
	dir, err := regular.MkdirTemp("ralph-hello-")
	if err != nil {
		return ended, nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files, err := regular.MkdirTemp("ralph-hello-files-")
	if err != nil {
		return ended, nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(files)) }()
	run := c.about(name, dir, files)
	run.Name, run.Prompt, run.Read, run.Keep, run.Reported = "agent-1", []byte(helloPrompt), true, files, &reported
	run.Model, run.Alias = c.models[name].ID, c.models[name]
	run.Step = &ir.Step{Name: "hello", Agent: "hello", Access: "read", Session: "fresh", Limits: ir.StepLimits{Iterations: 1, Attempts: 1, TimeoutMS: helloTime.Milliseconds()}}
	run.Effect = executor.Effect{Kind: executor.EffectAgent, Node: run.Node.ID, Step: "hello", Attempt: 1, Iteration: 1}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, helloTime+15*time.Second) // the turn's own clock comes first
	defer cancel()
	ended, err = by.Run(ctx, run)
	return ended, reported, time.Since(begun), err
}

// spentOn is what a turn cost, in words.
func spentOn(u executor.Usage) string {
	return spentWords(u.Tokens, words.Tokens) + ", " + spentWords(u.USDMicro, words.Money)
}

func spentWords(n *int64, words func(int64, bool) string) string {
	if n == nil {
		return words(0, false)
	}
	return words(*n, true)
}
