package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/ir"
)

// asProgram makes the ralph of these tests run commands as programs with sessions.
// Its value says what they cannot do: "fork", or nothing.
const asProgram = "RALPH_TEST_PROGRAM"

// withPrograms heeds asProgram; the test's own binary calls it.
func withPrograms() {
	if cannot, ok := os.LookupEnv(asProgram); ok {
		run.AlsoRunners = func(epic *ir.Epic) map[string]executor.Runner {
			return map[string]executor.Runner{"command": sessions{&command.Runner{Base: runner.Base{Secrets: epic.Secrets}}, cannot}}
		}
	}
}

// sessions is the command runner as a program with sessions: their handles name
// what they are of. The program is told its session in $SESSION.
type sessions struct {
	*command.Runner
	cannot string
}

var _ executor.Program = sessions{}

func (p sessions) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	e := r.Effect
	handle := e.Session
	switch {
	case handle == "" && e.Gate != "":
		handle = fmt.Sprintf("ses-%s-%s-%d", r.Node.Key, e.Gate, e.Attempt)
	case handle == "":
		handle = fmt.Sprintf("ses-%s-%s-%d", r.Node.Key, e.Step, e.Attempt)
	case r.Fork:
		handle += "-fork"
	}
	if r.Record != nil {
		err := r.Record(ctx, executor.AgentSession{Session: handle, Agent: r.Agent, Turn: r.Turn(), Gate: e.Gate, Fresh: e.Session == ""})
		if err != nil {
			return executor.AgentEnded{}, err
		}
	}
	set := map[string]string{"SESSION": handle}
	for k, v := range r.Runner.Set {
		set[k] = v
	}
	r.Runner.Set = set
	ended, err := p.Runner.Run(ctx, r)
	ended.Session = handle
	if said, rerr := os.ReadFile(r.Files + "/spoken"); rerr == nil && r.Record != nil { // a person spoke, the script says
		if rerr := os.Remove(r.Files + "/spoken"); rerr != nil {
			return ended, rerr
		}
		ended.End = executor.EndTakenOver
		if rerr := r.Record(ctx, executor.HumanSpoke{Session: handle, Said: time.Now().UTC(), Text: strings.TrimSpace(string(said))}); rerr != nil {
			return ended, rerr
		}
	}
	return ended, err
}

func (p sessions) Describe() executor.Description {
	d := executor.Description{Name: "sh", Tested: ">= 1.0, < 2", Cannot: map[executor.Capability]string{executor.CanTools: "it is a shell"}}
	if p.cannot != "" {
		d.Cannot[executor.Capability(p.cannot)] = "it is a test"
	}
	return d
}

func (sessions) Version(context.Context, executor.AgentRun) (string, error) { return "2.5", nil }

func (sessions) Natives(_ context.Context, r executor.AgentRun) ([]executor.Native, error) {
	return nil, nil
}

// Join needs to be told where the run's programs are, as OpenCode does: a person
// joins the one that is at work.
func (p sessions) Join(r executor.AgentRun, session string) executor.Join {
	if p.cannot == "join" || !strings.HasSuffix(r.Keep, "/runners") {
		return executor.Join{}
	}
	return executor.Join{Argv: []string{"sh", "--resume", session, "it's"}}
}
