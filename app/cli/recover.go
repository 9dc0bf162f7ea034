package cli

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/recovery"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

func newRecoverCommand() *cobra.Command {
	a := &recovery.Args{}
	cmd := newCommand("recover EPIC-ID|ISSUE", "Recover a run whose journal is lost, from the beads and the branches", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return runRecover(cmd, a, args[0]) })
	f := cmd.Flags()
	f.StringVarP(&a.Out, "out", "o", "epic.json", "where to write epic.json, if it does not exist")
	f.BoolVar(&a.Force, "force", false, "move an existing journal aside (it is kept beside the new one)")
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
		return err
	}
	state := r.Space.State()
	if known.Issue { // its epic has no file
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
		return err
	}
	lock, err := run.Acquire(ctx, state)
	if err != nil {
		return exit.Inputf("%w\n  A run in progress needs no recovery.", err)
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
		return err
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
	return view.Recovery(r, cmd.OutOrStdout())
}
