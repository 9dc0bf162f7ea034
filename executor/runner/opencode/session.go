package opencode

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// enter makes, resumes or forks the session of a turn, in r.Dir.
func (u *turn) enter(ctx context.Context) (session, error) {
	r := u.run
	want := about{Title: title(r), Metadata: metadata(r), Permission: rules(r, u.server.temp())}
	old := r.Effect.Session
	if old == "" {
		return u.api.create(ctx, want)
	}
	open := u.api.session
	if r.Fork {
		open = u.api.fork
	}
	s, err := open(ctx, old)
	if isCode(err, http.StatusNotFound) || isCode(err, http.StatusBadRequest) {
		return s, &executor.Failure{Class: executor.FailSession, Err: fmt.Errorf("opencode does not know the session %s any more", old)}
	}
	if err != nil {
		return s, err
	}
	if !same(s.Directory, r.Dir) {
		// A session works in its own directory, whatever the calls name.
		if err := u.api.move(ctx, s.ID, r.Dir); err != nil {
			return s, &executor.Failure{Class: executor.FailSession, Err: fmt.Errorf("the session %s belongs to %s and cannot work in %s: %w", old, s.Directory, r.Dir, err)}
		}
	}
	if !r.Fork {
		want.Title = "" // as it was, or as a person called it
	}
	return s, u.api.update(ctx, s.ID, want)
}

// same reports whether two paths name one directory.
func same(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func title(r executor.AgentRun) string {
	what := r.Step.Name
	if r.Effect.Gate != "" {
		what = "gate " + r.Effect.Gate
	}
	return strings.TrimSpace(fmt.Sprintf("ralph %s %s, attempt %d: %s", r.Node.Key, what, max(r.Effect.Attempt, 1), r.Node.Title))
}

// metadata says of whom a session is.
func metadata(r executor.AgentRun) map[string]string {
	return map[string]string{
		"ralph_epic": string(r.Epic), "ralph_node": string(r.Node.ID), "ralph_key": string(r.Node.Key), "ralph_step": r.Step.Name,
		"ralph_attempt": strconv.Itoa(r.Effect.Attempt), "ralph_gate": r.Effect.Gate, "ralph_turn": r.Turn(),
	}
}

// rules let a session do everything in its directory and read elsewhere, so that
// it never waits for an answer: what is not allowed is refused at once. Files are
// edited only in the directory, in that of the turn's files and among temporary ones.
// A reading session edits nothing. (What a shell does is not held by this.)
func rules(r executor.AgentRun, temp string) []rule {
	out := []rule{
		{"*", "*", "allow"},
		{"external_directory", "*", "allow"},
		{"question", "*", "deny"},
		{"doom_loop", "*", "deny"},
		{"plan_enter", "*", "deny"},
		{"plan_exit", "*", "deny"},
		{"edit", "../*", "deny"},
	}
	if r.Raw { // it shows the AGENTS.md beside each file, too: a judge reads with the shell
		out = append(out, rule{"read", "*", "deny"})
	}
	if r.Read {
		return append(out, rule{"edit", "*", "deny"})
	}
	for _, dir := range []string{r.Files, temp, os.TempDir()} {
		if rel, err := filepath.Rel(r.Dir, dir); err == nil {
			out = append(out, rule{"edit", filepath.ToSlash(rel) + "/*", "allow"})
		}
	}
	return out
}

// idle waits until no one else has the session at work: a prompt to a busy one
// would be mixed into what it does. It is a person who has it: the clocks are stopped. (Not
// in a sandbox, where none comes before the turn is at work.)
func (u *turn) idle(ctx context.Context, id string) error {
	defer u.t.Hold(false)
	for {
		all, err := u.api.statuses(ctx)
		if err != nil {
			return err
		}
		if s, busy := all[id]; !busy || s.Type == "idle" {
			return nil
		}
		u.t.Hold(u.run.Wall == nil)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-u.server.done:
			return u.server.gone()
		case <-time.After(250 * time.Millisecond):
		}
	}
}
