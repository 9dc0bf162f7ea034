package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
)

// epicFlag is how commands about a run are told which: --epic, else epic.json in
// the current directory.
type epicFlag struct{ file string }

func (f *epicFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "epic", "", "the epic, if it is not epic.json in this directory: a file, or its id (bd-…)")
}

// path returns the epic's file; arg is one that was named without the flag.
func (f *epicFlag) path(arg ...string) (string, error) {
	if f.file != "" {
		if len(arg) > 0 {
			return "", usageErrorf("the epic is named twice: --epic %s and %s", f.file, arg[0])
		}
		return f.file, nil
	}
	return epicPath(arg)
}

// record is what can be seen of a run, whether one is at work or not. Nothing of
// it is locked.
type record struct {
	file    string   // epic.json as it was named
	epic    *ir.Epic // what the last run was about; before the first one: epic.json as it stands
	changed bool     // epic.json is another one by now
	given   *ir.Epic // as it stands
	space   *workspace.Space
	run     *executor.Run
	events  []executor.Event
	holder  journal.Owner // of the lock
	held    bool
	now     time.Time
	moved   map[ir.NodeID][]movedJSON // what movedOut says, made when it is asked for
	judged  map[ir.NodeID]string      // what judgedNext says, made when it is asked for
}

// openRecord reads what is on record about the run of an epic.
func openRecord(ctx context.Context, file string, in io.Reader) (*record, error) {
	return openRecordIn(ctx, epicDir(file), file, in)
}

// openRecordIn does so for the repository that dir lies in.
func openRecordIn(ctx context.Context, dir, file string, in io.Reader) (*record, error) {
	given, _, err := loadEpic(file, in)
	if err != nil {
		return nil, err
	}
	r, err := recordAboutIn(ctx, dir, file, given)
	if err != nil {
		return r, err
	}
	if last := lastDigest(r.events); last != "" && last != given.Digest {
		if was := appliedEpic(r.space.State(), last); was != nil {
			r.epic = was
			r.changed = true
			if r.space, err = workspace.Open(ctx, dir, was); err != nil {
				return nil, refusal(err)
			}
			r.run, err = replayed(r.epic, r.events)
			r.look()
		}
	}
	return r, err
}

// recordAbout is what is on record about an epic that was read, as if the last run had
// been about it.
func recordAbout(ctx context.Context, file string, epic *ir.Epic) (*record, error) {
	return recordAboutIn(ctx, epicDir(file), file, epic)
}

func recordAboutIn(ctx context.Context, dir, file string, epic *ir.Epic) (*record, error) {
	r := &record{file: file, epic: epic, given: epic, now: time.Now()}
	var err error
	if r.space, err = workspace.Open(ctx, dir, epic); err != nil {
		return nil, refusal(err)
	}
	if r.holder, r.held, err = journal.Holder(r.space.State()); err != nil {
		return nil, inputErrorf("%w", err)
	}
	if r.events, err = readEvents(ctx, r.space.State(), epic.Epic.ID); err != nil {
		return nil, inputErrorf("%w", err)
	}
	r.run, err = replayed(epic, r.events)
	r.look()
	return r, err
}

// look tells the run whether somebody is at work on it.
func (r *record) look() {
	if r.run != nil && !r.held {
		r.run.Deserted()
	}
}

