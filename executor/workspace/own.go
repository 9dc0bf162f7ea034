package workspace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// byHand reports whether all work of a node is a person's.
func (s *space) byHand(n *ir.Node) bool {
	return n.Kind == ir.Manual || len(n.Steps) > 0 && !slices.ContainsFunc(n.Steps, func(st ir.Step) bool { return !s.epic.Agents[st.Agent].Human })
}

// prepareOwn prepares the worktree in which a person works. What they did, in it or
// on the node's branch, is theirs: it is brought onto the commit that the attempt
// starts from where that merges, and else stays as it is, committed, so that they can
// merge. Nothing of it is put back.
func (s *space) prepareOwn(ctx context.Context, w *worktree, e executor.Effect) (executor.Prepared, error) {
	now, err := s.look(ctx, w)
	if err != nil || now.broken {
		return executor.Prepared{Work: w.Left}, err
	}
	if now.head != "" && (len(now.unmerged) > 0 || s.underway(w)) {
		return executor.Prepared{Work: now.head}, nil // they are at it
	}
	q := s.git.asking(ctx)
	tip, err := s.theirs(ctx, w)
	q.note(err)
	work := q.beyond(now.head, e.Commit)
	switch {
	case now.dirty:
		work = now.head
	case work == "":
		work = tip
	}
	if work == "" { // nothing was done yet
		w.Left = cmp.Or(now.head, w.Left)
		q.do(func() error { return s.prepared(ctx, w, e, now) })
		q.do(func() error { return s.startsAt(ctx, w, e.Commit) })
		return executor.Prepared{}, q.err
	}
	out := executor.Prepared{Work: work}
	missing := slices.DeleteFunc([]string{tip, e.Commit}, func(c string) bool { return q.beyond(c, work) == "" })
	if q.err != nil {
		return out, q.err
	}
	if len(missing) == 0 && work == now.head {
		return out, s.startsAt(ctx, w, e.Commit)
	}
	if now.dirty {
		if work, err = s.commitOwn(ctx, w, now.head); err != nil {
			return out, err
		}
		now.head, now.dirty, w.Left = work, false, work
	}
	q.do(func() error { return s.mergeMissing(ctx, w, &out, work, missing, e.Commit) })
	q.do(func() error {
		w.Left = cmp.Or(now.head, w.Left)
		at := e
		at.Commit = out.Work
		return s.prepared(ctx, w, at, now)
	})
	if out.Merge == "" {
		q.do(func() error { return s.startsAt(ctx, w, e.Commit) })
	}
	return out, q.err
}

// prepared is prepareFrom without reporting the ref.
func (s *space) prepared(ctx context.Context, w *worktree, e executor.Effect, now sight) error {
	_, err := s.prepareFrom(ctx, w, e, now)
	return err
}

// mergeMissing merges what a person's work lacks into it, as far as that merges: out says
// where the work is then, and what they have to merge.
func (s *space) mergeMissing(ctx context.Context, w *worktree, out *executor.Prepared, work string, missing []string, base string) error {
	q := s.git.asking(ctx)
	from := q.ref(s.nodeRef(w.node.ID, "from"))
	for _, c := range missing {
		if c == base {
			q.do(func() (err error) { c, err = s.instead(ctx, w, work, c, from); return err })
		}
		var merged string
		var paths []string
		q.do(func() (err error) { merged, paths, err = s.mergeOwn(ctx, w, work, c); return err })
		if q.err != nil {
			return q.err
		}
		if len(paths) > 0 {
			out.Merge, out.Paths = fmt.Sprintf("%.12s", c), some(paths)
			break
		}
		work = merged
	}
	out.Work = work
	return q.err
}

// underway reports whether a merge, rebase or pick is in progress in the worktree.
func (s *space) underway(w *worktree) bool {
	return slices.ContainsFunc([]string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(w.at.gitDir, name))
		return err == nil
	})
}

// theirs is what a person did outside of the worktree, or in one that is gone: the
// tip of the node's branch, else its last result; "" if there is none.
func (s *space) theirs(ctx context.Context, w *worktree) (string, error) {
	q := s.git.asking(ctx)
	head := cmp.Or(q.ref("refs/heads/"+w.node.Git.Branch), q.ref(s.nodeRef(w.node.ID, "result")))
	return head, q.err
}

// startsAt keeps what a person's work is on: on another base only the difference
// is theirs.
func (s *space) startsAt(ctx context.Context, w *worktree, commit string) error {
	q := s.git.asking(ctx)
	q.note(s.remember(w))
	q.point("own", [2]string{s.nodeRef(w.node.ID, "from"), commit})
	return q.err
}

// commitOwn commits what is in the worktree on top of its head.
func (s *space) commitOwn(ctx context.Context, w *worktree, head string) (string, error) {
	q := s.git.asking(ctx)
	q.do(func() error { return s.unnest(ctx, w, false) })
	q.do(func() error { return s.addAll(ctx, w.at) })
	tree := q.line(w.at, "write-tree")
	msg := fmt.Sprintf("%s, as it was in its worktree\n", oneLine(fmt.Sprintf("%s: %s", w.node.Key, w.node.Title), maxSubject))
	commit := q.commit(msg, s.person, tree, head)
	q.line(w.at, "update-ref", "HEAD", commit)
	return commit, q.err
}

