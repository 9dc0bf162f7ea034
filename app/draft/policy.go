package draft

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// otherPolicy names the policy files of the checkout that differ from the commit in which
// the plan was judged; "" if none does.
func (d *Draft) otherPolicy(ctx context.Context, epic *ir.Epic) (string, error) {
	files := slices.Clone(epic.Run.Policies)
	files = append(files, lists.Map(epic.Files, func(f ir.FileDigest) string { return f.Path })...)
	for _, name := range slices.Sorted(maps.Keys(epic.Agents)) {
		if at := epic.Agents[name].Path; at != "" && !slices.Contains(files, at) {
			files = append(files, at)
		}
	}
	other, err := d.Space.Files.Differs(ctx, d.commit(), files)
	if err != nil {
		return "", err
	}
	gone, err := policyGone(ctx, d.Space.Top(), d.commit())
	if err != nil {
		return "", err
	}
	for _, f := range append(gone, d.Epic.Run.Policies...) {
		if !slices.Contains(files, f) && !slices.Contains(other, f) {
			other = append(other, f)
		}
	}
	if len(other) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s %s not as in the commit in which the plan was judged", words.ListOf(other), text.Form(len(other), "is", "are")), nil
}

// policyGone are the policy files of a commit that the checkout lacks.
func policyGone(ctx context.Context, top, commit string) (gone []string, err error) {
	files, err := workspace.Tracked(ctx, top, commit)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !compiler.OnPolicyPath(name) {
			continue
		}
		if st, err := os.Stat(filepath.Join(top, filepath.FromSlash(name))); err != nil || !st.Mode().IsRegular() {
			gone = append(gone, name)
		}
	}
	return gone, nil
}
