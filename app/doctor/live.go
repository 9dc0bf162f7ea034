package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/app/run"
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
	turn := c.about(name, "", "")
	turn.Model, turn.Alias = c.models[name].ID, c.models[name]
	ended, reported, took, err := c.greet(ctx, &turn, by)
	model := cmp.Or(c.models[name].ID, "the program's own model")
	if ended.Model != "" {
		model = ended.Model
	}
	f.Detail = fmt.Sprintf("%s, %s; %s", model, words.Brief(took), spentOn(ended.Usage))
	if w := turn.Wall; w != nil {
		f.Detail += fmt.Sprintf("; in sandbox %q (%s)", w.Name, w.Kind)
	}
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

// greet runs the turn in its sandbox, in directories that are removed afterwards.
func (c *configured) greet(ctx context.Context, turn *executor.AgentRun, by executor.Runner) (ended executor.AgentEnded, reported json.RawMessage, took time.Duration, err error) {
	for _, dir := range []*string{&turn.Dir, &turn.Files} {
		if *dir, err = regular.MkdirTemp("ralph-hello-"); err != nil {
			return ended, nil, 0, err
		}
		defer func() { err = errors.Join(err, regular.RemoveAllOwn(*dir)) }()
	}
	if turn.Wall, err = run.GreetingWall(ctx, c.epic, turn.Agent, turn.Dir, turn.Files); err != nil {
		return ended, nil, 0, err
	}
	turn.Name, turn.Prompt, turn.Read, turn.Keep, turn.Reported = "agent-1", []byte(helloPrompt), true, turn.Files, &reported
	turn.Step = &ir.Step{Name: "hello", Agent: "hello", Access: "read", Session: "fresh", Limits: ir.StepLimits{Iterations: 1, Attempts: 1, TimeoutMS: helloTime.Milliseconds()}}
	turn.Effect = executor.Effect{Kind: executor.EffectAgent, Node: turn.Node.ID, Step: "hello", Attempt: 1, Iteration: 1}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, helloTime+15*time.Second) // the turn's own clock comes first
	defer cancel()
	ended, err = by.Run(ctx, *turn)
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