// readEvents reads a journal; there may be none yet.
func readEvents(ctx context.Context, state string, epic ir.NodeID) (events []executor.Event, err error) {
	log, err := journal.Read(state, epic)
	if errors.Is(err, journal.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for e, err := range log.Events(ctx) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// lastDigest is the epic.json that the last run was started with, "" if none was.
func lastDigest(events []executor.Event) string {
	for i := len(events) - 1; i >= 0; i-- {
		if b, ok := events[i].Body.(executor.RunStarted); ok {
			return b.Digest
		}
	}
	return ""
}

// appliedEpic returns the copy of epic.json that a run made when it started, if
// it is the one with this digest.
func appliedEpic(state, digest string) *ir.Epic {
	kept := filepath.Join(state, "epic.json")
	if regular.Own(kept) != nil {
		return nil // it is not what a run wrote
	}
	b, err := readFile(kept)
	if err != nil {
		return nil
	}
	epic, err := ir.Decode(b)
	if err != nil || epic.Digest != digest {
		return nil
	}
	return epic
}

func replayed(epic *ir.Epic, events []executor.Event) (*executor.Run, error) {
	run, err := executor.New(epic)
	if err != nil {
		return nil, inputErrorf("%w", err)
	}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return nil, inputErrorf("the journal does not fit this ralph: %w", err)
		}
	}
	return run, nil
}

// find translates what people type: a key, an id, or the word integration.
func find(epic *ir.Epic, key string) (ir.NodeID, error) {
	if key == executor.Integration {
		return executor.Integration, nil
	}
	known := make([]string, 0, len(epic.Nodes)+1)
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		if string(n.Key) == key || string(n.ID) == key {
			return n.ID, nil
		}
		known = append(known, string(n.Key))
	}
	hint := spell.Hint(key, append(known, executor.Integration))
	if hint == "" {
		hint = "; there are " + listOf(known)
	}
	return "", usageErrorf("there is no sprint %s%s", key, hint)
}

// node returns the node of an id; the sum has one that only says its name.
func (r *record) node(id ir.NodeID) *ir.Node {
	for i := range r.epic.Nodes {
		if r.epic.Nodes[i].ID == id {
			return &r.epic.Nodes[i]
		}
	}
	if id != executor.Integration {
		return &ir.Node{ID: id, Key: r.run.KeyOf(id), Title: "no longer in the epic"}
	}
	return &ir.Node{ID: id, Key: ir.Key(id), Title: "the sum of all results", Git: ir.Git{Branch: r.epic.Epic.Integration.Branch}}
}

// about is what has to be added to a command so that it is about this epic.
func (r *record) about() string { return aboutEpic(r.file) }

// asker is the person at this terminal.
func (r *record) asker() asker { return askerOf(r.about(), r.epic, r.space) }

func aboutEpic(file string) string {
	if file == "epic.json" || file == "-" || file == "" {
		return ""
	}
	return " --epic " + quotePath(file)
}

// applies is what ralph apply and ralph plan have to be given for this epic.
func applies(file string) string {
	if aboutEpic(file) == "" {
		return ""
	}
	return " " + quotePath(file)
}

// stateOfRun says in words whether a run is at work.
func (r *record) stateOfRun() string {
	o := r.run.Overview()
	switch {
	case r.held && o.Open && o.Draining != "":
		return fmt.Sprintf("ending (%s); process %d", o.Draining, r.holder.PID)
	case r.held:
		return fmt.Sprintf("at work: process %d of %s, since %s", r.holder.PID, r.holder.User, r.holder.Started.Local().Format(time.DateTime))
	case !o.Begun && !o.Recovered.IsZero():
		return "recovered at " + o.Recovered.Local().Format(time.DateTime) + "; ralph apply" + applies(r.file) + " goes on"
	case !o.Begun:
		return "not started"
	case o.Open, r.cut():
		return "interrupted; ralph apply" + applies(r.file) + " goes on"
	}
	return "ended"
}

// cut reports whether the last run ended with sprints at work: it was interrupted.
func (r *record) cut() bool {
	return slices.ContainsFunc(r.run.Views(), func(v executor.NodeView) bool { return v.Interrupted })
}

// lastActivity is when a program of an attempt last wrote something; for people,
// a file of its turn.
func lastActivity(dir string) (time.Time, bool) {
	var last time.Time
	for _, f := range attemptFiles(dir) {
		if f.at.After(last) {
			last = f.at
		}
	}
	return last, !last.IsZero()
}
