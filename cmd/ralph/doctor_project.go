package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/shell"
	"github.com/ralph-compiler/ralph/ir"
)

// examineProject looks at what a run here would need: room for worktrees, the
// runners of the policy, and the programs of the agents and gates of epic.json. Where
// there is no repository or no epic.json it says nothing about it.
func examineProject(ctx context.Context, live bool) []finding {
	const file = "epic.json"
	var found []finding
	root := gitRoot(".")
	if root == "" {
		return nil
	}
	var epic *ir.Epic
	if _, err := os.Stat(file); err == nil {
		var f finding
		if epic, f = examineEpic(ctx, file); f.Name != "" {
			found = append(found, f)
		}
	}
	return slices.Concat([]finding{examineDisk(root, epic)}, examinePolicy(ctx, root, epic, live), found)
}

// examinePolicy looks at the runners and sandboxes of the policy and the epic.
func examinePolicy(ctx context.Context, root string, epic *ir.Epic, live bool) []finding {
	bad := func(err error) []finding {
		return []finding{{Name: "policy", State: "warning", Detail: err.Error()}}
	}
	p, err := openPolicy(nil)
	if err != nil {
		return bad(err)
	}
	defer p.project.Close()
	var found []finding
	if p.diags.HasErrors() {
		found = append(found, finding{Name: "policy", State: "warning", Detail: "it has errors", Hint: "ralph validate ralph.hcl policies/*.hcl says which"})
	}
	c := configuredRunners(p.set, epic)
	runners, err := c.examine(ctx, root, live)
	if err != nil {
		found = append(found, bad(err)...)
	}
	return slices.Concat(found, runners, examineSandboxes(p.set), examineTracker(ctx, root, p.set != nil && p.set.Tracker != nil, epic))
}

func examineDisk(root string, epic *ir.Epic) finding {
	f := finding{Name: "disk", State: "ok"}
	free, err := freeSpace(root)
	if err != nil {
		f.State, f.Detail = "warning", err.Error()
		return f
	}
	f.Detail = gigabytes(free) + " are free for worktrees"
	if epic == nil {
		return f
	}
	if floor := epic.Run.Worktree.MinFree; floor > 0 {
		f.Detail += fmt.Sprintf("; ralph apply keeps %s free (worktree.min_free)", gigabytes(floor))
		if free < floor {
			f.State, f.Hint = "error", "free some, or write a smaller worktree { min_free = … } into the policy"
		}
	}
	return f
}

// examineEpic asks what apply asks before it starts anything.
func examineEpic(ctx context.Context, file string) (*ir.Epic, finding) {
	bad := func(err error) finding {
		first, rest, _ := strings.Cut(strings.TrimSuffix(err.Error(), "  Nothing was started."), "\n")
		var hints []string
		for line := range strings.Lines(rest) {
			if line = strings.TrimSpace(line); line != "" {
				hints = append(hints, line)
			}
		}
		return finding{Name: file, State: "error", Detail: first, Hint: strings.Join(hints, "\n")}
	}
	epic, _, err := loadEpic(file, nil)
	if err != nil {
		return nil, bad(err)
	}
	if err := refuse(epic); err != nil {
		return epic, bad(err)
	}
	space, err := workspace.Open(ctx, epicDir(file), epic)
	if err != nil {
		return epic, bad(err)
	}
	events, err := readEvents(ctx, space.State(), epic.Epic.ID)
	if err != nil {
		return epic, bad(err)
	}
	run, err := replayed(epic, events)
	if err != nil {
		return epic, bad(err)
	}
	if err := checkNames(space, run); err != nil {
		return epic, bad(err)
	}
	if err := (&openedRun{epic: epic, space: space}).checkPrograms(ctx); err != nil {
		return epic, bad(err)
	}
	if err := examineFiles(ctx, epic, space); err != nil {
		return epic, bad(err)
	}
	var programs []string
	for _, r := range epic.Runners {
		if r.Kind == "command" && len(r.Run) > 0 && !slices.Contains(programs, r.Run[0]) {
			programs = append(programs, r.Run[0])
		}
	}
	for _, g := range epic.Gates {
		if word := shell.First(g.Run); g.Kind == "command" && word != "" && !slices.Contains(programs, word) {
			programs = append(programs, word)
		}
	}
	slices.Sort(programs)
	detail := "all programs that it needs are there"
	if len(programs) > 0 {
		detail += ": " + listOf(programs)
	}
	if found := alsoPlanned(space); len(found) > 0 {
		return epic, finding{Name: file, State: "warning", Detail: found[0].What, Hint: strings.Join(found[0].Ways, "\nor ")}
	}
	return epic, finding{Name: file, State: "ok", Detail: detail}
}

// examineFiles asks whether agents and gates would find what they start in the commits
// that a run of all sprints which are not done would start from.
func examineFiles(ctx context.Context, epic *ir.Epic, space *workspace.Space) error {
	events, err := readEvents(ctx, space.State(), epic.Epic.ID)
	if err != nil {
		return inputErrorf("%w", err)
	}
	run, err := replayed(epic, events)
	if err != nil {
		return err
	}
	start, err := plannedStart(ctx, epic, space, run, nil, nil, false)
	if err != nil {
		return err
	}
	f := newStartsFrom(epic, space, run, start)
	f.will = func() (map[ir.NodeID]bool, error) {
		planned, err := run.Plan(start, time.Now())
		return willRun(planned), err
	}
	found, err := f.look(ctx)
	if err != nil {
		return err
	}
	return found.refusal()
}
