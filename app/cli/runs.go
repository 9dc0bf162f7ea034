package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
)

func newRunsCommand() *cobra.Command {
	var epic record.Flag
	var jsonl, asJSON bool
	cmd := &cobra.Command{
		Use:   "runs [epic.json]",
		Short: "List the runs of an epic: when, by whom, how they ended",
		Long: `Runs lists every run of ralph apply on this epic, oldest first, as the journal has
them; one that was killed is among them, and the one that is at work. Each has a trace:
the events of the journal that it wrote, which ralph log prints in words.`,
		Example: `  ralph runs
  ralph runs --jsonl                one JSON object per run that ended, as in runs.jsonl
  ralph runs --json`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := epic.Path(args...)
			if err != nil {
				return err
			}
			list, err := listRuns(cmd, file)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return view.WriteJSON(cmd.OutOrStdout(), list)
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
			var b strings.Builder
			g := &view.Grid{Paint: term.For(cmd.OutOrStdout())}
			g.Row(term.Faint, "started", "took", "by", "outcome", "exit", "attempts", "sprints", "trace", "why")
			for _, r := range list {
				took, exit, sprints, ink := "", "", "", term.Info
				if r.Ended != nil {
					took, sprints, ink = words.Brief(r.Ended.Sub(r.Started)), tallyOrUnknown(r.RunRecord), term.Bad
				}
				if r.Exit != nil {
					exit, ink = fmt.Sprint(*r.Exit), outcomeColour(*r.Exit)
				} else if r.Ended != nil { // killed: it lived on after what it wrote last
					took = "at least " + took
				}
				g.Row(ink, r.Started.Local().Format(time.DateTime), took, r.By, string(r.Outcome), exit,
					fmt.Sprint(r.Attempts), sprints, r.Trace, words.First(r.Error))
			}
			g.Write(&b)
			_, err = cmd.OutOrStdout().Write([]byte(b.String()))
			return err
		},
	}
	addEpicFlag(&epic, cmd)
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "one JSON object per run that ended")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// tallyOrUnknown counts nodes; a run that was killed had no time to.
func tallyOrUnknown(r journal.RunRecord) string {
	if len(r.Counts) == 0 {
		return "unknown"
	}
	return strings.Replace(words.Tally(r.Counts, r.GoesOn, true), " sprints done", " done", 1)
}

func outcomeColour(after int) term.Colour {
	switch after {
	case exit.Done:
		return term.Good
	case exit.Waiting:
		return term.Warn
	}
	return term.Bad
}

func listRuns(cmd *cobra.Command, file string) (list []record.RunLine, err error) {
	epic, _, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	ctx := background(cmd)
	state, err := workspace.StateDir(ctx, project.EpicDir(file), epic.Epic.ID)
	if err != nil {
		return nil, record.Refusal(err)
	}
	log, err := journal.Read(state, epic.Epic.ID)
	if errors.Is(err, journal.ErrNone) {
		return []record.RunLine{}, nil
	}
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	_, held, err := journal.Holder(state) // before the events: who ends meanwhile is at work still
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	ended, tally, err := log.Runs(ctx, record.KeysOf(epic))
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	list = make([]record.RunLine, 0, len(ended)+1)
	for _, r := range ended {
		list = append(list, record.RunLine{RunRecord: r, Ended: record.TimeJSON(r.Ended)})
	}
	if r, open := tally.Open(); open {
		if r.Outcome = "at work"; !held {
			r.Outcome, r.Error = executor.RunKilled, "it ended without a word; ralph apply"+record.Applies(file)+" goes on"
		}
		list = append(list, record.RunLine{RunRecord: r})
	}
	return list, nil
}

func newJournalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Check the journal of a run",
		Long: `The journal is the one record of what happened in the runs of an epic: an SQLite file
in the repository's git directory. Each event carries the hash of the one before.`,
		Example: `  ralph journal verify`,
		Args:    countArgs(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newJournalVerifyCommand())
	return cmd
}

func newJournalVerifyCommand() *cobra.Command {
	var epic record.Flag
	cmd := &cobra.Command{
		Use:   "verify [epic.json]",
		Short: "Read the whole journal and check the chain of its events",
		Long: `Verify reads the journal from its first event to its last and checks that none was
changed, lost or put in. Damage is named by the number of the first event that is
wrong, and the exit code is 1. It changes nothing; a run may be at work.`,
		Example: `  ralph journal verify
  ralph journal verify other/epic.json`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := epic.Path(args...)
			if err != nil {
				return err
			}
			return verifyJournal(cmd, file)
		},
	}
	addEpicFlag(&epic, cmd)
	return cmd
}

func verifyJournal(cmd *cobra.Command, file string) error {
	epic, _, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	ctx := background(cmd)
	state, err := workspace.StateDir(ctx, project.EpicDir(file), epic.Epic.ID)
	if err != nil {
		return record.Refusal(err)
	}
	v, err := journal.Verify(ctx, state, epic.Epic.ID)
	if errors.Is(err, journal.ErrNone) {
		return exit.Inputf("there is no journal yet: nothing has run")
	}
	if err != nil {
		otherwise := fmt.Sprintf("if there is none, move\n  %s away: ralph apply then begins anew.", state)
		if epic.Run.Tracker != nil {
			otherwise = fmt.Sprintf("if there is none,\n  go on from the beads: ralph recover %s --force", epic.Epic.ID)
		}
		return exit.Inputf("%w\n  Nothing after that event can be trusted. Restore the file from a backup; %s", err, otherwise)
	}
	out := cmd.OutOrStdout()
	if v.Events == 0 {
		view.Sayf(out, "sound: nothing has happened yet\n")
		return nil
	}
	view.Sayf(out, "sound: %s, format %d, the last is event %d of %s\n", text.Count(int(v.Events), "event"), v.Format, v.Last, v.At.Local().Format(time.DateTime))
	for _, g := range v.Gaps {
		view.Sayf(out, "  events %d to %d were lost and that is on record; %s showed it\n", g.After+1, g.Before-1, text.Count(g.Found, "commit"))
	}
	if v.Letters > 0 {
		view.Sayf(out, "  %s of people not answered yet: the next apply reads them\n", text.Count(int(v.Letters), "decision"))
	}
	view.Sayf(out, "  fingerprint %s\n", v.Hash)
	return nil
}
