package draft

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/ir"
)

// Delivered is the outcome of Deliver.
type Delivered struct {
	Wrote          bool // false: it was there already
	Plan           string
	Typed          string // as people type it here
	Sprints, Waves int
	Note           string // why the approval does not count for the plan's own epic
}

// Deliver writes the approved plan into the checkout, with its ids, if the file is there
// as it was when the draft began, and puts the approval on record for the plan's epic.
// With again (--write) a missing file does not count as a change.
func (d *Draft) Deliver(ctx context.Context, again bool) (done Delivered, err error) {
	if d.View.Status != executor.Done {
		return done, exit.Inputf("the plan of %s is not approved yet: it is %s\n  ralph draft%s", d.Epic.Epic.ID, words.Status(d.View), d.About())
	}
	if err := run.RefuseMarked(); err != nil { // it would approve its own plan
		return done, err
	}
	plan, err := d.text(ctx)
	if err != nil {
		return done, err
	}
	c, err := d.compiled(plan)
	if err != nil {
		return done, d.unwritten(err)
	}
	annotated := c.Results[0].Annotated
	if done.Wrote, err = d.put(ctx, annotated, again); err != nil {
		return done, err
	}
	if c, err = d.compiled(annotated); err != nil { // the epic that compile makes of the file
		return done, err
	}
	epic, err := ir.Decode(c.Results[0].JSON) // with its digest, as apply reads it
	if err != nil {
		return done, err
	}
	done.Plan, done.Typed = d.Plan, typedPath(d.Space.Top(), d.Plan)
	done.Sprints, done.Waves = len(epic.Nodes), len(epic.Stats().Waves)
	done.Note, err = d.approve(ctx, epic)
	return done, err
}

// typedPath is a path of the project relative to the current directory, quoted.
func typedPath(top, file string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, filepath.Join(top, filepath.FromSlash(file))); err == nil {
			return words.QuotePath(rel)
		}
	}
	return words.QuotePath(file)
}

// put writes the plan; wrote is false if it is there already.
func (d *Draft) put(ctx context.Context, text []byte, again bool) (wrote bool, err error) {
	file := filepath.Join(d.Space.Top(), filepath.FromSlash(d.Plan))
	if err := project.Confined(file); err != nil {
		return false, d.unwritten(err)
	}
	now, err := readIfThere(file)
	if err != nil {
		return false, d.unwritten(err)
	}
	if now != nil && bytes.Equal(now, text) {
		return false, nil
	}
	_, there, err := d.Space.FileAt(ctx, d.Run.Bases().Base().Commit, d.Plan, project.MaxFile)
	if err != nil {
		return false, err
	}
	differ, err := d.Space.Files.Differs(ctx, d.Run.Bases().Base().Commit, []string{d.Plan})
	if err != nil {
		return false, err
	}
	changed := exit.Inputf("%s was changed while the plan was drafted, so it is left as it is.\n  The draft: %s\n  Move the file away, then: ralph draft --write%s", d.Plan, d.Look(), d.About())
	if len(differ) > 0 || there != (now != nil) && (now != nil || !again) {
		return false, changed
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, d.unwritten(err)
	}
	switch err := replaceFile(file, now, text); {
	case errors.Is(err, fs.ErrExist):
		return false, changed
	case err != nil:
		return false, d.unwritten(err)
	}
	return true, nil
}

// replaceFile writes a file that still holds was, or does not exist if was is nil. A file
// that changed, or became a link, is left alone; the error is fs.ErrExist.
func replaceFile(file string, was, text []byte) error {
	if was == nil {
		return atomicfile.Create(file, text, 0o644)
	}
	if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
		return cmp.Or(err, fs.ErrExist)
	}
	now, err := readIfThere(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, was) {
		return fs.ErrExist
	}
	return atomicfile.Write(file, text, 0o644)
}

// unwritten is the error for an approved plan that could not be written, with what to do.
func (d *Draft) unwritten(err error) error {
	return exit.Inputf("%s is approved and could not be written: %w\n  When that is fixed: ralph draft --write%s", d.Plan, err, d.About())
}

// NotWritten says that the checkout lacks the approved plan or has another text, and what to
// type; "" otherwise.
func (d *Draft) NotWritten(ctx context.Context) string {
	if d.View.Status != executor.Done || d.Held {
		return ""
	}
	now, err := readIfThere(filepath.Join(d.Space.Top(), filepath.FromSlash(d.Plan)))
	if err != nil || now == nil {
		return fmt.Sprintf("The plan is approved, and the checkout does not have %s. To write it: ralph draft --write%s", d.Plan, d.About())
	}
	text, err := d.text(ctx)
	if err != nil {
		return "" // the commit is gone: --write says so
	}
	c, err := d.compiled(text)
	if err != nil || bytes.Equal(now, c.Results[0].Annotated) {
		return "" // or the policy that is here now is another: --write says so
	}
	return fmt.Sprintf("The plan is approved, and %s differs from the approved plan: %s\n  To restore it: move the file away, then ralph draft --write%s", d.Plan, d.Look(), d.About())
}

// readIfThere reads a file, nil if there is none.
func readIfThere(file string) ([]byte, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b, err := project.ReadFile(file)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

const notCounted = "the approval does not count for its epic: "

// approve records the approval in the journal of the plan's own epic, bound to exactly this
// epic, for policies that require one. note says why it does not count; "" if it does.
func (d *Draft) approve(ctx context.Context, epic *ir.Epic) (note string, err error) {
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
	by, is := d.approval()
	if !is {
		return notCounted + "no approval of exactly this plan is recorded\n  ralph compile it, look at epic.json, then: ralph approve", nil
	}
	by.ID, by.Verb, by.How, by.Digest = "drafted-"+strings.TrimPrefix(epic.Digest, "sha256:"), executor.Approve, executor.Drafted, epic.Digest
	by.Message = fmt.Sprintf("approved as %s wrote it (%s, commit %.12s)", d.Planner(), d.Epic.Epic.ID, d.commit())
	by.Gate, by.Result, by.Seen = "", "", executor.Sight{}
	r, err := record.OpenAbout(ctx, d.Space.Top(), d.File, epic)
	if err != nil {
		return "", err
	}
	_, err = (&run.Desk{Record: r}).Write(ctx, executor.Letter{Decision: by}, false)
	var no *executor.Refused
	var held *journal.Held
	switch {
	case errors.As(err, &no) && no.Already, err == nil:
		return "", nil
	case errors.As(err, &no):
		return notCounted + no.Error(), nil
	case errors.As(err, &held):
		return "the approval is not yet recorded for its epic: " + held.Error() + "\n  Afterwards: ralph draft --write" + d.About(), nil
	}
	return "", err
}

// approval is the decision that approved this result: that of the person at its gate or,
// with --yes, of the starter of the draft.
func (d *Draft) approval() (by executor.Decision, is bool) {
	if !record.AsksPerson(d.Epic) {
		who := d.Run.Overview().By
		return executor.Decision{By: who, User: who, At: time.Now().UTC().Truncate(time.Millisecond)}, true
	}
	for _, x := range slices.Backward(d.View.Decisions) {
		if record.ApprovesDraft(x) && x.Result == d.View.Result.Tree {
			return x, true
		}
	}
	return by, false
}
