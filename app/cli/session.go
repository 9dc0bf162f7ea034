package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func addWhich(f *run.Which, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Gate, "gate", "", "of the agent of this gate")
	cmd.Flags().StringVar(&f.Step, "step", "", "of this step")
	cmd.Flags().IntVar(&f.Attempt, "attempt", 0, "of the attempt with this number")
}

func newSessionCommand() *cobra.Command {
	var of reader
	var which run.Which
	cmd := newCommand("session KEY", "List the agents' sessions of a sprint, and how to join one", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		r, err := of.open(cmd)
		if err != nil {
			return err
		}
		v, err := viewOf(r, args[0])
		if err != nil {
			return err
		}
		crew := run.NewCrew(r.Epic)
		list, err := which.Of(run.SessionsOf(r, v, crew), v)
		if err = errors.Join(err, crew.Close()); err != nil {
			return err
		}
		return printed(&of, cmd, list, func() error { return view.Sessions(r, cmd.OutOrStdout(), v, list, which.Best(list)) })
	})
	of.add(cmd, "print JSON")
	addWhich(&which, cmd)
	return cmd
}

// viewOf is the state of the node with this key or id.
func viewOf(r *record.Record, key string) (machine.NodeView, error) {
	id, err := record.Find(r.Epic, key)
	if err != nil {
		return machine.NodeView{}, err
	}
	v, ok := r.Run.View(id)
	if !ok {
		return v, exit.Inputf("this epic does not integrate results: there is no %s", key)
	}
	return v, nil
}
