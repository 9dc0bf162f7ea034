package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// Differs returns the files of the user's checkout that differ from a commit's or are not
// in it, not even through a link of the commit. Paths are relative to the checkout, with
// forward slashes; irregular files, and those in a submodule or outside, are left out.
func (s Files) Differs(ctx context.Context, commit string, paths []string) ([]string, error) {
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

// Moved returns the commit at which the base would be pinned today, "" if that has not
// changed.
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

// FileAt returns a file of a commit, of at most limit bytes; there is false if the commit
// has none, or a larger one.
func (s *Space) FileAt(ctx context.Context, commit, path string, limit int) (b []byte, there bool, err error) {
	b, err = s.git.blob(ctx, commit+":"+path, limit)
	return b, b != nil, err
}

// lockHeld is longer than git holds such a lock.
const lockHeld = 300 * time.Millisecond

// Locks lists the locks left in the user's repository by a killed git, also of files that
// others write: in a linked worktree `git config` writes the user's. They are not ralph's
// to remove.
func (s Checkout) Locks(ctx context.Context) []string {
	there := map[string]os.FileInfo{}
	paths := []string{filepath.Join(s.git.common, "config.lock"), filepath.Join(s.git.common, "packed-refs.lock")}
	for _, p := range paths {
		if st, err := os.Lstat(p); err == nil {
			there[p] = st
		}
	}
	if len(there) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(lockHeld):
	}
	return lists.Keep(paths, func(p string) bool {
		st, err := os.Lstat(p)
		return err == nil && there[p] != nil && os.SameFile(st, there[p]) && st.ModTime().Equal(there[p].ModTime())
	})
}

// Overlay returns a commit that is HEAD with one file of the checkout as read there,
// committed or not; HEAD itself, if its file is the same. The path is relative to the
// checkout, with forward slashes. No ref or index of the user is written; a user of the
// commit pins it. The same text gives the same commit.
func (s Files) Overlay(ctx context.Context, path string, text []byte) (commit string, err error) {
	q := s.git.asking(ctx)
	head := q.ref("HEAD^{commit}")
	if head == "" {
		q.note(&Refusal{"the repository has no commit yet", "git commit --allow-empty -m begin"})
		return "", q.err
	}
	st, err := os.Lstat(filepath.Join(s.top, filepath.FromSlash(path)))
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		return "", &Refusal{What: path + " is not a regular file"}
	}
	checkout := place{gitDir: s.git.common, workTree: s.top}
	out, err := s.git.run(ctx, checkout, string(text), nil, "hash-object", "-w", "--stdin", "--path", path)
	if err != nil {
		return "", err
	}
	blob := strings.TrimSpace(string(out))
	if was, err := s.files(ctx, head, []string{path}); err != nil || was[path].hash == blob {
		return head, err
	}
	dir, err := os.MkdirTemp("", "ralph-index-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, regular.RemoveAllOwn(dir)) }()
	checkout.index = filepath.Join(dir, "index")
	q.line(checkout, "read-tree", head)
	q.line(checkout, "update-index", "--add", "--replace", "--cacheinfo", "100644,"+blob+","+path)
	tree := q.line(checkout, "write-tree")
	when := ""
	q.do(func() error {
		h, err := s.git.commitHeader(ctx, head)
		if err == nil {
			when = h.when
		}
		return err
	})
	msg := fmt.Sprintf("%s as it is in the checkout\n\nRalph-Epic: %s\n", path, s.epic.Epic.ID)
	commit = q.commit(msg, byRalph(when), tree, head)
	return commit, q.err
}

// File returns a file of the epic's pinned base, of at most limit bytes; there is false
// if nothing is pinned, or the base has no such file.
func (s Bases) File(ctx context.Context, path string, limit int) (b []byte, there bool, err error) {
	base, err := s.base(ctx)
	if err != nil || base == "" {
		return nil, false, err
	}
	b, err = s.git.blob(ctx, base+":"+path, limit)
	return b, b != nil, err
}
