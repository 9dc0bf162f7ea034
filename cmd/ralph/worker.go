package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// workerArgs are the flags of worker.
type workerArgs struct {
	issue    string // the only one that is worked on; "": whatever is ready
	step     string // at which it begins; "": where its label says
	once     bool
	poll     time.Duration
	max      int
	policies []string
	grace    time.Duration
}

func newWorkerCommand() *cobra.Command {
	a := &workerArgs{}
	cmd := &cobra.Command{
		Use:   "worker [DIR]",
		Short: "Work off the issues of a beads database that have no plan",
		Long: `Worker takes the issues of the repository's beads database that are ready (bd ready):
open, nothing that blocks them, no epic, not of a plan that ralph pushed, without the
label ashep:excluded (hitl { labels = { exclude = … } }), assigned to nobody else. It
claims an issue, compiles it under the project's policy to an epic of one sprint,
whose id is the issue's, and runs that with ralph apply in a process of its own.

  done                            the issue is closed, with the commit or pull request
  cancelled, partial, interrupted it is open again, and nobody's
  waits for a person              it is blocked, with the label needs:human_approval and
                                  a comment that says what to type; it goes on by itself
                                  once that was decided
  everything else                 it is blocked, and a comment says why

Work starts from the merge of the results of what blocked the issue, at the step that
a label phase:<step> names. Reopen a blocked issue to have it tried again; comments
written since go to the agent.

Ctrl-C takes nothing new and lets what runs finish (--grace); a second one stops it. A
worker that was killed is followed by another one: what the first had claimed goes on.
Several may work on one database. Starting a worker is the approval of what it runs.`,
		Example: `  ralph worker                      until Ctrl-C
  ralph worker --once               until nothing is ready any more
  ralph worker --issue shop-a3f     this one, and end
  ralph worker ../service --max 3 --poll 30s`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if !isDir(dir) {
				hint := ""
				if !strings.ContainsAny(dir, `/\`) {
					hint = "; to work on one issue: " + cmd.CommandPath() + " --issue " + quoteArg(dir)
				}
				return usageErrorf("there is no directory %s%s", dir, hint)
			}
			return runWorker(cmd, a, dir)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.issue, "issue", "", "work on this issue alone, if it is ready, and end")
	f.StringVar(&a.step, "step", "", "with --issue: begin at this step, whatever its label phase:<step> says")
	f.BoolVar(&a.once, "once", false, "end when nothing is ready and nothing runs")
	f.DurationVar(&a.poll, "poll", 0, "how often bd is asked (default: tracker { poll }, else 15s)")
	f.IntVar(&a.max, "max", 0, "issues at the same time (default: tracker { max_concurrent_runs }, else 1)")
	f.StringArrayVar(&a.policies, "policy", nil, "policy file or directory; replaces the default policy path (repeatable)")
	f.DurationVar(&a.grace, "grace", 2*time.Minute, "time that running attempts get at the first Ctrl-C")
	return cmd
}

// issueWorker is one loop over one database.
type issueWorker struct {
	args    *workerArgs
	project *project
	claims  string // directory of what is known about issues that were claimed
	bd      *bd.Client
	tracker ir.Tracker
	labels  bdcodec.Labels // that people and the worker speak with
	actor   string
	say     voice

	runs   map[string]*issueRun // by id of the issue
	ended  chan *issueRun       // whose process ended
	told   map[string]string    // what was said about issues that cannot be run
	looked map[string]labelLook // at labels that decide, by id of the issue
	left   map[string]string    // how this worker left issues: by id, one of the kinds of issueEnd
	failed int                  // in a row, that could not even begin
	drain  int                  // interrupts so far
}

func runWorker(cmd *cobra.Command, a *workerArgs, dir string) (err error) {
	switch {
	case a.max < 0:
		return usageErrorf("--max %d: write a number from 1", a.max)
	case a.poll < 0:
		return usageErrorf("--poll %s: write a time that is not negative", a.poll)
	case a.step != "" && a.issue == "":
		return usageErrorf("--step %s: name the issue with --issue", a.step)
	case a.issue != "" && a.max > 1:
		return usageErrorf("--max %d: with --issue there is one", a.max)
	case a.grace < 0:
		return usageErrorf("--grace %s: write a time that is not negative", a.grace)
	}
	if err := process.Supported(); err != nil {
		return inputErrorf("%w", err)
	}
	if a.issue != "" {
		a.once, a.max = true, 1
	}
	ctx := background(cmd)
	interrupts, stop := catchInterrupts()
	defer stop()
	w := &issueWorker{
		args: a, say: voice{&workerLines{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), paint: term.For(cmd.OutOrStdout())}},
		runs: map[string]*issueRun{}, ended: make(chan *issueRun, 64), told: map[string]string{}, looked: map[string]labelLook{}, left: map[string]string{},
	}
	if err := w.open(ctx, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.project.Close()) }()
	return w.loop(ctx, interrupts)
}

// open finds repository, policy and database. Everything that is wrong with them is
// said before anything is claimed.
func (w *issueWorker) open(ctx context.Context, dir string) (err error) {
	for i, p := range w.args.policies {
		if w.args.policies[i], err = filepath.Abs(p); err != nil {
			return inputErrorf("%w", err)
		}
	}
	if w.project, err = openProject(filepath.Join(dir, "x")); err != nil {
		return err
	}
	if err := os.Chdir(w.project.dir); err != nil { // what the epics in the git directory are about
		return inputErrorf("%w", err)
	}
	if w.claims, err = workspace.StateDir(ctx, w.project.dir, "worker"); err != nil {
		return refusal(err)
	}
	probe, _, problems, err := w.compile(bd.Issue{ID: "bd-probe", Title: "Probe", Description: "Does the policy compile?", Priority: 2}, "")
	switch {
	case err != nil:
		return err
	case problems != "":
		return inputErrorf("no issue can be compiled under this policy:\n%s", problems)
	}
	w.tracker = ir.Tracker{Actor: "ralph", PollMS: 15_000, MaxConcurrentRuns: 1}
	if t := probe.Run.Tracker; t != nil {
		w.tracker = *t
	}
	w.actor = bdcodec.Assignee(probe)
	w.labels = bdcodec.LabelsOf(probe.Run)
	if w.args.max == 0 {
		w.args.max = max(w.tracker.MaxConcurrentRuns, 1)
	}
	if w.args.poll == 0 {
		w.args.poll = max(time.Duration(w.tracker.PollMS)*time.Millisecond, time.Second)
	}
	if err := regular.MkdirOwn(w.claims); err != nil {
		return inputErrorf("%w", err)
	}
	w.bd, err = bd.Open(ctx, bd.Options{Dir: w.project.dir, Actor: w.actor})
	if err != nil {
		return inputErrorf("%w", err)
	}
	return nil
}

// How the loop is paced.
const (
	lookAtRuns = 500 * time.Millisecond // at the journals of what runs
	mostWait   = 5 * time.Minute        // between two tries of a bd that is away
	mostFailed = 3                      // issues in a row that could not begin, until the worker gives up
	onceTries  = 3                      // of a bd that is away, with --once
)

// loop polls, begins, watches and writes back until it is told to end.
func (w *issueWorker) loop(ctx context.Context, interrupts <-chan struct{}) error {
	w.say.linef("", "at work on %s: %s at a time, bd is asked every %s; Ctrl-C ends it", w.bd.Beads(), text.Count(w.args.max, "issue"), brief(w.args.poll))
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	poll := time.NewTimer(0)
	defer poll.Stop()
	look := time.NewTicker(lookAtRuns)
	defer look.Stop()
	away := 0
	for {
		select {
		case <-interrupts:
			stopAsking()
			w.interrupt()
			poll.Reset(0) // what has ended and was not written back
		case r := <-w.ended:
			r.over = true
			w.settle(ctx)
			poll.Reset(0) // what it has unblocked
		case <-look.C:
			w.watch(ctx)
		case <-poll.C:
			wait := w.args.poll
			w.settle(ctx)
			if w.drain > 0 {
				poll.Reset(wait) // bd may be away just now
				break
			}
			begun, err := w.turn(asking)
			if err != nil && asking.Err() == nil {
				away++
				wait = min(w.args.poll<<min(away, 10), mostWait)
				if away == 1 {
					w.say.failf("bd cannot be asked: %v (said once; tried again until it answers)", err)
				}
				if w.args.once && away >= onceTries && len(w.runs) == 0 {
					return inputErrorf("bd cannot be asked: %w", err)
				}
			} else if err == nil {
				if away > 0 {
					w.say.linef("", "bd answers again")
				}
				away = 0
				if w.args.once && !begun && len(w.runs) == 0 {
					if w.args.issue != "" && len(w.left) == 0 {
						return w.notTaken(ctx)
					}
					return w.end()
				}
			}
			poll.Reset(wait)
		}
		if w.failed >= mostFailed && w.drain == 0 {
			w.say.failf("%d issues in a row could not begin; nothing new is taken before that is mended", w.failed)
			w.drain = 1
			stopAsking()
		}
		if w.drain > 0 && len(w.runs) == 0 {
			return w.end()
		}
	}
}

// turn is what a poll does: go on with what is claimed, then take what is ready. It
// reports whether anything was begun.
func (w *issueWorker) turn(ctx context.Context) (bool, error) {
	begun, err := w.goOn(ctx)
	if err != nil || len(w.runs) >= w.args.max {
		return begun, err
	}
	ready, err := w.bd.Ready(ctx)
	if err != nil {
		return begun, err
	}
	for _, i := range ready {
		if len(w.runs) >= w.args.max || w.drain > 0 || ctx.Err() != nil {
			break
		}
		if !w.meant(i.ID) || !w.eligible(i) {
			continue
		}
		took, err := w.take(ctx, i)
		if err = w.aside(i.ID, err); err != nil {
			return begun, err
		}
		begun = begun || took
	}
	return begun, nil
}

// meant reports whether the worker is to look at an issue.
func (w *issueWorker) meant(id string) bool { return w.args.issue == "" || w.args.issue == id }

// notTaken says why the one issue that was named was not worked on.
func (w *issueWorker) notTaken(ctx context.Context) error {
	id := w.args.issue
	i, there, err := w.bd.Show(ctx, id)
	switch {
	case err != nil:
		return inputErrorf("bd cannot be asked: %w", err)
	case !there:
		return inputErrorf("there is no issue %s in %s: bd list", id, w.bd.Beads())
	case w.told[id] != "": // that is why
		return &exitError{code: exitInput}
	}
	why := w.unfit(i)
	if who := w.assigned(i); why == "" && who != "" {
		why = "it is assigned to " + who
	}
	if why != "" {
		return inputErrorf("%s is not taken: %s", id, why)
	}
	return inputErrorf("%s is not taken: bd does not have it as ready, as something blocks it or it is deferred: bd show %s", id, quoteArg(id))
}

// interrupt ends what runs: gently, then not.
func (w *issueWorker) interrupt() {
	w.drain++
	switch w.drain {
	case 1:
		if len(w.runs) == 0 {
			w.say.linef("", "interrupted")
			return
		}
		w.say.linef("", "interrupted: nothing new is taken; %s may go on for %s (Ctrl-C again stops them)", text.Count(len(w.runs), "issue"), brief(w.args.grace))
	case 2:
		w.say.linef("", "interrupted again: stopping what runs")
	}
	for id, r := range w.runs {
		if r.theirs && !r.over { // it is not the worker's to end, and the next one goes on with it
			delete(w.runs, id)
			_ = r.claim.locked.Release()
			continue
		}
		r.signal(w.drain)
	}
}
