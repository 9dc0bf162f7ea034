package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/recovery"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func newRecoverCommand() *cobra.Command {
	a := &recovery.Args{}
	cmd := newCommand("recover EPIC-ID|ISSUE", "Go on with a run whose journal is lost, from the beads and the branches", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return runRecover(cmd, a, args[0]) })
	f := cmd.Flags()
	f.StringVarP(&a.Out, "out", "o", "epic.json", "where epic.json is written, if it is not there")
	f.BoolVar(&a.Force, "force", false, "set a journal that is here aside (it is kept beside the new one)")
	f.BoolVar(&a.JSON, "json", false, "print JSON")
	return cmd
}

func runRecover(cmd *cobra.Command, a *recovery.Args, id string) (err error) {
	ctx := cmd.Context()
	known, err := recovery.Recall(ctx, ir.NodeID(id))
	if err != nil {
		return err
	}
	r := &recovery.Recovery{Known: known}
	if r.Epic, r.Raw, err = record.EpicOf(known); err != nil {
		return err
	}
	if r.Space, err = workspace.Open(ctx, ".", r.Epic); err != nil {
		return record.Refusal(err)
	}
	state := r.Space.State()
	if known.Issue { // its epic is nobody's file
		r.File, r.There = filepath.Join(state, "epic.json"), true
	} else if r.File, r.There, err = recovery.Target(a.Out, r.Epic); err != nil {
		return err
	}
	taken, err := r.Space.Names.Clashes(func(*ir.Node) bool { return false }, true) // what is there may be the epic's
	ofOthers := slices.DeleteFunc(taken, func(c workspace.Clash) bool { return c.Epic == "" })
	if err = errors.Join(err, run.NamesTaken(ofOthers)); err != nil {
		return err
	}
	if err := regular.MkdirOwn(state); err != nil {
		return exit.Inputf("%w", err)
	}
	lock, err := run.Acquire(ctx, state)
	if err != nil {
		return exit.Inputf("%w\n  A run that is at work needs no recovery.", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if known.Issue {
		claim, err := r.HoldClaim(ctx, state)
		if err != nil {
			return err
		}
		defer func() { _ = claim.Release() }()
	}
	if err := recovery.MakeRoom(ctx, state, r.Epic.Epic.ID, a.Force); err != nil {
		return err
	}
	if err := r.Find(ctx); err != nil {
		return record.Refusal(err)
	}
	if err := r.Write(ctx, state); err != nil {
		return err
	}
	if known.Issue {
		if err := r.WriteClaim(state); err != nil {
			return err
		}
	}
	if a.JSON {
		return view.WriteJSON(cmd.OutOrStdout(), r.AsJSON())
	}
	return printRecovery(r, cmd.OutOrStdout())
}

// printRecovery prints what is done, what is open and why, and what to type.
func printRecovery(r *recovery.Recovery, out io.Writer) error {
	var b strings.Builder
	paint := term.For(out)
	fmt.Fprintf(&b, "%s  %s\n", paint.Paint(term.Bold, reveal.Words(r.Epic.Epic.Title)), reveal.Words(string(r.Epic.Epic.ID)))
	wrote := "is there and stays"
	if !r.There {
		wrote = "written"
	}
	fmt.Fprintf(&b, "%s %s", reveal.Words(filepath.ToSlash(r.File)), wrote)
	if r.Base.Commit != "" {
		fmt.Fprintf(&b, "; base %.12s; %s made", r.Base.Commit, text.Count(r.Refs, "ref"))
	}
	b.WriteString("\n\n")
	g := &view.Grid{Paint: paint}
	g.Row(term.Faint, "sprint", "status", "attempts", "commit", "title")
	for _, n := range r.Nodes {
		ink := view.ColourOf(executor.Pending)
		if n.Status == executor.Done.String() {
			ink = view.ColourOf(executor.Done)
		} else if n.Status == executor.Blocked.String() {
			ink = view.ColourOf(executor.Blocked)
		}
		tries := ""
		if n.Attempts > 0 {
			tries = fmt.Sprint(n.Attempts)
		}
		g.Row(ink, string(n.Key), n.Status, tries, fmt.Sprintf("%.12s", n.Commit), n.Title)
	}
	g.Write(&b)
	first := true
	for _, n := range r.Nodes {
		for _, why := range n.Notes {
			if first {
				b.WriteString("\nNot taken over, or otherwise than it was:\n")
				first = false
			}
			fmt.Fprintf(&b, "  %s  %s\n", reveal.Words(string(n.Key)), reveal.Words(why))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Paint(term.Warn, "warning:"), reveal.Words(w))
	}
	if r.Known.Run == nil {
		b.WriteString("\nThe beads know of no run: nothing had to be recovered.\n")
	}
	if r.Known.Issue {
		b.WriteString(r.IssueGoesOn())
	} else {
		fmt.Fprintf(&b, "\nWhat apply would do now: ralph plan%s\nTo go on:                ralph apply%s\n", record.Applies(r.File), record.Applies(r.File))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
