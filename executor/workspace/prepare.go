package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Prepare implements executor.Workspace.
func (s *Space) Prepare(ctx context.Context, e executor.Effect) (executor.Prepared, error) {
	defer s.hold(string(e.Node))()
	out, err := s.ready(ctx, e)
	if err == nil {
		out.Moved, err = s.tellMoved(s.own(s.nodes[e.Node]))
	}
	return out, err
}

func (s *space) ready(ctx context.Context, e executor.Effect) (executor.Prepared, error) {
	out := executor.Prepared{}
	if e.Merge && e.Commit == "" {
		e.Commit = e.Inputs[0].Commit
	}
	n := s.nodes[e.Node]
	if err := errors.Join(s.claim(ctx, e), s.keepStash(ctx)); err != nil {
		return out, err
	}
	w := s.own(n)
	if err := s.worktree(ctx, w, e.Commit); err != nil {
		return out, err
	}
	switch {
	case e.Person && !e.Merge && s.byHand(n):
		out, err := s.prepareOwn(ctx, w, e)
		if err == nil {
			out.Skipped, err = s.skipped(ctx, e.Commit)
		}
		return out, err
	case e.Person && w.Left != "":
		return out, nil
	}
	as, err := s.asLeft(ctx, w, e)
	switch {
	case err != nil:
		return out, err
	case as:
		if _, noted := s.refs.Load(e.Node); !noted {
			err = s.noteRefs(e.Node)
		}
		return out, err
	case e.Merge:
		out, err = s.prepareMerge(ctx, w, e)
	default:
		out.Saved, err = s.prepare(ctx, w, e)
	}
	out.Anew = e.AsIs
	if err == nil {
		out.Skipped, err = s.skipped(ctx, e.Commit)
	}
	if err == nil {
		err = s.noteRefs(e.Node)
	}
	return out, err
}

// asLeft reports whether a session can go on in the worktree as it is: it is still
// the one that ralph set up for this attempt, on the node's branch, with whatever
// was done there on top.
func (s *space) asLeft(ctx context.Context, w *worktree, e executor.Effect) (bool, error) {
	if !e.AsIs || w.Left == "" || !w.Prepared || w.gone || w.cut || w.refused != "" || e.Merge != (w.Shot != "") || !e.Merge && w.Left != e.Commit {
		return false, nil
	}
	on, _, err := s.headOf(w)
	if err != nil || on != w.ref {
		return false, err
	}
	head, err := s.git.line(ctx, w.at, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return false, ctx.Err() // it is broken: what is there is saved
	}
	for _, commit := range append([]string{w.Left}, s.merging(w)...) {
		if has, err := s.git.ancestor(ctx, commit, head); err != nil || !has {
			return false, err
		}
	}
	return true, nil
}

// merging lists the commits that a conflict's worktree was left merging and is not
// merging any more: they have to be in what was committed there since.
func (s *space) merging(w *worktree) []string {
	if slices.Equal(s.mergeHeads(w), w.Heads) {
		return nil
	}
	return w.Heads
}

// prepare puts a worktree at a commit, set up, after saving what differs from
// what ralph left there. It returns the ref of what it saved, "" if nothing.
func (s *space) prepare(ctx context.Context, w *worktree, e executor.Effect) (string, error) {
	now, err := s.look(ctx, w)
	if err != nil {
		return "", err
	}
	return s.prepareFrom(ctx, w, e, now)
}

// prepareFrom is prepare of a worktree that has been looked at.
func (s *space) prepareFrom(ctx context.Context, w *worktree, e executor.Effect, now sight) (string, error) {
	saved, err := s.putBack(ctx, w, e, now)
	if err != nil {
		return saved, err
	}
	was := w.Prepared && !s.lacksPrepared(w)
	if !was {
		s.unprepare(w)
		if err := s.setup(ctx, w, e); err != nil {
			return saved, err
		}
		w.Prepared = true
	}
	return saved, s.settle(w, e.Commit, was)
}

