package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Differs returns those of the files of the user's checkout that are not the
// same in a commit, or not in it at all. Paths are relative to the checkout, with
// forward slashes; what is no regular file is left out.
func (s *Space) Differs(ctx context.Context, commit string, paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if st, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(p))); err == nil && st.Mode().IsRegular() {
			files = append(files, p)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	at := place{gitDir: s.git.common, workTree: s.top}
	out, err := s.git.line(ctx, at, append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"}, files...)...)
	if err != nil {
		return nil, err
	}
	have := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(meta); len(f) == 3 {
			have[path] = f[2]
		}
	}
	out, err = s.git.line(ctx, at, append([]string{"hash-object", "--"}, files...)...)
	if err != nil {
		return nil, err
	}
	var differ []string
	for i, hash := range strings.Split(out, "\n") {
		if i < len(files) && have[files[i]] != hash {
			differ = append(differ, files[i])
		}
	}
	return differ, nil
}

// Moved returns the commit that the base would be pinned at today, "" if it is
// the one that was.
func (s *Space) Moved(ctx context.Context) (string, error) {
	was, err := s.base(ctx)
	if err != nil || was == "" {
		return "", err
	}
	from, err := s.source(ctx, s.epic.Epic.Base)
	if err != nil {
		return "", err
	}
	now, err := s.git.ref(ctx, from+"^{commit}")
	if err != nil || now == was {
		return "", err
	}
	return now, nil
}

// Branch is the branch that the user's checkout is on, "" if it is on none.
func (s *Space) Branch(ctx context.Context) (string, error) {
	out, err := s.git.line(ctx, place{}, "rev-parse", "--symbolic-full-name", "HEAD")
	name, found := strings.CutPrefix(out, "refs/heads/")
	if !found {
		name = ""
	}
	return name, err
}

// source is what a base of this name is taken from: the branch, if there is one;
// HEAD of the checkout, if it has no name.
func (s *Space) source(ctx context.Context, branch string) (string, error) {
	if branch == "" {
		return "HEAD", nil
	}
	b, err := s.git.ref(ctx, "refs/heads/"+branch)
	if b != "" {
		return "refs/heads/" + branch, err
	}
	return branch, err
}
