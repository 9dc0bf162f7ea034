package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// issueRun is an issue that this worker has claimed.
type issueRun struct {
	issue bd.Issue
	claim *claim
	epic  *ir.Epic
	file  string // its epic.json
	state string // directory of its run

	cmd     *exec.Cmd // nil: a process that another worker began is at work
	code    int       // its exit code; -1 while it runs, if it was killed, or nobody knows
	over    bool      // the process ended; nothing was written back yet
	step    string    // that the issue's label names
	attempt string    // that was told
	mark    string    // of its journal, when it was looked at
	tries   int       // processes that ended without a word
	moved   string    // what a person did with the issue meanwhile: closed, excluded
	verdict *issueEnd // known without looking
	said    string    // the last error of writing back
	refused int       // how often bd, which answers, did not take what came of it
}

// start begins ralph apply on the issue's epic, in a process group of its own: Ctrl-C
// is the worker's to hand on, and a run outlives a worker that is killed.
func (w *issueWorker) start(r *issueRun, args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(r.claim.dir, "output.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	r.cmd = exec.Command(exe, append([]string{"apply", r.file, "--worker", "--grace", w.args.grace.String()}, args...)...)
	r.cmd.Args[0] = "ralph"
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = w.project.dir, out, out, ownGroup()
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.code, r.over = -1, false
	go func() {
		err := r.cmd.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
			r.code = 0
		case errors.As(err, &exit):
			r.code = exit.ExitCode()
		}
		w.ended <- r
	}()
	return nil
}

// signal asks a run to drain, then to stop, then kills it.
func (r *issueRun) signal(nth int) {
	sig := os.Interrupt
	if nth > 2 {
		sig = os.Kill
	}
	if r.cmd != nil {
		_ = r.cmd.Process.Signal(sig) // it may have ended
		return
	}
	if by, held, err := journal.Holder(r.state); err == nil && held && by.PID > 0 && by.Host == whoAmI().Host {
		if p, err := os.FindProcess(by.PID); err == nil {
			_ = p.Signal(sig)
		}
	}
}

// watch looks at what runs: it tells each attempt, and keeps the label of the phase.
func (w *issueWorker) watch(ctx context.Context) {
	ended := false
	for _, r := range w.runs {
		if r.over {
			continue
		}
		if r.cmd == nil {
			if _, held, err := journal.Holder(r.state); err == nil && !held {
				r.over, ended, r.code = true, true, -1
				continue
			}
		}
		if mark := journalMark(r.state); mark != r.mark {
			if err := w.progress(ctx, r); err == nil {
				r.mark = mark
			}
		}
	}
	if ended {
		w.settle(ctx)
	}
}

func (w *issueWorker) progress(ctx context.Context, r *issueRun) error {
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil || !begunAfter(rec.events, r.claim.After) {
		return err
	}
	v, _ := rec.run.View(rec.epic.Nodes[0].ID)
	if attempt, _, _ := strings.Cut(v.Doing, ":"); attempt != "" && attempt != r.attempt {
		r.attempt = attempt
		w.say.linef(r.issue.ID, "%s", v.Doing)
	}
	if v.Status != executor.Running || v.Step == "" || v.Step == r.step || w.drain > 0 {
		return nil
	}
	r.claim.Wrote = v.Step
	if err := r.claim.save(); err != nil {
		return err
	}
	i, err := w.bd.SetPhase(ctx, r.issue, v.Step)
	if err != nil {
		return err
	}
	r.issue.Labels, r.step = i.Labels, v.Step
	return nil
}

// begunAfter reports whether a run began behind an event of the journal.
func begunAfter(events []executor.Event, seq int64) bool {
	for i := len(events) - 1; i >= 0 && events[i].Seq > seq; i-- {
		if _, ok := events[i].Body.(executor.RunStarted); ok {
			return true
		}
	}
	return false
}

// goOn takes up what workers claimed and do not work on: because they were killed,
// or because a person has decided what it waited for. It reports whether it did.
func (w *issueWorker) goOn(ctx context.Context) (bool, error) {
	if err := w.steered(ctx); err != nil {
		return false, err
	}
	entries, err := os.ReadDir(w.claims)
	if err != nil {
		return false, err
	}
	begun := false
	var decided []bd.Issue
	for _, e := range entries {
		c := w.lookUp(e.Name())
		switch {
		case c == nil || w.runs[c.Issue] != nil:
		case len(w.runs) >= w.args.max || w.drain > 0 || ctx.Err() != nil:
			return begun, nil
		case c.State == claimTaken:
			took, err := w.adopt(ctx, c.Issue)
			if err = w.aside(c.Issue, err); err != nil {
				return begun, err
			}
			begun = begun || took
		case c.State == claimWaiting:
			if decided == nil {
				if decided, err = w.decidedThere(ctx); err != nil {
					return begun, err
				}
			}
			took, err := w.wake(ctx, c.Issue, decided)
			if err = w.aside(c.Issue, err); err != nil {
				return begun, err
			}
			begun = begun || took
		}
	}
	return begun, nil
}

