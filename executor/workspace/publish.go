package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Publish implements executor.Workspace.
func (s *Space) Publish(ctx context.Context, e executor.Effect) (executor.Published, error) {
	defer s.hold(string(e.Node))()
	tree, err := s.git.tree(ctx, e.Commit)
	if err != nil {
		return executor.Published{}, err
	}
	n := s.nodes[e.Node]
	out := executor.Published{Result: executor.Tree{Commit: e.Commit, Tree: tree}, Branch: n.Git.Branch}
	if e.Node == executor.Integration {
		out.Pinned, err = s.integrate(ctx, e, n.Git.Branch)
		return out, err
	}
	for _, in := range e.Inputs {
		has, err := s.git.ancestor(ctx, in.Commit, e.Commit)
		if err != nil {
			return out, err
		}
		if !has && s.epic.Epic.Integration.Mode == "wait" {
			// It came by way of the target, squashed perhaps.
			if has, err = s.git.ancestor(ctx, e.Base, e.Commit); err == nil && has {
				has, err = s.arrived(ctx, e.Base, in)
			}
			if err != nil {
				return out, err
			}
		}
		if !has {
			return out, config("its result %.12s does not contain the result of %s", e.Commit, s.name(in.Node))
		}
	}
	w := s.own(n)
	if w.ref != "" {
		if err := s.occupied(n); err != nil {
			return out, err
		}
	}
	ref := s.nodeRef(e.Node, "result")
	old, err := s.git.ref(ctx, ref)
	if err != nil {
		return out, err
	}
	moves := []move{{ref, old, e.Commit}}
	if w.ref != "" { // a manual node's branch is the person's
		tip, err := s.git.ref(ctx, w.ref)
		if err != nil {
			return out, err
		}
		if own, err := s.ownBranch(n); err != nil {
			return out, err
		} else if tip != "" && !own {
			return out, foreignBranch(n)
		}
		moves = append(moves, move{w.ref, tip, e.Commit})
	}
	if err := s.git.update(ctx, "result", moves...); err != nil {
		return out, err
	}
	return out, nil
}

// integrate moves the integration branch from where ralph last put it, and returns
// the ref that keeps what stood there, if the new head does not. Commits of others on it are never overwritten.
func (s *Space) integrate(ctx context.Context, e executor.Effect, name string) (string, error) {
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
func (s *Space) foreign(ctx context.Context, e executor.Effect, name, now string) error {
	tree, err := s.git.tree(ctx, now)
	if err != nil {
		return err
	}
	f := &executor.Failure{Class: executor.FailForeign, Head: executor.Tree{Commit: now, Tree: tree}}
	if in, err := s.Within(ctx, e.Known); err == nil {
		f.Holds = []string{}
		for _, c := range e.Known {
			if in[c] {
				f.Holds = append(f.Holds, c)
			}
		}
	}
	onTop, err := s.git.ancestor(ctx, e.Old, now)
	if err != nil {
		return err
	}
	if f.Back, err = s.git.ancestor(ctx, now, e.Old); err != nil {
		return err
	}
	accept, again := "they stay, after the gates", fmt.Sprintf("they are pinned under %ssum/, and the branch is rebuilt", s.prefix())
	switch {
	case onTop:
		f.Err = fmt.Errorf("the integration branch %s holds commits that are not ralph's: ralph approve integration (%s) or ralph retry integration (%s)", name, accept, again)
	case f.Back:
		f.Err = fmt.Errorf("the integration branch %s was moved back from %.12s to %.12s: ralph approve integration (it goes on from there) or ralph retry integration (it is built again)", name, e.Old, now)
	default:
		f.Err = fmt.Errorf("the integration branch %s was moved from %.12s to %.12s, which does not hold what was there: ralph approve integration (it goes on from there) or ralph retry integration (%s)", name, e.Old, now, again)
	}
	return f
}

// pinned is the newest ref that keeps the earlier head of the integration branch, ""
// if that is part of the new one.
func (s *Space) pinned(ctx context.Context, e executor.Effect) (string, error) {
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
// the node's: moving it would change what somebody sees there.
func (s *Space) occupied(n *ir.Node) error {
	if by := s.checkedOut("refs/heads/"+n.Git.Branch, s.Dir(n.ID)); by != "" {
		return config("its branch %s is checked out in %s: check out another one there", n.Git.Branch, by)
	}
	return nil
}

// checkedOut returns a worktree other than own that has a branch checked out, ""
// if there is none.
func (s *Space) checkedOut(branch, own string) string {
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
