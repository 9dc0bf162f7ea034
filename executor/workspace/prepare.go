package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/process"
)

// Prepare implements executor.Workspace.
func (s *Space) Prepare(ctx context.Context, e executor.Effect) (executor.Prepared, error) {
	saved, err := s.prepare(ctx, e)
	return executor.Prepared{Saved: saved}, err
}

// Open implements executor.Workspace.
func (s *Space) Open(ctx context.Context, e executor.Effect) (string, error) {
	_, err := s.prepare(ctx, e)
	return s.Dir(e.Node), err
}

// Close implements executor.Workspace.
func (s *Space) Close(ctx context.Context, e executor.Effect) (executor.Trace, error) {
	_, err := s.prepare(ctx, e)
	return executor.Trace{}, err
}

func (s *Space) prepare(ctx context.Context, e executor.Effect) (string, error) {
	defer s.hold(e.Node)()
	n := s.nodes[e.Node]
	if err := s.claim(ctx, e); err != nil {
		return "", err
	}
	w, err := s.worktree(ctx, n, e.Commit)
	if err != nil {
		return "", err
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return "", err
	}
	saved := ""
	if w.Left != "" && (now.dirty || now.head != w.Left) {
		if saved, err = s.save(ctx, w, now, e.Seq); err != nil {
			return "", fmt.Errorf("save what is in %s: %w", w.dir, err)
		}
	}
	if now.dirty || now.head != e.Commit || now.branch != w.branch() || w.Left == "" {
		if err := s.reset(ctx, w, e.Commit); err != nil {
			return saved, err
		}
	}
	if !w.Prepared {
		if err := s.setup(ctx, w, e); err != nil {
			return saved, err
		}
	}
	if w.Left != e.Commit || !w.Prepared {
		w.Left, w.Prepared = e.Commit, true
		return saved, s.remember(w)
	}
	return saved, nil
}

// claim makes the node's branch and the ref of the attempt, if they are not
// there. A branch of that name that ralph did not make is never touched.
func (s *Space) claim(ctx context.Context, e executor.Effect) error {
	if e.Node == executor.Integration {
		return nil
	}
	n := s.nodes[e.Node]
	branch := "refs/heads/" + n.Git.Branch
	if err := s.occupied(n); err != nil {
		return err
	}
	tip, err := s.git.ref(ctx, branch)
	if err != nil {
		return err
	}
	attempt := s.attemptRef(e)
	old, err := s.git.ref(ctx, attempt)
	if err != nil {
		return err
	}
	moves := []move{}
	if old == "" {
		moves = append(moves, move{attempt, "", e.Commit})
	}
	if tip != "" && old == "" {
		own, err := s.git.line(ctx, place{}, "for-each-ref", "--count=1", "--format=%(refname)", s.nodeRef(e.Node, "attempts/"))
		if err != nil {
			return err
		}
		if own == "" {
			return config("its branch %s exists and is not ralph's: rename it (git branch -m %s OTHER) or name another in the plan (**Branch**)", n.Git.Branch, n.Git.Branch)
		}
	}
	if tip == "" {
		moves = append(moves, move{branch, "", e.Commit})
	}
	if len(moves) == 0 {
		return nil
	}
	return s.git.update(ctx, "start", moves...)
}

func (s *Space) attemptRef(e executor.Effect) string {
	return s.nodeRef(e.Node, fmt.Sprintf("attempts/%s/%d", component(e.Step), e.Attempt))
}

// component makes a name fit to be a part of a ref.
func component(name string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if out == "" {
		return "-"
	}
	return out
}

// state of a worktree.
type sight struct {
	head   string // commit, "" if unreadable
	branch string // ref that HEAD names, "" if none
	dirty  bool
}

func (s *Space) look(ctx context.Context, w *worktree) (sight, error) {
	if w.Left == "" { // just made, nothing is checked out
		return sight{}, nil
	}
	out, err := s.git.line(ctx, w.at, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		// HEAD or the index are broken: everything there is to be saved.
		return sight{dirty: true}, ctx.Err()
	}
	var v sight
	for entry := range strings.SplitSeq(out, "\x00") {
		switch {
		case strings.HasPrefix(entry, "# branch.oid "):
			v.head = strings.TrimPrefix(entry, "# branch.oid ")
		case strings.HasPrefix(entry, "# branch.head "):
			if b := strings.TrimPrefix(entry, "# branch.head "); b != "(detached)" {
				v.branch = "refs/heads/" + b
			}
		case strings.HasPrefix(entry, "#"), entry == "":
		default:
			v.dirty = true
		}
	}
	if v.head == "(initial)" {
		v.head = ""
	}
	return v, nil
}

// save commits whatever differs from the commit that ralph last left in the
// worktree (new commits, what is staged, what is not) and pins it. The commit
// has no key: it is never taken for a result.
func (s *Space) save(ctx context.Context, w *worktree, now sight, seq int64) (string, error) {
	parent := now.head
	if parent == "" {
		parent = w.Left
	}
	if now.dirty {
		if _, err := s.unnest(ctx, w); err != nil && ctx.Err() != nil {
			return "", err // else the index is broken: the files alone are saved below
		}
		staged, serr := s.git.line(ctx, w.at, "write-tree")
		whole, err := s.snapshot(ctx, w)
		if err != nil {
			return "", err
		}
		for _, t := range []string{staged, whole} {
			if t == "" || t == staged && (serr != nil || t == whole) {
				continue
			}
			if have, err := s.git.tree(ctx, parent); err != nil {
				return "", err
			} else if have == t {
				continue
			}
			msg := fmt.Sprintf("Saved before a reset (%s/%s)\n\nRalph-Epic: %s\nRalph-Node: %s\n", s.epic.Epic.ID, w.node.ID, s.epic.Epic.ID, w.node.ID)
			b, err := s.git.run(ctx, place{}, msg, s.author("ralph"), "commit-tree", t, "-p", parent)
			if err != nil {
				return "", err
			}
			parent = strings.TrimSpace(string(b))
		}
	}
	if parent == w.Left {
		return "", nil // only ignored or empty things differed
	}
	ref := s.nodeRef(w.node.ID, fmt.Sprintf("saved/%d", seq))
	old, err := s.git.ref(ctx, ref)
	if err != nil {
		return "", err
	}
	return ref, s.git.update(ctx, "save", move{ref, old, parent})
}

