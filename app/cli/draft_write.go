package cli

import (
	"bytes"
	"cmp"
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

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// deliver writes the approved plan into the checkout, with its ids, if the file is there
// as it was when the draft began, and puts the approval on record for the plan's epic.
// With again somebody asks for it: a file that is gone is then no change of theirs.
func (d *drafted) deliver(ctx context.Context, out, errOut io.Writer, again bool) error {
	if d.view.Status != executor.Done {
		return exit.Inputf("the plan of %s is not approved yet: it is %s\n  ralph draft%s", d.Epic.Epic.ID, words.Status(d.view), record.AboutEpic(d.File))
	}
	if err := run.RefuseMarked(); err != nil { // it would approve its own plan
		return err
	}
	plan, err := d.text(ctx)
	if err != nil {
		return err
	}
	c, err := d.compiled(plan)
	if err != nil {
		return d.unwritten(err)
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
		return exit.Inputf("%w", err)
	}
	note, err := d.approve(ctx, epic)
	if err != nil {
		return err
	}
	said := "wrote"
	if !wrote {
		said = "already there:"
	}
	fmt.Fprintf(out, "\n%s %s: %s, %s\n", said, reveal.Words(d.plan), text.Count(len(res.Epic.Nodes), "sprint"), text.Count(len(res.Epic.Stats().Waves), "wave"))
	if note != "" {
		fmt.Fprintf(errOut, "ralph: note: %s\n", reveal.Words(note))
	}
	fmt.Fprintf(out, "  next: ralph compile %s -o epic.json && ralph apply epic.json\n", typedPath(d.Space.Top(), d.plan))
	return nil
}

// typedPath is a path of the project as people type it here.
func typedPath(top, file string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, filepath.Join(top, filepath.FromSlash(file))); err == nil {
			return words.QuotePath(rel)
		}
	}
	return words.QuotePath(file)
}

// put writes the plan; wrote is false if it is there already.
func (d *drafted) put(ctx context.Context, text []byte, again bool) (wrote bool, err error) {
	file := filepath.Join(d.Space.Top(), filepath.FromSlash(d.plan))
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
	_, there, err := d.Space.FileAt(ctx, d.Run.Base().Commit, d.plan, project.MaxFile)
	if err != nil {
		return false, exit.Inputf("%w", err)
	}
	differ, err := d.Space.Differs(ctx, d.Run.Base().Commit, []string{d.plan})
	if err != nil {
		return false, exit.Inputf("%w", err)
	}
	changed := exit.Inputf("%s was changed while the plan was drafted, so it is left as it is.\n  The draft: %s\n  Move the file away, then: ralph draft --write%s", d.plan, d.look(), record.AboutEpic(d.File))
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

// replaceFile writes a file that holds was, or is not there if was is nil. If it holds
// something else by now, or is a link, it is left alone, and the error is fs.ErrExist.
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

// unwritten says that a plan which is approved could not be written, and what to do then.
func (d *drafted) unwritten(err error) error {
	return exit.Inputf("%s is approved and could not be written: %w\n  When that is mended: ralph draft --write%s", d.plan, err, record.AboutEpic(d.File))
}

// sayUnwritten says of a draft whose plan is approved that the checkout does not have it
// so: it could not be written, or was changed since.
func (d *drafted) sayUnwritten(ctx context.Context, w io.Writer) {
	if d.view.Status != executor.Done || d.Held {
		return
	}
	plan := reveal.Words(d.plan)
	now, err := readIfThere(filepath.Join(d.Space.Top(), filepath.FromSlash(d.plan)))
	if err != nil || now == nil {
		fmt.Fprintf(w, "\nThe plan is approved, and the checkout does not have %s. To write it: ralph draft --write%s\n", plan, record.AboutEpic(d.File))
		return
	}
	text, err := d.text(ctx)
	if err != nil {
		return // the commit is gone: --write says so
	}
	c, err := d.compiled(text)
	if err != nil || bytes.Equal(now, c.Results[0].Annotated) {
		return // or the policy that is here now is another: --write says so
	}
	fmt.Fprintf(w, "\nThe plan is approved, and %s is not as it was approved: %s\n  To have it so: move the file away, then ralph draft --write%s\n", plan, d.look(), record.AboutEpic(d.File))
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
	by, is := d.approval()
	if !is {
		return notCounted + "nobody is on record who approved exactly this plan\n  ralph compile it, look at epic.json, then: ralph approve", nil
	}
	by.ID, by.Verb, by.How, by.Digest = "drafted-"+strings.TrimPrefix(epic.Digest, "sha256:"), executor.Approve, executor.Drafted, epic.Digest
	by.Message = fmt.Sprintf("approved as %s wrote it (%s, commit %.12s)", d.planner(), d.Epic.Epic.ID, d.commit())
	by.Gate, by.Result, by.Seen = "", "", executor.Sight{}
	t := &run.Desk{Epic: epic}
	if t.Space, err = workspace.Open(ctx, d.Space.Top(), epic); err != nil {
		return "", record.Refusal(err)
	}
	_, err = t.Record(ctx, executor.Letter{Decision: by}, false)
	var no *executor.Refused
	var held *journal.Held
	switch {
	case errors.As(err, &no) && no.Already, err == nil:
		return "", nil
	case errors.As(err, &no):
		return notCounted + no.Error(), nil
	case errors.As(err, &held):
		return "the approval is not on record for its epic yet: " + held.Error() + "\n  Afterwards: ralph draft --write" + record.AboutEpic(d.File), nil
	}
	return "", exit.Inputf("%w", err)
}

// approval is who approved this result: the person at its gate or, where nobody was to
// be asked, whoever started the draft.
func (d *drafted) approval() (by executor.Decision, is bool) {
	if !record.AsksPerson(d.Epic) {
		who := d.Run.Overview().By
		return executor.Decision{By: who, User: who, At: time.Now().UTC().Truncate(time.Millisecond)}, true
	}
	for _, x := range slices.Backward(d.view.Decisions) {
		if record.ApprovesDraft(x) && x.Result == d.view.Result.Tree {
			return x, true
		}
	}
	return by, false
}
