package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

type planArgs struct {
	epic     epicFlag
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
	a.epic.add(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&a.only, "only", nil, "as apply --only")
	f.StringArrayVar(&a.rerun, "rerun", nil, "as apply --rerun")
	f.BoolVar(&a.rebase, "rebase", false, "as apply --rebase")
	f.BoolVar(&a.detailed, "detailed-exitcode", false, "exit code 2 if something would be done")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.BoolVar(&a.try, "preflight", false, "first try the gates on the base, as apply does before it starts anything")
	return cmd
}

// planJSON is `ralph plan --json`.
type planJSON struct {
	Base      string              `json:"base"`
	Nodes     []plannedJSON       `json:"nodes"`
	Counts    map[string]int      `json:"counts"` // of sprints, by action
	Changes   bool                `json:"changes"`
	Disk      diskJSON            `json:"disk"`
	Baseline  []baselineJSON      `json:"baseline,omitempty"`
	Proposals []executor.Proposed `json:"proposals,omitempty"`
	Warnings  []string            `json:"warnings,omitempty"`
	Notes     []string            `json:"notes,omitempty"`
	Cannot    string              `json:"cannot,omitempty"`  // why apply would not start
	AtWork    int                 `json:"at_work,omitempty"` // process of the run that is at work: it is the next one that is planned
	First     []string            `json:"first,omitempty"`   // commands that have to come before apply, without --epic
}

type plannedJSON struct {
	Key    ir.Key          `json:"key"`
	ID     ir.NodeID       `json:"id"`
	Title  string          `json:"title"`
	ByHand bool            `json:"by_hand,omitempty"` // a person does all of its work
	Action executor.Action `json:"action"`
	Cause  string          `json:"cause,omitempty"`
}

type diskJSON struct {
	Need  int64 `json:"need"` // bytes: files of the base × worktrees, and a fifth more
	Trees int   `json:"worktrees"`
	Free  int64 `json:"free"`
}