// unprepare forgets that a worktree was prepared.
func (s *space) unprepare(w *worktree) { w.Prepared, w.Made, w.at.ignore = false, nil, s.ignore }

// lacksPrepared reports whether something that setup made, or that was copied, is gone.
func (s *space) lacksPrepared(w *worktree) bool {
	gone := func(path string) bool {
		there, err := exists(filepath.Join(w.dir, filepath.FromSlash(path)))
		return err == nil && !there
	}
	return slices.ContainsFunc(w.Made, gone) || slices.ContainsFunc(s.epic.Run.Worktree.Copy, func(path string) bool {
		there, err := exists(filepath.Join(s.top, filepath.FromSlash(path)))
		return err == nil && there && gone(path)
	})
}

// putBack puts a worktree at a commit, after saving what differs from what ralph left
// there; what setup made is left as it is.
func (s *space) putBack(ctx context.Context, w *worktree, e executor.Effect, now sight) (saved string, err error) {
	if as, err := s.untouched(ctx, w, now); err != nil {
		return "", err
	} else if !as {
		if saved, err = s.save(ctx, w, now, e.Seq); err != nil {
			return "", fmt.Errorf("save what is in %s: %w", w.dir, err)
		}
	}
	q := s.git.asking(ctx)
	if w.Left != "" && w.Clone != s.clones() { // the policy asks for the other layout now
		q.do(func() error { return s.takeAway(w) })
		q.do(func() error { w.forget(); return s.worktree(ctx, w, e.Commit) })
		now = sight{}
	}
	q.do(func() error { return s.give(ctx, w, e.Commit, e.Seq) })
	if now.dirty || now.head != e.Commit || now.branch != w.ref || w.Left == "" || w.gone {
		q.do(func() error { return s.reset(ctx, w, e.Commit) })
	}
	return saved, q.err
}

// settle notes that a worktree is at a commit, as ralph left it. was says whether it
// is on record that it was prepared.
func (s *space) settle(w *worktree, commit string, was bool) error {
	if w.special != nil {
		if err := s.swept(w); err != nil {
			return err
		}
	}
	if mark := indexMark(w); w.Left != commit || w.Prepared != was || w.Shot != "" || w.Index != mark {
		w.Left, w.Shot, w.Heads, w.Index = commit, "", nil, mark
		return s.remember(w)
	}
	return nil
}

// claim makes the node's branch and the ref of the attempt, if they are not
// there. A branch of that name that ralph did not make is never touched.
func (s *space) claim(ctx context.Context, e executor.Effect) error {
	n := s.nodes[e.Node]
	branch, tip := s.own(n).ref, ""
	q := s.git.asking(ctx)
	if branch != "" {
		q.note(s.occupied(n))
		tip = q.ref(branch)
	}
	attempt := s.attemptRef(e)
	moves := []move{}
	if q.ref(attempt) == "" {
		moves = append(moves, move{attempt, "", e.Commit})
		own := tip == ""
		q.do(func() (err error) {
			if !own {
				own, err = s.ownBranch(n)
			}
			return err
		})
		if !own {
			q.note(foreignBranch(n))
		}
	}
	if tip == "" && branch != "" {
		moves = append(moves, move{branch, "", e.Commit})
	}
	if len(moves) > 0 {
		q.update("start", moves...)
	}
	return q.err
}

// ownBranch reports whether a node's branch, where it exists, is one that ralph made.
func (s *space) ownBranch(n *ir.Node) (bool, error) {
	if s.begun[n.ID] {
		return true, nil
	}
	refs, err := s.git.readRefs(strings.TrimSuffix(s.nodeRef(n.ID, ""), "/"))
	for ref := range refs {
		if mine(strings.TrimPrefix(ref, s.nodeRef(n.ID, ""))) {
			return true, err
		}
	}
	return false, err
}

