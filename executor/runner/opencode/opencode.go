package opencode

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// Runner runs agents in sessions of OpenCode's server. It owns the servers it starts:
// Close ends them. The zero value with a Base is ready; it may be used concurrently and
// must not be copied.
type Runner struct {
	Base runner.Base // how it runs its program

	// Patience bounds how long a turn waits for a model that says that it is too busy
	// (a rate limit) when it says how long that takes; longer waits end the turn as a
	// limit. 0 is one minute.
	Patience time.Duration
	// Tries is how often OpenCode may ask a model again that fails, before the turn
	// ends; it would go on for minutes. 0 is 3.
	Tries int

	wg    sync.WaitGroup
	stale sync.Once

	mu      sync.Mutex          // guards the rest
	slots   map[string]*slot    // by plan: where new turns go
	servers map[*server]bool    // that were started and have not ended
	off     map[string][]string // MCP servers of the user's that were seen, by plan
	closed  bool
}

var _ executor.Program = (*Runner)(nil)

// program is what is run if the runner's block names nothing else.
const program = "opencode"

// Describe implements executor.Program.
func (c *Runner) Describe() executor.Description {
	return executor.Description{Name: "opencode", Tested: ">= 1.18.0, < 1.19", Cannot: map[executor.Capability]string{}}
}

// Check implements executor.Runner: the program must exist, and the model must name its
// provider.
func (c *Runner) Check(_ context.Context, r executor.AgentRun) error {
	if _, err := modelOf(runner.ModelOf(r), r.Alias.Provider); err != nil {
		return runner.Configuration(fmt.Errorf("agent %s: %w", runner.AgentOf(r), err))
	}
	_, err := c.Base.Look(r, program)
	return err
}

// Version implements executor.Program.
func (c *Runner) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	return c.Base.SaysVersion(ctx, r, program)
}
