package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Args are the flags of apply.
type Args struct {
	Epic         record.Flag
	Parallel     int
	Only, Rerun  []string
	Grace        time.Duration
	Events       string
	Wait, Rebase bool
	Blind        bool   // no preflight
	Trial        bool   // a preflight alone: nothing is pinned
	Base         string // commit to start from, instead of a branch: what ralph worker gathered
	Sandbox      string // "none": nothing is confined on this machine, whatever the policy says
	Worker       bool   // started by ralph worker, which speaks with the tracker itself
}

// logRuns keeps runs.jsonl: a line for each run that ended, written with the next
// one's start for a run that was killed. The last one is returned.
func (r *Opened) logRuns(list []executor.Event) (last *journal.RunRecord, err error) {
	for _, e := range list {
		r.Times.Add(e)
		if done := r.tally.Add(e); done != nil && done.Outcome == executor.RunKilled {
			err = errors.Join(err, journal.AppendRun(r.Space.State(), *done))
		} else if done != nil {
			last = done
		}
	}
	return last, err
}

// Apply drives the run to its end and reports its outcome.
func (r *Opened) Apply(ctx context.Context, a *Args, only, rerun []ir.NodeID, view watcher) (err error) {
	note := view.Say
	r.sayBefore(ctx, note)
	start, err := r.start(ctx, a, only, rerun)
	if err != nil {
		return err
	}
	var ended *journal.RunRecord
	var unwritten error
	mirror := r.mirror(ctx, note)
	tell := newNotifier(r.Epic, r.Space.Top(), r.Space.State(), r.crew.Redact.Filter, note)
	observe := func(list []executor.Event) {
		view.Events(list)
		tell.events(list, view.Key)
		mirror.observe(list)
		done, err := r.logRuns(list)
		if unwritten = errors.Join(unwritten, err); done != nil {
			ended = done
		}
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
	interrupts, stop := CatchInterrupts()
	defer stop()
	interrupted, err := r.drive(ctx, a, start, view, observe, interrupts)
	unsent := mirror.close(interrupts)
	view.Finish()
	if err != nil {
		return err
	}
	code := record.ExitCode(r.Run, interrupted)
	if ended != nil { // an interrupt that came after its end changes nothing
		code = *ended.Exit
	}
	if !interrupted {
		r.clean(ctx, note)
	}
	view.Account(r, record.HoldsOf(ctx, r.Epic, r.Run, r.Space), interrupted, only)
	for _, line := range unsent {
		note(line)
	}
	if ended != nil {
		unwritten = errors.Join(unwritten, journal.AppendRun(r.Space.State(), *ended))
	}
	if unwritten != nil {
		return &exit.Error{Code: exit.NotDone, Err: unwritten}
	}
	if err := tell.end(code, words.TallyOf(r.Run)); err != nil {
		note(err.Error())
	}
	return exit.After(code)
}

// sayBefore says what is worth knowing before anything starts.
func (r *Opened) sayBefore(ctx context.Context, note func(text string)) {
	if r.wasDead {
		note(fmt.Sprintf("the last ralph on this epic (%s) was killed; resuming from its journal", r.was))
	}
	if r.stale != "" {
		note("warning: " + r.stale)
	}
	for _, line := range r.confined {
		note(line)
	}
	for _, n := range r.notes {
		note("note: " + n)
	}
	for _, w := range append(append(r.restored, r.differ...), Warnings(ctx, r.Epic, r.Space, r.Run, r.base)...) {
		note("warning: " + w)
	}
	if short := r.crew.short; len(short) > 0 {
		note("warning: too short or too common to be recognised, so not redacted from what is stored and printed: secret " + strings.Join(short, ", "))
	}
	for _, name := range r.doubtful {
		if !slices.Contains(r.crew.short, name) {
			note(fmt.Sprintf("warning: the secret %s: its value is an ordinary word or a path: it is redacted but not looked for in commits", name))
		}
	}
}

// start is how the run begins.
func (r *Opened) start(ctx context.Context, a *Args, only, rerun []ir.NodeID) (executor.RunStarted, error) {
	slots := cmp.Or(a.Parallel, max(r.Epic.Run.Concurrency.Nodes, 1))
	setup := ""
	if !a.Blind {
		digest, err := r.Space.Checkout.SetupDigest()
		if err != nil {
			return executor.RunStarted{}, err
		}
		setup = digest
	}
	head, err := record.HeadOf(ctx, r.Epic, r.Space)
	if err != nil {
		return executor.RunStarted{}, err
	}
	return executor.RunStarted{
		Epic: r.Epic.Epic.ID, Plan: r.Epic.Epic.Plan, Digest: r.Epic.Digest, Base: r.base, Branch: r.branch, Bases: r.bases, Merged: r.merged, Ticked: r.Run.Summary().Ticked(), Theirs: r.theirs, Head: head,
		Slots: slots, Only: only, Rerun: rerun, Preflight: setup, Wait: a.Wait, Grace: max(a.Grace.Milliseconds(), 1), By: project.UserName(), User: project.UserName(), Sandbox: a.Sandbox,
	}, nil
}

// drive walks the epic in this process, until it ends or is interrupted.
func (r *Opened) drive(ctx context.Context, a *Args, start executor.RunStarted, view watcher, observe func([]executor.Event), interrupts <-chan os.Signal) (interrupted bool, err error) {
	tools := r.tools(a.Worker, view.Activity)
	tools.Agents, tools.Runners, tools.Identity = r.agents, r.crew.By, r.Space.User.Identity()
	interrupted, err = local.Apply(ctx, local.Config{
		Tools: tools,
		Run:   r.Run, Journal: r.log, Inbox: r.log, Orphans: r.orphans, Watch: r.Space.Checkout.Watch(r.crew.Redact.String), Grace: a.Grace, Interrupts: interrupts,
		Observe: observe, Unread: func(l executor.Letter, no *executor.Refused) {
			if l.Decision.Via == "" { // a decision made there is answered there
				view.Say("warning: ignored: " + unread(l, view.Key(l.Node), no))
			}
		},
	}, start)
	var bug *executor.Bug
	switch {
	case errors.As(err, &bug):
		return interrupted, &exit.Error{Code: exit.Bug, Err: err}
	case err != nil:
		return interrupted, &exit.Error{Code: exit.NotDone, Err: fmt.Errorf("the run stopped: %w\n  What is done is kept; run ralph apply again to go on", err)}
	}
	return interrupted, nil
}

// tools are those of gates; agents need more.
func (r *Opened) tools(worker bool, activity func(executor.Effect, executor.Activity)) effects.Tools {
	return effects.Tools{
		Epic: r.Epic, Workspace: r.Space, State: r.Space.State(), Gates: r.crew.gates(r.Epic),
		Redact: r.crew.Redact.String, Room: r.Space.Trees.Room, Activity: activity, Env: TrackerEnv(r.Epic, worker),
		Confinement: r.confinement,
	}
}

// CatchInterrupts turns Ctrl-C, SIGTERM and a closed terminal into requests to
// drain. From the second one on they end the grace.
func CatchInterrupts() (<-chan os.Signal, func()) {
	out := make(chan os.Signal, 2) // more than two need not wait
	signal.Notify(out, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return out, func() { signal.Stop(out) }
}

// clean removes the worktrees of sprints that are done, if the policy asks for it,
// and says which stay and why.
func (r *Opened) clean(ctx context.Context, note func(text string)) {
	if r.Epic.Run.Git.Cleanup != "on_success" {
		return
	}
	done := lists.Keep(r.Run.Views(), func(v machine.NodeView) bool { return v.Status == executor.Done && len(v.Attempts) > 0 })
	kept, err := r.Space.Trees.Clean(ctx, lists.Map(done, func(v machine.NodeView) ir.NodeID { return v.ID }))
	stays := map[string]bool{}
	for _, k := range kept {
		stays[k.Dir] = true
		note(fmt.Sprintf("the worktree %s is kept: %s", k.Dir, k.Why))
	}
	for _, v := range done {
		if !stays[r.Space.Dir(v.ID)] {
			err = errors.Join(err, effects.Forget(r.Space.State(), v.ID))
		}
	}
	if err != nil {
		note(err.Error())
	}
}

// TryBases runs the preflight of a run that has not begun, and reports whether there was
// anything to try. An interrupt is an error.
func (r *Opened) TryBases(ctx context.Context, start executor.RunStarted, activity func(executor.Effect, executor.Activity), observe func([]executor.Event)) (tried bool, err error) {
	planned, err := machine.Replay(r.Epic, r.log.Events(ctx)) // another machine: to plan is to use it up
	if err != nil {
		return false, err
	}
	if _, err := machine.Plan(planned, start, time.Now()); err != nil {
		return false, &exit.Error{Code: exit.Bug, Err: err}
	}
	checks := slices.DeleteFunc(planned.Bases().Checks(), func(c machine.BaseCheck) bool { return c.Known != nil && c.Known.Verdict == executor.Pass })
	if len(checks) == 0 {
		return false, nil
	}
	put := func(ctx context.Context, body executor.Body) error {
		e, err := r.put(context.WithoutCancel(ctx), executor.Event{Body: body})
		if err == nil {
			observe([]executor.Event{e})
		}
		return err
	}
	watch, cut := r.Space.Checkout.Watch(r.crew.Redact.String), r.Run.Watch().Cut()
	sighted := func(list []executor.Sighting, again bool) error {
		for _, s := range list {
			if body := r.Run.Watch().Sighted(s, again); body != nil {
				if err := put(ctx, executor.Redacted(body, r.crew.Redact.String)); err != nil {
					return err
				}
			}
		}
		return watch.Keep(list)
	}
	if err := sighted(watch.Start(r.Run.Watch().OpenTampers(), cut, r.Run.Watch().AtWork(), r.Run.Watch().Pins()), cut); err != nil {
		return true, err
	}
	if err := put(ctx, local.Trying(checks)); err != nil {
		return true, err
	}
	var end executor.PreflightEnded
	gates := executor.Effect{Kind: executor.EffectGate, Step: executor.Preflight}
	seen := watch.Begin(gates)
	tools := r.tools(false, activity)
	if failed := effects.Preflight(ctx, &tools, machine.Untried(checks), put); failed != nil {
		end.Detail = text.Head(r.crew.Redact.String(failed.Error()), executor.MaxNote)
	}
	if ctx.Err() != nil {
		end.Detail = "interrupted"
	}
	seen = slices.Concat(seen, watch.End(gates), watch.Finish())
	if err := errors.Join(put(ctx, end), sighted(seen, false)); err != nil {
		return true, err
	}
	if ctx.Err() != nil {
		return true, &exit.Error{Code: exit.Interrupted}
	}
	return true, nil
}

// toNewBase moves the pinned bases to where the run is to start, once nothing holds it
// there: else all stays as it is, and what is done is done.
func (r *Opened) toNewBase(ctx context.Context, a *Args, start *executor.RunStarted, view watcher, observe func([]executor.Event)) (err error) {
	if !a.Blind {
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		start.Tried, err = r.TryBases(ctx, *start, view.Activity, observe)
		view.Finish()
		if err != nil {
			return err
		}
		if why := r.Run.Bases().Held(); start.Tried && why != "" {
			view.Say(fmt.Sprintf("nothing started, and the base stays at %.12s: %s\n  %s\n    and then: ralph apply%s --rebase; or %s", r.Run.Bases().Base().Commit, words.First(why),
				words.ResumeCommand(executor.ForBase, "")+r.About, record.Applies(r.File), words.MendBase(record.Applies(r.File))))
			code := exit.Waiting
			if record.ExitCode(r.Run, false) == exit.NotDone { // something is blocked besides
				code = exit.NotDone
			}
			return &exit.Error{Code: code}
		}
	}
	return r.Space.Bases.Rebase(context.WithoutCancel(ctx), r.base, r.bases)
}
