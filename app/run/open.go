package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/redact"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/ir"
)

// Opened is an epic with its repository, lock, journal and machine.
type Opened struct {
	File  string // epic.json as it was named
	About string // what commands need to be about it
	Epic  *ir.Epic
	Space *workspace.Space
	*door
	crew     *Crew
	tally    journal.Tally    // of all its events
	Times    record.Chronicle // of all its events
	agents   map[string]string
	base     executor.Tree
	branch   string // that the base was taken from, "" if unknown
	bases    []executor.NamedTree
	merged   []ir.NodeID       // done by the base
	theirs   []string          // accepted commits of others that the base holds
	orphans  []executor.Orphan // commits that the journal does not know
	restored []string          // pinned bases that others had moved
	made     bool              // its state directory was made now
	unpinned bool              // no base was pinned before
	moves    bool              // the pinned bases are to move to base and bases
	stale    string            // the plan changed since it was compiled
	differ   []string          // a warning: files that sprints find other than they are here
	notes    []string          // programs that no one has yet
	doubtful []string          // secrets that are not looked for in commits
	was      journal.Owner     // a holder that was killed
	wasDead  bool

	confinement effects.Confinement
	confined    []string // what the sandboxes are made with, for the reader
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
		return r, err
	}
	if err := r.Space.User.MayCommit(); err != nil {
		return r, err
	}
	state := r.Space.State()
	_, err = os.Lstat(filepath.Join(state, journal.File))
	begun := err == nil
	if !begun { // a refused epic leaves nothing behind
		if err := CheckNames(r.Space, nil); err != nil {
			return r, err
		}
	}
	if r.confinement, r.confined, err = Confine(ctx, r.Epic, r.Space, a.Sandbox); err != nil {
		return r, err
	}
	if err := r.lockAndReplay(ctx, state); err != nil {
		return r, err
	}
	files, err := r.check(ctx, a, begun)
	if err != nil {
		return r, err
	}
	if a.Trial {
		return r, nil
	}
	if r.orphans, err = r.Space.Refs.Orphans(ctx, r.log.Last()); err != nil {
		return r, err
	}
	if r.unpinned, err = r.Space.Bases.Unpinned(ctx); err != nil {
		return r, err
	}
	r.unpinned = r.unpinned && r.Run.Bases().Base().Commit == "" // else the pins were removed meanwhile
	if err := r.pin(ctx, a.Rebase, a.Base); err != nil {
		return r, err
	}
	if err := r.Space.Bases.Fetch(ctx, append([]executor.Tree{r.base}, trees(r.bases)...)...); err != nil {
		return r, err
	}
	r.agents, err = copyAgents(state, files, raw)
	return r, err
}

