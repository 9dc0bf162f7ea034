package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// Followed is the record of a run that is kept up to date while its journal grows. One
// goroutine at a time uses it; while it is in Read, others may read the record.
type Followed struct {
	*Record
	dir  string // of the repository
	file string // epic.json
	log  *journal.Log
	at   os.FileInfo // of the journal, when log was opened
	mark string      // of epic.json
}

// Fresh is what a look has found.
type Fresh struct {
	Again  bool             // the record was made anew, from another journal: what was known before says nothing
	Events []executor.Event // that are new, oldest first; none if Again
	Other  bool             // the lock, or epic.json, may be another one
}

// Any reports whether anything is new.
func (f Fresh) Any() bool { return f.Again || f.Other || len(f.Events) > 0 }

// Follow opens the record of the epic in file, in the repository that contains dir. The
// caller closes it.
func Follow(ctx context.Context, dir, file string) (*Followed, error) {
	f := &Followed{dir: dir, file: file}
	var err error
	if f.Record, err = f.again(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Still is a record that stays as it is: nobody looks for more.
func Still(r *Record) *Followed { return &Followed{Record: r, file: r.File} }

// Named is the file that the epic was opened from.
func (f *Followed) Named() string { return f.file }

// Close ends the reading. The record stays readable.
func (f *Followed) Close() error {
	if f.log == nil {
		return nil
	}
	err := f.log.Close()
	f.log, f.at = nil, nil
	return err
}

// News is what is not in a record yet.
type News struct {
	made   *Record          // in the place of the record: it had to be read anew
	events []executor.Event // else those that are new
	moved  map[ir.NodeID][]MovedJSON
	holder journal.Owner
	now    time.Time
}

// Look brings the record up to date. After an error the record is as it was before, and
// the next Look reads everything again.
func (f *Followed) Look(ctx context.Context) (Fresh, error) {
	n, err := f.Read(ctx)
	if err != nil {
		return Fresh{}, err
	}
	return f.Take(n)
}

// Read is the part of Look that takes git, the disk and time. It does not change the record:
// others may read that meanwhile.
func (f *Followed) Read(ctx context.Context) (n News, err error) {
	n.now = time.Now()
	holder, held, err := journal.Holder(f.Space.State())
	if err != nil {
		return n, err
	}
	n.holder = holder
	if f.moved() || f.log == nil && len(f.Events) > 0 || held != f.Held || markOf(f.file) != f.mark {
		return n, f.anew(ctx, &n)
	}
	if f.log == nil {
		return n, nil
	}
	other, err := f.fresh(ctx, &n)
	if err != nil {
		return n, errors.Join(err, f.Close())
	}
	if other || f.written() && len(n.events) == 0 {
		return n, f.anew(ctx, &n)
	}
	if len(n.events) > 0 {
		n.moved = f.allMoved()
	}
	return n, nil
}

// Take is the rest of Look: it takes what Read has found into the record.
func (f *Followed) Take(n News) (Fresh, error) {
	if n.made != nil {
		before := f.Events
		f.Record = n.made
		k := len(before)
		if k > len(f.Events) || k > 0 && (f.Events[k-1].Seq != before[k-1].Seq || !f.Events[k-1].At.Equal(before[k-1].At)) {
			return Fresh{Again: true}, nil
		}
		return Fresh{Other: true, Events: f.Events[k:]}, nil
	}
	for _, e := range n.events {
		if err := f.Run.Apply(e); err != nil {
			return Fresh{}, errors.Join(fmt.Errorf("the journal does not fit this ralph: %w", err), f.Close())
		}
		f.Events = append(f.Events, e)
		switch e.Body.(type) {
		case executor.Decided, executor.RunStarted:
			f.allowed = nil
		}
	}
	f.Now, f.Holder = n.now, n.holder
	if len(n.events) > 0 {
		f.Record.moved = n.moved
	}
	return Fresh{Events: n.events}, nil
}

// fresh reads the events that are new. other reports that the record does not fit them:
// they are about another epic.json, or a command has written about a run without a process.
func (f *Followed) fresh(ctx context.Context, n *News) (other bool, err error) {
	for e, err := range f.log.Fresh(ctx) {
		if err != nil {
			return false, err
		}
		if b, is := e.Body.(executor.RunStarted); is && b.Digest != f.Epic.Digest || !f.Held {
			return true, nil
		}
		n.events = append(n.events, e)
	}
	return false, nil
}

// moved reports whether another file than the one that is read is in the journal's place.
func (f *Followed) moved() bool {
	now, err := os.Stat(filepath.Join(f.Space.State(), journal.File))
	if f.at == nil {
		return err == nil
	}
	return err != nil || !os.SameFile(now, f.at)
}

// written reports whether the journal's file was written to since this was asked last.
// Without new events it was not by a ralph at work, but for a checkpoint.
func (f *Followed) written() bool {
	now, err := os.Stat(filepath.Join(f.Space.State(), journal.File))
	if err != nil || now.ModTime().Equal(f.at.ModTime()) {
		return false
	}
	f.at = now
	return true
}

// anew reads everything.
func (f *Followed) anew(ctx context.Context, n *News) (err error) {
	if n.made, err = f.again(ctx); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// again makes the record of everything that there is.
func (f *Followed) again(ctx context.Context) (*Record, error) {
	if err := f.Close(); err != nil {
		return nil, err
	}
	if f.Record != nil {
		f.Space.Trees.Release() // nobody would later
	}
	mark := markOf(f.file)
	given, _, err := load(ctx, f.file, nil, nil)
	if err != nil {
		return nil, err
	}
	if f.Record != nil && given.Epic.ID != f.Epic.Epic.ID {
		return nil, fmt.Errorf("%s holds another epic now: %s", f.file, given.Epic.ID)
	}
	r, err := openGiven(ctx, f.dir, f.file, given, f.events)
	if err != nil {
		return nil, err
	}
	if f.log == nil && f.Record != nil && len(f.Events) > 0 {
		return nil, errors.New("its journal is gone")
	}
	r.File = shortFile(f.dir, f.file, r)
	r.prepare()
	f.mark = mark
	return r, nil
}

// events reads a journal, and keeps it open.
func (f *Followed) events(ctx context.Context, state string, epic ir.NodeID) (events []executor.Event, err error) {
	at, err := os.Stat(filepath.Join(state, journal.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	log, err := journal.Read(state, epic)
	if errors.Is(err, journal.ErrNone) { // it is being created
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.log, f.at = log, at
	for e, err := range log.Events(ctx) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// markOf changes when a file does; "" if there is none.
func markOf(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(st.Size(), st.ModTime().UnixNano())
}

// shortFile is how commands in a repository's directory name the epic of file.
func shortFile(dir, file string, r *Record) string {
	if project.EpicAt(filepath.Join(dir, "epic.json"), r.Epic.Epic.ID) != nil {
		file = "epic.json" // what they take without being told
	} else if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	return cmp.Or(IssueOf(r.Space.State(), r.Epic), file)
}

// Repository is a repository with its runs.
type Repository struct {
	Dir   string   // top of its working tree
	Git   string   // its git directory, which all its worktrees share
	Files []string // of the epics that were applied, and of epic.json in Dir

	runs []string // files of the runs, when Files was made
	mark string   // of epic.json then
}

// RepositoryOf finds the repository that contains dir.
func RepositoryOf(ctx context.Context, dir string) (Repository, error) {
	var r Repository
	state, err := workspace.StateDir(ctx, dir, "x")
	if err != nil {
		return r, err
	}
	runs := filepath.Dir(state)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return r, err
	}
	r.Dir, r.Git = cmp.Or(project.GitRoot(abs), abs), filepath.Dir(runs)
	return r, r.List()
}

// List looks for epics again. An epic.json in Dir takes the place of the copy that its run
// has made.
func (r *Repository) List() error {
	files, err := runFiles(filepath.Join(r.Git, "ralph"))
	if err != nil {
		return err
	}
	own := filepath.Join(r.Dir, "epic.json")
	mark := markOf(own)
	if r.Files != nil && mark == r.mark && slices.Equal(files, r.runs) {
		return nil
	}
	r.mark, r.runs = mark, slices.Clone(files)
	if mark != "" {
		taken := false
		for i, file := range files {
			if _, is := project.NamesAt(own, ir.NodeID(filepath.Base(filepath.Dir(file)))); is {
				files[i], taken = own, true
			}
		}
		if !taken {
			files = append(files, own)
		}
	}
	r.Files = files
	return nil
}
