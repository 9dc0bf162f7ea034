package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/text"
)

// turn is one iteration in progress.
type turn struct {
	run     executor.AgentRun
	base    runner.Base
	turn    *runner.Turn
	heard   *heard
	program *program
	patient time.Duration

	greeted bool
	session string
}

// Run implements executor.Runner.
func (p Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	if len(r.Runner.Run) == 0 {
		return executor.AgentEnded{}, errNoProgram(r)
	}
	limited, err := runner.Limits(r.Runner.LimitedWhen)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	room, err := p.room(r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	defer room.leave()
	begun, err := p.Base.Begin(ctx, r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	t := &turn{run: r, base: p.Base, turn: begun, heard: &heard{turn: begun, read: r.Read, tools: map[string]*tool{}}, patient: p.opening()}
	spec := runner.SpecOf(begun, room.argv, room.env)
	var said saying
	for try := 1; ; try++ {
		t.program, err = start(begun.Context(), spec, listener{line: t.heard.raw, update: t.heard.update, lost: t.heard.lost, ask: t.heard.ask})
		if err != nil {
			return begun.End(runner.End{Err: err})
		}
		said = t.talk(begun.Context())
		t.program.stop()
		if try == 2 || !t.stillborn(said.err) {
			break
		}
	}
	answer := t.heard.end() // the last words may come after the program's answer
	return begun.End(t.ended(said, answer, limited))
}

// stillborn reports whether the program ended by itself before it said anything.
// Then it is started once more: of several that make the same database when they
// are started for the first time all but one fail (OpenCode), and an installer may
// have lost its connection.
func (t *turn) stillborn(err error) bool { return !t.greeted && t.program.endedItself(err) }

// saying is how the conversation ended.
type saying struct {
	stop   sdk.StopReason // "" if it did not come to that
	tokens *tokens        // nil if unknown
	err    error
}

// talk has the conversation with the program: greet it, open the session, put the
// model, say the prompt, and wait until the turn is over.
func (t *turn) talk(ctx context.Context) saying {
	opened, err := t.begin(ctx)
	if err != nil {
		return saying{err: err}
	}
	t.heard.begin(opened.ID)
	t.program.prompting.Store(&opened.ID)
	if ctx.Err() != nil { // it may have ended before it was known what to cancel
		return saying{err: ctx.Err()}
	}
	var out struct {
		Stop  sdk.StopReason `json:"stopReason"`
		Usage *tokens        `json:"usage"`
	}
	// When ctx ends, the turn is cancelled: its answer is waited for.
	err = t.program.call(context.WithoutCancel(ctx), sdk.AgentMethodSessionPrompt, sdk.PromptRequest{
		SessionId: sdk.SessionId(opened.ID), Prompt: []sdk.ContentBlock{sdk.TextBlock(prompt(t.run))},
	}, &out)
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok {
		err = t.classify(sdk.AgentMethodSessionPrompt, refused, t.program.hello)
	}
	return saying{stop: out.Stop, tokens: out.Usage, err: err}
}

// begin is the conversation up to the prompt.
func (t *turn) begin(ctx context.Context) (opened, error) {
	within, cancel := context.WithTimeout(ctx, t.patient)
	defer cancel()
	// Until there is a session silence does not count: a slow start has a limit of its own.
	const opening = "opening the session"
	t.turn.Tool(opening, true)
	defer t.turn.Tool(opening, false)
	o, err := t.introduce(within)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		f := &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf("agent %s: %s opened no session within %s", runner.AgentOf(t.run), t.run.Runner.Run[0], t.patient)}
		if !t.greeted {
			f.Err = fmt.Errorf("agent %s: %s did not answer as a program that speaks ACP over stdin and stdout within %s", runner.AgentOf(t.run), t.run.Runner.Run[0], t.patient)
		}
		return o, f
	}
	return o, err
}

func (t *turn) introduce(ctx context.Context) (opened, error) {
	h, err := t.program.greet(ctx)
	t.program.hello = h
	var refused *sdk.RequestError
	switch {
	case errors.As(err, &refused):
		return opened{}, t.classify(sdk.AgentMethodInitialize, refused, h)
	case errors.Is(err, errGone), ctx.Err() != nil:
		return opened{}, err
	case err != nil:
		return opened{}, runner.Configuration(fmt.Errorf("agent %s: %s: %w", runner.AgentOf(t.run), t.name(h), err))
	}
	t.greeted = true
	o, err := t.open(ctx, h)
	if err != nil {
		return o, err
	}
	t.session = o.ID
	if h.again() && len(o.ID) <= maxHandle {
		if err := t.turn.Session(o.ID); err != nil {
			return o, err
		}
	}
	return o, t.settle(ctx, h, o)
}

// maxHandle bounds the handle of a session, in bytes.
const maxHandle = 200

// ended turns how the conversation ended into what all runners say.
func (t *turn) ended(s saying, answer string, limited *runner.Limit) runner.End {
	end := runner.End{Answer: answer, Code: t.program.res.Code, Err: s.err}
	var err error
	if end.Usage, err = t.spent(t.session, s.tokens); err != nil && end.Err == nil {
		end.Err = err
	}
	switch not := runner.CannotRun(t.run, t.program.err); {
	case runner.Is(not, executor.FailConfig):
		end.Err = not
	case errors.Is(s.err, errGone):
		end.Err = t.gone()
	case s.err != nil:
		if f := (*executor.Failure)(nil); errors.As(s.err, &f) { // else it is the context's
			t.turn.Say("[error] " + s.err.Error())
		}
	case s.stop == sdk.StopReasonCancelled: // ralph cancels only when the turn's context has ended, and that goes before
		end.Err = &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s: its turn was cancelled, and not by ralph", runner.AgentOf(t.run))}
	case s.stop == "":
		end.Err = runner.Configuration(fmt.Errorf("agent %s: %s ended its turn without a reason for it", runner.AgentOf(t.run), t.name(t.program.hello)))
	default:
		end.Final = end.Err == nil
		if result, why := stopped(s.stop); result != "" {
			t.turn.Say("[" + why + "]")
			if !t.run.Raw && !t.turn.Reported() && runner.Said(answer).Invalid != "" {
				b, _ := json.Marshal(map[string]string{"result": result, "summary": why}) // texts always can
				end.Answer = string(b)
			}
		}
	}
	if end.Err != nil && limited.Matches(t.run, t.program.res) {
		end.Err = limited.Failure(t.run, t.base.Time())
	}
	return end
}

// gone is the failure of a program that ended before its turn was over. One that
// ends before it was greeted is not what was meant, or lacks something.
func (t *turn) gone() error {
	name := runner.AgentOf(t.run)
	died := t.program.died()
	if last := text.LastLine(runner.Tail(t.run)); last != "" {
		died += ": " + text.Clip(last, 300)
	}
	f := &executor.Failure{Class: executor.FailCrash, Err: fmt.Errorf("agent %s: %s %s", name, t.run.Runner.Run[0], died)}
	if t.stillborn(errGone) {
		f.Class = executor.FailConfig
		f.Err = fmt.Errorf("agent %s: %s %s; it never answered as a program that speaks ACP: look at its run = […]", name, t.run.Runner.Run[0], died)
	}
	return f
}
