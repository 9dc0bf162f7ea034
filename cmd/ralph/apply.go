package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

// applyArgs are the flags of apply.
type applyArgs struct {
	epic     epicFlag
	parallel int
	only     []string
	rerun    []string
	grace    time.Duration
	events   string
	wait     bool
	rebase   bool
	blind    bool   // no preflight
	trial    bool   // a preflight alone: nothing is pinned
	base     string // commit to start from, instead of a branch: what ralph worker gathered
	worker   bool   // started by ralph worker, which speaks with the tracker itself
}

func newApplyCommand() *cobra.Command {
	a := &applyArgs{}
	cmd := &cobra.Command{
		Use:   "apply [epic.json | EPIC-ID]",
		Short: "Walk an epic: worktrees, agents, gates, merges",
		Long: `Apply runs every sprint of the epic that is not done yet, each in a git worktree of
its own: the agent works, ralph commits what it left and checks it, the gates judge
that commit, a failure goes back to the agent with feedback. A sprint starts from
the merged results of what it depends on. In the end all results are merged onto
the epic's integration branch.

Before the first sprint starts, the command gates of the policy are tried on the base:
one that is red before any work would fail every sprint. That is said and stops nothing,
unless the gate says baseline = "green" (ralph approve --baseline).

ralph does not touch your own checkout, branches, index, hooks and settings. What an
agent changes there is noticed: apply says it and, for settings, hooks and refs, exits
with 3 until it is put back or accepted (ralph approve --tamper). Ctrl-C lets running
attempts finish (--grace), a second one stops them; apply goes on where it stood, also
after a crash. Starting apply is the approval of the plan: look at
epic.json and ralph graph first.

Without a sandbox, agents and gates run as you and can do what you can do.`,
		Example: `  ralph apply                       epic.json of this directory
  ralph apply epic.json --parallel 4
  ralph apply bead.json             a Ralph bead: compiled to an epic of one sprint
  ralph apply bd-epic7x2m           an epic by its id: of this repository, or in beads
  ralph apply --only 1.2a           this sprint and what it needs
  ralph apply --rerun 1.2a          run it again, also if it is done or blocked
  ralph apply --events jsonl        one JSON object per event, for programs`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runApply(cmd, a, args) },
	}
	a.epic.add(cmd)
	f := cmd.Flags()
	f.IntVar(&a.parallel, "parallel", 0, "sprints that may run at the same time (default: what the policy says)")
	f.StringArrayVar(&a.only, "only", nil, "run this sprint and what it needs, nothing else (repeatable)")
	f.StringArrayVar(&a.rerun, "rerun", nil, "run this sprint as if it had not been run (repeatable)")
	f.BoolVar(&a.rebase, "rebase", false, "move the pinned bases to the heads of their branches; what they hold already is done")
	f.BoolVar(&a.wait, "wait", false, "stay while only people are waited for, too")
	f.DurationVar(&a.grace, "grace", 2*time.Minute, "time that running attempts get at the first Ctrl-C, and when the run is cancelled")
	f.StringVar(&a.events, "events", "", "print events instead of progress: jsonl, or beadsmith for those of a BeadManager")
	f.BoolVar(&a.blind, "no-preflight", false, "do not try the gates on the base before the first sprint starts")
	f.StringVar(&a.base, "base", "", "commit to pin the base at")
	f.BoolVar(&a.worker, "worker", false, "ralph worker runs an issue with it")
	_ = errors.Join(f.MarkHidden("base"), f.MarkHidden("worker")) // they exist
	_ = cmd.RegisterFlagCompletionFunc("events", cobra.FixedCompletions([]string{"jsonl", beadsmith.Format}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runApply(cmd *cobra.Command, a *applyArgs, args []string) (err error) {
	if err := a.check(); err != nil {
		return err
	}
	file, err := a.epic.path(args...)
	if err != nil {
		return err
	}
	epic, raw, err := loadEpicSaying(file, cmd.InOrStdin(), func(c *compilation) error { return c.say(cmd.ErrOrStderr()) })
	if err != nil {
		return err
	}
	if isDraft(epic) {
		return applyDraft(cmd, a, file, epic, raw)
	}
	return applyEpic(cmd, a, file, epic, raw)
}

// check refuses flags that mean nothing, and a system on which no agent can be run.
func (a *applyArgs) check() error {
	switch {
	case a.parallel < 0:
		return usageErrorf("--parallel %d: write a number from 1", a.parallel)
	case !slices.Contains([]string{"", "jsonl", beadsmith.Format}, a.events):
		return usageErrorf("--events %s: write jsonl or %s", a.events, beadsmith.Format)
	case a.grace < 0:
		return usageErrorf("--grace %s: write a time that is not negative", a.grace)
	}
	if err := process.Supported(); err != nil {
		return inputErrorf("%w", err)
	}
	return nil
}

// applyEpic walks an epic that was read from file; raw are its bytes.
func applyEpic(cmd *cobra.Command, a *applyArgs, file string, epic *ir.Epic, raw []byte) (err error) {
	only, err := nodeIDs(epic, a.only)
	if err != nil {
		return err
	}
	rerun, err := nodeIDs(epic, a.rerun)
	if err != nil {
		return err
	}
	if err := refuse(epic); err != nil {
		return err
	}
	if err := checkNotify(epic); err != nil {
		return err
	}
	// A reader that closes the pipe must not end the run. (Ignoring the signal
	// would be inherited by agents and gates; being told of it is not.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	r, err := openRun(ctx, file, epic, raw, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	view := newApplyView(cmd.OutOrStdout(), cmd.ErrOrStderr(), epic, r.run, a.events != "")
	view.who = askerOf(r.about, epic, r.space)
	view.state, view.applies = r.space.State(), applies(file)
	if a.events == beadsmith.Format {
		view.beads = r.beadEvents(cmd.OutOrStdout())
	}
	return r.apply(ctx, a, only, rerun, view)
}

// nodeIDs translates keys that people type.
func nodeIDs(epic *ir.Epic, keys []string) ([]ir.NodeID, error) {
	var out []ir.NodeID
	var known []string
	for _, k := range keys {
		found := false
		for i := range epic.Nodes {
			if n := &epic.Nodes[i]; string(n.Key) == k {
				out, found = append(out, n.ID), true
			}
			known = append(known, string(epic.Nodes[i].Key))
		}
		if !found {
			return nil, usageErrorf("there is no sprint %s%s", k, spell.Hint(k, known))
		}
	}
	return out, nil
}

// keysOf tells what people call the nodes of an epic; "" for one that it has not.
func keysOf(epic *ir.Epic) func(ir.NodeID) ir.Key {
	keys := make(map[ir.NodeID]ir.Key, len(epic.Nodes))
	for i := range epic.Nodes {
		keys[epic.Nodes[i].ID] = epic.Nodes[i].Key
	}
	return func(id ir.NodeID) ir.Key { return keys[id] }
}

// record keeps runs.jsonl: a line for each run that ended, written with the next
// one's start for a run that was killed. The last one is returned.
func (r *openedRun) record(list []executor.Event) (last *journal.RunRecord, err error) {
	for _, e := range list {
		r.times.add(e)
		done := r.tally.Add(e)
		if done != nil && done.Outcome == executor.RunKilled {
			err = errors.Join(err, journal.AppendRun(r.space.State(), *done))
		} else if done != nil {
			last = done
		}
	}
	return last, err
}

// headOf is where the integration branch stands, "" if it is not there yet; in mode
// branch it begins at the pinned base.
func headOf(ctx context.Context, epic *ir.Epic, space *workspace.Space) (string, error) {
	if epic.Epic.Integration.Mode == "branch" {
		return space.Head(ctx)
	}
	return space.Integrated(ctx)
}

// apply drives the run and ends with the account of it.
func (r *openedRun) apply(ctx context.Context, a *applyArgs, only, rerun []ir.NodeID, view watcher) (err error) {
	note := noteTo(view)
	slots := a.parallel
	if slots == 0 {
		slots = max(r.epic.Run.Concurrency.Nodes, 1)
	}
	if r.wasDead {
		note("the last ralph on this epic (%s) ended without a word; going on from its journal", r.was)
	}
	if r.stale != "" {
		note("warning: %s", r.stale)
	}
	for _, n := range r.notes {
		note("note: %s", n)
	}
	for _, w := range append(append(r.restored, r.differ...), warnings(ctx, r.epic, r.space, r.run, r.base)...) {
		note("warning: %s", w)
	}
	if short := r.crew.short; len(short) > 0 {
		note("warning: too short or too common to be told from other words, so not taken out of what is stored and printed: secret %s", strings.Join(short, ", "))
	}
	for _, name := range r.doubtful {
		if !slices.Contains(r.crew.short, name) {
			note("warning: the secret %s: its value is an ordinary word or a path: it is redacted but not looked for in commits", name)
		}
	}
	setup := ""
	if !a.blind {
		digest, err := r.space.SetupDigest()
		if err != nil {
			return inputErrorf("%w", err)
		}
		setup = digest
	}
	head, err := headOf(ctx, r.epic, r.space)
	if err != nil {
		return refusal(err)
	}
	var ended *journal.RunRecord
	var unwritten error
	mirror := r.mirror(ctx, note)
	tell := newNotifier(r.epic, r.space.Top(), r.space.State(), r.crew.redact.Filter, note)
	observe := func(list []executor.Event) {
		view.events(list)
		tell.events(list, view.key)
		mirror.observe(list)
		done, err := r.record(list)
		if unwritten = errors.Join(unwritten, err); done != nil {
			ended = done
		}
	}
	start := executor.RunStarted{
		Epic: r.epic.Epic.ID, Plan: r.epic.Epic.Plan, Digest: r.epic.Digest, Base: r.base, Branch: r.branch, Bases: r.bases, Merged: r.merged, Theirs: r.theirs, Head: head,
		Slots: slots, Only: only, Rerun: rerun, Preflight: setup, Wait: a.wait, Grace: max(a.grace.Milliseconds(), 1), By: userName(), User: userName(),
	}
	if r.moves {
		if err := r.toNewBase(ctx, a, &start, view, observe); err != nil {
			mirror.close(nil)
			return err
		}
	}
	process.OnGuardLost(func() {
		note("warning: the process that ends agents and gates when ralph is killed was itself killed, perhaps by an agent; it was started again")
	})
	defer process.OnGuardLost(nil)
	interrupts, stop := catchInterrupts()
	defer stop()
	interrupted, err := local.Apply(ctx, local.Config{
		Epic: r.epic, Run: r.run, Journal: r.log, Inbox: r.log, Orphans: r.orphans, Workspace: r.space, State: r.space.State(), Agents: r.agents,
		Runners: r.crew.by, Gates: r.crew.gates(r.epic), Redact: r.crew.redact.String, Room: r.space.Room, Watch: r.space.Watch(r.crew.redact.String),
		Grace: a.grace, Interrupts: interrupts, Activity: view.activity, Env: trackerEnv(r.epic, a.worker), Identity: r.space.Identity(),
		Observe: observe, Unread: func(l executor.Letter, no *executor.Refused) {
			if !strings.HasSuffix(l.Decision.By, executor.InTracker) { // whoever decides there is told there
				note("warning: not taken: %s", unread(l, view.key(l.Node), no))
			}
		},
	}, start)
	unsent := mirror.close(interrupts)
	view.finish()
	if err != nil {
		var bug *local.Bug
		if errors.As(err, &bug) {
			return &exitError{exitBug, err}
		}
		return &exitError{exitNotDone, fmt.Errorf("the run stopped: %w\n  What is done is kept; run ralph apply again to go on", err)}
	}
	code := exitOf(r.run, interrupted)
	if ended != nil { // an interrupt that came after its end changes nothing
		code = *ended.Exit
	}
	if !interrupted {
		r.clean(ctx, note)
	}
	view.account(r, holdsOf(ctx, r.epic, r.run, r.space), interrupted, only)
	for _, line := range unsent {
		note("%s", line)
	}
	if ended != nil {
		unwritten = errors.Join(unwritten, journal.AppendRun(r.space.State(), *ended))
	}
	if unwritten != nil {
		return &exitError{exitNotDone, unwritten}
	}
	if err := tell.end(code, tallyOf(r.run)); err != nil {
		note("%v", err)
	}
	if code != exitDone {
		return &exitError{code: code}
	}
	return nil
}

// exitOf is the exit code of a run as it stands; see Run.Ending.
func exitOf(run *executor.Run, interrupted bool) int {
	return journal.ExitCode(run.Ending(interrupted).Outcome)
}

// catchInterrupts turns Ctrl-C, SIGTERM and a closed terminal into requests to
// drain. From the second one on they end the grace.
func catchInterrupts() (<-chan struct{}, func()) {
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	out := make(chan struct{}, 2)
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-sig:
				select {
				case out <- struct{}{}:
				default: // two are waiting already
				}
			case <-end:
				return
			}
		}
	}()
	return out, func() { signal.Stop(sig); close(end) }
}
