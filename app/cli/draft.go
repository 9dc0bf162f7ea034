package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/draft"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/view"
	"github.com/ralph-compiler/ralph/executor/workspace"
)

// draftArgs are the flags of draft.
type draftArgs struct {
	epic                         record.Flag
	from, out, agent, complexity string
	attempts                     int
	yes, print, write            bool
	revise                       string // the plan that is changed
	message                      string // how
	run                          run.Args
}

// draftGrace is the time that a running attempt gets at the first Ctrl-C.
const draftGrace = 2 * time.Minute

func newDraftCommand() *cobra.Command {
	a := &draftArgs{}
	cmd := newCommand("draft [BRIEF]", "Have a plan written by agents, until it compiles and you approve it", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.do(cmd, args) })
	f := cmd.Flags()
	f.StringVar(&a.epic.File, "epic", "", "continue a draft: its id (draft-NAME)")
	f.StringVar(&a.from, "from", "", "read the brief from a file; - for standard input")
	f.StringVarP(&a.out, "output", "o", "", "the plan to be written (default: plans/NAME.md, named after the brief)")
	f.StringVar(&a.agent, "agent", "", "who writes the plan (default: the policy's choice)")
	f.StringVar(&a.complexity, "complexity", "", "complexity of the brief: trivial, simple, standard, critical; it sets the number of attempts")
	f.IntVar(&a.attempts, "max-iterations", 0, "attempts to write the plan, instead of what the complexity says")
	f.BoolVar(&a.yes, "yes", false, "ask nobody: you approve any plan that compiles (not with --epic)")
	f.BoolVar(&a.print, "print-prompt", false, "print the planner's prompt; nothing runs")
	f.BoolVar(&a.write, "write", false, "write the approved plan of a draft into the checkout again")
	f.StringVar(&a.revise, "revise", "", "change this plan instead of writing one; -m says how")
	f.StringVarP(&a.message, "message", "m", "", "what to change in the plan (with --revise)")
	f.DurationVar(&a.run.Grace, "grace", draftGrace, "grace period of the running attempt after the first Ctrl-C")
	f.StringVar(&a.run.Events, "events", "", "print events instead of progress: jsonl")
	addSandboxFlag(&a.run.Sandbox, cmd)
	_ = cmd.RegisterFlagCompletionFunc("complexity", cobra.FixedCompletions([]string{"trivial", "simple", "standard", "critical"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *draftArgs) do(cmd *cobra.Command, args []string) error {
	cmd.SetContext(workspace.Once(cmd.Context()))
	if err := checkApply(&a.run); err != nil {
		return err
	}
	if a.yes || a.write {
		if err := run.RefuseMarked(); err != nil {
			return err
		}
	}
	change := a.revise != "" || a.message != ""
	if !change && (a.write || a.epic.File != "") {
		return a.again(cmd, args)
	}
	text, err := a.wished(cmd.InOrStdin(), args, change)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("max-iterations") && a.attempts < 1 || a.attempts > project.MaxIterations {
		return exit.Usagef("--max-iterations %d: write a number from 1 to %d", a.attempts, project.MaxIterations)
	}
	brief, err := draft.BriefOf(text)
	if err != nil {
		return err
	}
	p, err := draft.OpenProject()
	if err != nil {
		return err
	}
	defer p.Close()
	ctx := cmd.Context()
	j, old, err := a.job(cmd, p, brief, change)
	if err != nil {
		return err
	}
	w := draft.Wish{Brief: brief, Agent: a.agent, Complexity: a.complexity, Attempts: a.attempts, Approved: a.yes, Old: old}
	out, err := j.Compile(ctx, w)
	if err != nil {
		return err
	}
	if err := diagnose(cmd, project.FormatText, project.Sources{Files: out.Files, Root: p.Dir}, out.Diags); err != nil {
		return err
	}
	res := out.Results[0]
	if a.print {
		return view.Prompts(cmd.OutOrStdout(), res.Epic)
	}
	epic, raw, err := j.Begin(ctx, w, res, &a.run)
	if err != nil {
		return err
	}
	return applyDraft(cmd, &a.run, string(epic.Epic.ID), epic, raw)
}

// job is the drafting of the plan that is to be written, or changed: then old is its text.
func (a *draftArgs) job(cmd *cobra.Command, p *project.Project, brief []string, change bool) (j *draft.Job, old []byte, err error) {
	var plan string
	if change {
		plan, old, err = draft.PlanToChange(cmd.Context(), p, a.revise)
	} else {
		plan, err = draft.PlanToWrite(p, a.out, brief, a.print)
	}
	if err != nil {
		return nil, nil, err
	}
	j, err = draft.NewJob(cmd.Context(), p, plan, func(line string) { view.Sayf(cmd.ErrOrStderr(), "ralph: %s\n", line) })
	return j, old, err
}

// wished is the text that says what the plan is for, or, with change, what is to be
// different in it.
func (a *draftArgs) wished(in io.Reader, args []string, change bool) (string, error) {
	switch {
	case change:
		return a.message, a.mayChange(args)
	case len(args) > 0 && a.from != "":
		return "", exit.Usagef("the brief is given twice: as an argument and with --from")
	case len(args) > 0:
		return args[0], nil
	case a.from == "-":
		b, err := project.ReadStdin(in)
		return string(b), err
	case a.from != "":
		b, err := project.ReadFile(a.from)
		return string(b), err
	}
	return "", exit.Usagef("say what the plan is for: ralph draft \"Add passkey login\", or --from spec.md")
}

// mayChange refuses what does not go together with --revise and -m.
func (a *draftArgs) mayChange(args []string) error {
	switch {
	case a.revise == "":
		return exit.Usagef("-m says what to change in a plan: name the plan with --revise")
	case len(args) > 0 || a.from != "":
		return exit.Usagef("--revise takes the change from -m: leave out the brief")
	case a.write || a.epic.File != "":
		return exit.Usagef("--revise starts a change, --epic and --write continue one: give only one of them")
	case a.out != "":
		return exit.Usagef("--revise changes %s itself: leave out -o", a.revise)
	case strings.Trim(a.message, " \t\r\n#") == "":
		return exit.Usagef("say what to change in %s: -m \"split 2.1; no new dependency\"", a.revise)
	case len(a.message) > draft.MaxBrief:
		return exit.Inputf("-m has %d KB; at most %d KB are read", len(a.message)>>10, draft.MaxBrief>>10)
	}
	return nil
}

// again continues with a draft, or writes its plan once more.
func (a *draftArgs) again(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 || a.from != "":
		return exit.Usagef("a draft that has started keeps its brief: leave out the brief, or --epic and --write")
	case a.agent != "" || a.complexity != "" || cmd.Flags().Changed("max-iterations") || a.yes:
		return exit.Usagef("a draft that has started keeps its settings: leave out --agent, --complexity, --max-iterations and --yes, or repeat the brief instead of --epic and --write")
	case a.epic.File != "" && a.out != "":
		return exit.Usagef("--epic %s has its plan: leave out -o", a.epic.File)
	case a.write && a.print:
		return exit.Usagef("--write writes the plan, --print-prompt writes nothing: give only one of them")
	}
	ctx, id := cmd.Context(), a.epic.File
	if id == "" {
		if a.out == "" {
			return exit.Usagef("--write needs a draft: --epic draft-NAME, or -o PLAN")
		}
		p, err := draft.OpenProject()
		if err != nil {
			return err
		}
		defer p.Close()
		plan, _ := p.Rel(a.out)
		j, err := draft.NewJob(ctx, p, plan, nil)
		if err != nil {
			return err
		}
		id = j.Slug
	}
	epic, raw, err := record.Load(id, cmd.InOrStdin())
	if err != nil {
		return err
	}
	switch {
	case !record.IsDraft(epic):
		return exit.Inputf("%s is not a draft of a plan: ralph apply%s", id, record.Applies(id))
	case a.print:
		return view.Prompts(cmd.OutOrStdout(), epic)
	case !a.write:
		return applyDraft(cmd, &a.run, id, epic, raw)
	}
	d, err := draft.Open(ctx, id)
	if err != nil {
		return err
	}
	return deliver(ctx, d, true, cmd.OutOrStdout(), cmd.ErrOrStderr())
}
