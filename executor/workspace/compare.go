package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Comparison shows how two commits or trees differ, to people and to judges. Settings,
// attributes and programs of the repository, be it in the checkout, a worktree or the
// index, do not affect it: an agent could have written them to hide its changes.
type Comparison struct {
	s        *space
	git      *git
	from, to string
}

// Gone is a commit or tree that is not in the repository any more.
type Gone struct{ ID string }

func (e *Gone) Error() string { return fmt.Sprintf("%.12s is not in the repository any more", e.ID) }

// Compare begins a comparison; Close ends it. An end that is not there any more is a Gone.
func (s Trees) Compare(ctx context.Context, from, to string) (*Comparison, error) {
	return s.compare(ctx, from, to)
}

func (s *space) compare(ctx context.Context, from, to string) (*Comparison, error) {
	for _, id := range []*string{&from, &to} {
		found, err := s.git.ref(ctx, *id)
		if err != nil {
			return nil, err
		}
		if found == "" {
			return nil, &Gone{*id}
		}
		*id = found
	}
	g, err := s.borrow()
	if err != nil {
		return nil, err
	}
	return &Comparison{s, g, from, to}, nil
}

// Close removes the comparison's files.
func (c *Comparison) Close() error { return os.RemoveAll(c.git.dir) }

// Files lists the files that differ, in the order of the diff.
func (c *Comparison) Files(ctx context.Context) ([]executor.FileChange, error) {
	files, _, err := c.git.fileChanges(ctx, c.from, c.to)
	return files, err
}

// Diff writes the unified diff, its bytes unchanged; of binary files the sizes, of a
// huge one the beginning and a note. Given some of Files, it is about these alone.
func (c *Comparison) Diff(ctx context.Context, w io.Writer, only ...executor.FileChange) error {
	d := &diffWriter{w: w, size: func(oid string) int { return c.s.git.sizeOf(ctx, oid) }}
	args := []string{
		"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--full-index",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none", "--end-of-options", c.from, c.to, "--",
	}
	for _, f := range only {
		for _, path := range []string{f.Path, f.From} {
			if path != "" {
				args = append(args, ":(literal)"+path)
			}
		}
	}
	err := c.git.stream(ctx, place{}, d, args...)
	return errors.Join(err, d.Close())
}

// Diff implements executor.Workspace.
func (s *Space) Diff(ctx context.Context, from, to string, w io.Writer) error {
	c, err := s.compare(ctx, from, to)
	if err != nil {
		return err
	}
	return errors.Join(c.Diff(ctx, w), c.Close())
}

// fileChanges lists what differs between two commits or trees, as Comparison has it.
func (s *space) fileChanges(ctx context.Context, from, to string) ([]executor.FileChange, []change, error) {
	if from == to {
		return nil, nil, nil
	}
	c, err := s.compare(ctx, from, to)
	if err != nil {
		return nil, nil, err
	}
	files, changes, err := c.git.fileChanges(ctx, c.from, c.to)
	return files, changes, errors.Join(err, c.Close())
}

// borrow makes an empty repository that only borrows the objects, and returns git for
// it; its user removes its directory.
func (s *space) borrow() (*git, error) {
	dir, err := os.MkdirTemp("", "ralph-compare-")
	if err != nil {
		return nil, err
	}
	g := *s.git
	g.dir, g.common, g.private = dir, dir, ""
	g.env = append(g.env[:len(g.env):len(g.env)], "GIT_OBJECT_DIRECTORY="+filepath.Join(s.git.common, "objects"))
	version, more := 0, ""
	if s.shared != "" {
		more = "\tsharedRepository = \"" + quoteConfig(s.shared) + "\"\n"
	}
	if f := s.carried["extensions.objectformat"]; f != "" {
		version, more = 1, more+"[extensions]\n\tobjectformat = "+f+"\n"
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tbare = true\n%s", version, more)
	err = errors.Join(
		os.Symlink(filepath.Join(s.git.common, "shallow"), filepath.Join(dir, "shallow")), // mostly there is none
		os.Mkdir(filepath.Join(dir, "objects"), 0o700), os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		regular.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600), regular.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
	)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &g, nil
}

// Work returns where a person's work on a node is: the tip of its branch, or what was
// committed on top in its worktree; zero if there is nothing. It only reads refs, so that
// no filter of the repository runs: uncommitted changes are not looked for.
func (s Trees) Work(ctx context.Context, id ir.NodeID) (executor.Tree, error) {
	w := s.own(s.nodes[id])
	q := s.git.asking(ctx)
	tip := q.ref("refs/heads/" + w.node.Git.Branch)
	if there, err := s.find(w); err == nil && there {
		if head, err := s.committed(ctx, w); err == nil && head != w.Left {
			if tip == "" || q.ancestor(tip, head) {
				tip = head
			}
		}
	}
	if tip == "" {
		return executor.Tree{}, q.err
	}
	at := executor.Tree{Commit: tip, Tree: q.ref(tip + "^{tree}")}
	return at, q.err
}

// committed is the commit that HEAD of a worktree names. One that only a clone holds is
// copied into the repository; no ref names it there.
func (s *space) committed(ctx context.Context, w *worktree) (string, error) {
	if !w.Clone {
		return s.git.line(ctx, w.at, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	}
	if !s.cloneIntact(w) {
		return "", fmt.Errorf("%s is not as ralph made it", w.at.gitDir)
	}
	_, head, err := s.cloneHead(w)
	if err != nil || head == "" {
		return w.Left, err
	}
	if err := s.takeCommit(ctx, w, head); err != nil || w.refused != "" {
		return w.Left, err
	}
	return head, nil
}
