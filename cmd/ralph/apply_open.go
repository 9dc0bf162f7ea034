package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// openedRun is an epic with its repository, lock, journal and machine.
type openedRun struct {
	file     string // epic.json as it was named
	about    string // what commands need to be about it
	epic     *ir.Epic
	space    *workspace.Space
	lock     *journal.Lock
	crew     *crew
	log      *journal.Log
	run      *executor.Run
	tally    journal.Tally // of all its events
	times    chronicle     // of all its events
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

// openRun checks everything that can be checked before anything runs, takes the
// lock and replays the journal.
func openRun(ctx context.Context, file string, epic *ir.Epic, raw []byte, a *applyArgs) (r *openedRun, err error) {
	r = &openedRun{file: file, about: aboutEpic(file), epic: epic, stale: staleWarning(file, epic, raw)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.space, err = workspace.Open(ctx, epicDir(file), epic); err != nil {
		return r, refusal(err)
	}
	state := r.space.State()
	_, err = os.Lstat(filepath.Join(state, journal.File))
	begun := err == nil
	if !begun { // a refused epic leaves nothing behind
		if err := checkNames(r.space, nil); err != nil {
			return r, err
		}
	}
	_, known := os.Lstat(state)
	if err := regular.MkdirOwn(state); err != nil {
		return r, inputErrorf("%w", err)
	}
	if r.lock, err = acquire(ctx, state); err != nil {
		var held *journal.Held
		if errors.As(err, &held) {
			how := "end it with Ctrl-C there"
			if held.By.PID > 0 { // not of a record that could not be read
				how += fmt.Sprintf(" (kill -INT %d)", held.By.PID)
			}
			return r, inputErrorf("%w\n  Wait for it, or %s.", err, how)
		}
		return r, inputErrorf("%w", err)
	}
	r.made = errors.Is(known, fs.ErrNotExist)
	r.was, r.wasDead = r.lock.Before()
	// What a killed ralph left running would write into worktrees that are about
	// to be put back.
	process.Sweep(state+string(filepath.Separator), marks...)
	if err := sweepTemporary(state); err != nil {
		return r, inputErrorf("%w", err)
	}
	r.crew = newCrew(epic)
	r.space.Filter, r.space.Redact = r.crew.redact.Filter, r.crew.redact.String
	values, doubtful := unmistakable(r.epic, secretValues(r.epic, os.Environ()))
	r.doubtful = doubtful
	if known := redact.NewSearch(values); !known.Empty() {
		r.space.Known = known.Count
	}
	if err := r.space.Recover(ctx); err != nil {
		return r, inputErrorf("%w", err)
	}
	if r.log, err = journal.Open(state, epic.Epic.ID); err != nil {
		return r, inputErrorf("%w", err)
	}
	r.tally.Key, r.times.tally.Key = keysOf(epic), keysOf(epic)
	if r.run, err = replay(ctx, r.log, epic, func(e executor.Event) { r.tally.Add(e) }, r.times.add); err != nil {
		return r, inputErrorf("%w", err)
	}
	if begun {
		if err := checkNames(r.space, r.run); err != nil {
			return r, err
		}
	}
	if err := r.checkLost(ctx); err != nil {
		return r, err
	}
	if err := errors.Join(r.checkApproved(r.about), r.checkDeadlines(time.Now())); err != nil {
		return r, err
	}
	if err := r.checkFiles(ctx, a); err != nil {
		return r, err
	}
	if err := checkSpace(r.space.Top(), epic.Run.Worktree.MinFree); err != nil {
		return r, err
	}
	if err := r.checkPrograms(ctx); err != nil {
		return r, err
	}
	files, err := readAgents(r.space.Top(), epic)
	if err != nil {
		return r, err
	}
	if a.trial {
		return r, nil
	}
	if r.orphans, err = r.space.Orphans(ctx, r.log.Last()); err != nil {
		return r, inputErrorf("%w", err)
	}
	if r.unpinned, err = r.space.Unpinned(ctx); err != nil {
		return r, inputErrorf("%w", err)
	}
	r.unpinned = r.unpinned && r.run.Base().Commit == "" // else somebody took the pins away
	if err := r.pin(ctx, a.rebase, a.base); err != nil {
		return r, refusal(err)
	}
	bases := []executor.Tree{r.base}
	for _, b := range r.bases {
		bases = append(bases, b.Tree)
	}
	if err := r.space.Fetch(ctx, bases...); err != nil {
		return r, refusal(err)
	}
	r.agents, err = copyAgents(state, files, raw)
	return r, err
}

// pin finds what sprints start from: what the first run pinned, or with rebase the
// heads of the branches, or one commit.
func (r *openedRun) pin(ctx context.Context, rebase bool, base string) (err error) {
	if r.restored, err = r.space.Restore(ctx, r.run.Base(), r.run.Bases()); err != nil {
		return err
	}
	back, err := r.space.PutBack(ctx, r.run.Pins())
	if err != nil {
		return err
	}
	r.restored = append(r.restored, back...)
	if base != "" {
		r.base, r.bases, err = r.space.PinAt(ctx, base)
		return err
	}
	if !rebase || r.unpinned {
		if r.base, r.bases, err = r.space.Pin(ctx); err == nil && r.base == r.run.Base() {
			r.branch = r.run.BaseBranch()
		} else if err == nil {
			r.branch, err = r.space.Branch(ctx)
		}
		return err
	}
	if r.base, r.bases, err = r.space.Heads(ctx); err != nil {
		return err
	}
	r.moves = true
	if r.branch, err = r.space.Branch(ctx); err != nil {
		return err
	}
	r.merged, r.theirs, err = mergedInto(ctx, r.space, r.run, r.base.Commit)
	return err
}

// acquire takes the lock. A command that decides something, or looks who has the
// lock, is done in a moment: that much is waited for.
func acquire(ctx context.Context, state string) (*journal.Lock, error) {
	for until := time.Now().Add(2 * time.Second); ; pause(ctx) {
		lock, err := journal.Acquire(state, whoAmI())
		var held *journal.Held
		if err == nil || !errors.As(err, &held) || ctx.Err() != nil || time.Now().After(until) || strings.Contains(held.By.Command+" ", " apply ") {
			return lock, err
		}
	}
}

// refusal is what the user can mend in the repository.
func refusal(err error) error {
	var known *workspace.Refusal
	if errors.As(err, &known) {
		return inputErrorf("%s", known.Error())
	}
	return inputErrorf("%w", err)
}

func (r *openedRun) close() error {
	var errs []error
	if r.crew != nil {
		errs = append(errs, r.crew.close())
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

// leaveNothing takes away what was made for a run of which nothing is on record:
// it was refused. The caller holds the lock.
func (r *openedRun) leaveNothing() error {
	var err error
	if r.unpinned {
		err = r.space.Unpin(context.Background())
	}
	err = errors.Join(err, regular.RemoveAllOwn(r.space.State()))
	_ = os.Remove(filepath.Dir(r.space.State())) // unless it holds other epics
	return err
}

func replay(ctx context.Context, log executor.Journal, epic *ir.Epic, also ...func(executor.Event)) (*executor.Run, error) {
	run, err := executor.New(epic)
	if err != nil {
		return nil, err
	}
	for e, err := range log.Events(ctx) {
		if err != nil {
			return nil, err
		}
		if err := run.Apply(e); err != nil {
			return nil, fmt.Errorf("the journal does not fit this ralph: %w", err)
		}
		for _, tell := range also {
			tell(e)
		}
	}
	return run, nil
}
