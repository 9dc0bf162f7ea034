package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Opened is an epic with its repository, lock, journal and machine.
type Opened struct {
	File     string // epic.json as it was named
	About    string // what commands need to be about it
	Epic     *ir.Epic
	Space    *workspace.Space
	lock     *journal.Lock
	crew     *Crew
	log      *journal.Log
	Run      *machine.Run
	tally    journal.Tally    // of all its events
	Times    record.Chronicle // of all its events
	agents   map[string]string
	base     executor.Tree
	branch   string // that the base was taken from, "" if nobody knows
	bases    []executor.NamedTree
	merged   []ir.NodeID       // done by the base
	theirs   []string          // accepted commits of others that the base holds
	orphans  []executor.Orphan // commits that the journal does not know
	restored []string          // pinned bases that somebody had moved
	made     bool              // its state directory was made now
	unpinned bool              // no base was pinned before
	moves    bool              // the pinned bases are to move to base and bases
	stale    string            // the plan changed since it was compiled
	differ   []string          // a warning: files that sprints find other than they are here
	notes    []string          // programs that nobody has yet
	doubtful []string          // secrets that are not looked for in commits
	was      journal.Owner     // a holder that was killed
	wasDead  bool
}

// Open checks everything that can be checked before anything runs, takes the
// lock and replays the journal.
func Open(ctx context.Context, file string, epic *ir.Epic, raw []byte, a *Args) (r *Opened, err error) {
	r = &Opened{File: file, About: record.AboutEpic(file), Epic: epic, stale: StaleWarning(file, epic, raw)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.Space, err = workspace.Open(ctx, project.EpicDir(file), epic); err != nil {
		return r, record.Refusal(err)
	}
	state := r.Space.State()
	_, err = os.Lstat(filepath.Join(state, journal.File))
	begun := err == nil
	if !begun { // a refused epic leaves nothing behind
		if err := CheckNames(r.Space, nil); err != nil {
			return r, err
		}
	}
	_, known := os.Lstat(state)
	if err := regular.MkdirOwn(state); err != nil {
		return r, exit.Inputf("%w", err)
	}
	if r.lock, err = Acquire(ctx, state); err != nil {
		var held *journal.Held
		if errors.As(err, &held) {
			how := "end it with Ctrl-C there"
			if held.By.PID > 0 { // not of a record that could not be read
				how += fmt.Sprintf(" (kill -INT %d)", held.By.PID)
			}
			return r, exit.Inputf("%w\n  Wait for it, or %s.", err, how)
		}
		return r, exit.Inputf("%w", err)
	}
	r.made = errors.Is(known, fs.ErrNotExist)
	r.was, r.wasDead = r.lock.Before()
	// What a killed ralph left running would write into worktrees that are about
	// to be put back.
	process.Sweep(state+string(filepath.Separator), record.Marks...)
	if err := sweepTemporary(state); err != nil {
		return r, exit.Inputf("%w", err)
	}
	r.crew = NewCrew(epic)
	r.Space.Filter, r.Space.Redact = r.crew.Redact.Filter, r.crew.Redact.String
	values, doubtful := record.Unmistakable(r.Epic, record.SecretValues(r.Epic, os.Environ()))
	r.doubtful = doubtful
	if known := redact.NewSearch(values); !known.Empty() {
		r.Space.Known = known.Count
	}
	if err := r.Space.Recover(ctx); err != nil {
		return r, exit.Inputf("%w", err)
	}
	if r.log, err = journal.Open(state, epic.Epic.ID); err != nil {
		return r, exit.Inputf("%w", err)
	}
	r.tally.Key, r.Times.Tally.Key = record.KeysOf(epic), record.KeysOf(epic)
	if r.Run, err = machine.Replay(epic, r.log.Events(ctx), func(e executor.Event) { r.tally.Add(e) }, r.Times.Add); err != nil {
		return r, exit.Inputf("%w", err)
	}
	if begun {
		if err := CheckNames(r.Space, r.Run); err != nil {
			return r, err
		}
	}
	if err := r.checkLost(ctx); err != nil {
		return r, err
	}
	if err := errors.Join(r.checkApproved(r.About), r.checkDeadlines(time.Now())); err != nil {
		return r, err
	}
	if err := r.checkFiles(ctx, a); err != nil {
		return r, err
	}
	if err := checkSpace(r.Space.Top(), epic.Run.Worktree.MinFree); err != nil {
		return r, err
	}
	if err := r.CheckPrograms(ctx); err != nil {
		return r, err
	}
	files, err := readAgents(r.Space.Top(), epic)
	if err != nil {
		return r, err
	}
	if a.Trial {
		return r, nil
	}
	if r.orphans, err = r.Space.Orphans(ctx, r.log.Last()); err != nil {
		return r, exit.Inputf("%w", err)
	}
	if r.unpinned, err = r.Space.Unpinned(ctx); err != nil {
		return r, exit.Inputf("%w", err)
	}
	r.unpinned = r.unpinned && r.Run.Base().Commit == "" // else somebody took the pins away
	if err := r.pin(ctx, a.Rebase, a.Base); err != nil {
		return r, record.Refusal(err)
	}
	bases := []executor.Tree{r.base}
	for _, b := range r.bases {
		bases = append(bases, b.Tree)
	}
	if err := r.Space.Fetch(ctx, bases...); err != nil {
		return r, record.Refusal(err)
	}
	r.agents, err = copyAgents(state, files, raw)
	return r, err
}

// pin finds what sprints start from: what the first run pinned, or with rebase the
// heads of the branches, or one commit.
func (r *Opened) pin(ctx context.Context, rebase bool, base string) (err error) {
	if r.restored, err = r.Space.Restore(ctx, r.Run.Base(), r.Run.Bases()); err != nil {
		return err
	}
	back, err := r.Space.PutBack(ctx, r.Run.Pins())
	if err != nil {
		return err
	}
	r.restored = append(r.restored, back...)
	if base != "" {
		r.base, r.bases, err = r.Space.PinAt(ctx, base)
		return err
	}
	if !rebase || r.unpinned {
		if r.base, r.bases, err = r.Space.Pin(ctx); err == nil && r.base == r.Run.Base() {
			r.branch = r.Run.BaseBranch()
		} else if err == nil {
			r.branch, err = r.Space.Branch(ctx)
		}
		return err
	}
	if r.base, r.bases, err = r.Space.Heads(ctx); err != nil {
		return err
	}
	r.moves = true
	if r.branch, err = r.Space.Branch(ctx); err != nil {
		return err
	}
	r.merged, r.theirs, err = record.MergedInto(ctx, r.Space, r.Run, r.base.Commit)
	return err
}

// Acquire takes the lock. It waits briefly, since a command that decides something or
// checks who has the lock is done quickly.
func Acquire(ctx context.Context, state string) (*journal.Lock, error) {
	for until := time.Now().Add(2 * time.Second); ; pause(ctx) {
		lock, err := journal.Acquire(state, WhoAmI())
		var held *journal.Held
		if err == nil || !errors.As(err, &held) || ctx.Err() != nil || time.Now().After(until) || strings.Contains(held.By.Command+" ", " apply ") {
			return lock, err
		}
	}
}

// Close ends the runners, closes the journal and releases the lock. If the run was refused
// before anything was recorded, it removes what was created for it.
func (r *Opened) Close() error {
	var errs []error
	if r.crew != nil {
		errs = append(errs, r.crew.Close())
	}
	refused := r.made && (r.log == nil || r.log.Last() == 0)
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	if refused {
		errs = append(errs, r.leaveNothing())
	}
	if r.lock != nil {
		errs = append(errs, r.lock.Release())
	}
	return errors.Join(errs...)
}

// leaveNothing removes what was created for a run that was refused and has nothing on
// record. The caller holds the lock.
func (r *Opened) leaveNothing() error {
	var err error
	if r.unpinned {
		err = r.Space.Unpin(context.Background())
	}
	err = errors.Join(err, regular.RemoveAllOwn(r.Space.State()))
	_ = os.Remove(filepath.Dir(r.Space.State())) // unless it holds other epics
	return err
}

// Historian returns a Historian for a run in progress; it may be used repeatedly, between
// events.
func (r *Opened) Historian(d project.Detail) *record.Historian {
	return record.NewHistorian(d, r.Epic, r.Run, r.Space, &r.Times)
}

// checkLost refuses to start over if the beads know of a run whose journal is not here. A
// tracker that does not answer does not prevent a start.
func (r *Opened) checkLost(ctx context.Context) error {
	o := r.Run.Overview()
	if o.Begun || !o.Recovered.IsZero() || r.Epic.Run.Tracker == nil && !project.NamesBead(r.File) || r.claim() != nil {
		return nil
	}
	c, err := bd.Open(ctx, bd.Options{Dir: "."})
	if err != nil {
		return nil // whoever needs the tracker says what is wrong with it
	}
	id := r.Epic.Epic.ID
	known, err := c.Recall(ctx, id)
	if err != nil || known.Run == nil {
		return nil // it was not pushed, or never applied
	}
	return exit.Inputf("the beads know of a run of %s, and there is no journal of it here: it would begin anew.\n"+
		"  To go on with what is done: git fetch --all && ralph recover %s\n"+
		"  To begin anew all the same: bd update %s --unset-metadata ralph", id, id, id)
}
