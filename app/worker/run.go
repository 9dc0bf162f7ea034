package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Run is an issue that this worker has claimed.
type Run struct {
	issue bd.Issue
	claim *record.Claim
	epic  *ir.Epic
	file  string // its epic.json
	state string // directory of its run

	cmd     *exec.Cmd        // nil: a process that another worker began is at work
	code    int              // its exit code; -1 while it runs, if it was killed, or unknown
	theirs  bool             // a process that a person began was at work
	over    bool             // the process ended; nothing was written back yet
	attempt string           // that was told
	mark    string           // of its journal, when it was looked at
	tries   int              // processes that ended without a word
	moved   string           // what a person did with the issue meanwhile: closed, excluded
	verdict *record.IssueEnd // known without looking
	said    string           // the last error of writing back
	refused int              // how often bd, which answers, did not take what came of it
}

// start begins ralph apply on the issue's epic, in a process group of its own: Ctrl-C
// is the worker's to hand on, and a run outlives a worker that is killed.
func (w *Worker) start(r *Run, args []string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := regular.AppendOwn(filepath.Join(r.claim.Dir, "output.log"), 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	r.cmd = exec.Command(exe, append([]string{"apply", r.file, "--worker", "--grace", w.Args.Grace.String(), "--sandbox", w.Args.Sandbox}, args...)...)
	r.cmd.Args[0] = "ralph"
	r.cmd.Dir, r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = w.Project.Dir, out, out, process.OwnGroup()
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
		w.Ended <- r
	}()
	return nil
}

// yields reports whether the process ended because another one is at work on the issue's
// epic: one that a person began, or a worker that was killed before it was seen. What
// comes of the run is what that one does.
func (r *Run) yields() bool {
	if r.cmd == nil {
		return false
	}
	if _, held, err := journal.Holder(r.state); err != nil || !held {
		return false
	}
	r.cmd, r.theirs, r.over = nil, true, false
	return true
}

// signal asks a run to drain, then to stop, then kills it.
func (r *Run) signal(nth int) {
	sig := os.Interrupt
	if nth > 2 {
		sig = os.Kill
	}
	if r.cmd != nil {
		_ = r.cmd.Process.Signal(sig) // it may have ended
		return
	}
	if by, held, err := journal.Holder(r.state); err == nil && held && by.PID > 0 && by.Host == run.WhoAmI().Host {
		if p, err := os.FindProcess(by.PID); err == nil {
			_ = p.Signal(sig)
		}
	}
}

// watch follows what runs, and reports each attempt.
func (w *Worker) watch(ctx context.Context) {
	ended := false
	for _, r := range w.Runs {
		if r.over {
			continue
		}
		if r.cmd == nil {
			if _, held, err := journal.Holder(r.state); err == nil && !held {
				r.over, ended, r.code = true, true, -1
				continue
			}
		}
		if mark := record.JournalMark(r.state); mark != r.mark {
			if err := w.progress(ctx, r); err == nil {
				r.mark = mark
			}
		}
	}
	if ended {
		w.settle(ctx)
	}
}

func (w *Worker) progress(ctx context.Context, r *Run) error {
	rec, err := record.Open(ctx, r.file, nil)
	if err != nil || !begunAfter(rec.Events, r.claim.After) {
		return err
	}
	if v, _ := rec.Run.View(rec.Epic.Nodes[0].ID); v.Attempt != "" && v.Attempt != r.attempt {
		r.attempt = v.Attempt
		w.Say.linef(r.issue.ID, "%s", v.Doing)
	}
	return nil
}

// begunAfter reports whether a run began after an event of the journal.
func begunAfter(events []executor.Event, seq int64) bool {
	for i := len(events) - 1; i >= 0 && events[i].Seq > seq; i-- {
		if _, ok := events[i].Body.(executor.RunStarted); ok {
			return true
		}
	}
	return false
}

// tailOf is the end of what the process of a run printed.
func (r *Run) tailOf() string {
	b, err := regular.ReadOwn(filepath.Join(r.claim.Dir, "output.log"))
	if err != nil {
		return fmt.Sprintf("its output is gone: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
