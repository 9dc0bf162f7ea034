package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/term"
)

func newMonitorCommand() *cobra.Command {
	var asJSON, watch bool
	cmd := newCommand("monitor [DIR...]", "Show the runs of repositories: what runs, what stalls, what waits for whom", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if asJSON && watch {
			return exit.Usagef("--json prints once; leave out --watch")
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		if in, out, is := screenOf(cmd); is && watch {
			return watchBoard(cmd.Context(), args, in, out)
		}
		return runMonitor(cmd.Context(), &record.Monitor{Dirs: args}, cmd.OutOrStdout(), asJSON, watch)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "refresh until it is ended: on a terminal with keys, elsewhere one line per change")
	return cmd
}

// screenOf is the terminal that a command is typed at, if it has keys and a screen.
func screenOf(cmd *cobra.Command) (in, out *os.File, is bool) {
	in, _ = cmd.InOrStdin().(*os.File)
	out, _ = cmd.OutOrStdout().(*os.File)
	return in, out, in != nil && out != nil && term.IsTerminal(in) && term.IsTerminal(out) && os.Getenv("TERM") != "dumb"
}

// watchBoard shows the runs on a terminal, with keys.
func watchBoard(ctx context.Context, dirs []string, in, out *os.File) error {
	d, err := newDesk(ctx, dirs, term.For(out))
	if err != nil {
		return err
	}
	defer d.close()
	return view.WatchBoard(ctx, view.Desk{Look: d.look, Page: d.page, Diff: d.diff, Follow: d.tail, Decide: d.decide}, in, out)
}

// monitorTick is how often --watch looks.
const monitorTick = time.Second

func runMonitor(ctx context.Context, m *record.Monitor, out io.Writer, asJSON, watch bool) error {
	seen, err := m.Look(ctx)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		seen.Whole()
		return view.WriteJSON(out, seen)
	case !watch:
		var b strings.Builder
		view.Monitor(&b, term.For(out), seen)
		_, err := io.WriteString(out, b.String())
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	return watchMonitor(ctx, m, out, seen)
}

// watchMonitor redraws a terminal without keys, or prints a line for each change.
func watchMonitor(ctx context.Context, m *record.Monitor, out io.Writer, seen record.MonitorJSON) error {
	draw := view.MonitorChanges(out)
	if term.IsTerminal(out) && os.Getenv("TERM") != "dumb" {
		block := term.NewBlock(out)
		draw = func(seen record.MonitorJSON) {
			var b bytes.Buffer
			view.Monitor(&b, term.For(out), seen)
			block.Draw(nil, strings.Split(strings.TrimRight(b.String(), "\n"), "\n"))
		}
	}
	tick := time.NewTicker(monitorTick)
	defer tick.Stop()
	for {
		draw(seen)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var err error
		if seen, err = m.Look(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}
