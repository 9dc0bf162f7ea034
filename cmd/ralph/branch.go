package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// branchHolds is the integration branch: where it stands, and what it holds. What
// it holds is asked of git: an agent may have merged what ralph did not.
type branchHolds struct {
	executor.Branch
	name, head string   // head is "" if there is no such branch
	joins      bool     // mode dag: it is made of the results when a run ends
	shadows    []string // what git takes its short name for
}

func holdsOf(ctx context.Context, epic *ir.Epic, run *executor.Run, space *workspace.Space) branchHolds {
	in := epic.Epic.Integration
	if in.Branch == "" {
		return branchHolds{}
	}
	b := branchHolds{name: in.Branch, joins: in.Mode == "dag", shadows: space.Shadows(in.Branch)}
	b.head, _ = space.Integrated(ctx)
	within, err := space.Within(ctx, append(run.Results(), run.LeftOthers()...))
	if err != nil {
		b.Branch = run.Branch(nil) // as far as ralph knows
		return b
	}
	b.Branch = run.Branch(func(commit string) bool { return within[commit] })
	return b
}

// branch is what the integration branch holds.
func (r *record) branch() branchHolds {
	return holdsOf(context.Background(), r.epic, r.run, r.space)
}

// sayHolds writes what there is to know of what the branch holds: results that are
// not what their sprint comes to now, what is done and not in it, and what is not.
func (b branchHolds) sayHolds(w io.Writer) {
	for _, x := range b.Holds {
		if x.Older && !x.Like {
			fmt.Fprintf(w, "  an older result of %s, %.7s (%s)\n", reveal.Words(string(x.Key)), x.Commit, reveal.Words(first(x.Why)))
		}
	}
	for _, c := range b.Theirs {
		fmt.Fprintf(w, "  commits of others that you accepted, %.7s\n", c)
	}
	var done, open []string // why stands above, with each
	for _, x := range b.LeftOut {
		switch {
		case x.Done:
			done = append(done, string(x.Key))
		case x.Gone:
			open = append(open, string(x.Key)+" (no longer in the epic)")
		default:
			open = append(open, string(x.Key))
		}
	}
	for _, l := range []struct {
		what string
		keys []string
	}{{"done and not in it", done}, {"not in it", open}} {
		if len(l.keys) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", l.what, reveal.Words(listOf(l.keys)))
		}
	}
}

// sayLeft writes what the last sum took out of the branch, and where that is kept.
func (b branchHolds) sayLeft(w io.Writer) {
	for _, x := range b.Left {
		fmt.Fprintf(w, "  left it: %s, %.7s (%s)\n", reveal.Words(string(x.Key)), x.Commit, reveal.Words(first(x.Why)))
	}
	for _, c := range b.Others {
		fmt.Fprintf(w, "  left it: commits of others, %.7s\n", c)
	}
	if b.Before != "" {
		fmt.Fprintf(w, "  as it was: %s\n", reveal.Words(b.Before))
	}
}

// disagrees reports whether it holds what its sprint does not come to now.
func (b branchHolds) disagrees() bool {
	return slices.ContainsFunc(b.Holds, func(x executor.Held) bool { return x.Older && !x.Like })
}

// json is what the branch holds, and what not, of status --json.
func (b branchHolds) json() (holds []heldJSON, leftOut []leftOutJSON) {
	for _, x := range b.Holds {
		holds = append(holds, heldJSON{x.Key, x.Node, x.Commit, x.Older, x.Why})
	}
	for _, x := range b.LeftOut {
		leftOut = append(leftOut, leftOutJSON{x.Key, x.Done, x.Why})
	}
	return holds, leftOut
}

// unfinished lists the sprints that a run ended with and that go on without a decision
// about them: they run, are ready, wait for a time, or are held with the run.
func unfinished(views []executor.NodeView) (keys []string) {
	for _, v := range views {
		switch {
		case v.ID == executor.Integration:
		case v.Status == executor.Running, v.Status == executor.Ready, v.Status == executor.Waiting && (v.Cause == executor.CauseHeld || v.For == executor.ForTimer || v.For == executor.ForLimit):
			keys = append(keys, string(v.Key))
		}
	}
	return keys
}

