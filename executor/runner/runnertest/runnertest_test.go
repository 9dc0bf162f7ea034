package runnertest_test

import (
	"os"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/runner/command"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/ir"
)

// commandAgent is the runner of kind command with a small agent: this program.
var commandAgent = runnertest.Agent{
	Kind:  "command",
	Quiet: 2 * time.Second,
	New:   func(b runner.Base) executor.Runner { return &command.Runner{Base: b} },
	Config: func(_, base string) ir.Runner {
		return ir.Runner{
			Kind: "command", Run: []string{os.Args[0]}, Prompt: "stdin", Outcome: "optional",
			Set: map[string]string{smallVar: base}, LimitedWhen: &ir.LimitedWhen{Output: "rate limit"},
		}
	},
}

func TestMain(m *testing.M) {
	if base := os.Getenv(smallVar); base != "" {
		os.Exit(small(base))
	}
	runnertest.Main(m, commandAgent)
}

// S4-55, S4-56; the suite of all runners, with a program as the agent.
func TestCommand(t *testing.T) { runnertest.Run(t, commandAgent) }
