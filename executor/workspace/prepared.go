package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// SetupDigest is of what prepares a worktree beside its commit: the files that are
// copied into it as they are now, the setup commands and their environment.
func (s *Space) SetupDigest() (string, error) {
	spec := s.epic.Run.Worktree
	h := sha256.New()
	what, err := json.Marshal([]any{spec.Copy, spec.Setup, spec.Env, spec.Submodules})
	if err != nil {
		return "", err
	}
	h.Write(what)
	root, err := os.OpenRoot(s.top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, p := range spec.Copy {
		err := fs.WalkDir(root.FS(), path.Clean(filepath.ToSlash(p)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := root.Open(filepath.FromSlash(name))
			if err != nil {
				return err
			}
			defer f.Close()
			_, _ = io.WriteString(h, "\x00"+name+"\x00")
			_, err = io.Copy(h, f)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // to copy it will say so
			return "", err
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Lacks returns those of the paths that a commit does not hold, also not behind a
// link of its own. Paths are relative to the checkout, with forward slashes.
func (s *Space) Lacks(ctx context.Context, commit string, paths []string) ([]string, error) {
	ask := map[string]bool{}
	for _, p := range paths {
		for ; p != "."; p = path.Dir(p) {
			ask[p] = true
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"}
	for p := range ask {
		args = append(args, p)
	}
	slices.Sort(args[6:])
	out, err := s.git.line(ctx, place{}, args...)
	if err != nil {
		return nil, err
	}
	mode := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		if meta, p, ok := strings.Cut(entry, "\t"); ok {
			mode[p], _, _ = strings.Cut(meta, " ")
		}
	}
	var lacks []string
	for _, p := range paths {
		there := mode[p] != ""
		for d := path.Dir(p); d != "." && !there; d = path.Dir(d) {
			there = mode[d] == "120000"
		}
		if !there {
			lacks = append(lacks, p)
		}
	}
	return lacks, nil
}

// Ignored returns those of the paths of the user's checkout that git ignores there.
func (s *Space) Ignored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, err := s.git.run(ctx, place{gitDir: s.git.common, workTree: s.top, ignore: s.ignore}, strings.Join(paths, "\x00")+"\x00", nil, "check-ignore", "-z", "--stdin", "--no-index")
	if err != nil && exitCode(err) != 1 { // 1: none of them
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}
