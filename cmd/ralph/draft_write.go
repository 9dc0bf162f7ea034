package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// checkDrafted is what a plan that compiles must have besides; was is the plan that it
// changes, nil if it is new.
func checkDrafted(ctx context.Context, out compiler.Output, p *project, brief []string, was *planBefore) (diag.List, error) {
	res := out.Results[0]
	c := draft.Compiled{
		Epic: res.Epic, File: out.Files[res.Plan], Places: res.Trace.Places(), Paths: pathsIn(p.FS()), Wish: strings.Join(brief, "\n"), Bounds: draft.BoundsOf(res.Trace.Policy()),
	}
	if was == nil {
		return draft.Check(c), nil
	}
	again, err := againWith(ctx, res.Epic)
	return draft.CheckRevised(draft.Revised{Compiled: c, Was: was.Was, Now: identitiesOf(c.File), Asked: c.Wish, Again: again}), err
}

// mostPaths bounds how many files of a project scopes are held against.
const mostPaths = 200_000

// pathsIn lists the files of a project.
func pathsIn(project fs.FS) (out []string) {
	_ = fs.WalkDir(project, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // what cannot be read cannot be worked on either
			return nil
		case len(out) >= mostPaths:
			return fs.SkipAll
		case !e.IsDir():
			out = append(out, path)
		}
		return nil
	})
	return out
}

// deliver writes the approved plan into the checkout, with its ids, if the file is there
// as it was when the draft began, and puts the approval on record for the plan's epic.
// With again somebody asks for it: a file that is gone is then no change of theirs.
func (d *drafted) deliver(ctx context.Context, out, errOut io.Writer, again bool) error {
	if d.view.Status != executor.Done {
		return inputErrorf("the plan of %s is not approved yet: it is %s\n  ralph draft%s", d.epic.Epic.ID, statusWord(d.view), aboutEpic(d.file))
	}
	if err := refuseMarked(); err != nil { // it would approve its own plan
		return err
	}
	text, err := d.text(ctx)
	if err != nil {
		return err
	}
	c, err := d.compiled(text)
	if err != nil {
		return err
	}
	annotated := c.Results[0].Annotated
	wrote, err := d.put(ctx, annotated, again)
	if err != nil {
		return err
	}
	if c, err = d.compiled(annotated); err != nil { // the epic that compile makes of the file
		return err
	}
	res := c.Results[0]
	epic, err := ir.Decode(res.JSON) // with its digest, as apply reads it
	if err != nil {
		return inputErrorf("%w", err)
	}
	note, err := d.approve(ctx, epic)
	if err != nil {
		return err
	}
	said := "wrote"
	if !wrote {
		said = "already there:"
	}
	fmt.Fprintf(out, "\n%s %s: %s, %s\n", said, term.Clean(d.plan), count(len(res.Epic.Nodes), "sprint"), count(len(res.Epic.Stats().Waves), "wave"))
	if note != "" {
		fmt.Fprintf(errOut, "ralph: note: %s\n", term.Clean(note))
	}
	plan := d.plan
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, filepath.Join(d.space.Top(), filepath.FromSlash(plan))); err == nil {
			plan = rel
		}
	}
	fmt.Fprintf(out, "  next: ralph compile %s -o epic.json && ralph apply epic.json\n", quotePath(plan))
	return nil
}

// put writes the plan; wrote is false if it is there already.
func (d *drafted) put(ctx context.Context, text []byte, again bool) (wrote bool, err error) {
	file := filepath.Join(d.space.Top(), filepath.FromSlash(d.plan))
	if err := confined(file); err != nil {
		return false, err
	}
	now, err := readIfThere(file)
	if err != nil {
		return false, err
	}
	if now != nil && bytes.Equal(now, text) {
		return false, nil
	}
	_, there, err := d.space.FileAt(ctx, d.run.Base().Commit, d.plan, maxFile)
	if err != nil {
		return false, inputErrorf("%w", err)
	}
	differ, err := d.space.Differs(ctx, d.run.Base().Commit, []string{d.plan})
	if err != nil {
		return false, inputErrorf("%w", err)
	}
	if len(differ) > 0 || there != (now != nil) && (now != nil || !again) {
		return false, inputErrorf("%s was changed while the plan was drafted, so it is left as it is.\n  The draft: git show %.12s:%s\n  Move the file away, then: ralph draft --write%s", d.plan, d.commit(), d.plan, aboutEpic(d.file))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, inputErrorf("%w", err)
	}
	var batch atomicfile.Batch
	batch.Add(file, text, 0o644)
	if err := batch.Commit(); err != nil {
		return false, inputErrorf("%w", err)
	}
	return true, nil
}

// readIfThere reads a file, nil if there is none.
func readIfThere(file string) ([]byte, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b, err := readFile(file)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

const notCounted = "the approval does not count for its epic: "

// approve appends the approval to the journal of the plan's own epic, so that a policy
// which asks for one has it, for exactly this epic. note says why it could not count.
func (d *drafted) approve(ctx context.Context, epic *ir.Epic) (note string, err error) {
	why, err := d.otherPolicy(ctx, epic)
	if err != nil {
		return "", err
	}
	if why != "" {
		if epic.Run.HITL.Plan == "required" {
			why += "\n  ralph compile it, look at epic.json, then: ralph approve"
		}
		return notCounted + why, nil
	}
	by := d.approval()
	by.ID, by.Verb, by.How, by.Digest = "drafted-"+strings.TrimPrefix(epic.Digest, "sha256:"), executor.Approve, executor.Drafted, epic.Digest
	by.Message = fmt.Sprintf("approved as %s wrote it (%s, commit %.12s)", d.planner(), d.epic.Epic.ID, d.commit())
	by.Gate, by.Result, by.Seen = "", "", executor.Sight{}
	t := &table{epic: epic}
	if t.space, err = workspace.Open(ctx, d.space.Top(), epic); err != nil {
		return "", refusal(err)
	}
	_, err = t.record(ctx, executor.Letter{Decision: by}, false)
	var no *executor.Refused
	var held *journal.Held
	switch {
	case errors.As(err, &no) && no.Already, err == nil:
		return "", nil
	case errors.As(err, &no):
		return notCounted + no.Error(), nil
	case errors.As(err, &held):
		return "the approval is not on record for its epic yet: " + held.Error() + "\n  Afterwards: ralph draft --write" + aboutEpic(d.file), nil
	}
	return "", inputErrorf("%w", err)
}

// approval is who approved the plan: the person at its gate, else whoever let it pass
// without one.
func (d *drafted) approval() executor.Decision {
	for _, x := range slices.Backward(d.view.Decisions) {
		if x.Verb == executor.Approve {
			return x
		}
	}
	who := d.run.Overview().By
	return executor.Decision{By: who, User: who, At: time.Now().UTC().Truncate(time.Millisecond)}
}
