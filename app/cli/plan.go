package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

type planArgs struct {
	epic     record.Flag
	only     []string
	rerun    []string
	rebase   bool
	detailed bool
	json     bool
	try      bool // the gates, on the base
}

func newPlanCommand() *cobra.Command {
	a := &planArgs{}
	cmd := &cobra.Command{
		Use:   "plan [epic.json]",
		Short: "Say what apply would run, run again and keep, and why",
		Long: `Plan says for every sprint what ralph apply would do: run it, run it again (with the
cause), judge it again, keep its result. "may re-run" is a sprint that needs one that
runs again: if that comes out the same, it is kept. Plan changes nothing and may be
asked while a run is at work: then it says what the next one would do, and what runs.

It names what the gates of the policy said about the base before any work, as far as
that is on record: ralph apply tries them before it starts anything, and --preflight
tries them now. That runs gates and setup commands, no agent, puts what they say on
record, and ends with 4 if a gate that says baseline = "green" is red. A plan that has
to be approved (ralph approve) has to be that first.

It also says how much disk space the worktrees take at most, and what agents proposed
to do besides. With --detailed-exitcode the exit code is 0 if nothing would be done, 2
if something would (as terraform does), 1 for errors.`,
		Example: `  ralph plan
  ralph plan --rebase               as if the bases were moved to their branches' heads
  ralph plan --only 1.2a
  ralph plan --detailed-exitcode    0 nothing to do, 2 something
  ralph plan --preflight            try the gates on the base now
  ralph plan --json`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(cmd, a, args) },
	}
	addEpicFlag(&a.epic, cmd)
	f := cmd.Flags()
	f.StringArrayVar(&a.only, "only", nil, "as apply --only")
	f.StringArrayVar(&a.rerun, "rerun", nil, "as apply --rerun")
	f.BoolVar(&a.rebase, "rebase", false, "as apply --rebase")
	f.BoolVar(&a.detailed, "detailed-exitcode", false, "exit code 2 if something would be done")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.BoolVar(&a.try, "preflight", false, "first try the gates on the base, as apply does before it starts anything")
	return cmd
}

func runPlan(cmd *cobra.Command, a *planArgs, args []string) error {
	file, err := a.epic.Path(args...)
	if err != nil {
		return err
	}
	epic, raw, err := record.Load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	ctx := background(cmd)
	if a.try {
		if err := a.preflight(ctx, cmd, file, epic, raw); err != nil {
			return err
		}
	}
	space, err := workspace.Open(ctx, project.EpicDir(file), epic)
	if err != nil {
		return record.Refusal(err)
	}
	events, err := record.ReadEvents(ctx, space.State(), epic.Epic.ID)
	if err != nil {
		return exit.Inputf("%w", err)
	}
	machine, err := record.Replayed(epic, events)
	if err != nil {
		return err
	}
	by, held, err := journal.Holder(space.State())
	switch {
	case err != nil:
		return exit.Inputf("%w", err)
	case !held:
		machine.Deserted()
	}
	atWork := held && machine.Overview().Open
	p, err := a.plan(ctx, epic, space, machine)
	if err != nil {
		return err
	}
	if atWork {
		p.AtWork = by.PID
	}
	if w := run.StaleWarning(file, epic, raw); w != "" {
		p.Warnings = append([]string{w}, p.Warnings...)
	}
	if a.json {
		err = view.WriteJSON(cmd.OutOrStdout(), p)
	} else {
		err = writePlan(p, cmd.OutOrStdout(), epic, a.flags()+record.Applies(file), record.Applies(file))
	}
	if err == nil && a.try && p.Held() {
		return &exit.Error{Code: exit.Waiting}
	}
	if err == nil && a.detailed && p.Changes {
		return &exit.Error{Code: exit.Usage} // 2, as terraform: changes
	}
	return err
}

