package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

// draftArgs are the flags of draft.
type draftArgs struct {
	epic       record.Flag
	from       string
	out        string
	agent      string
	complexity string
	attempts   int
	yes        bool
	print      bool
	write      bool
	revise     string // the plan that is changed
	message    string // how
	run        run.Args
}

// maxBrief bounds what is wished for, in bytes: it stands in every prompt.
const maxBrief = 256 << 10

// draftGrace is the time that a running attempt gets at the first Ctrl-C.
const draftGrace = 2 * time.Minute

func newDraftCommand() *cobra.Command {
	a := &draftArgs{}
	cmd := &cobra.Command{
		Use:   "draft [BRIEF]",
		Short: "Have a plan written by agents, until it compiles and you approve it",
		Long: `Draft lets an agent look at the code and write a plan for what you ask for. The compiler
judges it: what it says goes back to the agent until the plan compiles, every sprint has
acceptance criteria and something that judges them, and every requirement of the brief is
implemented. Then you see it, and approve or reject it. Only an approved plan is written
into your checkout: one file, with its ids.

A draft is an epic of one sprint with the id draft-NAME, run as ralph apply runs any: in
a worktree, with attempts, feedback and a journal. The agent may change one file, the
plan. status, log, show, session, approve and reject take it by --epic draft-NAME. When
it was killed or waits, ralph draft --epic draft-NAME goes on.

With --revise the agent changes a plan that is there, committed or not: it gets the plan,
what you say with -m, and what happened when the plan last ran. Sprints that stay keep
their ids, and what is done stays as it is. You see what is kept, changed, new and
removed, and what would run again.`,
		Example: `  ralph draft "Add passkey login"
  ralph draft --from spec.md -o plans/login.md
  ralph draft "Add passkey login" --agent planner --complexity critical
  ralph draft "Add passkey login" --yes     no person is asked
  ralph draft "Add passkey login" --print-prompt | less
  ralph draft --revise plans/login.md -m "split 2.1; no new dependency"
  ralph draft --epic draft-login            go on with it
  ralph draft --write --epic draft-login    write the approved plan once more`,
		Args: countArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.do(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&a.epic.File, "epic", "", "go on with a draft that began: its id (draft-NAME)")
	f.StringVar(&a.from, "from", "", "read the brief from a file; - for standard input")
	f.StringVarP(&a.out, "output", "o", "", "the plan to be written (default: plans/NAME.md, named after the brief)")
	f.StringVar(&a.agent, "agent", "", "who writes the plan (default: the policy's choice)")
	f.StringVar(&a.complexity, "complexity", "", "complexity of the brief: trivial, simple, standard, critical; it decides how many attempts there are")
	f.IntVar(&a.attempts, "max-iterations", 0, "attempts to write the plan, instead of what the complexity says")
	f.BoolVar(&a.yes, "yes", false, "ask no person: a plan that compiles is approved by you (not with --epic)")
	f.BoolVar(&a.print, "print-prompt", false, "print what the planner would be told; nothing runs")
	f.BoolVar(&a.write, "write", false, "write the approved plan of a draft into the checkout again")
	f.StringVar(&a.revise, "revise", "", "change this plan instead of writing one; -m says how")
	f.StringVarP(&a.message, "message", "m", "", "what is to be different in the plan (with --revise)")
	f.DurationVar(&a.run.Grace, "grace", draftGrace, "time that a running attempt gets at the first Ctrl-C")
	f.StringVar(&a.run.Events, "events", "", "print events instead of progress: jsonl")
	_ = cmd.RegisterFlagCompletionFunc("complexity", cobra.FixedCompletions([]string{"trivial", "simple", "standard", "critical"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *draftArgs) do(cmd *cobra.Command, args []string) error {
	if err := checkApply(&a.run); err != nil {
		return err
	}
	if a.yes || a.write {
		if err := run.RefuseMarked(); err != nil {
			return err
		}
	}
	if a.revise != "" || a.message != "" {
		return a.change(cmd, args)
	}
	if a.write || a.epic.File != "" {
		return a.again(cmd, args)
	}
	brief, err := a.brief(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	p, err := draftProject()
	if err != nil {
		return err
	}
	defer p.Close()
	plan, err := a.plan(p, brief)
	if err != nil {
		return err
	}
	r := &revision{}
	was, wasRaw, err := r.begun(background(cmd), p, plan)
	if err != nil {
		return err
	}
	res, err := a.compile(cmd, p, plan, brief, r)
	if err != nil {
		return err
	}
	if a.print {
		return printPrompts(cmd.OutOrStdout(), res.Epic)
	}
	space, err := checkDraftFiles(background(cmd), cmd.ErrOrStderr(), p, res.Epic)
	if err != nil {
		return err
	}
	if err := checkNotCommitted(background(cmd), space, plan); err != nil {
		return err
	}
	epic, raw := res.Epic, res.JSON
	over := false
	if was != nil {
		if over, err = cancelledDraft(background(cmd), string(was.Epic.ID)); err != nil {
			return err
		}
	}
	switch same := was != nil && sameWish(was, epic); {
	case was == nil:
	case over:
		a.run.Rebase, a.run.Rerun = true, []string{string(epic.Nodes[0].Key)}
	case same && a.asksSame(was, epic):
		epic, raw = was, wasRaw
	default:
		if err := sayReplaced(background(cmd), cmd.ErrOrStderr(), was, epic); err != nil {
			return err
		}
		a.run.Rebase = !same // another wish begins on what is there now
	}
	return applyDraft(cmd, &a.run, string(epic.Epic.ID), epic, raw)
}

// again goes on with a draft, or writes its plan once more.
func (a *draftArgs) again(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 || a.from != "":
		return exit.Usagef("a draft that began keeps its brief: leave out the brief, or --epic and --write")
	case a.agent != "" || a.complexity != "" || cmd.Flags().Changed("max-iterations") || a.yes:
		return exit.Usagef("a draft that began goes on as it is: leave out --agent, --complexity, --max-iterations and --yes, or say the brief again instead of --epic and --write")
	case a.epic.File != "" && a.out != "":
		return exit.Usagef("--epic %s knows its plan: leave out -o", a.epic.File)
	case a.write && a.print:
		return exit.Usagef("--write writes the plan, --print-prompt writes nothing: give one of them")
	}
	id := a.epic.File
	if id == "" {
		if a.out == "" {
			return exit.Usagef("--write needs to know of which draft: --epic draft-NAME, or -o PLAN")
		}
		p, err := draftProject()
		if err != nil {
			return err
		}
		defer p.Close()
		plan, _ := p.Rel(a.out)
		r := &revision{}
		if _, _, err := r.begun(background(cmd), p, plan); err != nil {
			return err
		}
		id = r.slug
	}
	epic, raw, err := record.Load(id, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if !record.IsDraft(epic) {
		return exit.Inputf("%s is no draft of a plan: ralph apply%s", id, record.Applies(id))
	}
	if a.print {
		return printPrompts(cmd.OutOrStdout(), epic)
	}
	if !a.write {
		return applyDraft(cmd, &a.run, id, epic, raw)
	}
	d, err := openDraft(background(cmd), id)
	if err != nil {
		return err
	}
	return d.deliver(background(cmd), cmd.OutOrStdout(), cmd.ErrOrStderr(), true)
}

// compile makes the epic by which the plan is written, or changed, and prints what there
// is to say.
func (a *draftArgs) compile(cmd *cobra.Command, p *project.Project, plan string, brief []string, r *revision) (compiler.Result, error) {
	if cmd.Flags().Changed("max-iterations") && a.attempts < 1 || a.attempts > project.MaxIterations {
		return compiler.Result{}, exit.Usagef("--max-iterations %d: write a number from 1 to %d", a.attempts, project.MaxIterations)
	}
	in := compiler.Input{Project: p.FS(), Options: compiler.Options{Complexity: a.complexity, Version: version.Ralph()}}
	committed, _ := workspace.Tracked(background(cmd), p.Dir, "HEAD") // nil: there is no commit
	wish, shown := strings.Join(brief, "\n"), judge.MapOf(p, committed)
	var of *draft.Revision
	if a.revise != "" {
		wish, of = strings.Join(r.first, "\n"), &r.told
	}
	out := compiler.Planning(in, compiler.Wish{
		Plan: plan, Committed: committed, Slug: r.slug, Title: draft.Title(brief), Brief: brief, Revises: of != nil, For: r.first, Agent: a.agent, Attempts: a.attempts, Approver: project.UserName(), Approved: a.yes,
		Prompt: func(x compiler.Planned) []string {
			return draft.Prompt(draft.PromptInput{
				Plan: plan, Wish: wish, Policy: x.Policy, Map: shown, Explored: x.Explored, Reviewed: x.Reviewed, Person: x.Person, Revise: of,
			})
		},
		Explore: func(later bool) []string {
			return draft.ExplorePrompt(draft.ExploreInput{Wish: wish, Map: shown, Later: later, Room: executor.MaxNote, Revise: of})
		},
	})
	err := view.Diagnostics{Format: project.FormatText, Sources: project.Sources{Files: out.Files, Root: p.Dir}}.Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), out.Diags)
	if err == nil && out.Diags.HasErrors() {
		err = &exit.Error{Code: exit.Input}
	}
	if err != nil {
		return compiler.Result{}, err
	}
	res := out.Results[0]
	if res.Epic, err = ir.Decode(res.JSON); err != nil { // with its digest, which the journal tells epics apart by
		return compiler.Result{}, &exit.Error{Code: exit.Bug, Err: fmt.Errorf("bug in ralph: %w", err)}
	}
	return res, nil
}

// checkDraftFiles refuses a plan that no commit can hold, and names the policy files by
// which it is not judged.
func checkDraftFiles(ctx context.Context, errOut io.Writer, p *project.Project, epic *ir.Epic) (*workspace.Space, error) {
	space, err := workspace.Open(ctx, p.Dir, epic)
	if err != nil {
		return nil, record.Refusal(err)
	}
	ignored, err := space.Ignored(ctx, []string{epic.Epic.Plan})
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	if len(ignored) > 0 {
		return nil, exit.Inputf("git ignores %s, so no commit can hold the plan: name another file, or mend .gitignore", epic.Epic.Plan)
	}
	differ, err := space.Differs(ctx, "HEAD", epic.Run.Policies)
	if err != nil {
		return nil, exit.Inputf("%w", err)
	}
	gone, err := policyGone(ctx, p.Dir, "HEAD")
	if err != nil {
		return nil, err
	}
	if differ = append(differ, gone...); len(differ) > 0 {
		view.Sayf(errOut, "ralph: warning: %s: not as in the commit that the plan is written on (HEAD), by which it is judged: commit first\n", words.ListOf(differ))
	}
	return space, nil
}

// checkNotCommitted refuses to have a plan written anew that HEAD has and the checkout
// has not: it would be a change of that one.
func checkNotCommitted(ctx context.Context, space *workspace.Space, plan string) error {
	_, there, err := space.FileAt(ctx, "HEAD", plan, project.MaxFile)
	if err != nil {
		return exit.Inputf("%w", err)
	}
	if there {
		return exit.Inputf("%s is not here and is in HEAD.\n  To have it changed: git restore %s, then ralph draft --revise %s -m \"what to change\"\n  To have another one written: commit that it is gone, or name another file with -o", plan, typedPath(space.Top(), plan), typedPath(space.Top(), plan))
	}
	return nil
}

// begunDraft returns the draft with this id that was begun here before; nil if there is
// none.
func begunDraft(ctx context.Context, p *project.Project, id ir.NodeID) (*ir.Epic, []byte, error) {
	state, err := workspace.StateDir(ctx, p.Dir, id)
	if err != nil {
		return nil, nil, record.Refusal(err)
	}
	b, err := readIfThere(filepath.Join(state, "epic.json"))
	if b == nil {
		return nil, nil, err
	}
	was, err := ir.Decode(b)
	if err != nil {
		return nil, nil, project.LoadError(filepath.Join(state, "epic.json"), err)
	}
	return was, b, nil
}

// sameWish reports whether two epics have a plan written for the same brief, under the
// same policy.
func sameWish(a, b *ir.Epic) bool {
	return sameBrief(a, b) && a.Gates[compiler.CompilesGate].Policy == b.Gates[compiler.CompilesGate].Policy
}

// cancelledDraft reports whether a draft was cancelled: asked for again, it begins anew.
func cancelledDraft(ctx context.Context, id string) (bool, error) {
	d, err := openDraft(ctx, id)
	return err == nil && d.view.Status == executor.Cancelled, err
}

func sameBrief(a, b *ir.Epic) bool { return slices.Equal(a.Nodes[0].Acceptance, b.Nodes[0].Acceptance) }

// asksSame reports whether a draft that began is to go on as it is: what is asked for is
// what it was begun with, or nothing is asked for by a flag and --yes is as it was.
func (a *draftArgs) asksSame(was, now *ir.Epic) bool {
	return was.Digest == now.Digest || a.agent == "" && a.complexity == "" && a.attempts == 0 && record.AsksPerson(was) == record.AsksPerson(now)
}

// printPrompts prints the prompts of a draft's agents.
func printPrompts(w io.Writer, epic *ir.Epic) error {
	n := &epic.Nodes[0]
	var b strings.Builder
	for k := range n.Steps {
		lines := n.Prompt
		if len(n.Steps[k].Prompt) > 0 {
			lines = n.Steps[k].Prompt
		}
		if len(n.Steps) > 1 {
			fmt.Fprintf(&b, "<!-- step %s, agent %s -->\n\n", n.Steps[k].Name, n.Steps[k].Agent)
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
		if k < len(n.Steps)-1 {
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
