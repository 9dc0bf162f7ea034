package worker

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// Args are the flags of worker.
type Args struct {
	Issue    string // the only one that is worked on; "": whatever is ready
	Step     string // at which it begins; "": where its label says
	Once     bool
	Poll     time.Duration
	Max      int
	Policies []string
	Grace    time.Duration
	Sandbox  string // of apply
}

// Worker is one loop over one database.
type Worker struct {
	Args    *Args
	Project *project.Project
	claims  string // directory of what is known about issues that were claimed
	Bd      *bd.Client
	tracker ir.Tracker
	labels  bdcodec.Labels // that people and the worker speak with
	Actor   string
	Say     Voice

	Runs   map[string]*Run      // by id of the issue
	Ended  chan *Run            // whose process ended
	Told   map[string]string    // what was said about issues that cannot be run
	Looked map[string]LabelLook // at labels that decide, by id of the issue
	Left   map[string]string    // how this worker left issues: by id, one of the kinds of IssueEnd
	failed int                  // in a row, that could not even begin
	drain  int                  // interrupts so far
	away   int                  // polls in a row that bd did not answer
}

// Open finds repository, policy and database. All their problems are reported before
// anything is claimed.
func (w *Worker) Open(ctx context.Context, dir string) (err error) {
	for i, p := range w.Args.Policies {
		if w.Args.Policies[i], err = filepath.Abs(p); err != nil {
			return err
		}
	}
	if w.Project, err = project.Open(filepath.Join(dir, "x")); err != nil {
		return err
	}
	if err := os.Chdir(w.Project.Dir); err != nil { // what the epics in the git directory are about
		return err
	}
	if w.claims, err = workspace.StateDir(ctx, w.Project.Dir, "worker"); err != nil {
		return err
	}
	probe, _, problems, err := w.compile(bd.Issue{ID: "bd-probe", Title: "Probe", Description: "Does the policy compile?", Priority: 2}, "")
	switch {
	case err != nil:
		return err
	case problems != "":
		return exit.Inputf("no issue can be compiled under this policy:\n%s", problems)
	}
	w.tracker = ir.Tracker{Actor: "ralph", PollMS: 15_000, MaxConcurrentRuns: 1}
	if t := probe.Run.Tracker; t != nil {
		w.tracker = *t
	}
	w.Actor = bdcodec.Assignee(probe)
	w.labels = bdcodec.LabelsOf(probe.Run)
	if w.Args.Max == 0 {
		w.Args.Max = max(w.tracker.MaxConcurrentRuns, 1)
	}
	if w.Args.Poll == 0 {
		w.Args.Poll = max(time.Duration(w.tracker.PollMS)*time.Millisecond, time.Second)
	}
	if err := regular.MkdirOwn(w.claims); err != nil {
		return err
	}
	w.Bd, err = bd.Open(ctx, bd.Options{Dir: w.Project.Dir, Actor: w.Actor})
	return err
}

// How the loop is paced.
const (
	lookAtRuns = 500 * time.Millisecond // at the journals of what runs
	mostWait   = 5 * time.Minute        // between two tries of a bd that is away
	mostFailed = 3                      // issues in a row that could not begin, until the worker gives up
	onceTries  = 3                      // of a bd that is away, with --once
)

// Loop polls, starts runs, watches them and writes their results back until it is told to
// end.
func (w *Worker) Loop(ctx context.Context, interrupts <-chan os.Signal) error {
	w.Say.linef("", "at work on %s: %s at a time, polling bd every %s; Ctrl-C ends it", w.Bd.Database.Dir, text.Count(w.Args.Max, "issue"), words.Brief(w.Args.Poll))
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	poll := time.NewTimer(0)
	defer poll.Stop()
	look := time.NewTicker(lookAtRuns)
	defer look.Stop()
	for {
		select {
		case <-interrupts:
			stopAsking()
			w.interrupt()
			poll.Reset(0) // what has ended and was not written back
		case r := <-w.Ended:
			r.over = true
			w.settle(ctx)
			poll.Reset(0) // what it has unblocked
		case <-look.C:
			w.watch(ctx)
		case <-poll.C:
			wait, over, err := w.poll(ctx, asking)
			if over {
				return err
			}
			poll.Reset(wait)
		}
		if w.failed >= mostFailed && w.drain == 0 {
			w.Say.failf("%d issues in a row could not start; nothing new is taken until that is fixed", w.failed)
			w.drain = 1
			stopAsking()
		}
		if w.drain > 0 && len(w.Runs) == 0 {
			return w.end()
		}
	}
}

