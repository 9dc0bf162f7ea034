package cli

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

func newShowCommand() *cobra.Command {
	var epic record.Flag
	var asJSON, open, diff bool
	cmd := &cobra.Command{
		Use:   "show KEY",
		Short: "Show everything about one sprint: spec, attempts, gates, commits, what to do",
		Long: `Show prints what is known about one sprint: what it was asked, each attempt with its
gates and their messages, what was told to the agent afterwards, evidence, files,
commits and refs, decisions of people, where it stands in its plan, and what to type
next. The key integration is the branch that joins all results. Instead of the key it
takes the id of a bead; one that is in no epic here is looked up in beads.

With --diff it shows what the sprint changed, and how that was judged: from what it
started from to what waits for approval, else to its result, else to what its last
attempt left. On a terminal that goes through the pager that git would use, but for
one that the repository's own configuration names.

With --open the plan is opened at the sprint's heading in $VISUAL or $EDITOR; without
an editor the place is printed.`,
		Example: `  ralph show 1.2a
  ralph show bd-a1b2c3              the same by its bead
  ralph show 1.2a --diff            what it changed
  ralph show 1.2a --open            its heading in the plan, in your editor
  ralph show integration
  ralph show 1.2a --json`,
		Args: countArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case open && asJSON:
				return exit.Usagef("--open and --json exclude each other")
			case open && diff:
				return exit.Usagef("--open and --diff exclude each other")
			}
			ctx := background(cmd)
			r, id, err := recordOf(ctx, &epic, args[0], cmd.InOrStdin())
			switch {
			case err != nil:
				return err
			case r == nil && diff:
				return exit.Inputf("there is no run with a sprint %s here, so nothing of it can be shown", args[0])
			case r == nil:
				return showBead(ctx, args[0], open, asJSON, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			case open && id == executor.Integration:
				return exit.Usagef("%s stands in no plan: name a sprint", id)
			case open:
				return placed(r, id).open(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			v, ok := r.Run.View(id)
			if !ok {
				return exit.Inputf("results are not joined in this epic: there is no %s", args[0])
			}
			if diff {
				return showDiff(r, ctx, v, asJSON, cmd.OutOrStdout())
			}
			if asJSON {
				return view.WriteJSON(cmd.OutOrStdout(), showOf(r, v))
			}
			return showNode(r, cmd.OutOrStdout(), v)
		},
	}
	addEpicFlag(&epic, cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&diff, "diff", false, "show what it changed, and the verdicts of its gates")
	cmd.Flags().BoolVar(&open, "open", false, "open the plan at this sprint's heading")
	return cmd
}

func showOf(r *record.Record, v machine.NodeView) record.ShowJSON {
	out := record.ShowJSON{Version: record.ShowVersion, NodeJSON: r.NodeJSON(v), Feedback: r.Run.Feedback(v.ID), Decisions: v.Decisions, Refs: refsOf(r, v), MovedOut: r.MovedOut(v.ID)}
	for i, a := range v.Attempts {
		out.Attempts[i].Feedback, out.Attempts[i].Changes = a.Feedback, a.Collected.Changes
	}
	if v.ID != executor.Integration {
		spec := *r.Node(v.ID)
		spec.Steps = slices.Clone(spec.Steps)
		for i := range spec.Steps {
			if !r.Epic.UsesModel(spec.Steps[i].Agent) {
				spec.Steps[i].Model = ""
			}
		}
		out.Spec = &spec
		at := placed(r, v.ID)
		out.Plan, out.PlanLine = at.File, at.Line
	}
	return out
}

// refsOf lists the refs under which the commits of a node are kept.
func refsOf(r *record.Record, v machine.NodeView) []string {
	prefix := "refs/ralph/" + string(r.Epic.Epic.ID) + "/"
	refs := []string{}
	if v.ID == executor.Integration {
		return append(refs, "refs/heads/"+r.Epic.Epic.Integration.Branch)
	}
	prefix += "nodes/" + string(v.ID) + "/"
	for _, a := range v.Attempts {
		if a.Commit != "" {
			refs = append(refs, fmt.Sprintf("%sattempts/%s/%d", prefix, a.Step, a.Number))
		}
	}
	if v.Result.Commit != "" {
		refs = append(refs, prefix+"result")
	}
	for _, e := range r.Events {
		if p, ok := e.Body.(executor.Prepared); ok && e.Node == v.ID && p.Saved != "" {
			refs = append(refs, p.Saved)
		}
	}
	return refs
}

func showNode(r *record.Record, out io.Writer, v machine.NodeView) error {
	w := &sheet{}
	n := r.Node(v.ID)
	w.line("%s  %s", v.Key, v.Title)
	w.field("status", asksOrStatus(v))
	if _, active := doing(r, v); v.Status == executor.Running && active != "" {
		w.field("alive", "last sign of life "+active)
	}
	if !v.Human.IsZero() {
		w.field("person", "wrote in its agent's session "+wrote(r.Now, v)+words.Because(spoken(v)))
	}
	if v.ID != executor.Integration {
		w.field("id", string(n.ID))
		w.field("kind", string(n.Kind))
		w.field("phase", n.Phase)
		w.field("goal", n.Goal)
		w.field("plan", placed(r, v.ID).String())
		w.field("section", n.Section)
	}
	w.field("needs", needsText(n))
	if !v.Started.IsZero() {
		w.field("started", v.Started.Local().Format(time.DateTime))
	}
	if !v.Ended.IsZero() {
		w.field("ended", v.Ended.Local().Format(time.DateTime))
	}
	w.field("spent", words.Spent(v.Spent))
	w.field("branch", n.Git.Branch)
	if len(v.Attempts) > 0 {
		w.field("worktree", r.Space.Dir(v.ID))
	}
	w.field("result", v.Result.Commit)
	if v.Pull.URL != "" {
		w.field("pull request", fmt.Sprintf("#%d %s", v.Pull.Number, v.Pull.URL))
	}
	showSpec(r, w, n)
	for _, a := range v.Attempts {
		showAttempt(r, w, v, a)
	}
	if notes := r.Run.Feedback(v.ID); len(notes) > 0 && v.Status != executor.Done {
		w.head("%s", toldTo(v))
		w.text(strings.Join(notes, "\n"))
	}
	if len(v.Decisions) > 0 {
		w.head("Decisions")
		for _, d := range v.Decisions {
			w.line("  %s  %s", d.At.Local().Format(time.DateTime), words.Decision(d))
		}
	}
	if refs := refsOf(r, v); len(refs) > 0 {
		w.head("Refs")
		for _, ref := range refs {
			w.line("  %s", ref)
		}
	}
	if moved := r.MovedOut(v.ID); len(moved) > 0 {
		w.head("Moved out of its worktree (no other copy)")
		for _, m := range moved {
			w.line("  %s  %s", m.Dir, m.Amount())
			w.line("    %s", m.Why)
		}
	}
	if steps := r.NextSteps(v); len(steps) > 0 {
		w.head("Next")
		view.WriteSteps(&w.b, steps)
	}
	_, err := io.WriteString(out, w.b.String())
	return err
}

// spoken is what a person last wrote in a session of a node's agents, as far as it
// is known.
func spoken(v machine.NodeView) string {
	for i := range slices.Backward(v.Attempts) {
		for _, said := range slices.Backward(v.Attempts[i].Spoken) {
			if said.Said.Equal(v.Human) {
				return said.Text
			}
		}
	}
	return ""
}

func asksOrStatus(v machine.NodeView) string {
	if v.Doing != "" {
		return v.Status.String() + ": " + v.Doing
	}
	return words.Asks(v)
}

func showAttempt(r *record.Record, w *sheet, v machine.NodeView, a machine.AttemptLog) {
	w.head("%s #%d: %s%s", a.Step, a.Number, attemptWord(r, v, a), words.Because(a.Reason))
	who := workedOn(r, v, a)
	if a.Model != "" {
		who += ", model " + a.Model
	}
	w.field("  by", who)
	if !a.Started.IsZero() {
		when := a.Started.Local().Format(time.DateTime)
		if !a.Ended.IsZero() {
			when += ", took " + words.Took(a)
		}
		w.field("  when", when)
	}
	if a.Millis > 0 || a.Turns > 0 || a.Untold > 0 {
		u := a.Usage
		known := machine.Spent{Millis: a.Millis, TokensKnown: u.Tokens != nil && a.Untold == 0, USDKnown: u.USDMicro != nil && a.Untold == 0}
		if u.Tokens != nil {
			known.Tokens = *u.Tokens
		}
		if u.USDMicro != nil {
			known.USDMicro = *u.USDMicro
		}
		w.field("  spent", strings.TrimSuffix(text.Count(max(a.Turns+a.Untold, 1), "turn")+", "+words.Spent(known), ", "))
	}
	w.field("  session", a.Session)
	w.field("  says", a.Outcome.Summary)
	w.field("  from", a.From)
	if a.Commit != "" {
		w.field("  commit", fmt.Sprintf("%s  %s, +%d −%d", a.Commit, text.Count(a.Collected.Files, "file"), a.Collected.Added, a.Collected.Removed))
	}
	for _, p := range a.Problems {
		w.field("  problem", p)
	}
	for _, p := range a.Collected.Listed {
		w.field("  noted", p)
	}
	for _, g := range a.Gates {
		tests := ""
		if g.Counts == nil && g.SaidOfTests() != "" {
			tests = ", tests: " + g.SaidOfTests()
		}
		cut := ""
		if n := a.UntoldOf[g.Gate]; n > 0 {
			cut = ", and " + cutTurns(n)
		}
		w.line("  gate %s: %s  (%s%s%s)", g.Gate, g.Verdict, words.Millis(g.Millis), tests, cut)
		if c := g.Counts; c != nil {
			w.line("    %d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
		}
		if doubt := r.Run.Doubt(g); doubt != "" {
			w.line("    ! %s", doubt)
		}
		if len(g.Failed) > 0 {
			w.line("    failed: %s", words.ListOf(g.Failed))
		}
		if g.Verdict != executor.Pass && g.Message != "" {
			w.text("    " + strings.ReplaceAll(strings.TrimRight(g.Message, "\n"), "\n", "\n    "))
		}
		if g.Evidence != "" {
			w.line("    evidence: %s", g.Evidence)
		}
	}
	for _, g := range slices.Sorted(maps.Keys(a.UntoldOf)) {
		if !slices.ContainsFunc(a.Gates, func(j executor.GateJudged) bool { return j.Gate == g }) {
			w.line("  gate %s: no verdict yet  (%s)", g, cutTurns(a.UntoldOf[g]))
		}
	}
	dir := effects.Files(r.Space.State(), v.ID, a.Step, a.Number)
	if list := record.AttemptFiles(dir); len(list) > 0 {
		var names []string
		for _, f := range list {
			names = append(names, f.Name)
		}
		w.field("  files", dir+string(filepath.Separator))
		w.line("    %s", strings.Join(names, "  "))
	}
}

// toldTo says who is told what stands below.
func toldTo(v machine.NodeView) string {
	if k := len(v.Attempts); k > 0 && v.Attempts[k-1].Status == executor.AttemptRunning {
		return fmt.Sprintf("What %s #%d was told", v.Attempts[k-1].Step, v.Attempts[k-1].Number)
	}
	return "What the next attempt is told"
}

// workedOn is who made an attempt.
func workedOn(r *record.Record, v machine.NodeView, a machine.AttemptLog) string {
	switch {
	case a.Person == "":
		return a.Agent
	case v.Kind == ir.Manual || r.Epic.Agents[a.Agent].Human:
		return a.Person
	}
	return a.Person + " (a person's own fix)"
}

// sheet gathers lines; all text in them is made harmless.
type sheet struct{ b strings.Builder }

func (w *sheet) line(format string, args ...any) {
	w.b.WriteString(reveal.Words(fmt.Sprintf(format, args...)) + "\n")
}

func (w *sheet) head(format string, args ...any) {
	w.b.WriteByte('\n')
	w.line(format, args...)
}

// field writes a name and a value; nothing for an empty value.
func (w *sheet) field(name, value string) {
	if value != "" {
		w.line("%-9s %s", name+":", strings.ReplaceAll(strings.TrimSpace(value), "\n", "\n            "))
	}
}

func (w *sheet) text(s string) { w.b.WriteString(reveal.Words(strings.TrimRight(s, "\n")) + "\n") }

// cutTurns says that the cost of turns that were cut off is unknown.
func cutTurns(n int) string { return text.Count(n, "turn") + " cut, at a cost that is unknown" }