// check refuses what cannot run, cheap checks first, and reads the agents' files.
func (r *Opened) check(ctx context.Context, a *Args, begun bool) (files []agentText, err error) {
	for _, check := range []func() error{
		func() error {
			if begun {
				return CheckNames(r.Space, r.Run)
			}
			return nil
		},
		func() error { return r.checkLost(ctx) },
		func() error { return errors.Join(r.checkApproved(r.About), r.checkDeadlines(time.Now())) },
		func() error { return r.checkFiles(ctx, a) },
		func() error { return checkSpace(r.Space.Top(), r.Epic.Run.Worktree.MinFree) },
		func() error { return r.CheckPrograms(ctx) },
		func() (err error) { files, err = readAgents(r.Space.Top(), r.Epic); return err },
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// lockAndReplay takes the lock, ends and undoes what a killed ralph left, and replays the journal.
func (r *Opened) lockAndReplay(ctx context.Context, state string) (err error) {
	_, known := os.Lstat(state)
	who := WhoAmI()
	who.Applies = true
	if r.door, err = await(ctx, state, who); err != nil {
		if held, is := errors.AsType[*journal.Held](err); is {
			how := "end it with Ctrl-C there"
			if held.By.PID > 0 { // not of a record that could not be read
				how += fmt.Sprintf(" (kill -INT %d)", held.By.PID)
			}
			return exit.Inputf("%w\n  Wait for it, or %s.", err, how)
		}
		return err
	}
	r.made = errors.Is(known, fs.ErrNotExist)
	r.was, r.wasDead = r.lock.Before()
	// What a killed ralph left running would write into worktrees that are about
	// to be put back.
	process.Sweep(state+string(filepath.Separator), record.Marks...)
	if err := regular.RemoveAllOwn(filepath.Join(state, "runners", "tmp")); err != nil { // of its runners
		return err
	}
	_ = sandbox.SweepTemp() // what it cannot remove is in the directory for temporary files
	r.crew = NewCrew(r.Epic)
	r.Space.Secrets = workspace.Secrets{Filter: r.crew.Redact.Filter, Redact: r.crew.Redact.String}
	values, doubtful := record.Unmistakable(r.Epic, record.SecretValues(r.Epic, os.Environ()))
	r.doubtful = doubtful
	if known := redact.NewSearch(values); !known.Empty() {
		r.Space.Secrets.Count = known.Count
	}
	if err := r.Space.Trees.Recover(ctx); err != nil {
		return err
	}
	r.tally.Key, r.Times.Tally.Key = record.KeysOf(r.Epic), record.KeysOf(r.Epic)
	return r.replay(ctx, r.Epic, func(e executor.Event) { r.tally.Add(e) }, r.Times.Add)
}

// pin finds what sprints start from: what the first run pinned, or with rebase the
// heads of the branches, or one commit.
func (r *Opened) pin(ctx context.Context, rebase bool, base string) (err error) {
	if r.restored, err = r.Space.Bases.Restore(ctx, r.Run.Bases().Base(), r.Run.Bases().Named()); err != nil {
		return err
	}
	back, err := r.Space.Refs.PutBack(ctx, r.Run.Watch().Pins())
	if err != nil {
		return err
	}
	r.restored = append(r.restored, back...)
	if base != "" {
		r.base, r.bases, err = r.Space.Bases.PinAt(ctx, base)
		return err
	}
	if !rebase || r.unpinned {
		if r.base, r.bases, err = r.Space.Bases.Pin(ctx); err == nil && r.base == r.Run.Bases().Base() {
			r.branch = r.Run.Bases().Branch()
		} else if err == nil {
			r.branch, err = r.Space.Checkout.Branch(ctx)
		}
		return err
	}
	if r.base, r.bases, err = r.Space.Bases.Heads(ctx); err != nil {
		return err
	}
	r.moves = true
	if r.branch, err = r.Space.Checkout.Branch(ctx); err != nil {
		return err
	}
	r.merged, r.theirs, err = record.MergedInto(ctx, r.Space, r.Run, r.base.Commit)
	return err
}

// Close ends the runners, closes the journal and releases the lock. If the run was refused
// before anything was recorded, it removes what was created for it.
func (r *Opened) Close() error {
	var err error
	if r.crew != nil {
		err = r.crew.Close()
	}
	if r.door == nil {
		return err
	}
	refused := r.made && (r.log == nil || r.log.Last() == 0)
	return errors.Join(err, r.close(func() error {
		if refused {
			return r.leaveNothing()
		}
		return nil
	}))
}

// leaveNothing removes what was created for a run that was refused and has nothing on
// record. The caller holds the lock.
func (r *Opened) leaveNothing() error {
	var err error
	if r.unpinned {
		err = r.Space.Bases.Unpin(context.Background())
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
		return nil // the tracker's users report what is wrong with it
	}
	id := r.Epic.Epic.ID
	known, err := bd.Recall(ctx, c, id)
	if err != nil || known.Run == nil {
		return nil // it was not pushed, or never applied
	}
	return exit.Inputf("the beads record a run of %s, but there is no journal of it here: it would start from scratch.\n"+
		"  To continue it: git fetch --all && ralph recover %s\n"+
		"  To start from scratch anyway: bd update %s --unset-metadata ralph", id, id, id)
}
