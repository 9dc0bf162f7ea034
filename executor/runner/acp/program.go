package acp

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// program is a process that speaks ACP.
type program struct {
	*wire
	stdin  *os.File
	cancel context.CancelFunc
	ended  chan struct{} // closed when nothing of it is left
	wg     sync.WaitGroup

	res process.Result // valid when ended, if it ended by itself
	err error

	hello     hello
	prompting atomic.Pointer[string] // the session in which a turn goes on
}

// start runs the program until stop is called, ctx ends, or it ends by itself. When
// ctx ends, a turn is cancelled first; then its input ends; then it is killed.
func start(ctx context.Context, spec process.Spec, l listener) (*program, error) {
	child, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &program{wire: newWire(stdin, l), stdin: stdin, ended: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	spec.Stdin = child
	spec.Tap = runner.Stdout(&p.out)
	spec.Ask = p.askToEnd
	go func() { // until ended, which stop waits for
		defer close(p.ended)
		p.res, p.err = process.Run(ctx, spec)
		p.cancel()
		_ = errors.Join(child.Close(), stdin.Close()) // stdin may be closed; who still writes is let go
		p.end()
		p.wg.Wait()
	}()
	return p, nil
}

// askToEnd asks the program to end: it cancels the turn, so that its tools end in
// good order, or closes its input. It returns at once.
func (p *program) askToEnd() {
	session := p.prompting.Load()
	if session == nil {
		_ = p.stdin.Close()
		return
	}
	p.wg.Go(func() { // a program that does not listen is killed; then this ends
		if p.conn.SendNotification(context.Background(), sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: sdk.SessionId(*session)}) != nil {
			_ = p.stdin.Close()
		}
	})
}

// stop ends the program in good order and returns when nothing of it is left.
func (p *program) stop() {
	p.prompting.Store(nil)
	_ = p.stdin.Close() // what is written from now on is lost
	p.cancel()
	<-p.ended
}

// endedItself reports whether err is that the program ended by itself.
func (p *program) endedItself(err error) bool {
	return errors.Is(err, errGone) && p.err == nil && p.res.How == process.Exited
}

// died says how the program ended. It has.
func (p *program) died() string {
	if p.err != nil {
		return "was ended"
	}
	return runner.Died(p.res)
}

// room is what a program needs around it.
type room struct {
	argv, env []string
	tmp       string // directory of its own for temporary files; "" if the user names one
}

// room prepares what the program needs; leave takes it away.
func (p Runner) room(r executor.AgentRun) (room, error) {
	var out room
	var err error
	if out.argv, err = p.Base.Argv(r); err != nil {
		return out, err
	}
	also := map[string]string{}
	if _, named := r.Runner.Set["TMPDIR"]; !named {
		if out.tmp, err = regular.MkdirTemp("ralph-acp-"); err != nil {
			return out, err
		}
		also["TMPDIR"] = out.tmp
	}
	open := isOpenCode(out.argv)
	if open {
		maps.Copy(also, runner.OpenCodeAlone())
		maps.DeleteFunc(also, func(name, _ string) bool {
			_, set := r.Runner.Set[name]
			return set || slices.Contains(r.Runner.Env, name) && name != "TMPDIR"
		})
	}
	if out.env, err = p.Base.Env(r, also); err != nil {
		out.leave()
		return out, err
	}
	if open {
		if err := runner.OpenCodePlanted(r, out.env); err != nil {
			out.leave()
			return out, err
		}
	}
	return out, nil
}

// isOpenCode reports whether a program is OpenCode, which would run plugins that lie in
// the worktree. What other programs take from there is their own affair.
func isOpenCode(argv []string) bool {
	return slices.ContainsFunc(argv, func(a string) bool { return strings.HasPrefix(filepath.Base(a), "opencode") })
}

// prompt is the program's prompt. OpenCode is pointed to the notes of the project,
// which it does not read with its settings; judges are not.
func prompt(r executor.AgentRun) string {
	text, more := string(runner.Prompt(r)), runner.Conventions(r)
	if more == "" || !isOpenCode(r.Runner.Run) {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n" + more
}

func (m room) leave() {
	if m.tmp != "" {
		_ = os.RemoveAll(m.tmp) // it is the system's temporary directory
	}
}
