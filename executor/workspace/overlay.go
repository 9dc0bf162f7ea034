package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// Overlay returns a commit that is HEAD with one file of the checkout as it was read
// there, committed or not; HEAD itself, if it has the file so. The path is relative to the
// checkout, with forward slashes. No ref and no index of the user's is written; whoever
// starts from the commit pins it. The same text gives the same commit.
func (s Checkout) Overlay(ctx context.Context, path string, text []byte) (commit string, err error) {
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

// File returns a file as the epic's pinned base has it, at most limit bytes of size;
// there is false if nothing is pinned, or the base has no such file.
func (s Bases) File(ctx context.Context, path string, limit int) (b []byte, there bool, err error) {
	base, err := s.base(ctx)
	if err != nil || base == "" {
		return nil, false, err
	}
	b, err = s.git.blob(ctx, base+":"+path, limit)
	return b, b != nil, err
}
