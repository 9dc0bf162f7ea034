package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Publish implements executor.Workspace.
func (s *Space) Publish(ctx context.Context, e executor.Effect) (out executor.Published, err error) {
	defer s.hold(string(e.Node))()
	n := s.nodes[e.Node]
	q := s.git.asking(ctx)
	out.Branch, out.Result = n.Git.Branch, q.at(e.Commit)
	if e.Node == executor.Integration {
		q.do(func() (err error) { out.Pinned, err = s.integrate(ctx, e, n.Git.Branch); return err })
		return out, q.err
	}
	for _, in := range e.Inputs {
		q.do(func() error {
			has, err := s.contains(ctx, e, in)
			if err == nil && !has {
				err = config("its result %.12s does not contain the result of %s", e.Commit, s.name(in.Node))
			}
			return err
		})
	}
	result := s.nodeRef(e.Node, "result")
	moves := []move{{result, q.ref(result), e.Commit}}
	if w := s.own(n); w.ref != "" { // a manual node's branch is the person's
		q.do(func() error { return s.occupied(n) })
		tip := q.ref(w.ref)
		q.do(func() error {
			own, err := s.ownBranch(n)
			if err == nil && tip != "" && !own {
				err = foreignBranch(n)
			}
			return err
		})
		moves = append(moves, move{w.ref, tip, e.Commit}) // what was looked at, and nothing newer
	}
	q.update("result", moves...)
	return out, q.err
}

// contains reports whether a node's result has an input. In mode wait it may have come
// by way of the target, squashed perhaps.
func (s *space) contains(ctx context.Context, e executor.Effect, in executor.Result) (bool, error) {
	q := s.git.asking(ctx)
	has := q.ancestor(in.Commit, e.Commit)
	if has || s.epic.Epic.Integration.Mode != "wait" || !q.ancestor(e.Base, e.Commit) {
		return has, q.err
	}
	return s.arrived(ctx, e.Base, in)
}

// integrate moves the integration branch from where ralph last put it, and returns
// the ref that keeps what was there, if the new head does not. Commits of others on it are never overwritten.
func (s *space) integrate(ctx context.Context, e executor.Effect, name string) (string, error) {
	branch := "refs/heads/" + name
	now, err := s.git.ref(ctx, branch)
	switch {
	case err != nil || now == e.Commit && (e.Old == "" || e.Old == now):
		return "", err
	case now == e.Commit: // ralph ended when it had moved it
		return s.pinned(ctx, e)
	case now != e.Old && e.Old == "":
		return "", config("the integration branch %s exists and is not ralph's: rename it (git branch -m %s OTHER)", name, shellword.Quote(name))
	case now != e.Old && now != "": // one that was deleted meanwhile is made anew
		return "", s.foreign(ctx, e, name, now)
	}
	if by := s.checkedOut(branch, ""); by != "" {
		return "", config("the integration branch %s is checked out in %s: check out another branch there", name, by)
	}
	moves := []move{{branch, now, e.Commit}}
	if e.Old != "" {
		moves = append(moves, move{s.prefix() + fmt.Sprintf("sum/%d", e.Seq), "", e.Old})
	}
	if err := s.git.update(ctx, "integrate", moves...); err != nil {
		return "", err
	}
	return s.pinned(ctx, e)
}

// foreign says where others have put the integration branch, and what it holds there.
func (s *space) foreign(ctx context.Context, e executor.Effect, name, now string) error {
	q := s.git.asking(ctx)
	f := &executor.Failure{Class: executor.FailForeign, Head: q.at(now)}
	if in, err := (Refs{s}).Within(ctx, e.Known); err == nil {
		f.Holds = slices.DeleteFunc(append([]string{}, e.Known...), func(c string) bool { return !in[c] })
	}
	onTop := q.ancestor(e.Old, now)
	if f.Back = q.ancestor(now, e.Old); q.err != nil {
		return q.err
	}
	accept, again := "they stay, after the gates", fmt.Sprintf("they are pinned under %ssum/, and the branch is rebuilt", s.prefix())
	switch {
	case onTop:
		f.Err = fmt.Errorf("the integration branch %s holds commits that are not ralph's: ralph approve integration (%s) or ralph retry integration (%s)", name, accept, again)
	case f.Back:
		f.Err = fmt.Errorf("the integration branch %s was moved back from %.12s to %.12s: ralph approve integration (it continues from there) or ralph retry integration (it is rebuilt)", name, e.Old, now)
	default:
		f.Err = fmt.Errorf("the integration branch %s was moved from %.12s to %.12s, which does not contain its earlier commits: ralph approve integration (it continues from there) or ralph retry integration (%s)", name, e.Old, now, again)
	}
	return f
}

// pinned is the newest ref that keeps the earlier head of the integration branch, ""
// if that is part of the new one.
func (s *space) pinned(ctx context.Context, e executor.Effect) (string, error) {
	if e.Old == "" {
		return "", nil
	}
	if has, err := s.git.ancestor(ctx, e.Old, e.Commit); err != nil || has {
		return "", err
	}
	under := s.prefix() + "sum"
	refs, err := s.git.readRefs(under)
	best, newest := "", -1
	for ref, at := range refs {
		if n, bad := strconv.Atoi(strings.TrimPrefix(ref, under+"/")); bad == nil && at == e.Old && n > newest {
			best, newest = ref, n
		}
	}
	return best, err
}

// occupied says that a node's branch is checked out in a worktree that is not
// the node's: moving it would change what others see there.
func (s *space) occupied(n *ir.Node) error {
	if by := s.checkedOut("refs/heads/"+n.Git.Branch, s.dirOf(n.ID)); by != "" {
		return config("its branch %s is checked out in %s: check out another one there", n.Git.Branch, by)
	}
	return nil
}

// checkedOut returns a worktree other than own that has a branch checked out, ""
// if there is none.
func (s *space) checkedOut(branch, own string) string {
	want := "ref: " + branch
	if b, err := regular.ReadFile(filepath.Join(s.git.common, "HEAD")); err == nil && strings.TrimSpace(string(b)) == want {
		return s.top
	}
	heads, _ := filepath.Glob(filepath.Join(s.git.common, "worktrees", "*", "HEAD"))
	for _, h := range heads {
		if b, err := regular.ReadFile(h); err == nil && strings.TrimSpace(string(b)) == want {
			dir, err := regular.ReadFile(filepath.Join(filepath.Dir(h), "gitdir"))
			if err != nil {
				return filepath.Dir(h)
			}
			if at := filepath.Dir(strings.TrimSpace(string(dir))); at != own {
				return at
			}
		}
	}
	return ""
}
