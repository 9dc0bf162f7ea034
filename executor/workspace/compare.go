package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// Comparison shows how two commits or trees differ, to people. Neither settings nor
// attributes nor programs of the repository have a say in it, of the checkout, a
// worktree or the index: an agent could have written them to hide what it did.
type Comparison struct {
	git      git
	from, to string
}

// Compare begins a comparison. It works in an empty repository that only borrows the
// objects; Close takes that away.
func (s *Space) Compare(ctx context.Context, from, to string) (_ *Comparison, err error) {
	for _, id := range []*string{&from, &to} {
		found, err := s.git.ref(ctx, *id)
		if err != nil {
			return nil, err
		}
		if found == "" {
			return nil, fmt.Errorf("%.12s is not in the repository any more", *id)
		}
		*id = found
	}
	dir, err := os.MkdirTemp("", "ralph-compare-")
	if err != nil {
		return nil, err
	}
	c := &Comparison{git: *s.git, from: from, to: to}
	c.git.dir, c.git.common, c.git.private = dir, dir, ""
	c.git.env = append(c.git.env[:len(c.git.env):len(c.git.env)], "GIT_OBJECT_DIRECTORY="+filepath.Join(s.git.common, "objects"))
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if f := s.carried["extensions.objectformat"]; f != "" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = " + f + "\n"
	}
	err = errors.Join(
		os.Mkdir(filepath.Join(dir, "objects"), 0o700), os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600), os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
	)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close takes away what the comparison needed.
func (c *Comparison) Close() error { return os.RemoveAll(c.git.dir) }

// Files lists the files that differ, in the order of the diff.
func (c *Comparison) Files(ctx context.Context) ([]executor.FileChange, error) {
	files, _, err := c.git.fileChanges(ctx, c.from, c.to)
	return files, err
}

// Diff writes the unified diff, as its bytes are.
func (c *Comparison) Diff(ctx context.Context, w io.Writer) error {
	return c.git.diff(ctx, c.from, c.to, w)
}

// Work returns where a person's work on a node is: the tip of its branch, or what was
// committed on that in its worktree; zero if nothing was. It only reads refs, so that no
// filter that the repository names is run: what is not committed is not looked for.
func (s *Space) Work(ctx context.Context, id ir.NodeID) (executor.Tree, error) {
	n := s.nodes[id]
	tip, err := s.git.ref(ctx, "refs/heads/"+n.Git.Branch)
	if err != nil {
		return executor.Tree{}, err
	}
	w := s.own(n)
	if there, err := s.find(w); err == nil && there && !w.Clone {
		head, err := s.git.line(ctx, w.at, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
		if err == nil && head != w.Left && tip != "" {
			if forward, err := s.git.ancestor(ctx, tip, head); err == nil && forward {
				tip = head
			}
		} else if err == nil && head != w.Left {
			tip = head
		}
	}
	if tip == "" {
		return executor.Tree{}, nil
	}
	tree, err := s.git.ref(ctx, tip+"^{tree}")
	return executor.Tree{Commit: tip, Tree: tree}, err
}
