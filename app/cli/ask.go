package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
)

// askArgs are the flags of ask.
type askArgs struct {
	of        reader
	which     run.Which
	inSession bool
	timeout   time.Duration
}

func newAskCommand() *cobra.Command {
	a := &askArgs{}
	cmd := newCommand("ask KEY QUESTION", "Ask the agent that did a sprint why it did what it did", cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error { return a.run(cmd, args[0], args[1]) })
	addEpicFlag(&a.of.epic, cmd)
	addWhich(&a.which, cmd)
	cmd.Flags().BoolVar(&a.inSession, "in-session", false, "ask in the session itself, not in a copy of it")
	cmd.Flags().DurationVar(&a.timeout, "timeout", 10*time.Minute, "time for the answer")
	return cmd
}

func (a *askArgs) run(cmd *cobra.Command, key, question string) error {
	if a.timeout <= 0 {
		return exit.Usagef("--timeout %s: write a time above 0", a.timeout)
	}
	if err := process.Supported(); err != nil {
		return err
	}
	if question == "-" {
		b, err := project.ReadStdin(cmd.InOrStdin())
		if err != nil {
			return err
		}
		question = string(b)
	}
	if strings.TrimSpace(question) == "" {
		return exit.Usagef("the question is empty")
	}
	r, err := a.of.open(cmd)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	v, err := viewOf(r, key)
	if err != nil {
		return err
	}
	crew := run.NewCrew(r.Epic)
	s, program, err := run.Choose(r, v, crew, &a.which, !a.inSession)
	if err != nil {
		return errors.Join(err, crew.Close())
	}
	said, live := "", func(string) func() { return func() {} }
	if out := cmd.OutOrStdout(); term.IsTerminal(out) {
		live = func(file string) func() {
			shown := view.FollowFile(file, out)
			return func() { said = shown.End() }
		}
	}
	answer, err := run.Ask(ctx, r, v, s, program, question, !a.inSession, a.timeout, live)
	answer = []byte(crew.Redact.String(string(answer)))
	err = errors.Join(err, crew.Close())
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted; nothing was changed")}
	case err != nil:
		return err
	}
	return sayAnswer(cmd.OutOrStdout(), answer, said)
}

// sayAnswer prints the answer, unless the terminal has it already.
func sayAnswer(out io.Writer, answer []byte, said string) error {
	text := strings.TrimSpace(reveal.Words(string(answer)))
	if text == "" && strings.TrimSpace(said) == "" {
		return exit.Inputf("the agent ended without an answer")
	}
	if strings.HasSuffix(squeezed(said), squeezed(text)) {
		return nil
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// squeezed is a text without its white space.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
