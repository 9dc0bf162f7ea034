package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Turn is one iteration of an agent program in progress. Its methods may be called
// from any goroutine; End is called once, last.
type Turn struct {
	base        Base
	run         executor.AgentRun
	caller      context.Context // whose end is no one's fault; a turn is one call of Run
	ctx         context.Context
	cancel      context.CancelCauseFunc
	out, stream io.WriteCloser
	pulse       *process.Pulse
	begun       time.Time
	done        chan struct{}
	wg          sync.WaitGroup

	mu             sync.Mutex // guards the rest
	life           time.Time  // the last sign of life
	tools          map[string]bool
	held           bool          // a person has the session: the clocks stand still
	standing       time.Duration // how long they were still
	heldAt         time.Time
	usage          executor.Usage
	model, session string
}

// Causes of a turn's end that are not the caller's.
var (
	errTimeout = errors.New("the turn's time is over")
	errStalled = errors.New("no sign of life")
)

// Begin makes the files of the turn and starts its clocks. Its error is a
// *executor.Failure or one of the file system.
func (b Base) Begin(ctx context.Context, r executor.AgentRun) (*Turn, error) {
	if err := Files(r); err != nil {
		return nil, err
	}
	t := &Turn{base: b, run: r, caller: ctx, begun: time.Now(), life: time.Now(), done: make(chan struct{}), tools: map[string]bool{}}
	var err error
	if t.out, err = process.Create(File(r, OutExt), b.Cap, b.Filter); err != nil {
		return nil, err
	}
	if t.stream, err = process.Create(File(r, StreamExt), b.Cap, b.Filter); err != nil {
		return nil, errors.Join(err, t.out.Close())
	}
	if r.Activity != nil {
		t.pulse = process.NewPulse(func(n int64, line string) {
			t.mu.Lock()
			a := executor.Activity{Bytes: n, Line: b.Plain(line), Usage: t.usage}
			t.mu.Unlock()
			r.Activity(a)
		})
	}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.wg.Go(t.watch)
	return t, nil
}

