package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/ir"
)

func newLoginCommand() *cobra.Command {
	var list, asJSON bool
	var policy []string
	cmd := newCommand("login RUNNER [-- ARGS…]", "Log an agent program in inside ralph's sandboxes", nil, func(cmd *cobra.Command, args []string) error {
		switch {
		case list && len(args) > 0, asJSON && !list:
			return exit.Usagef("write ralph login --list [--json], or ralph login RUNNER [-- ARGS…]")
		case list:
			return listLogins(cmd, asJSON)
		case len(args) == 0 || cmd.ArgsLenAtDash() == 0, len(args) > 1 && cmd.ArgsLenAtDash() != 1:
			return exit.Usagef("write: ralph login RUNNER [-- ARGS…], where ARGS are for the program's own login")
		}
		r, err := runnerOf(args[0], policy)
		if err != nil {
			return err
		}
		return logIn(cmd, args[0], r, args[1:])
	})
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the logins that ralph keeps, and since when")
	f.BoolVar(&asJSON, "json", false, "with --list: print JSON")
	f.StringArrayVar(&policy, "policy", nil, "policy file or directory instead of ralph.hcl and policies/ (repeatable)")
	return cmd
}

func newLogoutCommand() *cobra.Command {
	return newCommand("logout RUNNER", "Remove a login that ralph keeps for its sandboxes", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if err := run.LogOut(args[0]); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "The login of %s is gone from this machine. Its provider may still list it: end it in your account there.\n", reveal.Words(args[0]))
		return nil
	})
}

// runnerOf is the runner of a name in the policy, else the usual one of the kind of that name.
func runnerOf(name string, policy []string) (ir.Runner, error) {
	p, err := project.OpenPolicy(policy)
	if err != nil {
		return ir.Runner{}, err
	}
	defer p.Project.Close()
	if r := p.Set.Runners[name]; r != nil {
		return compiler.Runner(r), nil
	}
	if slices.Contains(run.RunnerKinds, name) {
		return ir.Runner{Kind: name}, nil
	}
	known := slices.Sorted(maps.Keys(p.Set.Runners))
	for _, kind := range slices.Sorted(maps.Keys(runner.Logins)) {
		if !slices.Contains(known, kind) {
			known = append(known, kind)
		}
	}
	return ir.Runner{}, exit.Inputf("there is no runner %q; there are: %s", name, words.ListOf(known))
}

func logIn(cmd *cobra.Command, name string, r ir.Runner, args []string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	l, err := run.LogIn(ctx, name, r, args, run.Person{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr()})
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted; no login was made")}
	case err != nil:
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nSandboxes with a runner of kind %s", l.Kind)
	if l.Name != l.Kind {
		fmt.Fprintf(cmd.OutOrStdout(), " and the name %s", l.Name)
	}
	fmt.Fprintf(cmd.OutOrStdout(), " use this login from now on, unless a key is given. It is in\n  %s\nYour own login was not touched.\n", reveal.Words(l.Dir))
	return nil
}

func listLogins(cmd *cobra.Command, asJSON bool) error {
	all, err := run.LoginList()
	if err != nil {
		return err
	}
	if asJSON {
		return view.WriteJSON(cmd.OutOrStdout(), append([]run.Login{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "ralph keeps no login. To make one: ralph login claude, ralph login codex")
	}
	for _, l := range all {
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, since %s\n", l.Name, l.Kind, l.Since.Local().Format("2006-01-02 15:04"))
	}
	return nil
}
