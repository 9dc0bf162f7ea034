package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/term"
)

func newEnterCommand() *cobra.Command {
	var of reader
	var visit run.Visit
	cmd := newCommand("enter KEY [-- CMD…]", "Open a shell, or run a command, on a sprint's worktree in its sandbox", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		switch {
		case visit.Agent != "" && visit.Gate != "":
			return exit.Usagef("write --agent or --gate, not both")
		case cmd.ArgsLenAtDash() != 1 && len(args) > 1:
			return exit.Usagef("write -- before the command: ralph enter %s -- %s …", args[0], args[1])
		case cmd.ArgsLenAtDash() == 0:
			return exit.Usagef("write the sprint before --: ralph enter KEY -- CMD")
		}
		visit.Argv = args[1:]
		return enter(cmd, &of, args[0], &visit)
	})
	addEpicFlag(&of.epic, cmd)
	cmd.Flags().StringVar(&visit.Agent, "agent", "", "in the sandbox of this agent (default: of the one that worked last)")
	cmd.Flags().StringVar(&visit.Gate, "gate", "", "in the sandbox of this gate")
	return cmd
}

func enter(cmd *cobra.Command, of *reader, key string, visit *run.Visit) error {
	if err := process.Supported(); err != nil {
		return err
	}
	r, err := of.open(cmd)
	if err != nil {
		return err
	}
	v, err := viewOf(r, key)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	visit.In, visit.Out, visit.Err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	back, lent := func() error { return nil }, error(nil)
	in, _ := visit.In.(*os.File)
	out, _ := visit.Out.(*os.File)
	if in != nil && out != nil && term.IsTerminal(in) && term.IsTerminal(out) {
		columns, rows := term.Size(out)
		visit.Terminal = &sandbox.Terminal{Columns: uint16(columns), Rows: uint16(rows), Lead: func(leader *os.File) {
			b, err := term.Lend(in, out, leader)
			if lent = err; err == nil {
				back = b
			}
		}}
		if len(visit.Argv) == 0 {
			fmt.Fprintf(visit.Err, "In the sandbox of %s, on its worktree. What you start ends with this shell.\n", r.Key(v.ID))
		}
	}
	visit.Crew = run.NewCrew(r.Epic)
	code, err := run.Enter(ctx, r, v, visit)
	err = errors.Join(err, lent, back(), visit.Crew.Close())
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted")}
	case err != nil:
		return err
	}
	return exit.After(code)
}
