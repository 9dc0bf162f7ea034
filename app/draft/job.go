package draft

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/version"
	"github.com/ralph-compiler/ralph/ir"
)

// Wish is the request to a planner.
type Wish struct {
	Brief      []string // what the plan is for, or what is to be different in it
	Agent      string   // "": the policy's choice
	Complexity string
	Attempts   int
	Approved   bool   // no person is asked
	Old        []byte // the plan that is to be changed; nil: it is a new one
}

// Compile makes the epic that writes, or changes, the plan. The result has errors, or one
// epic.
func (j *Job) Compile(ctx context.Context, w Wish) (compiler.Output, error) {
	text := strings.Join(w.Brief, "\n")
	var of *rules.Revision
	if w.Old != nil {
		if err := j.tell(ctx, w.Old, text); err != nil {
			return compiler.Output{}, err
		}
		text, of = strings.Join(j.first, "\n"), &j.told
	}
	in := compiler.Input{Project: j.p.FS(), Options: compiler.Options{Complexity: w.Complexity, Version: version.Ralph()}}
	committed, _ := workspace.Tracked(ctx, j.p.Dir, "HEAD") // nil: there is no commit
	shown := judge.MapOf(j.p, committed)
	out := compiler.Planning(in, compiler.Wish{
		Plan: j.plan, Committed: committed, Slug: j.Slug, Title: rules.Title(w.Brief), Brief: w.Brief, Revises: of != nil, For: j.first, Agent: w.Agent, Attempts: w.Attempts, Approver: project.UserName(), Approved: w.Approved,
		Prompt: func(x compiler.Planned) []string {
			return rules.Prompt(rules.PromptInput{
				Plan: j.plan, Wish: text, Policy: x.Policy, Map: shown, Explored: x.Explored, Reviewed: x.Reviewed, Person: x.Person, Revise: of,
			})
		},
		Explore: func(later bool) []string {
			return rules.ExplorePrompt(rules.ExploreInput{Wish: text, Map: shown, Later: later, Room: executor.MaxNote, Revise: of})
		},
	})
	if out.Diags.HasErrors() {
		return out, nil
	}
	epic, err := ir.Decode(out.Results[0].JSON) // with its digest, which the journal tells epics apart by
	if err != nil {
		return out, &exit.Error{Code: exit.Bug, Err: fmt.Errorf("bug in ralph: %w", err)}
	}
	out.Results[0].Epic = epic
	return out, nil
}

// begunDraft returns the draft with this id that began in this repository; nil if none did.
func begunDraft(ctx context.Context, p *project.Project, id ir.NodeID) (*ir.Epic, []byte, error) {
	state, err := workspace.StateDir(ctx, p.Dir, id)
	if err != nil {
		return nil, nil, err
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

// sameAs reports whether a draft that began continues unchanged: its epic is the same, or no
// flag was given and --yes is as it was.
func (w *Wish) sameAs(was, now *ir.Epic) bool {
	return was.Digest == now.Digest || w.Agent == "" && w.Complexity == "" && w.Attempts == 0 && record.AsksPerson(was) == record.AsksPerson(now)
}

// Job is the drafting of one plan, new or to be changed.
type Job struct {
	p     *project.Project
	plan  string
	Slug  string   // of the draft's epic
	was   *ir.Epic // the draft that began before; nil if none did
	raw   []byte
	first []string // what the plan was first written for; nil: unknown
	told  rules.Revision
	say   func(line string) // prints a note or a warning
}

// NewJob finds an earlier draft of this plan here, and names the epic: after the plan's
// file, or after its whole path if another plan's file has the same name.
func NewJob(ctx context.Context, p *project.Project, plan string, say func(line string)) (j *Job, err error) {
	j = &Job{p: p, plan: plan, say: say}
	for _, name := range []string{plan, strings.ReplaceAll(plan, "/", "-")} {
		j.Slug = compiler.DraftSlug(name)
		j.was, j.raw, err = begunDraft(ctx, p, ir.NodeID(j.Slug))
		if err != nil {
			return nil, err
		}
		if j.was == nil || j.was.Epic.Plan == plan {
			break
		}
	}
	if j.was != nil && j.was.Epic.Plan != plan {
		state, err := workspace.StateDir(ctx, p.Dir, ir.NodeID(j.Slug))
		if err != nil {
			return nil, err
		}
		return nil, exit.Inputf("the draft %s belongs to %s: move %s away if that one is finished", j.Slug, j.was.Epic.Plan, typedPath(state, ""))
	}
	if j.was != nil && j.was.Nodes[0].Goal != "" {
		j.first = strings.Split(j.was.Nodes[0].Goal, "\n")
	}
	return j, nil
}

// tell collects the planner's information about the present plan.
func (j *Job) tell(ctx context.Context, text []byte, wish string) error {
	j.told = rules.Revision{Plan: string(text), Wish: wish}
	was, out, err := judge.BeforeOf(ctx, j.p, j.plan, text, strings.Join(j.first, "\n"))
	if err != nil {
		return err
	}
	j.told.Implements = was.Implements
	j.told.Done = lists.Map(was.Finished, func(f rules.Named) string { return string(f.Key) })
	found, err := judge.CheckDrafted(ctx, out, j.p, strings.Split(wish, "\n"), was)
	if err != nil {
		return err
	}
	j.told.Found = judge.FindingLines(judge.Findings(found, out.Files))
	j.told.Last, err = lastRun(ctx, was.ID())
	return err
}