func (a *planArgs) plan(ctx context.Context, epic *ir.Epic, space *workspace.Space, machine *machine.Run) (record.PlanJSON, error) {
	p := record.PlanJSON{Version: record.PlanVersion, Nodes: []record.PlannedJSON{}, Counts: map[string]int{}}
	start, err := record.PlannedStart(ctx, epic, space, machine, a.only, a.rerun, a.rebase)
	if err != nil {
		return p, err
	}
	p.Base = start.Base.Commit
	p.Proposals = machine.Overview().Proposals
	files := run.NewStartsFrom(epic, space, machine, start)
	p.Warnings = run.Warnings(ctx, epic, space, machine, start.Base)
	if epic.Run.HITL.Plan == "required" && !machine.Overview().PlanApproved {
		p.Warnings = append(p.Warnings, "the plan waits for approval: ralph approve")
		p.First = append(p.First, "ralph approve")
	}
	if o := machine.Overview(); o.Held.For != "" && o.Held.For != executor.ForBase {
		p.Warnings = append(p.Warnings, "nothing would start, the run is held: "+words.First(o.Held.Detail))
		p.First = append(p.First, words.ResumeCommand(o.Held.For, o.More))
	}
	if why := run.Refuse(epic); why != nil {
		p.Cannot = why.Error()
	} else if why := run.CheckNames(space, machine); why != nil {
		p.Cannot = why.Error()
	} else if why := (&run.Opened{Epic: epic, Space: space}).CheckPrograms(ctx); why != nil {
		p.Cannot = why.Error()
	}
	works := 0
	planned, err := machine.Plan(start, time.Now())
	if err != nil {
		var no *executor.Refused
		if errors.As(err, &no) {
			return p, exit.Inputf("%w", err)
		}
		return p, &exit.Error{Code: exit.Bug, Err: err}
	}
	more, notes := run.BudgetWords(run.UnknownCosts(epic, machine))
	p.Warnings = append(p.Warnings, more...)
	p.Baseline = baselines(machine.BaseChecks())
	files.Will = func() (map[ir.NodeID]bool, error) { return record.WillRun(planned), nil }
	found, err := files.Look(ctx)
	if err != nil {
		return p, err
	}
	if w := found.Warning(start.Base, files.Pinned); w != "" {
		p.Warnings = append(p.Warnings, w)
	}
	p.Notes = append(found.Notes, notes...)
	if why := found.Refusal(); why != nil && p.Cannot == "" {
		p.Cannot = why.Error()
	}
	hands := byHand(epic)
	for _, x := range planned {
		p.Nodes = append(p.Nodes, record.PlannedJSON{Key: x.Key, ID: x.Node, Title: x.Title, ByHand: hands[x.Node], Action: x.Action, Cause: x.Cause})
		if x.Node != executor.Integration {
			p.Counts[string(x.Action)]++
		}
		if record.WorksAction(x.Action) {
			p.Changes = true
			works++
		}
	}
	p.Disk.Trees = works // none is removed before the run ends
	size, err := space.Size(ctx, start.Base.Commit)
	if err != nil {
		return p, exit.Inputf("%w", err)
	}
	p.Disk.Need = size * int64(p.Disk.Trees) * 6 / 5
	if p.Disk.Free, err = run.FreeSpace(space.Top()); err != nil {
		p.Disk.Free = -1
	}
	if need := p.Disk.Need + epic.Run.Worktree.MinFree; works > 0 && p.Disk.Free >= 0 && p.Disk.Free < need {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s are free, and worktrees with worktree.min_free need %s", words.Gigabytes(p.Disk.Free), words.Gigabytes(need)))
	}
	return p, nil
}

// actionMarks are signs for actions, as terraform's.
var actionMarks = map[machine.Action]struct {
	mark string
	ink  term.Colour
}{
	machine.ActRun: {"+", term.Good}, machine.ActRerun: {"~", term.Warn}, machine.ActMay: {"?", term.Plain}, machine.ActJudge: {"≟", term.Warn},
	machine.ActGoOn: {"▷", term.Good}, machine.ActRunning: {"▶", term.Info}, machine.ActKeep: {"=", term.Faint}, machine.ActDone: {"=", term.Faint}, machine.ActSkip: {"=", term.Faint}, machine.ActWait: {"!", term.Warn},
	machine.ActBlocked: {"■", term.Bad}, machine.ActGone: {"-", term.Faint}, machine.ActLeave: {" ", term.Faint},
}

// actionWords say an action where the sprint is named, and where it is counted.
func actionWords(n record.PlannedJSON) string {
	switch n.Action {
	case machine.ActRun:
		if n.ByHand { // apply opens its worktree and waits
			return "by hand"
		}
	case machine.ActRerun:
		if n.ByHand {
			return "by hand again"
		}
		return "run again"
	case machine.ActMay:
		return "may run again"
	case machine.ActWait:
		return "waits"
	case machine.ActBlocked:
		if strings.HasPrefix(n.Cause, "needs ") { // of another one that is
			return "waits"
		}
	}
	return string(n.Action)
}

// byHand are the sprints whose work a person does.
func byHand(epic *ir.Epic) map[ir.NodeID]bool {
	out := map[ir.NodeID]bool{}
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		out[n.ID] = n.Kind == ir.Manual || len(n.Steps) > 0 && !slices.ContainsFunc(n.Steps, func(s ir.Step) bool { return !epic.Agents[s.Agent].Human })
	}
	return out
}

