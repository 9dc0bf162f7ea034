package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// marks are the variables by which what a run has started is found again: their
// values are paths in its state directory.
var marks = []string{runner.Mark, gate.Mark, workspace.Mark, bd.Mark}

// survivorJSON is a process that outlived the ralph that had started it.
type survivorJSON struct {
	PID     int        `json:"pid"`
	What    string     `json:"what"` // agent, gate, setup, git or tracker; "descendant" of one of them
	Program string     `json:"program"`
	Files   string     `json:"files,omitempty"` // of the attempt, in the state directory
	Since   *time.Time `json:"since"`
}

// survivors are the processes that a run has left which was killed, and its guard with
// it. The next ralph apply ends them.
func (r *record) survivors() []survivorJSON {
	if _, dead := journal.Dead(r.space.State()); !dead {
		return nil
	}
	var out []survivorJSON
	for _, s := range process.Survivors(r.space.State()+string(filepath.Separator), marks...) {
		j := survivorJSON{PID: s.PID, Program: s.Program, Since: timeJSON(s.Since)}
		switch s.Name {
		case runner.Mark:
			j.What = "agent"
		case gate.Mark:
			j.What = "gate"
		case bd.Mark:
			j.What = "tracker"
		case workspace.Mark:
			if j.What = "setup"; s.Rest == "git" {
				j.What = "git"
			}
		default:
			j.What = "descendant"
		}
		if dir := filepath.Dir(s.Rest); s.Rest != "" && dir != "." {
			j.Files = dir
		}
		out = append(out, j)
	}
	return out
}

// saySurvivors names them and how to end them.
func (r *record) saySurvivors(w io.Writer) {
	const most = 20
	all := r.survivors()
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "     still at work, left by the run that was killed:\n")
	kill := "kill -KILL"
	for i, s := range all {
		kill += fmt.Sprintf(" %d", s.PID)
		if i >= most {
			continue
		}
		what := s.What
		if s.Files != "" {
			what += " of " + strings.TrimPrefix(s.Files, "attempts"+string(filepath.Separator))
		}
		fmt.Fprintf(w, "       %s\n", reveal.Words(fmt.Sprintf("process %d (%s), %s, since %s", s.PID, s.Program, what, clock(r.now, *s.Since))))
	}
	if len(all) > most {
		fmt.Fprintf(w, "       and %d more\n", len(all)-most)
	}
	fmt.Fprintf(w, "     ralph apply%s ends them first; without it: %s\n", applies(r.file), kill)
}
