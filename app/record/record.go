package record

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/spell"
	"github.com/ralph-compiler/ralph/ir"
)

// Flag is how commands about a run name it: --epic, else epic.json in
// the current directory.
type Flag struct{ File string }

// Path returns the epic's file; arg is a file named without the flag.
func (f *Flag) Path(arg ...string) (string, error) {
	if f.File != "" {
		if len(arg) > 0 {
			return "", exit.Usagef("the epic is named twice: --epic %s and %s", f.File, arg[0])
		}
		return f.File, nil
	}
	return project.EpicPath(arg)
}

// Record is the readable state of a run, active or not. Nothing in it is locked.
type Record struct {
	File    string   // epic.json as it was named
	Epic    *ir.Epic // what the last run was about; before the first one: epic.json as it is
	Changed bool     // epic.json is another one by now
	Given   *ir.Epic // as it is
	Space   *workspace.Space
	Run     *machine.Run
	Events  []executor.Event
	Holder  journal.Owner // of the lock
	Held    bool
	Now     time.Time

	// Made when they are asked for, or by prepare.
	moved    map[ir.NodeID][]MovedJSON // what MovedOut says
	judged   map[ir.NodeID][]NextStep  // what judgedNext says
	index    map[ir.NodeID]int         // of Epic.Nodes
	accounts map[string]bool           // approvers that have one on this machine
	allowed  *bool                     // what approved says of an epic.json that has changed
	saved    map[ir.NodeID][]string    // what savedOf says, of the first looked events
	looked   int
}

// reader reads the events of a journal; there may be none yet.
type reader func(ctx context.Context, state string, epic ir.NodeID) ([]executor.Event, error)

// Open reads the record of an epic's run.
func Open(ctx context.Context, file string, in io.Reader) (*Record, error) {
	return OpenIn(ctx, project.EpicDir(file), file, in)
}

// OpenIn is Open for the repository that contains dir.
func OpenIn(ctx context.Context, dir, file string, in io.Reader) (*Record, error) {
	given, _, err := load(ctx, file, in, nil)
	if err != nil {
		return nil, err
	}
	return openGiven(ctx, dir, file, given, ReadEvents)
}

// openGiven is the record of the epic that file holds.
func openGiven(ctx context.Context, dir, file string, given *ir.Epic, events reader) (*Record, error) {
	r, err := read(ctx, dir, file, given, events)
	if err != nil {
		return nil, err
	}
	if last := LastDigest(r.Events); last != "" && last != given.Digest {
		if was := appliedEpic(r.Space.State(), last); was != nil {
			r.Epic = was
			r.Changed = true
			if err := r.enter(ctx, dir); err != nil {
				return nil, err
			}
		}
	}
	return r, r.replay()
}

// OpenAbout is the record, in the repository that contains dir, about an epic that was
// read, as if the last run had been of it.
func OpenAbout(ctx context.Context, dir, file string, epic *ir.Epic) (*Record, error) {
	r, err := read(ctx, dir, file, epic, ReadEvents)
	if err != nil {
		return nil, err
	}
	return r, r.replay()
}

// read opens the repository and reads the journal.
func read(ctx context.Context, dir, file string, epic *ir.Epic, events reader) (*Record, error) {
	r := &Record{File: file, Epic: epic, Given: epic, Now: time.Now()}
	if err := r.enter(ctx, dir); err != nil {
		return nil, err
	}
	return r, r.events(ctx, events)
}

// enter opens the repository, and leaves no git process: who reads again and again would
// collect them.
func (r *Record) enter(ctx context.Context, dir string) (err error) {
	if r.Space, err = workspace.Open(ctx, dir, r.Epic); err == nil {
		r.Space.Trees.Release()
	}
	return err
}

// events reads the journal, and whether a process holds its lock.
func (r *Record) events(ctx context.Context, read reader) (err error) {
	if r.Holder, r.Held, err = journal.Holder(r.Space.State()); err != nil {
		return err
	}
	r.Events, err = read(ctx, r.Space.State(), r.Epic.Epic.ID)
	return err
}

// Reload reads the journal again and replays it.
func (r *Record) Reload(ctx context.Context) error {
	if err := r.events(ctx, ReadEvents); err != nil {
		return err
	}
	return r.replay()
}

