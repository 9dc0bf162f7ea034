package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/shell"
	"github.com/ralph-compiler/ralph/ir"
)

// examineProject looks at what a run here would need: room for worktrees, the
// runners of the policy, and the programs of the agents and gates of epic.json. Where
// there is no repository or no epic.json it says nothing about it.
func examineProject(ctx context.Context, live bool) ([]Finding, needs) {
	const file = "epic.json"
	var found []Finding
	root := project.GitRoot(".")
	if root == "" {
		return nil, nil
	}
	var epic *ir.Epic
	if _, err := os.Stat(file); err == nil {
		var f Finding
		if epic, f = examineEpic(ctx, file); f.Name != "" {
			found = append(found, f)
		}
	}
	policy, needs := examinePolicy(ctx, root, epic, live)
	return slices.Concat([]Finding{examineDisk(root, epic)}, policy, found), needs
}

// examinePolicy looks at the runners and sandboxes of the policy and the epic, and says
// what they need of the machine.
func examinePolicy(ctx context.Context, root string, epic *ir.Epic, live bool) ([]Finding, needs) {
	bad := func(err error) []Finding {
		return []Finding{{Name: "policy", State: "warning", Detail: err.Error()}}
	}
	p, err := project.OpenPolicy(nil)
	if err != nil {
		return bad(err), nil
	}
	defer p.Project.Close()
	var found []Finding
	if p.Diags.HasErrors() {
		found = append(found, Finding{Name: "policy", State: "warning", Detail: "it has errors", Hint: "ralph validate ralph.hcl policies/*.hcl says which"})
	}
	configured := configuredRunners(p.Set, epic)
	needs := needsOf(p, func(git ir.GitSettings) string {
		forge, err := workspace.ForgeOf(ctx, root, git)
		if err != nil {
			found = append(found, bad(err)...)
		}
		return forge
	}, configured, epic)
	runners, err := configured.examine(ctx, root, live)
	if err != nil {
		found = append(found, bad(err)...)
	}
	return slices.Concat(found, runners, examineSandboxes(ctx, p.Set), examineTracker(ctx, root, p.Set != nil && p.Set.Tracker != nil, epic)), needs
}

func examineDisk(root string, epic *ir.Epic) Finding {
	f := Finding{Name: "disk", State: "ok"}
	free, err := workspace.FreeSpace(root)
	if err != nil {
		f.State, f.Detail = "warning", err.Error()
		return f
	}
	f.Detail = words.Gigabytes(free) + " are free for worktrees"
	if epic == nil {
		return f
	}
	if floor := epic.Run.Worktree.MinFree; floor > 0 {
		f.Detail += fmt.Sprintf("; ralph apply keeps %s free (worktree.min_free)", words.Gigabytes(floor))
		if free < floor {
			f.State, f.Hint = "error", "free some, or write a smaller worktree { min_free = … } into the policy"
		}
	}
	return f
}

// examineEpic asks what apply asks before it starts anything.
func examineEpic(ctx context.Context, file string) (*ir.Epic, Finding) {
	bad := func(err error) Finding {
		first, rest, _ := strings.Cut(exit.Why(err), "\n")
		var hints []string
		for line := range strings.Lines(rest) {
			if line = strings.TrimSpace(line); line != "" {
				hints = append(hints, line)
			}
		}
		return Finding{Name: file, State: "error", Detail: first, Hint: strings.Join(hints, "\n")}
	}
	epic, _, err := record.Load(file, nil)
	if err != nil {
		return nil, bad(err)
	}
	if err := run.Refuse(epic); err != nil {
		return epic, bad(err)
	}
	r, err := record.OpenAbout(ctx, project.EpicDir(file), file, epic)
	if err != nil {
		return epic, bad(err)
	}
	for _, check := range []func() error{
		func() error { return run.CheckNames(r.Space, r.Run) },
		func() error { return (&run.Opened{Epic: epic, Space: r.Space}).CheckPrograms(ctx) },
		func() error { return examineFiles(ctx, r) },
	} {
		if err := check(); err != nil {
			return epic, bad(err)
		}
	}
	var programs []string
	for _, r := range epic.Runners {
		if r.Kind == "command" && len(r.Run) > 0 {
			programs = append(programs, r.Run[0])
		}
	}
	for _, g := range epic.Gates {
		if word := shell.First(g.Run); g.Kind == "command" && word != "" {
			programs = append(programs, word)
		}
	}
	slices.Sort(programs)
	programs = slices.Compact(programs)
	detail := "all programs that it needs are installed"
	if len(programs) > 0 {
		detail += ": " + words.ListOf(programs)
	}
	if found := project.AlsoPlanned(r.Space); len(found) > 0 {
		return epic, Finding{Name: file, State: "warning", Detail: found[0].What, Hint: strings.Join(found[0].Ways, "\nor ")}
	}
	return epic, Finding{Name: file, State: "ok", Detail: detail}
}

// examineFiles asks whether agents and gates would find what they start in the commits
// that a run of all sprints which are not done would start from.
func examineFiles(ctx context.Context, r *record.Record) error {
	start, err := record.PlannedStart(ctx, r.Epic, r.Space, r.Run, nil, nil, false)
	if err != nil {
		return err
	}
	f := run.NewStartsFrom(r.Epic, r.Space, r.Run, start)
	f.Will = func() (map[ir.NodeID]bool, error) {
		planned, err := machine.Plan(r.Run, start, time.Now())
		return record.WillRun(planned), err
	}
	found, err := f.Look(ctx)
	if err != nil {
		return err
	}
	return found.Refusal()
}
