package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// Times of watching for a person.
const (
	lookEvery = 200 * time.Millisecond
	restTime  = 3 * time.Second  // after the agent's answer, in which a person has nothing to add
	deadTime  = 10 * time.Minute // after a question without an answer
)

// maxEntry is how much of a transcript is read at once, in bytes.
const maxEntry = 64 << 20

// watcher looks whether a person writes in the session of a turn. Only one
// goroutine at a time uses it; spoke may be asked by any.
type watcher struct {
	turn  *runner.Turn
	human string // what happens then: pause, review, cooldown; "" is nothing
	rest  time.Duration
	dir   string // where transcripts lie, "" is unknown
	home  string // of the agent in a sandbox; "" is the user's
	id    string // of the session
	stop  func()
	begun time.Time

	path    string
	offset  int64
	grown   time.Time // when something came last
	waiting bool      // for the agent to answer
	taken   atomic.Bool
}

// transcripts is where Claude Code keeps them.
func transcripts(env []string) string {
	if dir := runner.Value(env, "CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "projects")
	}
	if home := runner.Value(env, "HOME"); home != "" {
		return filepath.Join(home, ".claude", "projects")
	}
	return ""
}

// watch begins at the present end of the session's transcript.
func watch(t *runner.Turn, r executor.AgentRun, dir string, s session, stop func()) *watcher {
	w := &watcher{turn: t, human: r.Human.OnHumanMessage, dir: dir, id: s.id, stop: stop, begun: time.Now(), rest: restTime}
	if w.human == "cooldown" {
		w.rest = max(time.Duration(r.Human.IdleCooldownMS)*time.Millisecond, restTime)
	}
	if r.Wall != nil {
		w.home = r.Wall.Home
	}
	if w.find() {
		if f, err := w.open(); err == nil {
			if st, err := f.Stat(); err == nil {
				w.offset = st.Size()
			}
			_ = f.Close() // it was only looked at
		}
	}
	return w
}

// find looks for the transcript, which is in a directory named for the one that
// the session began in.
func (w *watcher) find() bool {
	if w.path == "" && w.dir != "" && w.human != "" {
		if all, err := filepath.Glob(filepath.Join(w.dir, "*", w.id+".jsonl")); err == nil && len(all) > 0 {
			w.path = all[0]
		}
	}
	return w.path != ""
}

// spoke reports whether a person wrote in the session.
func (w *watcher) spoke() bool { return w.taken.Load() }

// follow looks until ctx ends, or a person has written: then it ends the program.
func (w *watcher) follow(ctx context.Context) {
	if w.human == "" || w.dir == "" {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.look(); w.spoke() {
			w.stop()
			return
		}
	}
}

// idle waits until the session that a person has is idle. It returns at once where
// the session is left to them.
func (w *watcher) idle(ctx context.Context) {
	if w.human != "review" && w.human != "cooldown" {
		return
	}
	w.turn.Hold(true)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if quiet := time.Since(w.grown); !w.waiting && quiet >= w.rest || quiet >= max(w.rest, deadTime) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.look()
	}
}

// entry is what is read of a line of a transcript.
type entry struct {
	Type      string    `json:"type"`
	Time      time.Time `json:"timestamp"`
	Meta      bool      `json:"isMeta"`
	Sidechain bool      `json:"isSidechain"`
	Source    string    `json:"promptSource"`
	Program   string    `json:"entrypoint"` // sdk-cli: without a screen, as ralph runs it
	Origin    struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Message spoken `json:"message"`
}

// look reads what came since. Whatever cannot be read is nothing.
func (w *watcher) look() {
	if !w.find() {
		return
	}
	b, err := w.read()
	if err != nil {
		return
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 {
		return // nothing, or a line that is not whole yet
	}
	w.offset += int64(end)
	w.grown = time.Now()
	for row := range bytes.Lines(b[:end]) {
		var e entry
		if json.Unmarshal(row, &e) == nil && !e.Sidechain {
			w.saw(e)
		}
	}
}

func (w *watcher) saw(e entry) {
	said := words(e.Message.Content)
	human := e.Origin.Kind == "human" || e.Source == "typed"
	if e.Program == "sdk-cli" && !human {
		return // the turn's own, which is over when a person has spoken
	}
	switch e.Type {
	case "assistant":
		w.waiting = false
		for _, b := range blocks(e.Message.Content) {
			w.waiting = w.waiting || b.Type == "tool_use"
		}
		return
	case "user":
		w.waiting = !strings.HasPrefix(said, "[Request interrupted by user")
	default:
		return
	}
	command := strings.HasPrefix(said, "<command-") || strings.HasPrefix(said, "<local-command") || strings.HasPrefix(said, "[Request interrupted")
	if !human || e.Meta || command || said == "" || e.Time.Before(w.begun.Add(-time.Second)) {
		return
	}
	w.taken.Store(true)
	_ = w.turn.Person(e.Time, said) // the turn ends as taken over, on record or not
}

// open opens the transcript. In a sandbox its home is the agent's, who can put a link
// there: none leads out of it.
func (w *watcher) open() (*os.File, error) {
	if w.home == "" {
		return regular.Open(w.path)
	}
	root, err := os.OpenRoot(w.home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name, err := filepath.Rel(w.home, w.path)
	if err != nil {
		return nil, err
	}
	return regular.OpenIn(root, name)
}

// read returns what came since it was read last.
func (w *watcher) read() ([]byte, error) {
	f, err := w.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() < w.offset {
		return nil, errors.New("it is another file")
	}
	return io.ReadAll(io.LimitReader(io.NewSectionReader(f, w.offset, 1<<62), maxEntry))
}
