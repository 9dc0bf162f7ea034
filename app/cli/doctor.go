package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/doctor"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

func newDoctorCommand() *cobra.Command {
	var asJSON, live bool
	cmd := newCommand("doctor", "Check git, agents and tools on this machine", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		found := doctor.Examine(ctx, live)
		if ctx.Err() != nil {
			return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted")}
		}
		if asJSON {
			if err := view.WriteJSON(cmd.OutOrStdout(), found); err != nil {
				return err
			}
		} else {
			sayFindings(cmd, found)
		}
		for _, f := range found {
			if f.State == "error" {
				return &exit.Error{Code: exit.Input}
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&live, "live", false, "have each agent program answer a greeting: it costs a turn")
	return cmd
}

func sayFindings(cmd *cobra.Command, found []doctor.Finding) {
	out := cmd.OutOrStdout()
	style := term.For(out)
	roles := map[string]term.Colour{"ok": term.Good, "missing": term.Faint, "warning": term.Warn, "error": term.Bad}
	for _, f := range found {
		fmt.Fprintf(out, "%s  %-9s %s\n", style.Paint(roles[f.State], fmt.Sprintf("%-7s", f.State)), reveal.Words(f.Name), reveal.Words(f.Detail))
		for line := range strings.Lines(f.Hint) {
			fmt.Fprintf(out, "%20s%s\n", "", reveal.Words(strings.TrimSuffix(line, "\n")))
		}
	}
}
