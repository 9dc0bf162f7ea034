package workspace

import (
	"context"
	"strings"
)

// Tracked returns the files below dir that HEAD of its checkout holds, relative to dir,
// with forward slashes; a submodule counts as a file.
func Tracked(ctx context.Context, dir string) ([]string, error) {
	g, err := findGit(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := g.locate(ctx); err != nil {
		return nil, err
	}
	g.common = "" // HEAD is that of the checkout around dir
	out, err := g.run(ctx, place{}, "", nil, "ls-tree", "-r", "-z", "--name-only", "HEAD")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}
