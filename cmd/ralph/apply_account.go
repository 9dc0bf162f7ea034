package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// account ends a run: what is done, what is not and why, and what to type next.
func (v *applyView) account(r *openedRun, interrupted bool, only []ir.NodeID) {
	w := v.out
	if v.jsonl {
		w = v.err
	}
	views := r.run.Views()
	sum := executor.NodeView{}
	done := 0
	var open []executor.NodeView
	for _, n := range views {
		switch {
		case n.ID == executor.Integration:
			sum = n
			if n.Status != executor.Done && n.Status != executor.Pending {
				open = append(open, n)
			}
		case n.Status == executor.Done:
			done++
		default:
			open = append(open, n)
		}
	}
	fmt.Fprintf(w, "\n%d of %d sprints done in %s\n", done, len(v.epic.Nodes), time.Since(v.begun).Round(time.Millisecond))
	skippedByOnly := 0
	for _, n := range open {
		if n.Status == executor.Pending && strings.HasPrefix(n.Reason, "not selected") {
			skippedByOnly++
			continue
		}
		why, status := first(n.Reason), n.Status.String()
		if n.Status == executor.Running && interrupted {
			status = "interrupted"
			if k := len(n.Attempts); k > 0 {
				why = fmt.Sprintf("in %s #%d", n.Attempts[k-1].Step, n.Attempts[k-1].Number)
			}
		}
		if why != "" {
			why = ": " + why
		}
		fmt.Fprintln(w, term.Clean(fmt.Sprintf("  %s  %s%s", v.pad(n.ID), status, why)))
	}
	if skippedByOnly > 0 {
		fmt.Fprintf(w, "  %d not selected by --only\n", skippedByOnly)
	}
	if gone := r.run.Gone(); len(gone) > 0 {
		fmt.Fprintf(w, "  %d on record that the epic no longer has; kept in the journal, left out of the result\n", len(gone))
	}
	v.next(w, r, sum, open, interrupted, only)
}

// next says what to type.
func (v *applyView) next(w io.Writer, r *openedRun, sum executor.NodeView, open []executor.NodeView, interrupted bool, only []ir.NodeID) {
	if interrupted {
		fmt.Fprintln(w, "\nInterrupted. To go on: ralph apply")
		return
	}
	branch := v.epic.Epic.Integration.Branch
	if sum.Status == executor.Done && sum.Result.Commit != "" && len(only) == 0 {
		fmt.Fprintf(w, "\nThe result is on branch %s (%.12s).\n", term.Clean(branch), sum.Result.Commit)
		fmt.Fprintf(w, "  look:   git log --graph --oneline %s\n", quoteArg(branch))
		fmt.Fprintf(w, "          git diff HEAD...%s\n", quoteArg(branch))
		if len(open) == 0 {
			fmt.Fprintf(w, "  take:   git merge %s\n", quoteArg(branch))
		}
	}
	named := 0
	for _, n := range open {
		if n.ID != executor.Integration && (n.Status == executor.Blocked || n.Status == executor.Waiting && n.For == executor.ForHuman) {
			if named++; named > mostNamed {
				continue
			}
		}
		switch {
		case n.ID == executor.Integration && n.Cause == executor.CauseConflict:
			fmt.Fprintln(w, "\nTo join the results: let one of the sprints in conflict need the other in the plan,\nthen ralph compile and ralph apply: it is written again, on top of the other's result")
		case n.ID == executor.Integration:
			fmt.Fprintln(w, "\nTo join the results: mend what is named above, then ralph apply")
		case n.Status == executor.Blocked, n.Status == executor.Waiting && (n.Cause == executor.CauseGate || n.Cause == executor.CauseQuestion):
			fmt.Fprintf(w, "\nTo try %s again: ralph apply --rerun %s\n", term.Clean(string(n.Key)), quoteArg(string(n.Key)))
			v.places(w, r, n)
		case n.Status == executor.Waiting && n.For == executor.ForHuman:
			fmt.Fprintf(w, "\nTo go on with %s: mend what it waits for, then ralph apply\n", term.Clean(string(n.Key)))
			v.places(w, r, n)
		}
	}
	if named > mostNamed {
		fmt.Fprintf(w, "\nand %d more\n", named-mostNamed)
	}
}

// mostNamed bounds for how many sprints the account says what to type.
const mostNamed = 8

// places says where to look at a sprint that did not come to its end.
func (v *applyView) places(w io.Writer, r *openedRun, n executor.NodeView) {
	k := len(n.Attempts)
	if k == 0 {
		return
	}
	fmt.Fprintf(w, "  worktree: %s\n", term.Clean(r.space.Dir(n.ID)))
	fmt.Fprintf(w, "  output:   %s\n", term.Clean(local.Files(r.space.State(), n.ID, n.Attempts[k-1].Step, n.Attempts[k-1].Number)))
}

// quoteArg makes a word safe to paste into a shell.
func quoteArg(s string) string {
	s = term.Clean(s)
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./@%+=:,", r))
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
