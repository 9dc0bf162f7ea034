package record

import (
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/executor/gate"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
)

// marks are the environment variables that identify processes started by a run: their
// values are paths in its state directory.
var Marks = []string{runner.Mark, gate.Mark, workspace.Mark, bd.Mark}

// SurvivorJSON is a process that outlived the ralph that started it.
type SurvivorJSON struct {
	PID     int        `json:"pid"`
	What    string     `json:"what"` // agent, gate, setup, git or tracker; "descendant" of one of them
	Program string     `json:"program"`
	Files   string     `json:"files,omitempty"` // of the attempt, in the state directory
	Since   *time.Time `json:"since"`
}

// survivors are the processes left by a run that was killed together with its guard. The
// next ralph apply ends them.
func (r *Record) survivors() []SurvivorJSON {
	if _, dead := journal.Dead(r.Space.State()); !dead {
		return nil
	}
	var out []SurvivorJSON
	for _, s := range process.Survivors(r.Space.State()+string(filepath.Separator), Marks...) {
		j := SurvivorJSON{PID: s.PID, Program: s.Program, Since: TimeJSON(s.Since)}
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
