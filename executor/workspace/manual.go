package workspace

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// collectManual takes what a person did: the tip of the node's branch, wherever
// it was made. What is uncommitted, or committed, in the node's own worktree is
// put on the branch first, if there is any. Without a branch and without changes
// nothing had to be done in git: the result is the base.
func (s *space) collectManual(ctx context.Context, e executor.Effect, n *ir.Node) (executor.Collected, error) {
	e.Person = true
	q := s.git.asking(ctx)
	tip := q.ref("refs/heads/" + n.Git.Branch)
	var result, problem string
	q.do(func() (err error) { result, problem, err = s.fromWorktree(ctx, e, n, tip); return err })
	result = cmp.Or(result, e.Commit)
	has := q.ancestor(e.Commit, result)
	var problems []string
	switch {
	case problem != "":
		problems = append(problems, problem)
	case !has:
		problems = append(problems, fmt.Sprintf("its branch %s does not contain the base %.12s: git merge --no-edit %.12s there, then approve again", n.Git.Branch, e.Commit, e.Commit))
	}
	if has && q.err == nil {
		wrong, err := s.unsound(ctx, nil, result, e.Commit)
		if q.note(err); q.err == nil && problem == "" && wrong == "" && result != e.Commit {
			tree := q.tree(result)
			secrets := asked(q, func() ([]string, error) { return s.known(ctx, e, []string{result}, tree) })
			wrong = strings.Join(secrets, "; ")
		}
		if wrong != "" {
			problems = append(problems, wrong+": make these commits again, then approve again")
		}
	}
	if q.point("collect", [2]string{s.attemptRef(e), result}); q.err != nil {
		return executor.Collected{}, q.err
	}
	return s.examine(ctx, e, n, &ir.Step{AllowEmpty: true}, result, problems)
}

// fromWorktree returns the tip of a manual node's branch, with what was done in
// the node's worktree on it.
func (s *space) fromWorktree(ctx context.Context, e executor.Effect, n *ir.Node, tip string) (string, string, error) {
	w := s.own(n)
	if there, err := s.stands(w); err != nil || !there || w.Left == "" {
		return tip, "", err
	}
	if err := s.worktree(ctx, w, e.Commit); err != nil {
		return "", "", err
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return "", "", err
	}
	mine := cmp.Or(now.head, w.Left)
	if heads := s.mergeHeads(w); now.dirty || len(heads) > 0 {
		var problem string
		if mine, problem, err = s.commitMine(ctx, e, w, now, append([]string{mine}, heads...)); err != nil || problem != "" {
			return mine, problem, err
		}
	}
	q := s.git.asking(ctx)
	if w.Left != mine {
		w.Left = mine
		q.note(s.remember(w))
	}
	branch := "refs/heads/" + n.Git.Branch
	if q.ancestor(mine, e.Commit) || q.err != nil { // nothing was done there
		return tip, "", q.err
	}
	if tip != "" {
		forward, back := q.ancestor(tip, mine), q.ancestor(mine, tip)
		switch {
		case q.err != nil || back:
			return tip, "", q.err
		case !forward:
			return mine, fmt.Sprintf("both its branch %s and its worktree %s hold work: git merge --no-edit %s in the worktree, then approve again", n.Git.Branch, w.dir, s.git.typed(n.Git.Branch)), nil
		case s.checkedOut(branch, w.dir) != "":
			return mine, "", nil // the branch is a person's: the result does not need it
		}
	}
	return mine, "", s.git.update(ctx, "manual", move{branch, tip, mine})
}

// commitMine commits on the node's branch what a person left in the worktree. If that is
// not to be committed it returns the first parent, and why.
func (s *space) commitMine(ctx context.Context, e executor.Effect, w *worktree, now sight, parents []string) (mine, problem string, err error) {
	if problem, err := s.halfMerged(ctx, w, now); err != nil || problem != "" {
		return parents[0], problem, err
	}
	q := s.git.asking(ctx)
	q.do(func() error { return s.addAll(ctx, w.at) })
	tree := q.line(w.at, "write-tree")
	secrets := asked(q, func() ([]string, error) { return s.known(ctx, e, parents, tree) })
	if q.err == nil && len(secrets) > 0 {
		return parents[0], strings.Join(secrets, "; ") + ". Nothing was committed: take it out there, then approve again", nil
	}
	mine = asked(q, func() (string, error) {
		return s.commit(ctx, e, w.node, &ir.Step{}, executor.Outcome{}, tree, parents, nil)
	})
	q.do(func() error { return s.plain(ctx, "refs/heads/"+w.node.Git.Branch) })
	q.line(w.at, "update-ref", "HEAD", mine)
	q.do(func() error { return s.endMerge(w) })
	return mine, "", q.err
}