// sayBranch says what became of the branch at the end of a run.
func (v *applyView) sayBranch(w io.Writer, run *executor.Run, b branchHolds, sum executor.NodeView, interrupted bool) {
	o := run.Overview()
	open := unfinished(run.Views())
	name := reveal.Words(b.name)
	stands := "."
	if b.head != "" {
		stands = fmt.Sprintf("; branch %s stands as it was (%.12s).", name, b.head)
	}
	switch {
	case sum.Cause == executor.CauseOlder, sum.Cause == executor.CauseForeign && b.disagrees():
		fmt.Fprintf(w, "\nBranch %s was not moved (%.12s). It holds:\n", name, b.head)
		b.sayHolds(w)
	case b.joins && (interrupted || o.Held.For != "" || o.Draining != "") && len(open) > 0:
		fmt.Fprintf(w, "\nNothing was joined, as the run ended with %s that can go on (%s)%s\n", text.Count(len(open), "sprint"), reveal.Words(listOf(open)), stands)
		b.sayOlder(w)
	case !b.joins && (sum.Status != executor.Done || sum.Result.Commit == ""): // each result was put there as it passed
		switch {
		case b.disagrees():
			b.sayOlder(w)
		case len(b.Holds) > 0:
			fmt.Fprintf(w, "\nThe results are on branch %s (%.12s).\n", name, b.head)
			b.sayWays(w, !interrupted && exitOf(run, false) == exitDone)
			b.sayHolds(w)
		}
	case interrupted || sum.Status != executor.Done || sum.Result.Commit == "":
		if b.joins && (interrupted || o.Draining != "") && sum.Status != executor.Done {
			fmt.Fprintf(w, "\nNothing was joined, as the run was ended%s\n", stands)
		}
		b.sayOlder(w)
	case b.joins && !slices.ContainsFunc(b.Holds, func(x executor.Held) bool { return !x.Older }):
		fmt.Fprintf(w, "\nThere is nothing to join: branch %s stands at the base (%.12s).\n", name, sum.Result.Commit)
		b.sayHolds(w)
		b.sayLeft(w)
	default:
		fmt.Fprintf(w, "\nThe result is on branch %s (%.12s).\n", name, sum.Result.Commit)
		b.sayWays(w, exitOf(run, false) == exitDone)
		b.sayHolds(w)
		b.sayLeft(w)
	}
}

// sayOlder says what the branch holds where that is not what its sprints come to now.
func (b branchHolds) sayOlder(w io.Writer) {
	if b.disagrees() {
		fmt.Fprintf(w, "\nBranch %s (%.12s) holds:\n", reveal.Words(b.name), b.head)
		b.sayHolds(w)
	}
}

// sayWays says how to look at the branch, and to take it where it has all of it, or
// what was not skipped.
func (b branchHolds) sayWays(w io.Writer, all bool) {
	name := b.typed()
	fmt.Fprintf(w, "  look:   git log --graph --oneline %s\n", name)
	fmt.Fprintf(w, "          git diff HEAD...%s\n", name)
	if all {
		fmt.Fprintf(w, "  take:   git merge %s\n", name)
	}
	if said := b.shadowed(); said != "" {
		fmt.Fprintf(w, "  %s\n", reveal.Words(said))
	}
}

// typed is the branch's name for a command: the whole one where git takes the short
// one for something else.
func (b branchHolds) typed() string {
	if len(b.shadows) > 0 {
		return quoteArg("refs/heads/" + b.name)
	}
	return quoteArg(b.name)
}

// shadowed says what git takes the branch's short name for, "" if for the branch.
func (b branchHolds) shadowed() string {
	if len(b.shadows) == 0 {
		return ""
	}
	return fmt.Sprintf("Write the whole name: git takes %s for %s, which is not the branch.", b.name, listOf(b.shadows))
}
