package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

func newRunsCommand() *cobra.Command {
	var of reader
	var jsonl bool
	cmd := newCommand("runs [epic.json]", "List the runs of an epic: when, by whom, how they ended", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		file, err := of.epic.Path(args...)
		if err != nil {
			return err
		}
		list, err := record.ListRuns(cmd.Context(), file, cmd.InOrStdin())
		if err != nil {
			return err
		}
		switch {
		case of.json:
			return view.WriteJSON(cmd.OutOrStdout(), record.RunsJSON{Version: record.RunsVersion, Runs: list})
		case jsonl:
			enc := json.NewEncoder(reveal.JSONWriter(cmd.OutOrStdout()))
			enc.SetEscapeHTML(false)
			for _, r := range list {
				if r.Ended == nil {
					continue // it has no line before it ends
				}
				if err := enc.Encode(r.RunRecord); err != nil {
					return err
				}
			}
			return nil
		case len(list) == 0:
			view.Sayf(cmd.OutOrStdout(), "nothing has run yet\n")
			return nil
		}
		return view.Runs(cmd.OutOrStdout(), list)
	})
	of.add(cmd, "print JSON")
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "one JSON object per run that ended")
	return cmd
}

func newJournalCommand() *cobra.Command {
	cmd := newCommand("journal", "Check the journal of a run", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(newJournalVerifyCommand())
	return cmd
}

func newJournalVerifyCommand() *cobra.Command {
	var of reader
	cmd := newCommand("verify [epic.json]", "Read the whole journal and check the chain of its events", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return verifyJournal(cmd, &of, args) })
	of.add(cmd, "print JSON")
	return cmd
}

func verifyJournal(cmd *cobra.Command, of *reader, args []string) error {
	file, epic, _, err := of.load(cmd, args...)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	state, err := workspace.StateDir(ctx, project.EpicDir(file), epic.Epic.ID)
	if err != nil {
		return err
	}
	v, err := journal.Verify(ctx, state, epic.Epic.ID)
	if errors.Is(err, journal.ErrNone) {
		return exit.Inputf("there is no journal yet: nothing has run")
	}
	if err != nil {
		otherwise := fmt.Sprintf("if there is none, move\n  %s away: ralph apply then starts from scratch.", state)
		if epic.Run.Tracker != nil {
			otherwise = fmt.Sprintf("if there is none,\n  recover from the beads: ralph recover %s --force", epic.Epic.ID)
		}
		return exit.Inputf("%w\n  Nothing after that event can be trusted. Restore the file from a backup; %s", err, otherwise)
	}
	return printed(of, cmd, v, func() error {
		saySound(cmd.OutOrStdout(), v)
		return nil
	})
}

// saySound prints what is known of a journal in which nothing is wrong.
func saySound(out io.Writer, v journal.Verified) {
	if v.Events == 0 {
		view.Sayf(out, "sound: no events yet\n")
		return
	}
	view.Sayf(out, "sound: %s, format %d, the last is event %d of %s\n", text.Count(int(v.Events), "event"), v.Format, v.Last, v.At.Local().Format(time.DateTime))
	for _, g := range v.Gaps {
		view.Sayf(out, "  events %d to %d were lost, which is recorded; %s showed it\n", g.After+1, g.Before-1, text.Count(g.Found, "commit"))
	}
	if v.Letters > 0 {
		view.Sayf(out, "  %s from people not processed yet: the next apply reads them\n", text.Count(int(v.Letters), "decision"))
	}
	view.Sayf(out, "  fingerprint %s\n", v.Hash)
}
