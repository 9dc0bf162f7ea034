package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// revision is a plan that is to be changed.
type revision struct {
	slug  string   // of the draft's epic
	first []string // what the plan was first written for; nil: nobody knows
	told  draft.Revision
}

// change has a plan changed that is there.
func (a *draftArgs) change(cmd *cobra.Command, args []string) error {
	wish, err := a.changes(args)
	if err != nil {
		return err
	}
	ctx := background(cmd)
	p, err := draftProject()
	if err != nil {
		return err
	}
	defer p.Close()
	plan, text, err := a.planToChange(ctx, p)
	if err != nil {
		return err
	}
	r := &revision{}
	was, wasRaw, err := r.begun(ctx, p, plan)
	if err != nil {
		return err
	}
	if err := r.tell(ctx, p, plan, text, strings.Join(wish, "\n")); err != nil {
		return err
	}
	res, err := a.compile(cmd, p, plan, wish, r)
	if err != nil {
		return err
	}
	if a.print {
		return printPrompts(cmd.OutOrStdout(), res.Epic)
	}
	space, err := checkDraftFiles(ctx, cmd.ErrOrStderr(), p, res.Epic)
	if err != nil {
		return err
	}
	id := string(res.Epic.Epic.ID)
	goesOn := false
	if was != nil {
		if goesOn, err = a.goesOn(ctx, cmd.ErrOrStderr(), id, was, res.Epic); err != nil {
			return err
		}
	}
	switch {
	case goesOn && a.asksSame(was, res.Epic):
		return applyDraft(cmd, &a.run, id, was, wasRaw)
	case !goesOn:
		if a.run.Base, err = space.Overlay(ctx, plan, text); err != nil {
			return record.Refusal(err)
		}
		if was != nil { // also if it is asked for in the same words: what came of them is over
			a.run.Rerun = []string{string(res.Epic.Nodes[0].Key)}
		}
	}
	return applyDraft(cmd, &a.run, id, res.Epic, res.JSON)
}

// changes is what is to be different, as lines.
func (a *draftArgs) changes(args []string) ([]string, error) {
	switch {
	case a.revise == "":
		return nil, exit.Usagef("-m says what is to be different in a plan: name it with --revise")
	case len(args) > 0 || a.from != "":
		return nil, exit.Usagef("--revise takes what is to be different from -m: leave out the brief")
	case a.write || a.epic.File != "":
		return nil, exit.Usagef("--revise begins a change, --epic and --write go on with one: give one of them")
	case a.out != "":
		return nil, exit.Usagef("--revise changes %s itself: leave out -o", a.revise)
	case strings.Trim(a.message, " \t\r\n#") == "":
		return nil, exit.Usagef("say what is to be different in %s: -m \"split 2.1; no new dependency\"", a.revise)
	case len(a.message) > maxBrief:
		return nil, exit.Inputf("-m has %d KB; at most %d KB are read", len(a.message)>>10, maxBrief>>10)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(a.message, "\r\n", "\n")), "\n"), nil
}

// planToChange reads the plan as the checkout has it.
func (a *draftArgs) planToChange(ctx context.Context, p *project.Project) (plan string, text []byte, err error) {
	plan, inside := p.Rel(a.revise)
	if !inside {
		return "", nil, exit.Inputf("%s lies outside of the repository %s", a.revise, p.Dir)
	}
	if err := p.LeadsOut(a.revise); err != nil {
		return "", nil, err
	}
	if project.KindOf(plan) != "plan" {
		return "", nil, exit.Usagef("--revise %s: a plan is a markdown file, such as plans/login.md", a.revise)
	}
	file := filepath.Join(p.Dir, filepath.FromSlash(plan))
	st, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint := fmt.Sprintf("To have one written: ralph draft \"what it is for\" -o %s", words.QuotePath(a.revise))
		if was, _, err := begunDraft(ctx, p, ir.NodeID(compiler.DraftSlug(plan))); err == nil && was != nil && was.Epic.Plan == plan {
			hint = fmt.Sprintf("A draft of it began: ralph draft --epic %s", was.Epic.ID)
		}
		return "", nil, exit.Inputf("there is no plan %s.\n  %s", a.revise, hint)
	case err != nil:
		return "", nil, exit.Inputf("%w", err)
	case !st.Mode().IsRegular():
		return "", nil, exit.Inputf("%s is no regular file: name the plan itself", a.revise)
	}
	text, err = project.ReadFile(file)
	switch {
	case err != nil:
		return "", nil, err
	case len(text) > maxBrief:
		return "", nil, exit.Inputf("%s has %d KB; a plan of at most %d KB can be changed by an agent, who is told all of it", a.revise, len(text)>>10, maxBrief>>10)
	}
	return plan, text, nil
}

