package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// checkFreshIDs holds --fresh-id to compiles that write the id into the plan: the next
// one would derive the deleted sprint's again.
func (a *compileArgs) checkFreshIDs() error {
	if len(a.freshIDs) == 0 {
		return nil
	}
	const writes = "--fresh-id writes the new id into the plan, and "
	switch {
	case a.noAnnotate:
		return usageErrorf(writes + "--no-annotate leaves it alone: give one of them")
	case a.check:
		return usageErrorf(writes + "--check writes nothing: give one of them")
	case slices.Contains(a.plans, "-"):
		return usageErrorf(writes + "a plan from standard input cannot be written: name its file")
	}
	for _, key := range a.freshIDs {
		if slices.Contains(a.sameIDs, key) {
			return usageErrorf("--fresh-id %s and --same-id %s: give one of them", key, key)
		}
	}
	return nil
}

// past tells the compiler what this clone has on record of an epic, and which nodes the
// epic.json has that is replaced: the one that is written to, if it is of this epic, else
// the usual one, else the copy that the last apply made. The journal is only read; nothing is locked.
func (a *compileArgs) past(p *project) func(ir.Header) compiler.Past {
	common := workspace.CommonDir(p.dir)
	if common == "" {
		return nil
	}
	return func(h ir.Header) compiler.Past {
		state := filepath.Join(common, "ralph", string(h.ID))
		ids, err := journal.Known(context.Background(), state, h.ID)
		if err != nil {
			return compiler.Past{Unknown: fmt.Sprintf("The journal of this epic cannot be read (%v); ralph journal verify says more", err)}
		}
		if len(ids) == 0 {
			return compiler.Past{}
		}
		file := filepath.Join(state, "epic.json")
		applied, found := namesAt(file, h.ID)
		replaced, latest := applied, file
		for _, f := range []string{a.target(h.Slug), "epic.json", filepath.Join(p.dir, "epic.json")} {
			if names, found := namesAt(f, h.ID); found {
				replaced, latest = names, f
				break
			}
		}
		if !found {
			file = latest
		}
		past := compiler.Past{Journal: map[ir.NodeID]string{}, Replaced: map[ir.NodeID]string{}}
		for _, id := range ids {
			past.Journal[id] = ""
		}
		for _, n := range applied.Nodes {
			if _, known := past.Journal[n.ID]; known {
				past.Journal[n.ID] = fmt.Sprintf("%s %q", n.Key, columns.Truncate(n.Title, 60))
			}
		}
		for _, n := range replaced.Nodes {
			past.Replaced[n.ID] = n.Title
		}
		past.Fate = sync.OnceValue(func() map[ir.NodeID]string { return fates(state, epicAt(file, h.ID), ids) })
		return past
	}
}

// recallClone adds to what is compiled what this clone has on record about it: earlier
// compiles and runs, and the names that somebody else has.
func recallClone(a *compileArgs, p *project, in *compiler.Input) {
	in.Past, in.Taken = a.past(p), a.taken(p)
}

// fates says what became of the nodes that the journal knows, if another item under the
// same id would inherit it: a node that nobody began or decided about has no fate. Where
// that cannot be told, all have one.
func fates(state string, epic *ir.Epic, ids []ir.NodeID) map[ir.NodeID]string {
	out := map[ir.NodeID]string{}
	for _, id := range ids {
		out[id] = "on record"
	}
	if epic == nil {
		return out
	}
	events, err := readEvents(context.Background(), state, epic.Epic.ID)
	if err != nil {
		return out
	}
	run, err := replayed(epic, events)
	if err != nil {
		return out
	}
	for _, v := range run.Views() {
		switch {
		case v.Status != executor.Pending && v.Status != executor.Ready:
			out[v.ID] = v.Status.String()
		case v.Tries() == 0 && len(v.Decisions) == 0:
			delete(out, v.ID)
		}
	}
	return out
}

// target is the file that the epic of a slug is written to; validate, which writes
// nothing, takes the one that compile would write to.
func (a *compileArgs) target(slug string) string {
	switch {
	case a.out == "":
		return "epic.json"
	case isDirName(a.out):
		return filepath.Join(a.out, slug+".json")
	}
	return a.out
}

// epicAt reads the epic of an id; nil if the file holds none, or another one.
func epicAt(file string, id ir.NodeID) *ir.Epic {
	epic := epicIn(file)
	if epic == nil || epic.Epic.ID != id {
		return nil
	}
	return epic
}

// epicIn reads the epic of a file; nil if it holds none. One that was edited by hand is
// read all the same: it is compared, not run.
func epicIn(file string) *ir.Epic {
	b, err := readFile(file)
	if err != nil {
		return nil
	}
	epic, err := ir.Decode(b)
	var edited *ir.DigestError
	if err != nil && !errors.As(err, &edited) {
		return nil
	}
	return epic
}

// namesAt reads how the epic of an id calls its nodes; found is false where epicAt would
// return nil.
func namesAt(file string, id ir.NodeID) (names ir.Names, found bool) {
	names = namesIn(file)
	return names, names.Epic == id
}

// namesIn reads how the epic of a file calls its nodes; zero where epicIn would return
// nil. What compile wrote is not read as a whole.
func namesIn(file string) ir.Names {
	f, err := regular.Open(file)
	if err != nil {
		return ir.Names{}
	}
	defer f.Close()
	if names, ok := ir.ReadNames(io.LimitReader(f, ir.MaxBytes+1)); ok {
		return names
	}
	if e := epicIn(file); e != nil {
		return e.Names()
	}
	return ir.Names{}
}
