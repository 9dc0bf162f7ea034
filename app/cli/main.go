package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/version"
)

// Main is ralph: it runs a command line and returns the exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(errOut, "ralph: this is a bug in ralph, please report it: %v\n", reveal.Words(fmt.Sprint(r)))
			if os.Getenv("RALPH_TRACE") != "" {
				fmt.Fprintf(errOut, "%s", debug.Stack())
			} else {
				fmt.Fprintln(errOut, "  (RALPH_TRACE=1 prints where)")
			}
			code = exit.Bug
		}
	}()
	defer process.EndGuard()
	project.CollectLate()
	root := bareRoot()
	if len(args) != 1 || args[0] != "--version" { // which needs none of them
		addCommands(root)
		withExternals(root)
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := runExternal(root, args)
	if err == nil {
		err = root.Execute()
	}
	if err == nil {
		return exit.Done
	}
	code = exit.Input
	var ee *exit.Error
	if errors.As(err, &ee) {
		code = ee.Code
	}
	if ee == nil || ee.Err != nil {
		fmt.Fprintf(errOut, "ralph: %s\n", strings.TrimSpace(reveal.Words(err.Error())))
	}
	if code == exit.Usage && ee.Err != nil {
		fmt.Fprintln(errOut, "  (ralph help lists the commands; ralph COMMAND --help explains one)")
	}
	return code
}

func bareRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ralph",
		Short: "Plans compile. Agents apply.",
		Long: `ralph turns a markdown plan into a static, reviewable graph of work and walks it
with coding agents: each in its own git worktree, each judged by gates.

  ralph init                                  write ralph.hcl, a sample plan, sample agents
  ralph compile plans/x.md -o epic.json       plan + policy → epic.json; ids go into the plan
  ralph graph -o epic.svg                     look at it
  ralph apply epic.json                       walk it`,
		Version:       version.Ralph(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%w", err) })
	root.SetVersionTemplate("ralph {{.Version}}\n")
	return root
}

func addCommands(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: "compile", Title: "Plans and graphs:"},
		&cobra.Group{ID: "apply", Title: "Runs:"},
		&cobra.Group{ID: "setup", Title: "Setting up:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("compile", newCompileCommand(), newImportCommand(), newExportCommand(), newValidateCommand(), newGraphCommand(), newDiffCommand(), newWhyCommand(), newFmtCommand())
	add("apply", newDraftCommand(), newPlanCommand(), newApplyCommand(), newStatusCommand(), newLogCommand(), newShowCommand(), newSessionCommand(), newAskCommand(), newEnterCommand(), newRunsCommand(), newReportCommand(), newJournalCommand(), newRecoverCommand(), newSimulateCommand(),
		newWorkerCommand(), newMonitorCommand(), newUICommand(),
		newApproveCommand(), newRejectCommand(), newRetryCommand(), newSkipCommand(), newPauseCommand(), newResumeCommand(), newCancelCommand())
	add("setup", newInitCommand(), newDoctorCommand(), newLoginCommand(), newLogoutCommand(), newSyncAgentsCommand(), newSchemaCommand(), newMCPCommand(), newVersionCommand())
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	withTexts(root)
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			explain := c.Run
			c.Run, c.RunE = nil, func(cmd *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); found == nil || err != nil || len(rest) > 0 && found == root {
					return unknownCommand(root, strings.Join(args, " "))
				}
				explain(cmd, args)
				return nil
			}
		case "completion":
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return exit.Usagef("there is no shell %q; there are: bash, fish, powershell, zsh", args[0])
				}
				return cmd.Help()
			}
			c.Args = cobra.ArbitraryArgs
			for _, shell := range c.Commands() {
				shell.Args = countArgs(shell.Args)
			}
		}
	}
}

// newCommand puts a command together. count checks the number of arguments; nil takes any.
func newCommand(use, short string, count cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: run}
	if count != nil {
		cmd.Args = countArgs(count)
	}
	return cmd
}

// countArgs replaces the message of cobra's check of the number of arguments by the usage
// line.
func countArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return exit.Usagef("write: %s", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
		}
		return nil
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = min(2, len(name)/2) // letters that may be wrong
	if near := cmd.SuggestionsFor(name); name != "" && len(near) > 0 {
		return exit.Usagef("there is no command %q; did you mean %q?", name, near[0])
	}
	return exit.Usagef("there is no command %q", name)
}