// mine reports whether a ref of a node, without what all of them begin with, says that
// ralph has made its branch.
func mine(ref string) bool { return ref == "result" || strings.HasPrefix(ref, "attempts/") }

func foreignBranch(n *ir.Node) error {
	return config("its branch %s exists and is not ralph's: rename it (git branch -m %s OTHER) or name another in the plan (**Branch**)", n.Git.Branch, shellword.Quote(n.Git.Branch))
}

func (s *space) attemptRef(e executor.Effect) string {
	return s.nodeRef(e.Node, fmt.Sprintf("attempts/%s/%d", component(e.Step), e.Attempt))
}

// component makes a name fit to be a part of a ref.
func component(name string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name), "-")
}

// setup copies files from the user's checkout and runs the setup commands. What
// they make is left alone ever after; tracked files that they changed are put back.
func (s *space) setup(ctx context.Context, w *worktree, e executor.Effect) error {
	spec := s.epic.Run.Worktree
	if len(spec.Copy) == 0 && len(spec.Setup) == 0 {
		return nil
	}
	if err := s.copyFiles(w, spec.Copy); err != nil {
		return err
	}
	killed := "" // the last command, and why
	inside, missing, err := s.inside(w, func(why string) { killed = why })
	if err != nil {
		return err
	}
	for i, line := range spec.Setup {
		log := s.record(w, fmt.Sprintf(".setup-%d.log", i+1))
		if err := regular.MkdirOwn(filepath.Dir(log)); err != nil {
			return err
		}
		env := lists.Merged(spec.Env)
		if err := process.Secrets(env, s.epic.SecretVars(spec.Secrets)); err != nil {
			return config("worktree.setup: %w", err)
		}
		env[Mark] = log
		missing.begin()
		res, err := process.Run(ctx, process.Spec{
			Argv: []string{"/bin/sh", "-c", line}, Dir: w.dir, Env: process.Environ(env), Stdout: log, Stderr: log, Mark: Mark, Filter: s.Secrets.Filter, Wall: inside,
		})
		if err != nil {
			return lasting(fmt.Errorf("setup command %d: %w", i+1, err))
		}
		if killed != "" {
			return fmt.Errorf("setup command %d (%s): %s", i+1, line, killed)
		}
		if res.How != process.Exited || res.Code != 0 {
			tail, _ := process.Tail(log, 500)
			return missing.failed(fmt.Sprintf("setup command %d (%s) ended with exit code %d", i+1, line, res.Code), fmt.Sprintf("%s: %s", strings.TrimPrefix(log, filepath.Dir(s.git.common)+"/"), strings.TrimSpace(tail)))
		}
	}
	if found, err := special(ctx, w.dir, ""); err != nil {
		return err
	} else if len(found) > 0 {
		return fmt.Errorf("setup left %s in the worktree, %s: make pipes and sockets below ${TMPDIR:-/tmp}", found[0].path, regular.Kind(found[0].mode))
	}
	q := s.git.asking(ctx)
	q.do(func() (err error) {
		w.Made, err = s.git.list(ctx, w.at, "", "ls-files", "--others", "--exclude-standard", "-z")
		return err
	})
	if slices.Sort(w.Made); len(w.Made) > 0 {
		q.do(func() error { return s.writeExclude(w) })
	}
	q.do(func() error { return s.reset(ctx, w, e.Commit) })
	return q.err
}

// writeExclude makes git blind to what setup made, beside what the user ignores.
func (s *space) writeExclude(w *worktree) error {
	var b strings.Builder
	if own, err := regular.ReadFile(s.ignore); err == nil {
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
	path := s.record(w, ".exclude")
	w.at.ignore = path
	return regular.WriteOwn(path, []byte(b.String()), 0o600)
}

// copyFiles copies files or directories of the user's checkout, never out of it
// and never over a tracked file's directory being a link.
func (s *space) copyFiles(w *worktree, paths []string) error {
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