// poll writes back what has ended and takes its turn; asking ends with the first
// interrupt. It says when to poll again, or that the worker is over, with an error or not.
func (w *Worker) poll(ctx, asking context.Context) (wait time.Duration, over bool, err error) {
	wait = w.Args.Poll
	w.settle(ctx)
	if w.drain > 0 { // bd may be away just now
		return wait, false, nil
	}
	begun, err := w.turn(asking)
	switch {
	case err != nil && asking.Err() != nil:
		return wait, false, nil
	case err != nil:
		w.away++
		if w.away == 1 {
			w.Say.failf("bd cannot be asked: %v (reported once; retried until it answers)", err)
		}
		over = w.Args.Once && w.away >= onceTries && len(w.Runs) == 0
		return min(w.Args.Poll<<min(w.away, 10), mostWait), over, exit.Inputf("bd cannot be asked: %w", err)
	case w.away > 0:
		w.Say.linef("", "bd answers again")
	}
	w.away = 0
	switch {
	case !w.Args.Once || begun || len(w.Runs) > 0:
		return wait, false, nil
	case w.Args.Issue != "" && len(w.Left) == 0:
		return wait, true, w.notTaken(ctx)
	}
	return wait, true, w.end()
}

// turn is what a poll does: continue claimed issues, then take ready ones. It
// reports whether anything was begun.
func (w *Worker) turn(ctx context.Context) (bool, error) {
	begun, err := w.goOn(ctx)
	if err != nil || len(w.Runs) >= w.Args.Max {
		return begun, err
	}
	ready, err := w.Bd.Ready(ctx)
	if err != nil {
		return begun, err
	}
	for _, i := range ready {
		if len(w.Runs) >= w.Args.Max || w.drain > 0 || ctx.Err() != nil {
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
func (w *Worker) meant(id string) bool { return w.Args.Issue == "" || w.Args.Issue == id }

// NotTaken says why the one issue that was named was not worked on.
func (w *Worker) notTaken(ctx context.Context) error {
	id := w.Args.Issue
	i, there, err := w.Bd.Show(ctx, id)
	switch {
	case err != nil:
		return exit.Inputf("bd cannot be asked: %w", err)
	case !there:
		return exit.Inputf("there is no issue %s in %s: bd list", id, w.Bd.Database.Dir)
	case w.Told[id] != "": // that is why
		return &exit.Error{Code: exit.Input}
	}
	why := w.unfit(i)
	if who := w.assigned(i); why == "" && who != "" {
		why = "it is assigned to " + who
	}
	if why != "" {
		return exit.Inputf("%s is not taken: %s", id, why)
	}
	return exit.Inputf("%s is not taken: it is not ready in bd, because it is blocked or deferred: bd show %s", id, words.QuoteArg(id))
}

// interrupt ends what runs: gently, then not.
func (w *Worker) interrupt() {
	w.drain++
	switch w.drain {
	case 1:
		if len(w.Runs) == 0 {
			w.Say.linef("", "interrupted")
			return
		}
		w.Say.linef("", "interrupted: nothing new is taken; %s may continue for %s (Ctrl-C again stops them)", text.Count(len(w.Runs), "issue"), words.Brief(w.Args.Grace))
	case 2:
		w.Say.linef("", "interrupted again: stopping what runs")
	}
	for id, r := range w.Runs {
		if r.theirs && !r.over { // it is not the worker's to end, and the next one continues with it
			delete(w.Runs, id)
			_ = r.claim.Locked.Release()
			continue
		}
		r.signal(w.drain)
	}
}