func runPlan(cmd *cobra.Command, a *planArgs, args []string) error {
	file, err := a.epic.path(args...)
	if err != nil {
		return err
	}
	epic, raw, err := loadEpic(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	ctx := background(cmd)
	if a.try {
		if err := a.preflight(ctx, cmd, file, epic, raw); err != nil {
			return err
		}
	}
	space, err := workspace.Open(ctx, epicDir(file), epic)
	if err != nil {
		return refusal(err)
	}
	events, err := readEvents(ctx, space.State(), epic.Epic.ID)
	if err != nil {
		return inputErrorf("%w", err)
	}
	run, err := replayed(epic, events)
	if err != nil {
		return err
	}
	by, held, err := journal.Holder(space.State())
	switch {
	case err != nil:
		return inputErrorf("%w", err)
	case !held:
		run.Deserted()
	}
	atWork := held && run.Overview().Open
	p, err := a.plan(ctx, epic, space, run)
	if err != nil {
		return err
	}
	if atWork {
		p.AtWork = by.PID
	}
	if w := staleWarning(file, epic, raw); w != "" {
		p.Warnings = append([]string{w}, p.Warnings...)
	}
	if a.json {
		err = writeJSON(cmd.OutOrStdout(), p)
	} else {
		err = p.write(cmd.OutOrStdout(), epic, a.flags()+applies(file), applies(file))
	}
	if err == nil && a.try && p.held() {
		return &exitError{code: exitWaiting}
	}
	if err == nil && a.detailed && p.Changes {
		return &exitError{code: exitUsage} // 2, as terraform: changes
	}
	return err
}

func (a *planArgs) plan(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *executor.Run) (planJSON, error) {
	p := planJSON{Nodes: []plannedJSON{}, Counts: map[string]int{}}
	start, err := plannedStart(ctx, epic, space, run, a.only, a.rerun, a.rebase)
	if err != nil {
		return p, err
	}
	p.Base = start.Base.Commit
	p.Proposals = run.Overview().Proposals
	files := newStartsFrom(epic, space, run, start)
	p.Warnings = warnings(ctx, epic, space, run, start.Base)
	if epic.Run.HITL.Plan == "required" && !run.Overview().PlanApproved {
		p.Warnings = append(p.Warnings, "the plan waits for approval: ralph approve")
		p.First = append(p.First, "ralph approve")
	}
	if o := run.Overview(); o.Held.For != "" && o.Held.For != executor.ForBase {
		p.Warnings = append(p.Warnings, "nothing would start, the run is held: "+first(o.Held.Detail))
		p.First = append(p.First, resumeCommand(o.Held.For, o.More))
	}
	if why := refuse(epic); why != nil {
		p.Cannot = why.Error()
	} else if why := checkNames(space, run); why != nil {
		p.Cannot = why.Error()
	} else if why := (&openedRun{epic: epic, space: space}).checkPrograms(ctx); why != nil {
		p.Cannot = why.Error()
	}
	works := 0
	planned, err := run.Plan(start, time.Now())
	if err != nil {
		var no *executor.Refused
		if errors.As(err, &no) {
			return p, inputErrorf("%w", err)
		}
		return p, &exitError{exitBug, err}
	}
	more, notes := budgetWords(unknownCosts(epic, run))
	p.Warnings = append(p.Warnings, more...)
	p.Baseline = baselines(run.BaseChecks())
	files.will = func() (map[ir.NodeID]bool, error) { return willRun(planned), nil }
	found, err := files.look(ctx)
	if err != nil {
		return p, err
	}
	if w := found.warning(start.Base, files.pinned); w != "" {
		p.Warnings = append(p.Warnings, w)
	}
	p.Notes = append(found.notes, notes...)
	if why := found.refusal(); why != nil && p.Cannot == "" {
		p.Cannot = why.Error()
	}
	hands := byHand(epic)
	for _, x := range planned {
		p.Nodes = append(p.Nodes, plannedJSON{x.Key, x.Node, x.Title, hands[x.Node], x.Action, x.Cause})
		if x.Node != executor.Integration {
			p.Counts[string(x.Action)]++
		}
		if worksAction(x.Action) {
			p.Changes = true
			works++
		}
	}
	p.Disk.Trees = works // none is removed before the run ends
	size, err := space.Size(ctx, start.Base.Commit)
	if err != nil {
		return p, inputErrorf("%w", err)
	}
	p.Disk.Need = size * int64(p.Disk.Trees) * 6 / 5
	if p.Disk.Free, err = freeSpace(space.Top()); err != nil {
		p.Disk.Free = -1
	}
	if need := p.Disk.Need + epic.Run.Worktree.MinFree; works > 0 && p.Disk.Free >= 0 && p.Disk.Free < need {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s are free, and worktrees with worktree.min_free need %s", gigabytes(p.Disk.Free), gigabytes(need)))
	}
	return p, nil
}

// plannedStart is how a run would start that nobody has begun.
func plannedStart(ctx context.Context, epic *ir.Epic, space *workspace.Space, run *executor.Run, only, rerun []string, rebase bool) (executor.RunStarted, error) {
	start := executor.RunStarted{
		Epic: epic.Epic.ID, Plan: epic.Epic.Plan, Digest: epic.Digest, Slots: max(epic.Run.Concurrency.Nodes, 1), By: userName(),
		Base: run.Base(), Bases: run.Bases(),
	}
	var err error
	if start.Only, err = nodeIDs(epic, only); err != nil {
		return start, err
	}
	if start.Rerun, err = nodeIDs(epic, rerun); err != nil {
		return start, err
	}
	if run.Base().Commit == "" || rebase {
		if start.Base, start.Bases, err = space.Heads(ctx); err != nil {
			return start, refusal(err)
		}
	}
	if rebase {
		if start.Merged, start.Theirs, err = mergedInto(ctx, space, run, start.Base.Commit); err != nil {
			return start, refusal(err)
		}
	}
	if start.Preflight, err = space.SetupDigest(); err != nil {
		return start, inputErrorf("%w", err)
	}
	if start.Head, err = headOf(ctx, epic, space); err != nil {
		return start, refusal(err)
	}
	return start, nil
}

// willRun are the nodes that a run would do something about.
func willRun(planned []executor.Planned) map[ir.NodeID]bool {
	out := map[ir.NodeID]bool{}
	for _, p := range planned {
		out[p.Node] = worksAction(p.Action)
	}
	return out
}

func worksAction(a executor.Action) bool {
	return slices.Contains([]executor.Action{executor.ActRun, executor.ActRerun, executor.ActMay, executor.ActJudge, executor.ActGoOn, executor.ActRunning}, a)
}

func gigabytes(n int64) string {
	if n < 1e5 {
		return "0.1 MB"
	}
	if n < 10e6 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	if n < 1e9 {
		return fmt.Sprintf("%d MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// actionMarks are signs for actions, as terraform's.
var actionMarks = map[executor.Action]struct {
	mark string
	ink  term.Colour
}{
	executor.ActRun: {"+", term.Good}, executor.ActRerun: {"~", term.Warn}, executor.ActMay: {"?", term.Plain}, executor.ActJudge: {"≟", term.Warn},
	executor.ActGoOn: {"▷", term.Good}, executor.ActRunning: {"▶", term.Info}, executor.ActKeep: {"=", term.Faint}, executor.ActDone: {"=", term.Faint}, executor.ActSkip: {"=", term.Faint}, executor.ActWait: {"!", term.Warn},
	executor.ActBlocked: {"■", term.Bad}, executor.ActGone: {"-", term.Faint}, executor.ActLeave: {" ", term.Faint},
}

// actionWords say an action where the sprint is named, and where it is counted.
func actionWords(n plannedJSON) string {
	switch n.Action {
	case executor.ActRun:
		if n.ByHand { // apply opens its worktree and waits
			return "by hand"
		}
	case executor.ActRerun:
		if n.ByHand {
			return "by hand again"
		}
		return "run again"
	case executor.ActMay:
		return "may run again"
	case executor.ActWait:
		return "waits"
	case executor.ActBlocked:
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
		out += " --only " + quoteArg(k)
	}
	for _, k := range a.rerun {
		out += " --rerun " + quoteArg(k)
	}
	if a.rebase {
		out += " --rebase"
	}
	return out
}

// write prints the plan. apply is what follows the words "ralph apply" to do it,
// about what follows those of another command.
func (p planJSON) write(out io.Writer, epic *ir.Epic, apply, about string) error {
	paint := term.For(out)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  from %.12s\n\n", reveal.Words(epic.Epic.Title), p.Base)
	writePlanned(&b, paint, p.Nodes)
	if p.Changes {
		free := ""
		if p.Disk.Free >= 0 {
			free = fmt.Sprintf("; %s free", gigabytes(p.Disk.Free))
		}
		fmt.Fprintf(&b, "disk: up to %s for %s, without what builds write%s\n", gigabytes(p.Disk.Need), text.Count(p.Disk.Trees, "worktree"), free)
	}
	p.writeBaseline(&b, paint)
	if len(p.Proposals) > 0 {
		fmt.Fprintln(&b, "\nAgents propose (nothing of it is done by itself; write what you want into the plan):")
		for _, x := range p.Proposals {
			fmt.Fprintf(&b, "  - %s\n", proposal(x))
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
	case p.Changes || p.held():
		p.writeSteps(&b, apply, about)
	case slices.ContainsFunc(p.Nodes, func(n plannedJSON) bool { return n.Action == executor.ActWait || n.Action == executor.ActBlocked }):
		fmt.Fprintf(&b, "\nNothing would run. What waits for you, and what to type: ralph status%s\n", about)
	default:
		fmt.Fprintf(&b, "\nNothing would run.\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writePlanned writes what would be done about each sprint, and how many there are of
// each kind.
func writePlanned(b *strings.Builder, paint term.Style, nodes []plannedJSON) {
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
			m = actionMarks[executor.ActWait]
		}
		line := fmt.Sprintf("%s %s  %s", m.mark, padTo(reveal.Words(string(n.Key)), wide), padTo(actionWords(n), wideAction))
		text := n.Title
		if n.Cause != "" {
			text = n.Cause
		}
		fmt.Fprintf(b, "%s  %s\n", paint.Paint(m.ink, line), reveal.Words(first(text)))
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

// writeSteps says what to type to do what is planned.
func (p planJSON) writeSteps(b *strings.Builder, apply, about string) {
	if about != "" {
		about = " --epic" + about
	}
	if p.held() {
		fmt.Fprintf(b, "\nNothing would start while the base is red: %s; or ralph approve --baseline%s\n", mendBase(strings.ReplaceAll(apply, " --rebase", "")), about)
	}
	before := ""
	for _, c := range p.First {
		before += c + about + ", then "
	}
	switch {
	case p.AtWork > 0:
		fmt.Fprintf(b, "\nralph apply (process %d) is at work: what it leaves, the next one does.\n", p.AtWork)
	case before != "" || !p.held():
		fmt.Fprintf(b, "\nTo do it: %sralph apply%s\n", before, apply)
	}
}

// mergedInto lists the nodes whose results a new base holds already. The sum of
// them is asked about too: who squashes the integration branch takes its parts.
// theirs are the accepted commits of others on that branch that it holds.
func mergedInto(ctx context.Context, space *workspace.Space, run *executor.Run, base string) (nodes []ir.NodeID, theirs []string, err error) {
	for _, c := range run.Others() {
		in, err := space.Merged(ctx, base, []executor.Result{{Node: executor.Integration, Tree: executor.Tree{Commit: c}}})
		if err != nil {
			return nil, nil, err
		}
		if len(in) > 0 {
			theirs = append(theirs, c)
		}
	}
	var results []executor.Result
	for _, v := range run.Views() {
		if v.Result.Commit != "" {
			results = append(results, executor.Result{Node: v.ID, Tree: v.Result})
		}
	}
	in, err := space.Merged(ctx, base, results)
	return slices.DeleteFunc(in, func(id ir.NodeID) bool { return id == executor.Integration }), theirs, err
}