// mergeOwn merges a commit into a person's work, and returns the paths in conflict if
// it does not.
func (s *space) mergeOwn(ctx context.Context, w *worktree, work, in string) (string, []string, error) {
	if forward, err := s.git.ancestor(ctx, work, in); err != nil || forward {
		return in, nil, err
	}
	tree, entries, err := s.mergeTree(ctx, work, in, in)
	if err != nil {
		return "", nil, err
	}
	if j := (&joined{stages: map[string]string{}}); len(entries) > 0 {
		j.note(entries)
		return "", j.paths, nil
	}
	commit, err := s.derived(ctx, w.node.ID, tree, fmt.Sprintf("%.12s", in), work, in)
	return commit, nil, err
}

// instead is a commit with the files of a base, that is merged into work which is on
// an earlier base: only what the person did differs then, and an earlier result of what
// the node needs does not conflict with the present one.
func (s *space) instead(ctx context.Context, w *worktree, work, base, from string) (string, error) {
	if from == "" {
		return base, nil
	}
	q := s.git.asking(ctx)
	tree := q.tree(base)
	if !q.ancestor(from, work) || q.ancestor(from, base) || q.err != nil {
		return base, q.err
	}
	commit, err := s.derived(ctx, w.node.ID, tree, fmt.Sprintf("%.12s instead of %.12s", base, from), base, from)
	q.note(err)
	q.point("own", [2]string{s.nodeRef(w.node.ID, "onto"), commit}) // the person may be told to merge it
	return commit, q.err
}

// OwnChanges reports whether the files of a node's worktree that a person works in, or of
// its branch, differ from a tree. It changes nothing.
func (s Trees) OwnChanges(ctx context.Context, id ir.NodeID, tree string) (bool, error) {
	defer s.hold(string(id))()
	w := s.own(s.nodes[id])
	there, err := s.stands(w)
	if err != nil {
		return false, err
	}
	var commits []string
	if there && w.Left != "" {
		if found, err := special(ctx, w.dir, ""); err != nil || len(found) > 0 {
			return true, err
		}
		now, err := s.look(ctx, w)
		if err != nil || now.dirty {
			return true, err
		}
		commits = append(commits, now.head)
	}
	q := s.git.asking(ctx)
	differs := slices.ContainsFunc(append(commits, q.ref("refs/heads/"+w.node.Git.Branch)), func(c string) bool { return c != "" && q.tree(c) != tree })
	return differs, q.err
}

// bringOwn brings what a person handed in onto the base of today, where it was made on
// another and that merges; else it is committed, so that they can merge.
func (s *space) bringOwn(ctx context.Context, w *worktree, e executor.Effect) error {
	now, err := s.look(ctx, w)
	if err != nil || now.broken || now.head == "" || now.branch != w.ref || len(now.unmerged) > 0 || s.underway(w) {
		return err
	}
	q := s.git.asking(ctx)
	if q.beyond(e.Commit, now.head) == "" {
		return q.err
	}
	work, base, merged := now.head, "", ""
	if now.dirty {
		q.do(func() (err error) { work, err = s.commitOwn(ctx, w, now.head); return err })
	}
	q.do(func() (err error) { base, err = s.instead(ctx, w, work, e.Commit, e.Was); return err })
	var paths []string
	q.do(func() (err error) { merged, paths, err = s.mergeOwn(ctx, w, work, base); return err })
	if len(paths) > 0 {
		return q.err
	}
	q.do(func() error { return s.give(ctx, w, merged, e.Seq) })
	q.do(func() error { return s.reset(ctx, w, merged) })
	return q.err
}

// lacking notes that a person's work does not hold the base: it stays theirs to merge.
func (s *space) lacking(ctx context.Context, c *executor.Collected, e executor.Effect) error {
	q := s.git.asking(ctx)
	base := q.beyond(e.Commit, c.Result.Commit)
	if base == "" {
		return q.err
	}
	base, err := s.instead(ctx, s.own(s.nodes[e.Node]), c.Result.Commit, base, e.Was)
	if err != nil {
		return err
	}
	c.Lacks = fmt.Sprintf("%.12s", base)
	c.Problems = append(c.Problems, fmt.Sprintf("its worktree does not contain the base %s: git merge --no-edit %s there", c.Lacks, c.Lacks))
	return nil
}

// halfMerged says what of a merge of the person's own is not resolved, "" if nothing:
// a path that git calls unmerged and that still holds its markers, or is gone.
func (s *space) halfMerged(ctx context.Context, w *worktree, now sight) (string, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var left []string
	for _, p := range now.unmerged {
		b, err := regular.ReadIn(root, filepath.FromSlash(p))
		if err == nil && strings.Contains("\n"+string(b), "\n<<<<<<< ") {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return "", ctx.Err()
	}
	return fmt.Sprintf("the merge in its worktree is not done: %s still in conflict", listed(left)), nil
}
