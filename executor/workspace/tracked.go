package workspace

import (
	"context"
	"strings"
)

// Tracked returns the files below dir that a commit of its repository holds, HEAD of its
// checkout among them: by path, relative to dir, with forward slashes, git's name for what
// is in each. A submodule counts as a file.
func Tracked(ctx context.Context, dir, commit string) (map[string]string, error) {
	g, err := findGit(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := g.locate(ctx); err != nil {
		return nil, err
	}
	g.common = "" // HEAD is that of the checkout around dir
	out, err := g.run(ctx, place{}, "", nil, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for e := range strings.SplitSeq(string(out), "\x00") {
		meta, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(meta); len(f) == 3 {
			files[path] = f[2]
		}
	}
	return files, nil
}
