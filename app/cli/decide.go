package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
)

// decideArgs are the flags that all decisions share.
type decideArgs struct {
	epic        record.Flag
	message, as string
}

func (a *decideArgs) add(cmd *cobra.Command, message string) {
	addEpicFlag(&a.epic, cmd)
	cmd.Flags().StringVar(&a.as, "as", "", "who decides (default: your user name); recorded beside it")
	if message != "" {
		cmd.Flags().StringVarP(&a.message, "message", "m", "", message+"; - reads standard input")
	}
}

// run decides: key "" is the run as a whole.
func (a *decideArgs) run(cmd *cobra.Command, key string, d executor.Decision) error {
	cmd.SetContext(workspace.Once(cmd.Context()))
	if a.message == "-" {
		b, err := project.ReadStdin(cmd.InOrStdin())
		if err != nil {
			return err
		}
		a.message = strings.TrimSpace(string(b))
	}
	if err := tooLong(a.message); err != nil {
		return err
	}
	d.Message = a.message
	d.User = project.UserName()
	d.By = a.as
	d.At = time.Now().UTC().Truncate(time.Millisecond)
	d.ID = run.NewID()
	file, err := a.epic.Path()
	if err != nil {
		return err
	}
	if key == "" && d.Verb == executor.Approve && d.How == "" && d.Tamper == "" {
		key = draftKey(file)
	}
	epic, said, err := run.Decide(cmd.Context(), file, cmd.InOrStdin(), key, d)
	if err != nil {
		return err
	}
	view.Sayf(cmd.OutOrStdout(), "%s", said)
	if key == "" && d.Verb == executor.Approve && d.How == "" && d.Tamper == "" {
		tellApproved(cmd.Context(), cmd.OutOrStdout(), file, epic)
	}
	return settleDraft(cmd, file, epic, key, d.Verb)
}

// tooLong refuses a message that a decision could not keep whole.
func tooLong(message string) error {
	if kept := executor.Note(message); len(kept) < len(executor.Clean(strings.TrimSpace(message))) {
		return exit.Usagef("the message has %d bytes; %d of them fit: put the rest into a file of the worktree and name it", len(message), len(kept))
	}
	return nil
}