// Files writes a turn's prompt and feedback beside its output, and removes the report
// of an earlier try of the same turn.
func Files(r executor.AgentRun) error {
	if err := regular.MkdirOwn(r.Files); err != nil {
		return err
	}
	dirs := []string{r.Files}
	if r.Wall != nil {
		dirs = append(dirs, r.Inside())
		if err := errors.Join(regular.RemoveAllOwn(r.Inside()), regular.MkdirOwn(r.Inside())); err != nil {
			return err
		}
	}
	for ext, content := range map[string][]byte{PromptExt: Prompt(r), FeedbackExt: r.Notes} {
		for _, dir := range dirs {
			if err := regular.WriteOwn(filepath.Join(dir, r.Turn()+ext), content, 0o600); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(r.OutcomeFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Context is the context of the program.
func (t *Turn) Context() context.Context { return t.ctx }

// SpecOf is how the program of a turn runs: see Base.Spec. The turn ends when the sandbox
// refuses the program its model. also are more mounts of the sandbox, the last of all.
func SpecOf(t *Turn, argv, env []string, also ...wall.Mount) process.Spec {
	r := t.run
	r.Wall = r.Wall.With(also...)
	return t.base.Spec(r, argv, env, t.cancel)
}

// tick is how often the clocks of a turn are looked at.
const tick = 100 * time.Millisecond

// watch ends the turn when its time is over, or when there is no sign of life.
func (t *Turn) watch() {
	limit := time.Duration(t.run.Step.Limits.TimeoutMS) * time.Millisecond
	idle := time.Duration(t.run.Step.Stall.AfterMS) * time.Millisecond
	if limit <= 0 && idle <= 0 {
		return
	}
	k := time.NewTicker(tick)
	defer k.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-t.ctx.Done():
			return
		case <-k.C:
		}
		t.mu.Lock()
		took, quiet := time.Since(t.begun)-t.standing, time.Since(t.life)
		held, busy := t.held, len(t.tools) > 0
		t.mu.Unlock()
		switch {
		case held:
		case limit > 0 && took >= limit:
			t.cancel(errTimeout)
			return
		case idle > 0 && !busy && quiet >= idle:
			t.cancel(errStalled)
			return
		}
	}
}

// worked is how long the turn went on, without the time in which a person had it.
func (t *Turn) worked() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	stood := t.standing
	if t.held {
		stood += time.Since(t.heldAt)
	}
	return time.Since(t.begun) - stood
}

// Heard records a piece of the program's stream, a line of JSON or of text, with the
// time of receipt. It is not a sign of life: see Alive.
func (t *Turn) Heard(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	at := t.base.Time().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	if !json.Valid(line) {
		line, _ = json.Marshal(string(line)) // a string always can
	}
	_, _ = fmt.Fprintf(t.stream, "{\"at\":%q,\"line\":%s}\n", at, line) // Close tells
}

// Alive is a sign of life without content.
func (t *Turn) Alive() {
	t.mu.Lock()
	t.life = time.Now()
	t.mu.Unlock()
}

// Say adds to the turn's readable output: the agent's words, its tool calls, their
// results. It is a sign of life.
func (t *Turn) Say(text string) {
	t.Alive()
	text = executor.Clean(strings.TrimRight(text, "\n"))
	if text == "" {
		return
	}
	b := []byte(text + "\n")
	_, _ = t.out.Write(b) // Close tells
	if t.pulse != nil {
		t.pulse.Heard(false, b)
	}
}

// Plain removes secrets from a text before it is shortened: the rest of a secret that is
// cut in the middle would not be recognised.
func (t *Turn) Plain(text string) string { return t.base.Plain(text) }

// Tool reports that a tool begins or ends. While one runs, the agent is not silent.
func (t *Turn) Tool(id string, runs bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.life = time.Now()
	if runs {
		t.tools[id] = true
	} else {
		delete(t.tools, id)
	}
}

// Hold stops the turn's clocks while a person has the session, or restarts them.
func (t *Turn) Hold(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case on && !t.held:
		t.heldAt = now
	case !on && t.held:
		t.standing += now.Sub(t.heldAt)
		t.life = now
	}
	t.held = on
}

// Spent reports the turn's cost so far.
func (t *Turn) Spent(u executor.Usage) {
	t.mu.Lock()
	t.usage = u
	t.mu.Unlock()
}

// Model reports which model really ran.
func (t *Turn) Model(id string) {
	t.mu.Lock()
	t.model = id
	t.mu.Unlock()
}

// Session records the session's handle and returns when that is durable. Only a handle
// that Run can resume is reported.
func (t *Turn) Session(handle string) error {
	t.mu.Lock()
	known := t.session == handle
	t.session = handle
	t.mu.Unlock()
	if known || t.run.Record == nil {
		return nil
	}
	return t.run.Record(t.ctx, executor.AgentSession{
		Session: handle, Agent: AgentOf(t.run), Turn: t.run.Turn(), Gate: t.run.Effect.Gate, Fresh: t.run.Effect.Session != handle,
	})
}

// Person records that a person wrote in the session.
func (t *Turn) Person(said time.Time, text string) error {
	t.mu.Lock()
	session := t.session
	t.mu.Unlock()
	t.Say("[a person] " + text)
	if t.run.Record == nil {
		return nil
	}
	return t.run.Record(t.ctx, executor.HumanSpoke{
		Session: session, Said: said.UTC().Truncate(time.Millisecond), Text: executor.Fitting(t.base.Plain(note(text, executor.MaxNote))), Gate: t.run.Effect.Gate,
	})
}

// Reported reports whether the outcome file already holds a valid report.
func (t *Turn) Reported() bool {
	_ = fetch(t.run) // End tells
	if t.run.Raw {
		st, err := os.Lstat(t.run.OutcomeFile())
		return err == nil && st.Mode().IsRegular() && st.Size() > 0
	}
	o, _ := ReadOutcome(t.run.OutcomeFile())
	return !o.None() && o.Invalid == ""
}
