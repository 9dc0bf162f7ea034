package record

import (
	"context"
	"errors"
	"io"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// ListRuns lists the runs of the epic of file, oldest first, the one at work included.
func ListRuns(ctx context.Context, file string, in io.Reader) (list []RunLine, err error) {
	epic, _, err := load(ctx, file, in, nil)
	if err != nil {
		return nil, err
	}
	state, err := workspace.StateDir(ctx, project.EpicDir(file), epic.Epic.ID)
	if err != nil {
		return nil, err
	}
	log, err := journal.Read(state, epic.Epic.ID)
	if errors.Is(err, journal.ErrNone) {
		return []RunLine{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	_, held, err := journal.Holder(state) // before the events: who ends meanwhile is at work still
	if err != nil {
		return nil, err
	}
	ended, tally, err := log.Runs(ctx, KeysOf(epic))
	if err != nil {
		return nil, err
	}
	list = lists.Map(ended, func(r journal.RunRecord) RunLine { return RunLine{RunRecord: r, Ended: TimeJSON(r.Ended)} })
	if r, open := tally.Open(); open {
		if r.Outcome = "at work"; !held {
			r.Outcome, r.Error = executor.RunKilled, "it was killed; ralph apply"+Applies(file)+" goes on"
		}
		list = append(list, RunLine{RunRecord: r})
	}
	return list, nil
}
