package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// BranchHolds is the integration branch: its head and its content. The content is read
// from git, because an agent may have merged more than ralph did.
type BranchHolds struct {
	machine.Branch
	Name, Head string   // Head is "" if the branch does not exist
	Joins      bool     // mode dag: built from the results when a run ends
	shadows    []string // other refs that git resolves its short name to
}

// HoldsOf reads the integration branch of a run; zero if the epic has none. If git fails,
// the content is what ralph's own record says.
func HoldsOf(ctx context.Context, epic *ir.Epic, run *machine.Run, space *workspace.Space) BranchHolds {
	return LookAtBranch(ctx, epic, Landed(run), space).Holds(epic, run)
}

// Landed are the commits that LookAtBranch looks for.
func Landed(run *machine.Run) []string {
	return append(run.Integration().Results(), run.Integration().LeftOthers()...)
}

// BranchSight is what git says about an integration branch.
type BranchSight struct {
	head    string
	shadows []string
	within  map[string]bool // nil: git failed
}

// LookAtBranch asks git which commits the integration branch of an epic holds.
func LookAtBranch(ctx context.Context, epic *ir.Epic, commits []string, space *workspace.Space) BranchSight {
	branch := epic.Epic.Integration.Branch
	if branch == "" {
		return BranchSight{}
	}
	out := BranchSight{shadows: space.Checkout.Shadows(branch)}
	out.head, _ = space.Refs.Integrated(ctx)
	if within, err := space.Refs.Within(ctx, commits); err == nil {
		out.within = within
	}
	return out
}

// Holds says what the branch holds of a run.
func (s BranchSight) Holds(epic *ir.Epic, run *machine.Run) BranchHolds {
	in := epic.Epic.Integration
	if in.Branch == "" {
		return BranchHolds{}
	}
	b := BranchHolds{Name: in.Branch, Head: s.head, Joins: in.Mode == "dag", shadows: s.shadows}
	var has func(commit string) bool // nil: as far as ralph knows
	if s.within != nil {
		has = func(commit string) bool { return s.within[commit] }
	}
	b.Branch = run.Integration().Branch(has)
	return b
}

// branch reads the run's integration branch.
func (r *Record) branch() BranchHolds { return HoldsOf(context.Background(), r.Epic, r.Run, r.Space) }

// Disagrees reports whether the branch holds a result that is not its sprint's current one.
func (b BranchHolds) Disagrees() bool {
	return slices.ContainsFunc(b.Holds, func(x machine.Held) bool { return x.Older && !x.Like })
}

// json is what the branch holds, and what it lacks, for status --json.
func (b BranchHolds) json() (holds []heldJSON, leftOut []leftOutJSON) {
	holds = lists.Map(b.Holds, func(x machine.Held) heldJSON { return heldJSON{x.Key, x.Node, x.Commit, x.Older, x.Why} })
	leftOut = lists.Map(b.LeftOut, func(x machine.LeftOut) leftOutJSON { return leftOutJSON{x.Key, x.Done, x.Why} })
	return holds, leftOut
}

// Unfinished lists the keys of sprints that were open when a run ended and continue
// without a decision: they are running, ready, waiting for a time, or held with the run.
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

// Typed is the branch's name for use in a command: the full ref where the short name is
// ambiguous in git.
func (b BranchHolds) Typed() string {
	if len(b.shadows) > 0 {
		return words.QuoteArg("refs/heads/" + b.Name)
	}
	return words.QuoteArg(b.Name)
}

// Shadowed names the ref that git resolves the branch's short name to; "" if that is the
// branch.
func (b BranchHolds) Shadowed() string {
	if len(b.shadows) == 0 {
		return ""
	}
	return fmt.Sprintf("Write the full name: git resolves %s to %s, which is not the branch.", b.Name, words.ListOf(b.shadows))
}
