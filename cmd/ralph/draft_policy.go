package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// otherPolicy says which files by which the plan's epic is compiled here are others than
// in the commit in which the plan was judged; "" if none is.
func (d *drafted) otherPolicy(ctx context.Context, epic *ir.Epic) (string, error) {
	files := slices.Clone(epic.Run.Policies)
	for _, name := range slices.Sorted(maps.Keys(epic.Agents)) {
		if at := epic.Agents[name].Path; at != "" && !slices.Contains(files, at) {
			files = append(files, at)
		}
	}
	other, err := d.space.Differs(ctx, d.commit(), files)
	if err != nil {
		return "", inputErrorf("%w", err)
	}
	for _, f := range d.epic.Run.Policies {
		if !slices.Contains(files, f) {
			other = append(other, f)
		}
	}
	if len(other) == 0 {
		return "", nil
	}
	are := "is"
	if len(other) > 1 {
		are = "are"
	}
	return fmt.Sprintf("%s %s not as in the commit in which the plan was judged", listOf(other), are), nil
}
