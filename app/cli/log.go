package cli

import (
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/ir"
)

func newLogCommand() *cobra.Command {
	var of reader
	var follow, raw bool
	lines := 10
	cmd := newCommand("log [KEY|TRACE]", "Show what happened to a sprint, and where its output is", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		switch {
		case raw && len(args) == 0:
			return exit.Usagef("--raw prints the streams of one sprint: name its key")
		case raw && of.json:
			return exit.Usagef("--raw and --json exclude each other: write one of them")
		}
		r, err := of.open(cmd)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
		defer stop()
		l := &view.Log{R: r, Out: cmd.OutOrStdout(), JSON: of.json, Raw: raw, Lines: lines, Seen: map[string]int64{}}
		switch first, until, ok := traceOf(r.Epic, args); {
		case ok && (follow || raw):
			return exit.Usagef("a trace is in the past: --follow and --raw need the key of a sprint")
		case ok:
			l.Last, l.Until = first-1, until
		case len(args) > 0:
			if l.Node, err = record.Find(r.Epic, args[0]); err != nil {
				return err
			}
		}
		switch {
		case follow:
			return l.Follow(ctx)
		case raw:
			return l.RawAll()
		}
		return l.All()
	})
	of.add(cmd, "one JSON object per event")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep running and print new events")
	cmd.Flags().BoolVar(&raw, "raw", false, "the raw streams of the agents' programs")
	cmd.Flags().IntVarP(&lines, "lines", "n", lines, "last lines of what each turn and each gate wrote, -1 for all")
	return cmd
}

// traceOf reads a trace: the first and the last of some events of this epic.
func traceOf(epic *ir.Epic, args []string) (first, last int64, ok bool) {
	if len(args) == 0 {
		return 0, 0, false
	}
	events, ok := strings.CutPrefix(args[0], string(epic.Epic.ID)+":")
	from, to, dash := strings.Cut(events, "-")
	first, err := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	return first, last, ok && dash && err == nil && err2 == nil && 0 < first && first <= last
}
