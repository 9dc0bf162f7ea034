package opencode

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
)

// turn is one iteration in a session. One goroutine owns it.
type turn struct {
	c      *Runner
	t      *runner.Turn
	run    executor.AgentRun
	model  *modelRef
	server *server
	api    api
	relay  *relay // by which a person comes to the server in a sandbox; nil: there is none

	id     string          // of the session
	mark   string          // of the message that the turn is
	known  map[string]bool // messages that were there before
	family map[string]bool // the session and its subagents'
	began  time.Time       // when the message was sent

	begun  bool              // the session was at work on it
	users  map[string]bool   // new messages of users
	spent  map[string]cost   // what new messages of the agent and its subagents cost
	spends bool              // that changed since it was said
	told   map[string]string // what was said of a part
	fault  *fault            // of the session, beside its messages
	tries  map[string]status // what was said of a model that fails, by session
	flood  bool              // the server named too much: see keep

	taken  bool            // a person wrote
	spoke  map[string]bool // their messages
	heard  time.Time       // when they wrote last
	calm   time.Time       // since when the session is idle and nothing changes; zero: it is at work
	last   string          // how far its messages were at the last look
	again  time.Time       // when to look again
	latest time.Time       // when something was heard last
}

// Run implements executor.Runner.
func (c *Runner) Run(ctx context.Context, r executor.AgentRun) (executor.AgentEnded, error) {
	p, vars, err := c.planOf(r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	if err := runner.OpenCodePlanted(r, p.env); err != nil {
		return executor.AgentEnded{}, err
	}
	model, err := modelOf(runner.ModelOf(r), r.Alias.Provider)
	if err != nil {
		return executor.AgentEnded{}, runner.Configuration(fmt.Errorf("agent %s: %w", runner.AgentOf(r), err))
	}
	t, err := c.Base.Begin(ctx, r)
	if err != nil {
		return executor.AgentEnded{}, err
	}
	if r.Wall != nil {
		p.only = t
	}
	s, err := c.acquire(t.Context(), p, r)
	if err != nil {
		return t.End(runner.End{Err: err})
	}
	u := &turn{
		c: c, t: t, run: r, model: model, server: s, api: s.in(r.Dir), mark: string(r.Node.ID) + "/" + r.Turn() + "/" + rand.Text()[:10],
		known: map[string]bool{}, family: map[string]bool{}, users: map[string]bool{}, spent: map[string]cost{}, told: map[string]string{},
		tries: map[string]status{}, spoke: map[string]bool{},
	}
	e := u.do(t.Context(), vars)
	if e.Err != nil {
		e.Err = s.failure(e.Err)
	}
	e.Usage = u.usage()
	if e.Taken && u.takes() == pause && r.Wall == nil {
		c.lend(s)
	} else {
		process.Sweep(r.OutcomeFile(), runner.Mark) // what the agent's shells left in the background
	}
	c.release(s)
	return t.End(e)
}

// do takes the turn. Whatever it comes to, nothing of it goes on when it returns,
// unless a person continues with it.
func (u *turn) do(ctx context.Context, vars map[string]string) runner.End {
	listening, stop := context.WithCancel(ctx)
	events := make(chan heard, 8) // of events that may be large
	var wg sync.WaitGroup
	wg.Go(func() { u.api.listen(listening, events) })
	defer wg.Wait()
	defer stop()

	if err := u.begins(ctx, events); err != nil {
		return runner.End{Err: err}
	}
	s, err := u.enter(ctx)
	if err != nil {
		return runner.End{Err: err}
	}
	if !sessionID.MatchString(s.ID) {
		return runner.End{Err: fmt.Errorf("opencode calls a session %q, which is not an id", text.Clip(s.ID, 100))}
	}
	u.id = s.ID
	u.family[s.ID] = true
	if err := errors.Join(u.server.has(s.ID), u.t.Session(s.ID)); err != nil {
		return runner.End{Err: err}
	}
	if err := u.idle(ctx, s.ID); err != nil {
		return runner.End{Err: err}
	}
	if u.run.Effect.Session != "" {
		before, err := u.api.messages(ctx, s.ID)
		if err != nil {
			return runner.End{Err: err}
		}
		for _, m := range before {
			keep(u, u.known, m.Info.ID, true, maxKept)
		}
		if u.flood {
			return runner.End{Err: tooMuch()}
		}
	}
	if err := u.connect(ctx); err != nil {
		return runner.End{Err: err}
	}
	defer u.disconnect()
	u.t.Alive() // it was the program that took its time, not the agent
	if err := u.server.tell(u.run.Dir, vars); err != nil {
		return runner.End{Err: err}
	}
	defer func() { _ = u.server.tell(u.run.Dir, nil) }() // they are of no meaning any more
	if err := u.send(ctx); err != nil {
		return runner.End{Err: errors.Join(err, u.stop())}
	}
	defer u.lend(ctx)()
	return u.follow(ctx, events)
}

// lend lets people come to the session of a turn in a sandbox; what it returns ends that.
func (u *turn) lend(ctx context.Context) func() {
	if u.run.Wall == nil || u.run.Keep == "" {
		return func() {}
	}
	r, err := u.server.lend(ctx, u.id)
	if err != nil {
		u.t.Say(fmt.Sprintf("[no person can join this session: %v]", err))
		return func() {}
	}
	u.relay = r
	return r.close
}

// sessionID is what a handle of OpenCode's looks like: it is recorded, and names a file.
var sessionID = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// begins waits for the stream: what is sent before it begins is not seen.
func (u *turn) begins(ctx context.Context, events <-chan heard) error {
	select {
	case <-events:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-u.server.done:
		return u.server.gone()
	case <-time.After(callTime):
		return &executor.Failure{Class: executor.FailTransient, Err: errors.New("opencode's stream of events does not begin")}
	}
}

func (u *turn) send(ctx context.Context) error {
	name, system := agentOf(u.run)
	system = strings.TrimSpace(system + "\n\n" + instructions(u.run))
	u.began, u.latest = time.Now(), time.Now()
	return u.api.prompt(ctx, u.id, prompt{
		Model: u.model, Agent: name, System: system, Parts: []promptPart{{Type: "text", Text: string(u.run.Prompt), Metadata: mark{u.mark}}},
	})
}

// pace is how often a turn looks by itself, in case the stream lost something.
const pace = 250 * time.Millisecond

// quietTime is after how much silence it looks.
const quietTime = 5 * time.Second

// follow hears what the session does until the turn is over.
func (u *turn) follow(ctx context.Context, events <-chan heard) runner.End {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	var wrote <-chan wrote
	if u.relay != nil {
		wrote = u.relay.wrote
	}
	for {
		var end *runner.End
		select {
		case <-ctx.Done():
			return runner.End{Err: errors.Join(ctx.Err(), u.stop())}
		case <-u.server.done:
			if u.theirs() {
				return runner.End{Taken: true} // tried again it would be the agent's
			}
			return runner.End{Err: u.server.gone()}
		case h, ok := <-events:
			switch {
			case !ok:
				events = nil
			case h.raw == nil:
				end = u.look(ctx, true)
			default:
				end = u.hear(ctx, h)
			}
		case w := <-wrote:
			end = u.takenOver(w.at, w.text)
		case now := <-tick.C:
			if u.spends { // it goes through all of them
				u.t.Spent(u.usage())
				u.spends = false
			}
			if u.left() {
				return runner.End{Taken: true}
			}
			if !u.again.IsZero() && now.After(u.again) || now.Sub(u.latest) > quietTime {
				end = u.look(ctx, false)
			}
		}
		if end == nil && u.flood {
			end = &runner.End{Err: tooMuch()}
		}
		if end == nil {
			continue
		}
		if end.Err != nil && ctx.Err() == nil {
			end.Err = errors.Join(end.Err, u.stop())
		}
		return *end
	}
}

// takeTime is how long a message that was sent may take to make the session busy.
const takeTime = 10 * time.Second

// stop ends the session's turn and returns when it is idle, and its tools are gone.
func (u *turn) stop() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.t.Context()), 2*cmp.Or(u.c.Base.Grace, 5*time.Second)+takeTime)
	defer cancel()
	begun := u.begun || len(u.spent) > 0 || u.fault != nil // else the message may not have come to the session yet
	var calm time.Time
	if err := u.api.abort(ctx, u.id); err != nil && !isCode(err, http.StatusNotFound) {
		u.c.retire(u.server) // it does not answer: it ends with its last user
		return nil
	}
	for {
		all, err := u.api.statuses(ctx)
		busy := err != nil
		for id := range u.family {
			if s, ok := all[id]; ok && s.Type != "idle" {
				busy, begun = true, true
				_ = u.api.abort(ctx, id) // a subagent, or a message that came late; looked at again
			}
		}
		switch {
		case busy:
			calm = time.Time{}
		case calm.IsZero():
			calm = time.Now()
		}
		if !busy && (begun || time.Since(calm) > takeTime) {
			return nil
		}
		select {
		case <-u.server.done:
			return nil
		case <-ctx.Done():
			u.c.retire(u.server)
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}
