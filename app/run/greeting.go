package run

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// GreetingWall is the sandbox of a turn that an agent does in dir, which is no worktree; its
// home is made below state. nil: the policy has no sandbox "default".
func GreetingWall(ctx context.Context, epic *ir.Epic, agent, dir, state string) (*wall.Spec, error) {
	step := &ir.Step{Agent: agent}
	name := epic.StepConfined(step, false).Name
	if name == "" {
		return nil, nil
	}
	c, err := material(epic)
	if err != nil {
		return nil, err
	}
	var refused []string
	if c.Kinds, c.Groups, refused = kinds(ctx, epic, []string{name}, "", newAttempts(ctx)); len(refused) > 0 {
		return nil, errors.New(strings.Join(refused, "; "))
	}
	if c.Kinds[name] == wall.Landlock {
		if err := fits(epic, agent); err != nil {
			return nil, err
		}
	}
	c.Mounts = func(dir string) ([]wall.Mount, error) { return []wall.Mount{{From: dir, Write: true}}, nil }
	t := effects.Tools{Epic: epic, State: state, Confinement: c}
	in, err := t.Visit("greeting", step, agent, "", dir)
	return in.Wall, err
}
