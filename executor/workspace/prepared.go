package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// SetupDigest is the digest of what prepares a worktree besides its commit: the copied
// files as they are now, the setup commands and their environment.
func (s Checkout) SetupDigest() (string, error) {
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
		err := fs.WalkDir(regular.FS(root), path.Clean(filepath.ToSlash(p)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := regular.OpenIn(root, filepath.FromSlash(name))
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

// Lacks returns those of the paths that are not in a commit, not even through a link of
// its own. Paths in a submodule or outside are not the commit's to hold. Paths are
// relative to the checkout, with forward slashes.
func (s Files) Lacks(ctx context.Context, commit string, paths []string) ([]string, error) {
	files, err := s.files(ctx, commit, paths)
	if err != nil {
		return nil, err
	}
	return lists.Keep(paths, func(p string) bool { f := files[p]; return f.mode == "" && f.submodule == "" && !f.outside }), nil
}

// Submodules returns the submodules of a commit that contain paths, by path.
func (s Files) Submodules(ctx context.Context, commit string, paths []string) (map[string]string, error) {
	files, err := s.files(ctx, commit, paths)
	in := map[string]string{}
	for p, f := range files {
		if f.submodule != "" {
			in[p] = f.submodule
		}
	}
	return in, err
}

// Ignored returns those of the paths of the user's checkout that git ignores there.
func (s Files) Ignored(ctx context.Context, paths []string) ([]string, error) {
	var ask []string
	at := map[string]string{}
	for _, p := range paths {
		way := s.Way(p)
		at[p] = way[len(way)-1]
		if !s.ofAnother(at[p]) {
			ask = append(ask, at[p])
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	ignored, err := s.ignored(ctx, ask)
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !ignored[at[p]] }), err
}

// copyPath copies a regular file, or a directory of them, between two roots.
func copyPath(from, to *os.Root, path string) error {
	st, err := from.Lstat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		d, err := from.Open(path)
		if err != nil {
			return err
		}
		names, err := d.Readdirnames(-1)
		d.Close()
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := copyPath(from, to, filepath.Join(path, n)); err != nil {
				return err
			}
		}
		return nil
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	if err := to.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	in, err := regular.OpenIn(from, path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, st.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
