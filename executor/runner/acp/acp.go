package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Runner runs programs that speak ACP. It is stateless and may be used concurrently.
type Runner struct {
	Base runner.Base // how it runs its program

	patience time.Duration // see opening
}

var _ executor.Program = Runner{}

// opening is how long a program may take until its session is open. It is long: a
// program that is started by an installer, such as npx, is fetched first.
const opening = 5 * time.Minute

func (p Runner) opening() time.Duration { return cmp.Or(p.patience, opening) }

// errNoProgram says what has to be written.
func errNoProgram(r executor.AgentRun) error {
	return runner.Configuration(fmt.Errorf("agent %s: a runner of kind acp names the program that speaks ACP; write run = [\"opencode\", \"acp\"]", runner.AgentOf(r)))
}

// Check implements executor.Runner: the program must be named and exist.
func (p Runner) Check(_ context.Context, r executor.AgentRun) error {
	if len(r.Runner.Run) == 0 {
		return errNoProgram(r)
	}
	if _, err := runner.Limits(r.Runner.LimitedWhen); err != nil {
		return err
	}
	_, err := p.Base.Look(r)
	return err
}

// Describe implements executor.Program. It describes what holds for every program.
func (Runner) Describe() executor.Description {
	return executor.Description{
		Name: "acp",
		Cannot: map[executor.Capability]string{
			executor.CanNative:   "the protocol does not list agents; a slug chooses the session's mode of that name",
			executor.CanTokens:   "some programs (OpenCode) tell only the tokens of a turn's last request; then they are unknown",
			executor.CanTakeover: "the protocol does not say who wrote a message",
			executor.CanRead:     "the protocol takes no tools away; edits are refused where the program asks, and the tree is checked afterwards",
			executor.CanSystem:   "the protocol has no system prompt; the text is before the prompt",
			executor.CanLimits:   "a program that retries by itself (OpenCode) does not report that it hit a limit; one that gives up does",
			executor.CanRefuse:   "what is refused is refused, but some programs (OpenCode) end their turn then",
			executor.CanJoin:     "the protocol names no command that opens a session for a person",
		},
	}
}

// Version implements executor.Program: the program answers it to initialize.
func (p Runner) Version(ctx context.Context, r executor.AgentRun) (string, error) {
	if len(r.Runner.Run) == 0 {
		return "", errNoProgram(r)
	}
	room, err := p.room(r)
	if err != nil {
		return "", err
	}
	defer room.leave()
	tmp, err := regular.MkdirTemp("ralph-acp-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // it is the system's temporary directory
	spec := p.Base.Spec(r, room.argv, room.env, nil)
	spec.Stderr = filepath.Join(tmp, "stderr")
	for try := 1; ; try++ {
		prog, err := start(ctx, spec, listener{})
		if err != nil {
			return "", err
		}
		v, err := p.versionOf(ctx, prog)
		prog.stop()
		switch {
		case try == 1 && prog.endedItself(err): // as in turn.stillborn
		case errors.Is(err, errGone):
			why := ""
			if said, err := process.Tail(spec.Stderr, 4<<10); err == nil && text.LastLine(said) != "" {
				why = ": " + text.Clip(text.LastLine(said), 300)
			}
			return "", runner.Configuration(fmt.Errorf("agent %s: %s %s before it answered%s: does it speak ACP?", runner.AgentOf(r), r.Runner.Run[0], prog.died(), why))
		case err != nil:
			return "", fmt.Errorf("agent %s: %s does not answer as a program that speaks ACP: %w", runner.AgentOf(r), r.Runner.Run[0], err)
		case v == "":
			return "", fmt.Errorf("agent %s: %s does not say its version", runner.AgentOf(r), r.Runner.Run[0])
		default:
			return v, nil
		}
	}
}

// versionOf asks a program that was started.
func (p Runner) versionOf(ctx context.Context, prog *program) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.opening())
	defer cancel()
	hello, err := prog.greet(ctx)
	return hello.Info.Version, err
}

// Natives implements executor.Program: the protocol lists none.
func (Runner) Natives(context.Context, executor.AgentRun) ([]executor.Native, error) { return nil, nil }

// Join implements executor.Program: joining is not possible.
func (Runner) Join(executor.AgentRun, string) executor.Join { return executor.Join{} }
