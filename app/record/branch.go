package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// BranchHolds is the integration branch: where it stands, and what it holds. What
// it holds is asked of git: an agent may have merged what ralph did not.
type BranchHolds struct {
	machine.Branch
	Name, Head string   // head is "" if there is no such branch
	Joins      bool     // mode dag: it is made of the results when a run ends
	shadows    []string // what git takes its short name for
}

func HoldsOf(ctx context.Context, epic *ir.Epic, run *machine.Run, space *workspace.Space) BranchHolds {
	in := epic.Epic.Integration
	if in.Branch == "" {
		return BranchHolds{}
	}
	b := BranchHolds{Name: in.Branch, Joins: in.Mode == "dag", shadows: space.Shadows(in.Branch)}
	b.Head, _ = space.Integrated(ctx)
	within, err := space.Within(ctx, append(run.Results(), run.LeftOthers()...))
	if err != nil {
		b.Branch = run.Branch(nil) // as far as ralph knows
		return b
	}
	b.Branch = run.Branch(func(commit string) bool { return within[commit] })
	return b
}

// Branch is what the integration branch holds.
func (r *Record) Branch() BranchHolds {
	return HoldsOf(context.Background(), r.Epic, r.Run, r.Space)
}

// Disagrees reports whether it holds what its sprint does not come to now.
func (b BranchHolds) Disagrees() bool {
	return slices.ContainsFunc(b.Holds, func(x machine.Held) bool { return x.Older && !x.Like })
}

// json is what the branch holds, and what not, of status --json.
func (b BranchHolds) json() (holds []heldJSON, leftOut []leftOutJSON) {
	for _, x := range b.Holds {
		holds = append(holds, heldJSON{x.Key, x.Node, x.Commit, x.Older, x.Why})
	}
	for _, x := range b.LeftOut {
		leftOut = append(leftOut, leftOutJSON{x.Key, x.Done, x.Why})
	}
	return holds, leftOut
}

// Unfinished lists the sprints that a run ended with and that go on without a decision
// about them: they run, are ready, wait for a time, or are held with the run.
func Unfinished(views []machine.NodeView) (keys []string) {
	for _, v := range views {
		switch {
		case v.ID == executor.Integration:
		case v.Status == executor.Running, v.Status == executor.Ready, v.Status == executor.Waiting && (v.Cause == executor.CauseHeld || v.For == executor.ForTimer || v.For == executor.ForLimit):
			keys = append(keys, string(v.Key))
		}
	}
	return keys
}

// Typed is the branch's name for a command: the whole one where git takes the short
// one for something else.
func (b BranchHolds) Typed() string {
	if len(b.shadows) > 0 {
		return words.QuoteArg("refs/heads/" + b.Name)
	}
	return words.QuoteArg(b.Name)
}

// Shadowed says what git takes the branch's short name for, "" if for the branch.
func (b BranchHolds) Shadowed() string {
	if len(b.shadows) == 0 {
		return ""
	}
	return fmt.Sprintf("Write the whole name: git takes %s for %s, which is not the branch.", b.Name, words.ListOf(b.shadows))
}