// flags are those of apply that would do what was planned.
func (a *planArgs) flags() string {
	out := ""
	for _, k := range a.only {
		out += " --only " + words.QuoteArg(k)
	}
	for _, k := range a.rerun {
		out += " --rerun " + words.QuoteArg(k)
	}
	if a.rebase {
		out += " --rebase"
	}
	return out
}

// writePlan prints the plan. apply is what follows the words "ralph apply" to do it,
// about what follows those of another command.
func writePlan(p record.PlanJSON, out io.Writer, epic *ir.Epic, apply, about string) error {
	paint := term.For(out)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  from %.12s\n\n", reveal.Words(epic.Epic.Title), p.Base)
	writePlanned(&b, paint, p.Nodes)
	if p.Changes {
		free := ""
		if p.Disk.Free >= 0 {
			free = fmt.Sprintf("; %s free", words.Gigabytes(p.Disk.Free))
		}
		fmt.Fprintf(&b, "disk: up to %s for %s, without what builds write%s\n", words.Gigabytes(p.Disk.Need), text.Count(p.Disk.Trees, "worktree"), free)
	}
	writeBaseline(p, &b, paint)
	if len(p.Proposals) > 0 {
		fmt.Fprintln(&b, "\nAgents propose (nothing of it is done by itself; write what you want into the plan):")
		for _, x := range p.Proposals {
			fmt.Fprintf(&b, "  - %s\n", words.Proposal(x))
		}
	}
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Paint(term.Warn, "warning:"), reveal.Words(w))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "note: %s\n", reveal.Words(n))
	}
	switch {
	case p.Cannot != "":
		fmt.Fprintf(&b, "\n%s %s\n", paint.Paint(term.Bad, "ralph apply would not start:"), strings.TrimSuffix(reveal.Words(p.Cannot), "  Nothing was started."))
	case p.Changes || p.Held():
		writePlanSteps(p, &b, apply, about)
	case slices.ContainsFunc(p.Nodes, func(n record.PlannedJSON) bool { return n.Action == machine.ActWait || n.Action == machine.ActBlocked }):
		fmt.Fprintf(&b, "\nNothing would run. What waits for you, and what to type: ralph status%s\n", about)
	default:
		fmt.Fprintf(&b, "\nNothing would run.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writePlanned writes what would be done about each sprint, and how many there are of
// each kind.
func writePlanned(b *strings.Builder, paint term.Style, nodes []record.PlannedJSON) {
	wide, wideAction, counts := 0, 0, map[string]int{}
	for _, n := range nodes {
		wide = max(wide, min(columns.Of(reveal.Words(string(n.Key))), 24))
		wideAction = max(wideAction, len(actionWords(n)))
		if n.ID != executor.Integration {
			counts[actionWords(n)]++
		}
	}
	for _, n := range nodes {
		m := actionMarks[n.Action]
		if w := actionWords(n); w == "waits" || strings.HasPrefix(w, "by hand") {
			m = actionMarks[machine.ActWait]
		}
		line := fmt.Sprintf("%s %s  %s", m.mark, words.PadTo(reveal.Words(string(n.Key)), wide), words.PadTo(actionWords(n), wideAction))
		text := n.Title
		if n.Cause != "" {
			text = n.Cause
		}
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(m.ink, line), reveal.Words(words.First(text)))
	}
	b.WriteByte('\n')
	var parts []string
	for _, word := range []string{"run", "run again", "by hand", "by hand again", "may run again", "judge", "running", "go on", "keep", "done", "skipped", "waits", "blocked", "leave", "gone"} {
		if k := counts[word]; k > 0 {
			if word == "waits" && k > 1 {
				word = "wait"
			}
			parts = append(parts, fmt.Sprintf("%d %s", k, word))
		}
	}
	fmt.Fprintln(b, strings.Join(parts, ", "))
}

// writePlanSteps says what to type to do what is planned.
func writePlanSteps(p record.PlanJSON, b *strings.Builder, apply, about string) {
	if about != "" {
		about = " --epic" + about
	}
	if p.Held() {
		fmt.Fprintf(b, "\nNothing would start while the base is red: %s; or ralph approve --baseline%s\n", words.MendBase(strings.ReplaceAll(apply, " --rebase", "")), about)
	}
	before := ""
	for _, c := range p.First {
		before += c + about + ", then "
	}
	switch {
	case p.AtWork > 0:
		fmt.Fprintf(b, "\nralph apply (process %d) is at work: what it leaves, the next one does.\n", p.AtWork)
	case before != "" || !p.Held():
		fmt.Fprintf(b, "\nTo do it: %sralph apply%s\n", before, apply)
	}
}
