package record

import (
	"context"
	"path/filepath"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

// HistoryOf is the history of the epic that was named. note says what a reader should know
// about it; "" if nothing.
func HistoryOf(ctx context.Context, file string, epic *ir.Epic, d project.Detail) (h *ir.History, note string, err error) {
	none, dir := &ir.History{Program: "ralph " + version.Ralph()}, project.EpicDir(file)
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	top := project.GitRoot(at)
	if top == "" {
		return none, "there is no git repository here, so no run of it is recorded", nil
	}
	r, err := OpenAbout(ctx, dir, file, epic)
	if err != nil {
		if state, bad := workspace.StateDir(ctx, dir, epic.Epic.ID); bad == nil && !project.IsDir(state) {
			none.Top = top
			return none, "no run of it is recorded: " + err.Error(), nil
		}
		return nil, "", err
	}
	if last := LastDigest(r.Events); last != "" && last != epic.Digest {
		note = "the last run was of another " + filepath.Base(file) + "; this one is written, with the records of its sprints"
	}
	return r.History(ctx, d), note, nil
}