// snapshot writes the worktree's present files as a tree, by way of an index of
// its own.
func (s *Space) snapshot(ctx context.Context, w *worktree) (string, error) {
	tmp, err := os.CreateTemp(s.state, "index-*")
	if err != nil {
		return "", err
	}
	at := w.at
	at.index = tmp.Name()
	defer os.Remove(tmp.Name())
	b, err := os.ReadFile(filepath.Join(w.at.gitDir, "index"))
	if err == nil {
		_, err = tmp.Write(b)
	}
	if err = errors.Join(tmp.Close(), err); err != nil || len(b) == 0 {
		if err := os.Remove(tmp.Name()); err != nil { // git wants none rather than an empty one
			return "", err
		}
	}
	if _, err := s.git.line(ctx, at, "add", "--all", "--", "."); err != nil {
		// The index may be what is broken: then the files alone are saved.
		if rerr := os.Remove(at.index); rerr != nil {
			return "", err
		}
		if _, err := s.git.line(ctx, at, "add", "--all", "--", "."); err != nil {
			return "", err
		}
	}
	return s.git.line(ctx, at, "write-tree")
}

// reset puts the worktree at a commit, on the node's branch. Ignored files and
// what setup made stay.
func (s *Space) reset(ctx context.Context, w *worktree, commit string) error {
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG"} {
		if err := os.RemoveAll(filepath.Join(w.at.gitDir, name)); err != nil {
			return err
		}
	}
	if b := w.branch(); b != "" {
		s.git.unlock(b)
		if _, err := s.git.line(ctx, w.at, "symbolic-ref", "HEAD", b); err != nil {
			return err
		}
	}
	if _, err := s.git.line(ctx, w.at, "reset", "--hard", "--quiet", commit); err != nil {
		// What is of value is saved; a broken index is not.
		if rerr := os.Remove(filepath.Join(w.at.gitDir, "index")); rerr != nil {
			return err
		}
		if _, err := s.git.line(ctx, w.at, "reset", "--hard", "--quiet", commit); err != nil {
			return err
		}
	}
	if w.Left == "" { // nothing else can be there yet
		return nil
	}
	_, err := s.git.line(ctx, w.at, "clean", "-ffdq")
	return err
}

// setup copies files from the user's checkout and runs the setup commands. What
// they make is left alone ever after; tracked files that they changed are put back.
func (s *Space) setup(ctx context.Context, w *worktree, e executor.Effect) error {
	spec := s.epic.Run.Worktree
	if len(spec.Copy) == 0 && len(spec.Setup) == 0 {
		return nil
	}
	if err := s.copyFiles(w, spec.Copy); err != nil {
		return err
	}
	for i, line := range spec.Setup {
		log := filepath.Join(s.state, "worktrees", fmt.Sprintf("%s.setup-%d.log", w.node.ID, i+1))
		if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
			return err
		}
		env := maps.Clone(spec.Env)
		if env == nil {
			env = map[string]string{}
		}
		env[Mark] = log
		res, err := process.Run(ctx, process.Spec{
			Argv: []string{"/bin/sh", "-c", line}, Dir: w.dir, Env: process.Environ(s.secrets(), env), Stdout: log, Stderr: log,
		})
		if err != nil {
			return fmt.Errorf("setup command %d: %w", i+1, err)
		}
		if res.How != process.Exited || res.Code != 0 {
			tail, _ := process.Tail(log, 500)
			return fmt.Errorf("setup command %d (%s) ended with exit code %d: %s", i+1, line, res.Code, strings.TrimSpace(tail))
		}
	}
	out, err := s.git.line(ctx, w.at, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	w.Made = nil
	for p := range strings.SplitSeq(out, "\x00") {
		if p != "" {
			w.Made = append(w.Made, p)
		}
	}
	slices.Sort(w.Made)
	if len(w.Made) > 0 {
		if err := s.writeExclude(w); err != nil {
			return err
		}
	}
	return s.reset(ctx, w, e.Commit)
}

// secrets names the variables that setup commands do not get.
func (s *Space) secrets() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.epic.Secrets)) {
		out = append(out, s.epic.Secrets[name].Env)
	}
	return out
}

// writeExclude makes git blind to what setup made, beside what the user ignores.
func (s *Space) writeExclude(w *worktree) error {
	var b strings.Builder
	if own, err := os.ReadFile(s.ignore); err == nil {
		b.Write(own)
		b.WriteByte('\n')
	}
	for _, p := range w.Made {
		b.WriteByte('/')
		for _, r := range p {
			if strings.ContainsRune(`\*?[ `, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(s.state, "worktrees", string(w.node.ID)+".exclude")
	w.at.ignore = path
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// copyFiles copies files or directories of the user's checkout, never out of it
// and never over a tracked file's directory being a link.
func (s *Space) copyFiles(w *worktree, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	from, err := os.OpenRoot(s.top)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, p := range paths {
		if err := copyPath(from, to, filepath.FromSlash(p)); err != nil {
			return config("copy %s into the worktree: %v", p, err)
		}
	}
	return nil
}