// adopt goes on with an issue whose worker was killed.
func (w *issueWorker) adopt(ctx context.Context, id string) (bool, error) {
	l, got, err := w.lock(id)
	if err != nil || !got {
		return false, err
	}
	c := w.lookUp(id)
	if c == nil || c.State != claimTaken {
		return false, l.Release()
	}
	c.locked = l
	i, there, err := w.bd.Show(ctx, id)
	if err != nil {
		return false, errors.Join(err, l.Release())
	}
	if !there || !c.owns(i) || i.Status != "in_progress" {
		c.State = claimOver
		if there && c.owns(i) && i.Status == "blocked" && c.Wrote == humanReview {
			c.State = claimWaiting // it was written, and then the worker was killed
		}
		return false, errors.Join(c.save(), l.Release())
	}
	r := &issueRun{issue: i, claim: c, file: w.epicFile(c.Epic), step: c.Wrote, code: -1}
	r.state = filepath.Dir(r.file)
	w.runs[id] = r
	if _, held, err := journal.Holder(r.state); err == nil && held {
		w.say.linef(id, "goes on: %s (its ralph apply is still at work)", i.Title)
		return true, w.load(r)
	}
	w.say.linef(id, "goes on: %s (claimed by a worker that ended)", i.Title)
	var events []executor.Event
	if _, err := os.Stat(r.file); err == nil {
		if events, err = readEvents(ctx, r.state, c.Epic); err != nil {
			return true, w.blocked(ctx, r, err)
		}
	}
	if begunAfter(events, c.After) {
		if err := w.load(r); err != nil {
			return true, w.blocked(ctx, r, err)
		}
		r.over, r.tries = true, -1 // a killed run is begun again
		w.settle(ctx)
		return true, nil
	}
	return true, w.beginAgain(ctx, r)
}

// beginAgain does what was left of taking an issue: everything behind the claim.
func (w *issueWorker) beginAgain(ctx context.Context, r *issueRun) error {
	epic, raw, problems, err := w.compile(r.issue, r.claim.Start)
	if err == nil && problems != "" {
		err = errors.New("it cannot be compiled any more.\n" + problems)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	r.epic = epic
	before, err := w.past(ctx, epic.Epic.ID)
	if err == nil {
		err = w.reopen(ctx, r, before, nil)
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(r.state, 0o700), atomicfile.Write(r.file, raw, 0o600))
	}
	if err == nil {
		err = w.start(r, r.claim.Args)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	return nil
}

// load reads the epic of a run that has begun.
func (w *issueWorker) load(r *issueRun) (err error) {
	r.epic, _, err = loadEpic(r.file, nil)
	return err
}

// heed looks what people did with issues that run: one that was closed or excluded is
// stopped.
func (w *issueWorker) steered(ctx context.Context) error {
	var ids []string
	for id, r := range w.runs {
		if !r.over && r.moved == "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	by, err := w.bd.ByID(ctx, ids...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, i := w.runs[id], by[id]
		switch {
		case i.ID == "":
			r.moved = "deleted"
		case i.Status == "closed":
			r.moved = "closed"
		case i.Status != "in_progress" || !r.claim.owns(i):
			r.moved = "taken away"
		}
		if r.moved == "" && (hasLabel(i, w.labels.Exclude) || hasLabel(i, bdcodec.ExcludedLabel)) {
			r.moved = "excluded"
		}
		if r.moved != "" {
			w.say.linef(id, "was %s in bd meanwhile: its run is stopped, what it did is kept", r.moved)
			r.signal(1)
		}
	}
	return nil
}

func hasLabel(i bd.Issue, label string) bool {
	for _, l := range i.Labels {
		if l == label {
			return true
		}
	}
	return false
}

// tailOf is the end of what the process of a run printed.
func (r *issueRun) tailOf() string {
	b, err := os.ReadFile(filepath.Join(r.claim.dir, "output.log"))
	if err != nil {
		return fmt.Sprintf("its output is gone: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
