package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Differs returns those of the files of the user's checkout that are not the same in a
// commit, or not in it at all, also not behind a link of its own. Paths are relative to
// the checkout, with forward slashes; what is no regular file is left out, and what lies
// in a submodule or outside.
func (s Checkout) Differs(ctx context.Context, commit string, paths []string) ([]string, error) {
	files, err := s.files(ctx, commit, paths)
	if err != nil {
		return nil, err
	}
	ask := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		st, err := os.Stat(filepath.Join(s.top, filepath.FromSlash(p)))
		return err != nil || !st.Mode().IsRegular() || files[p].submodule != "" || files[p].outside
	})
	if len(ask) == 0 {
		return nil, nil
	}
	out, err := s.git.line(ctx, place{gitDir: s.git.common, workTree: s.top}, append([]string{"hash-object", "--"}, ask...)...)
	if err != nil {
		return nil, err
	}
	var differ []string
	for i, hash := range strings.Split(out, "\n") {
		if i < len(ask) && files[ask[i]].hash != hash {
			differ = append(differ, ask[i])
		}
	}
	return differ, nil
}

// Moved returns the commit that the base would be pinned at today, "" if it is
// the one that was.
func (s Bases) Moved(ctx context.Context) (string, error) {
	was, err := s.base(ctx)
	if err != nil || was == "" {
		return "", err
	}
	from, err := s.source(ctx, s.epic.Epic.Base)
	if err != nil {
		return "", err
	}
	now, err := s.git.ref(ctx, from+"^{commit}")
	if now == was {
		now = ""
	}
	return now, err
}

// Branch is the branch that the user's checkout is on, "" if it is on none.
func (s Checkout) Branch(ctx context.Context) (string, error) {
	out, err := s.git.line(ctx, place{}, "rev-parse", "--symbolic-full-name", "HEAD")
	name, found := strings.CutPrefix(out, "refs/heads/")
	if !found {
		name = ""
	}
	return name, err
}

// source is what a base of this name is taken from: the branch, if there is one;
// HEAD of the checkout, if it has no name.
func (s *space) source(ctx context.Context, branch string) (string, error) {
	if branch == "" {
		return "HEAD", nil
	}
	b, err := s.git.ref(ctx, "refs/heads/"+branch)
	if b != "" {
		return "refs/heads/" + branch, err
	}
	return branch, err
}

// FileAt returns a file as a commit has it, at most limit bytes of size; there is false
// if the commit has none, or a larger one.
func (s *Space) FileAt(ctx context.Context, commit, path string, limit int) (b []byte, there bool, err error) {
	b, err = s.git.blob(ctx, commit+":"+path, limit)
	return b, b != nil, err
}