// replay makes the run, and sets whether a process is at work on it.
func (r *Record) replay() (err error) {
	if r.Run, err = Replayed(r.Epic, r.Events); err == nil && !r.Held {
		machine.Desert(r.Run)
	}
	return err
}

// ReadEvents reads a journal; there may be none yet.
func ReadEvents(ctx context.Context, state string, epic ir.NodeID) (events []executor.Event, err error) {
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

// LastDigest is the digest of the last run's epic.json, "" if there was no run.
func LastDigest(events []executor.Event) string {
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
	b, err := project.ReadFile(kept)
	if err != nil {
		return nil
	}
	epic, err := ir.Decode(b)
	if err != nil || epic.Digest != digest {
		return nil
	}
	return epic
}

// Replayed is a journal's run.
func Replayed(epic *ir.Epic, events []executor.Event) (*machine.Run, error) {
	return machine.Replay(epic, machine.Read(events))
}

// Find translates what people type: a key, an id, or the word integration.
func Find(epic *ir.Epic, key string) (ir.NodeID, error) {
	if key == executor.Integration {
		return executor.Integration, nil
	}
	n, err := Sprint(epic, key)
	if err != nil {
		return "", err
	}
	return n.ID, nil
}

// Sprint translates the key or the id of a sprint.
func Sprint(epic *ir.Epic, key string) (*ir.Node, error) {
	known := make([]string, 0, len(epic.Nodes)+1)
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		if string(n.Key) == key || string(n.ID) == key {
			return n, nil
		}
		known = append(known, string(n.Key))
	}
	hint := spell.Hint(key, append(known, executor.Integration))
	if hint == "" {
		hint = "; there are " + words.ListOf(known)
	}
	return nil, exit.Usagef("there is no sprint %s%s", key, hint)
}

// Node returns the node with an id; that of the sum has only its name.
func (r *Record) Node(id ir.NodeID) *ir.Node {
	if r.index == nil {
		r.index = make(map[ir.NodeID]int, len(r.Epic.Nodes))
		for i := range r.Epic.Nodes {
			r.index[r.Epic.Nodes[i].ID] = i
		}
	}
	if i, is := r.index[id]; is {
		return &r.Epic.Nodes[i]
	}
	if id != executor.Integration {
		return &ir.Node{ID: id, Key: r.Run.Node(id).Key(), Title: "no longer in the epic"}
	}
	return &ir.Node{ID: id, Key: ir.Key(id), Title: "the integration of all results", Git: ir.Git{Branch: r.Epic.Epic.Integration.Branch}}
}

// Key is a node's name for people.
func (r *Record) Key(id ir.NodeID) string { return string(r.Node(id).Key) }

// About is AboutEpic of this record's file.
func (r *Record) About() string { return AboutEpic(r.File) }

// AboutEpic is the flag (" --epic FILE") that makes a command about the epic of file; "" for
// the default, epic.json, and for standard input.
func AboutEpic(file string) string {
	if file == "epic.json" || file == "-" || file == "" {
		return ""
	}
	return " --epic " + words.QuotePath(file)
}

// Applies is the argument (" FILE") of ralph apply and ralph plan for the epic of file; ""
// for the default.
func Applies(file string) string {
	if AboutEpic(file) == "" {
		return ""
	}
	return " " + words.QuotePath(file)
}

// cut reports whether the last run ended with sprints at work: it was interrupted.
func (r *Record) cut() bool {
	return slices.ContainsFunc(r.Run.Views(), func(v machine.NodeView) bool { return v.Interrupted })
}

// approved reports whether epic.json, as it is now, is approved or needs no approval.
func (r *Record) approved() bool {
	if !r.Changed {
		return r.Run.Overview().PlanApproved
	}
	if r.allowed == nil {
		given, err := Replayed(r.Given, r.Events)
		is := err != nil || given.Overview().PlanApproved // ralph plan says what is wrong
		r.allowed = &is
	}
	return *r.allowed
}

// LastActivity is when a program of an attempt last wrote something; for people,
// a file of its turn.
func LastActivity(dir string) (time.Time, bool) {
	var last time.Time
	for _, f := range AttemptFiles(dir) {
		if f.At.After(last) {
			last = f.At
		}
	}
	return last, !last.IsZero()
}

// ExitCode is the exit code of a run in its present state; see Run.Ending.
func ExitCode(run *machine.Run, interrupted bool) int {
	return journal.ExitCode(run.Summary().Ending(interrupted).Outcome)
}
