package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// distrust writes the index of a worktree anew from the contents that it names,
// if anybody else has written it since ralph did. What an index says of files (not
// changed, not to be looked at) is believed by git, and anybody can write it: gates
// would be shown files that are not the commit's. Files that were taken away
// without a word (a sparse checkout) come back.
func (s *space) distrust(ctx context.Context, w *worktree) error {
	if w.Left == "" || s.asIndexed(w) {
		return nil
	}
	if err := s.unfold(ctx, w); err != nil {
		return err
	}
	out, err := s.git.run(ctx, w.at, "", nil, "ls-files", "--stage", "-v", "-z")
	if err != nil {
		return ctx.Err() // it cannot be read: mendIndex
	}
	var stages, hidden strings.Builder
	for entry := range strings.SplitSeq(string(out), "\x00") {
		tag, rest, ok := strings.Cut(entry, " ")
		_, path, _ := strings.Cut(rest, "\t")
		if !ok {
			continue
		}
		stages.WriteString(rest + "\x00")
		if there, err := exists(filepath.Join(w.dir, path)); err == nil && !there && strings.EqualFold(tag, "s") {
			hidden.WriteString(path + "\x00")
		}
	}
	tmp, err := os.CreateTemp(s.state, "index-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Remove(tmp.Name()); err != nil { // git wants none rather than an empty one
		return err
	}
	at := w.at
	at.index = tmp.Name()
	if _, err := s.git.run(ctx, at, stages.String(), nil, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if there, err := exists(at.index); err != nil || !there { // of an index that names nothing
		return err
	}
	if hidden.Len() > 0 {
		if _, err := s.git.run(ctx, at, hidden.String(), nil, "checkout-index", "-z", "--stdin"); err != nil {
			return err
		}
	}
	// Looks at each file once, so that later calls need not.
	if _, err := s.git.line(ctx, at, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return err
	}
	return os.Rename(at.index, filepath.Join(w.at.gitDir, "index"))
}