// begun finds the draft of this plan that began here before, and names the epic: after
// the plan's file, or after all of its path if another plan's file is called the same.
func (r *revision) begun(ctx context.Context, p *project.Project, plan string) (was *ir.Epic, raw []byte, err error) {
	for _, name := range []string{plan, strings.ReplaceAll(plan, "/", "-")} {
		r.slug = compiler.DraftSlug(name)
		was, raw, err = begunDraft(ctx, p, ir.NodeID(r.slug))
		if err != nil || was == nil || was.Epic.Plan == plan {
			break
		}
	}
	if err == nil && was != nil && was.Epic.Plan != plan {
		state, bad := workspace.StateDir(ctx, p.Dir, ir.NodeID(r.slug))
		if bad != nil {
			return nil, nil, record.Refusal(bad)
		}
		err = exit.Inputf("the draft %s is that of %s: move %s away, if it is over", r.slug, was.Epic.Plan, typedPath(state, ""))
	}
	if err == nil && was != nil && was.Nodes[0].Goal != "" {
		r.first = strings.Split(was.Nodes[0].Goal, "\n")
	}
	return was, raw, err
}

// goesOn reports whether a draft that began is about the same change of the same plan,
// and is not over. If it is another one that waits, it says where its plan is.
func (a *draftArgs) goesOn(ctx context.Context, errOut io.Writer, id string, was, now *ir.Epic) (bool, error) {
	d, err := openDraft(ctx, id)
	if err != nil || d.Run.Base().Commit == "" {
		return false, err
	}
	switch d.view.Status {
	case executor.Done, executor.Blocked, executor.Skipped, executor.Cancelled:
		return false, nil
	}
	_, changes, err := d.Space.FileAt(ctx, d.Run.Base().Commit, d.plan, project.MaxFile)
	if err != nil {
		return false, exit.Inputf("%w", err)
	}
	differ, err := d.Space.Differs(ctx, d.Run.Base().Commit, []string{d.plan})
	if err != nil {
		return false, exit.Inputf("%w", err)
	}
	if changes && len(differ) == 0 && sameWish(was, now) {
		return true, nil
	}
	if d.commit() != "" {
		d.sayReplacedBy(errOut, "a draft of this plan was not decided about", "this one takes its place")
	}
	return false, nil
}

// tell gathers what the planner has to know of the plan as it is.
func (r *revision) tell(ctx context.Context, p *project.Project, plan string, text []byte, wish string) error {
	r.told = draft.Revision{Plan: string(text), Wish: wish}
	was, out, err := judge.BeforeOf(ctx, p, plan, text, strings.Join(r.first, "\n"))
	if err != nil {
		return err
	}
	r.told.Implements = was.Implements
	for _, f := range was.Finished {
		r.told.Done = append(r.told.Done, string(f.Key))
	}
	found, err := judge.CheckDrafted(ctx, out, p, strings.Split(wish, "\n"), was)
	if err != nil {
		return err
	}
	r.told.Found = judge.FindingLines(judge.Findings(found, out.Files))
	r.told.Last, err = lastRun(ctx, was.ID())
	return err
}
