package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// compile makes an epic of one node of an issue, under the policy as it is now.
// Problems of the issue are in problems; an error is that of the files.
func (w *Worker) compile(i bd.Issue, start string) (epic *ir.Epic, raw []byte, problems string, err error) {
	opts, err := (&project.Args{Format: project.FormatText}).Options()
	if err != nil {
		return nil, nil, "", err
	}
	in := compiler.Input{Options: opts, Project: w.Project.FS()}
	if in.Policy, err = w.Project.ReadPolicies(w.Args.Policies); err != nil {
		return nil, nil, "", err
	}
	imported, err := issueDraft(i, start, w.labels)
	if err != nil {
		return nil, nil, "", err
	}
	in.Imports = []compiler.Imported{imported}
	out := compiler.Compile(in)
	if out.Diags.HasErrors() || len(out.Results) == 0 {
		errs := slices.DeleteFunc(slices.Clone(out.Diags), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		return nil, nil, strings.TrimSpace(project.Sources{Files: out.Files, Root: w.Project.Dir}.Words(errs)), nil
	}
	epic, err = ir.Decode(out.Results[0].JSON)
	return epic, out.Results[0].JSON, "", err
}

// cannot says of an issue that it is not run, in bd as well, once.
func (w *Worker) cannot(ctx context.Context, i bd.Issue, why string) (bool, error) {
	if !w.tell(i.ID, "not run: "+why) || w.Args.Issue != "" { // who named it reads that here
		return false, nil
	}
	return false, bd.NotTaken(ctx, w.Bd, i, why)
}

// take claims an issue and begins its run. It reports whether it did.
func (w *Worker) take(ctx context.Context, i bd.Issue) (bool, error) {
	start, many := i.Phase()
	if w.Args.Step != "" {
		start, many = w.Args.Step, false
	}
	if why := unclear(i, many); why != "" {
		return w.cannot(ctx, i, why)
	}
	l, got, err := w.lock(i.ID)
	if err != nil || !got {
		return false, err // another worker has it
	}
	took, err := w.takeLocked(ctx, i, start, l)
	if !took {
		_ = l.Release()
	}
	return took, err
}

// takeLocked takes an issue that no other worker can take. It keeps the lock if it did.
func (w *Worker) takeLocked(ctx context.Context, i bd.Issue, start string, l *journal.Lock) (bool, error) {
	was := w.lookUp(i.ID)
	if was != nil && was.Wrote != "" && start == was.Wrote && w.Args.Step == "" {
		start = was.Start // the label says how far the last run came
	}
	print := w.printOf(i, start)
	if was != nil && was.State == record.ClaimReleased && was.Print == print && w.Args.Issue == "" {
		w.tell(i.ID, "left alone: it was released, and has not been changed since; change it, or run ralph apply "+words.QuotePath(w.epicFile(was.Epic)))
		return false, nil
	}
	epic, raw, problems, err := w.compile(i, start)
	switch {
	case err != nil:
		return false, err
	case problems != "":
		return w.cannot(ctx, i, "it cannot be compiled.\n"+problems)
	}
	c := &record.Claim{Issue: i.ID, Epic: epic.Epic.ID, Token: run.NewID(), State: record.ClaimTaken, At: time.Now().UTC(), Start: start, Print: print, Dir: filepath.Join(w.claims, i.ID), Locked: l}
	state := filepath.Dir(w.epicFile(epic.Epic.ID))
	if _, held, err := journal.Holder(state); err != nil || held {
		if held {
			w.tell(i.ID, "left alone: another ralph apply is running it")
		}
		return false, faulty(err)
	}
	from, err := w.startOf(ctx, i, epic)
	if err != nil {
		return false, err
	}
	before, err := w.past(ctx, epic.Epic.ID)
	if err != nil {
		return false, faulty(err)
	}
	if before != nil {
		c.After = before.last
	}
	c.Args = from.args(before)
	c.Wrote, c.Notes = epic.Nodes[0].Steps[0].Name, from.missing()
	r := &Run{issue: i, claim: c, epic: epic, file: w.epicFile(epic.Epic.ID), state: state}
	if ok, err := w.claim(ctx, r, was); !ok {
		return false, err
	}
	if from.conflict != "" {
		return true, w.blocked(ctx, r, errors.New(from.conflict))
	}
	return true, w.begin(ctx, r, raw, before, was)
}

// claim puts a claim on record, here and then in bd. It reports false if another was
// quicker.
func (w *Worker) claim(ctx context.Context, r *Run, was *record.Claim) (bool, error) {
	c, i := r.claim, r.issue
	if err := c.Save(); err != nil {
		return false, err
	}
	i, err := bd.UpdatePhase(ctx, w.Bd, i, c.Wrote, bd.Change{
		Status: "in_progress", If: "open", IfAssignee: &i.Assignee, Assignee: w.Actor, Metadata: bd.ClaimedBy(c.Token), Remove: w.peopleLabels(i),
	})
	if bd.Guarded(err) { // another writer was faster
		return false, w.forget(c, was)
	}
	if err != nil {
		return false, err
	}
	delete(w.Told, i.ID)
	r.issue = i
	w.Runs[i.ID] = r
	w.Say.linef(i.ID, "claimed: %s (policy %s, step %s)", i.Title, r.epic.Nodes[0].Policy, c.Wrote)
	for _, text := range c.Notes {
		w.Say.linef(i.ID, "%s", text)
	}
	return true, nil
}

// unclear says why an issue cannot be run as it is written, "" if it can. many: several
// labels name its step.
func unclear(i bd.Issue, many bool) string {
	switch {
	case !foreign.ValidID(i.ID):
		return fmt.Sprintf("its id cannot be part of a git ref; it may have letters, digits, \"-\", \"_\" and single dots, at most %d of them, not end with .lock, and not be \"integration\"", foreign.MaxID)
	case strings.TrimSpace(i.Title) == "":
		return "it has no title: bd update " + i.ID + ` --title "…"`
	case strings.TrimSpace(i.Description+i.Acceptance) == "":
		return "it has no description: bd update " + i.ID + ` --description "what is to be done, and how one sees that it is"`
	case many:
		return "several labels say at which step it is (" + strings.Join(i.Labels, ", ") + "); leave one"
	}
	return ""
}

// begin starts the run of an issue that was claimed.
func (w *Worker) begin(ctx context.Context, r *Run, raw []byte, before *pastRun, was *record.Claim) error {
	err := w.reopen(ctx, r, before, was)
	if err == nil {
		err = errors.Join(regular.MkdirOwn(r.state), atomicfile.WriteOwn(r.file, raw, 0o600))
	}
	if err == nil {
		err = w.start(r, r.claim.Args)
	}
	if err != nil {
		return w.blocked(ctx, r, err)
	}
	return nil
}

// blocked ends a run that could not begin.
func (w *Worker) blocked(ctx context.Context, r *Run, why error) error {
	r.verdict, r.over = &record.IssueEnd{Kind: record.IssueBlocked, Why: why.Error()}, true
	w.settle(ctx)
	return nil
}

// forget puts back what was known of an issue that someone else claimed.
func (w *Worker) forget(c, was *record.Claim) error {
	if was != nil {
		return was.Save()
	}
	return os.Remove(filepath.Join(c.Dir, "claim.json"))
}

// epicFile is the path of an issue's epic.json: in the state of its run; relative
// to the project if it is inside, for people to type.
func (w *Worker) epicFile(epic ir.NodeID) string {
	file := filepath.Join(filepath.Dir(w.claims), string(epic), "epic.json")
	if rel, err := filepath.Rel(w.Project.Dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

// reopen reports to the run that a person reopened its issue: with what they wrote
// since.
func (w *Worker) reopen(ctx context.Context, r *Run, before *pastRun, was *record.Claim) error {
	if before == nil || before.done || before.view.Status != executor.Blocked && before.view.Status != executor.Waiting {
		return nil
	}
	said := ""
	if was != nil {
		var err error
		if said, err = w.SaidSince(ctx, r.issue.ID, was.At); err != nil {
			return err
		}
	}
	if before.view.Status == executor.Waiting && said == "" {
		return nil // it waits on
	}
	if len(said) > executor.MaxNote {
		said = strings.ToValidUTF8(said[:executor.MaxNote], "")
	}
	err := w.decide(ctx, r.file, before.key, executor.Decision{Verb: executor.RetryNode, Message: said, By: w.Actor})
	if err != nil && before.view.Status == executor.Waiting {
		return nil // what it waits for is not ended in this way, and is said again
	}
	return err
}

// decide puts a decision on record, as the commands for people do. One without an id
// gets one.
func (w *Worker) decide(ctx context.Context, file, key string, d executor.Decision) error {
	d.ID, d.User, d.At = cmp.Or(d.ID, run.NewID()), project.UserName(), time.Now().UTC().Truncate(time.Millisecond)
	_, _, err := run.Decide(ctx, file, nil, key, d)
	return err
}
