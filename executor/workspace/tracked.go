package workspace

import (
	"context"
)

// Tracked returns the files below dir that a commit of its repository holds, HEAD of its
// checkout among them: by path, relative to dir, with forward slashes, git's name for what
// is in each. A submodule counts as a file.
func Tracked(ctx context.Context, dir, commit string) (map[string]string, error) {
	g, err := findGit(ctx, dir)
	if err == nil {
		err = g.locate(ctx)
	}
	if err != nil {
		return nil, err
	}
	g.common = "" // HEAD is that of the checkout around dir
	entries, err := g.entries(ctx, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string, len(entries))
	for path, e := range entries {
		files[path] = e.hash
	}
	return files, nil
}
