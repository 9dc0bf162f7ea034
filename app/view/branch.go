package view

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

// sayHolds lists where the branch differs from the sprints: outdated results in it, done
// sprints that are not in it, and unfinished ones.
func sayHolds(b record.BranchHolds, w io.Writer) {
	for _, x := range b.Holds {
		if x.Older && !x.Like {
			fmt.Fprintf(w, "  an older result of %s, %.7s (%s)\n", reveal.Words(string(x.Key)), x.Commit, reveal.Words(words.First(x.Why)))
		}
	}
	for _, c := range b.Theirs {
		fmt.Fprintf(w, "  commits of others that you accepted, %.7s\n", c)
	}
	var done, open []string // why is above, with each
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
	}{{"done but not in it", done}, {"not in it", open}} {
		if len(l.keys) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", l.what, reveal.Words(words.ListOf(l.keys)))
		}
	}
}

// sayLeft lists what the last integration removed from the branch, and where it is kept.
func sayLeft(b record.BranchHolds, w io.Writer) {
	for _, x := range b.Left {
		fmt.Fprintf(w, "  left it: %s, %.7s (%s)\n", reveal.Words(string(x.Key)), x.Commit, reveal.Words(words.First(x.Why)))
	}
	for _, c := range b.Others {
		fmt.Fprintf(w, "  left it: commits of others, %.7s\n", c)
	}
	if b.Before != "" {
		fmt.Fprintf(w, "  as it was: %s\n", reveal.Words(b.Before))
	}
}

// sayBranch reports the state of the branch at the end of a run.
func (v *Run) sayBranch(w io.Writer, run *machine.Run, b record.BranchHolds, sum machine.NodeView, interrupted bool) {
	o := run.Overview()
	open := record.Unfinished(run.Views())
	name := reveal.Words(b.Name)
	stands := "."
	if b.Head != "" {
		stands = fmt.Sprintf("; branch %s is unchanged (%.12s).", name, b.Head)
	}
	switch {
	case sum.Cause == executor.CauseOlder, sum.Cause == executor.CauseForeign && b.Disagrees():
		fmt.Fprintf(w, "\nBranch %s was not moved (%.12s). It contains:\n", name, b.Head)
		sayHolds(b, w)
	case b.Joins && (interrupted || o.Held.For != "" || o.Draining != "") && len(open) > 0:
		fmt.Fprintf(w, "\nNothing was integrated, as the run ended with %s that can continue (%s)%s\n", text.Count(len(open), "sprint"), reveal.Words(words.ListOf(open)), stands)
		SayOlder(b, w)
	case !b.Joins && (sum.Status != executor.Done || sum.Result.Commit == ""): // each result was put there as it passed
		switch {
		case b.Disagrees():
			SayOlder(b, w)
		case len(b.Holds) > 0:
			fmt.Fprintf(w, "\nThe results are on branch %s (%.12s).\n", name, b.Head)
			sayWays(b, w, !interrupted && record.ExitCode(run, false) == exit.Done)
			sayHolds(b, w)
		}
	case interrupted || sum.Status != executor.Done || sum.Result.Commit == "":
		if b.Joins && (interrupted || o.Draining != "") && sum.Status != executor.Done {
			fmt.Fprintf(w, "\nNothing was integrated, as the run was ended%s\n", stands)
		}
		SayOlder(b, w)
	case b.Joins && !slices.ContainsFunc(b.Holds, func(x machine.Held) bool { return !x.Older }):
		fmt.Fprintf(w, "\nThere is nothing to integrate: branch %s is at the base (%.12s).\n", name, sum.Result.Commit)
		sayHolds(b, w)
		sayLeft(b, w)
	default:
		fmt.Fprintf(w, "\nThe result is on branch %s (%.12s).\n", name, sum.Result.Commit)
		sayWays(b, w, record.ExitCode(run, false) == exit.Done)
		sayHolds(b, w)
		sayLeft(b, w)
	}
}

// SayOlder lists results in the branch that are not their sprints' current ones.
func SayOlder(b record.BranchHolds, w io.Writer) {
	if b.Disagrees() {
		fmt.Fprintf(w, "\nBranch %s (%.12s) contains:\n", reveal.Words(b.Name), b.Head)
		sayHolds(b, w)
	}
}

// sayWays says how to look at the branch, and to take it where it has all of it, or
// what was not skipped.
func sayWays(b record.BranchHolds, w io.Writer, all bool) {
	name := b.Typed()
	fmt.Fprintf(w, "  look:   git log --graph --oneline %s\n", name)
	fmt.Fprintf(w, "          git diff HEAD...%s\n", name)
	if all {
		fmt.Fprintf(w, "  take:   git merge %s\n", name)
		fmt.Fprintln(w, "  page:   ralph ui")
	}
	if said := b.Shadowed(); said != "" {
		fmt.Fprintf(w, "  %s\n", reveal.Words(said))
	}
}

// SayMovedOut names files moved out of worktrees that exist nowhere else.
func SayMovedOut(w io.Writer, all []record.MovedJSON, err error) {
	if err != nil {
		fmt.Fprintf(w, "\nWhat was moved out of worktrees cannot be listed: %s\n", reveal.Words(err.Error()))
	}
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nMoved out of worktrees, because it cannot or must not be committed; there is no other copy.\nTake what you need, then remove the directory:")
	for _, m := range all[:min(len(all), words.MostNamed)] {
		fmt.Fprintln(w, reveal.Words(fmt.Sprintf("  %s%s (%s)", words.With("", m.Key, ": "), words.QuotePath(m.Dir), m.Amount())))
	}
	if more := len(all) - words.MostNamed; more > 0 {
		fmt.Fprintf(w, "  and %d more: ralph status --json\n", more)
	}
}

// saySurvivors names the surviving processes and how to end them.
func saySurvivors(status record.StatusJSON, w io.Writer) {
	const most = 20
	all := status.Run.Survivors
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "     still running, left by the killed run:\n")
	kill := "kill -KILL"
	for i, s := range all {
		kill += fmt.Sprintf(" %d", s.PID)
		if i >= most {
			continue
		}
		what := s.What + words.With(" of ", strings.TrimPrefix(s.Files, "attempts"+string(filepath.Separator)), "")
		fmt.Fprintf(w, "       %s\n", reveal.Words(fmt.Sprintf("process %d (%s), %s, since %s", s.PID, s.Program, what, words.Clock(status.Now, *s.Since))))
	}
	if len(all) > most {
		fmt.Fprintf(w, "       and %d more\n", len(all)-most)
	}
	fmt.Fprintf(w, "     ralph apply%s ends them first; without it: %s\n", record.Applies(status.File), kill)
}

// SayChanges lists what others changed while agents were at work, with what to type.
// Settled changes are left to the log.
func SayChanges(w io.Writer, list []words.Change) {
	said := 0
	for i, c := range list {
		switch {
		case c.State != string(machine.TamperOpen):
			continue
		case said == record.MostChanges:
			fmt.Fprintf(w, "  and %d more: ralph status --json\n", len(list)-i)
			return
		case said == 0 && c.Failing:
			fmt.Fprintln(w, "\nTampered with while agents were at work; apply exits with 3 until each is put back or accepted:")
		case said == 0 || !c.Failing && list[i-1].Failing:
			fmt.Fprintln(w, "\nChanged by others meanwhile (by you, or by an agent); the exit code does not count it:")
		}
		said++
		earlier := ""
		if c.Earlier > 0 && !c.Failing {
			earlier = " (noticed by the apply of " + c.At.Format("2006-01-02 15:04") + ")"
		}
		fmt.Fprintln(w, reveal.Words("  "+c.Text+earlier))
		if len(c.During) > 0 {
			fmt.Fprintln(w, reveal.Words("    at work: "+words.ListOf(c.During)))
		}
		if c.IsBack {
			fmt.Fprintln(w, "    it is as it was again: the next ralph apply records that")
			continue
		}
		if c.Look != "" {
			fmt.Fprintln(w, reveal.Words("    look: "+c.Look))
		}
		switch {
		case c.Back != "" && c.Failing:
			fmt.Fprintln(w, reveal.Words("    put it back: "+c.Back))
		case c.Back != "":
			fmt.Fprintln(w, reveal.Words("    put it back, if it was not you: "+c.Back))
		}
		if c.Accept != "" {
			fmt.Fprintln(w, reveal.Words("    accept it:   "+c.Accept))
		}
	}
}
