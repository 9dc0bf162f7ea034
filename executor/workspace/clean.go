package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Kept is a worktree that Clean left, and why.
type Kept struct {
	Node     ir.NodeID
	Dir, Why string
}

// Clean removes the worktrees of nodes whose results no longer need them. A worktree
// with uncommitted changes, or whose work is not merged into the integration branch or
// the base, or not pushed although a pull request was asked for, stays and is reported.
// Nothing is forced.
func (s Trees) Clean(ctx context.Context, nodes []ir.NodeID) ([]Kept, error) {
	var kept []Kept
	for _, id := range nodes {
		why, err := s.clean(ctx, s.nodes[id])
		if err != nil {
			return kept, fmt.Errorf("clean up %s: %w", s.dirOf(id), err)
		}
		if why != "" {
			kept = append(kept, Kept{id, s.dirOf(id), why})
		}
	}
	return kept, nil
}

func (s *space) clean(ctx context.Context, n *ir.Node) (string, error) {
	defer s.hold(string(n.ID))()
	w := s.own(n)
	if there, err := s.stands(w); err != nil || !there {
		return "", err
	}
	if found, err := special(ctx, w.dir, ""); err != nil || len(found) > 0 {
		return fmt.Sprintf("it holds %d special files, such as FIFOs", len(found)), err
	}
	if !s.linkIntact(w) {
		return "its .git is not the one that ralph wrote", nil
	}
	if err := s.take(ctx, w); err != nil || w.refused != "" {
		return w.refused, err
	}
	now, err := s.look(ctx, w)
	switch {
	case err != nil:
		return "", err
	case w.Shot != "" || len(s.mergeHeads(w)) > 0:
		return "a merge is under way there", nil
	case now.dirty:
		return "it holds changes that are not committed", nil
	}
	if why, err := s.unmerged(ctx, now.head); err != nil || why != "" {
		return why, err
	}
	if in := s.epic.Epic.Integration; in.PR == "node" || in.Mode == "wait" {
		q := s.git.asking(ctx)
		if pushed := q.ref(s.nodeRef(n.ID, "pushed")); pushed == "" || !q.ancestor(now.head, pushed) {
			return "its work is not pushed", q.err
		}
	}
	return "", s.takeAway(w)
}

// unmerged says where work is not merged, "" if the integration branch, the base or the
// target has it.
func (s *space) unmerged(ctx context.Context, work string) (string, error) {
	base, err := s.base(ctx)
	q := s.git.asking(ctx)
	q.note(err)
	for _, ref := range []string{s.sumRef(), base, s.prefix() + "target"} {
		if ref == "" {
			continue
		}
		merged := false
		if tip := q.ref(ref); tip != "" {
			q.do(func() (err error) { merged, err = s.holds(ctx, tip, work); return err })
		}
		if q.err != nil || merged {
			return "", q.err
		}
	}
	if s.sumRef() == "" {
		return "its work is merged nowhere", q.err
	}
	return "its work is not merged into " + s.epic.Epic.Integration.Branch, q.err
}

// asideMark is between the name of a node's worktree and the process that made
// one beside it.
const asideMark = ".ask-"

// Aside makes a directory beside the node's worktree with exactly a commit, detached
// and not set up, to look at only, and returns the function that removes it. The run
// does not know of it, so no lock is needed. A process has at most one per node; those
// of killed processes are removed first.
func (s Trees) Aside(ctx context.Context, node ir.NodeID, commit string) (dir string, remove func() error, err error) {
	if err := s.sweepAside(node); err != nil {
		return "", nil, err
	}
	dir = s.dirOf(node) + asideMark + strconv.Itoa(os.Getpid())
	if err := s.room(dir); err != nil {
		return "", nil, err
	}
	remove = func() error { return s.removeAside(dir) }
	if err := s.makeAside(ctx, dir, commit); err != nil {
		return "", nil, errors.Join(fmt.Errorf("make %s: %w", dir, err), remove())
	}
	return dir, remove, nil
}

func (s *space) makeAside(ctx context.Context, dir, commit string) error {
	if !s.clones() {
		_, err := s.git.line(ctx, place{}, "worktree", "add", "--force", "--detach", "--", dir, commit)
		return err
	}
	w := &worktree{name: filepath.Base(dir), dir: dir, Clone: true, Admin: ".git"}
	if err := s.build(ctx, w, commit); err != nil {
		return err
	}
	s.locate(w)
	if err := s.mendConfig(w); err != nil { // a sandbox shows its hooks
		return err
	}
	_, err := s.git.line(ctx, w.at, "reset", "--hard", "--quiet", commit)
	return err
}

// sweepAside removes what processes left that are gone.
func (s *space) sweepAside(node ir.NodeID) error {
	left, err := filepath.Glob(escapeGlob(s.dirOf(node)) + asideMark + "*")
	if err != nil {
		return err
	}
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(dir, s.dirOf(node)+asideMark))
		if err != nil || pid != os.Getpid() && running(pid) || !s.linked(dir) && !s.ownClone(&worktree{name: filepath.Base(dir), dir: dir}) && !s.cutWhileMade(dir) {
			continue
		}
		if err := s.removeAside(dir); err != nil {
			return err
		}
	}
	return nil
}

func running(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// linked reports whether a directory is a worktree of this repository.
func (s *space) linked(dir string) bool {
	return strings.HasPrefix(gitLink(filepath.Join(dir, ".git")), filepath.Join(s.git.common, "worktrees"))
}

// removeAside removes a worktree, and git's record of it last.
func (s *space) removeAside(dir string) error {
	admin, err := s.findAdmin(dir)
	if err == nil {
		err = removeAll(dir)
	}
	if err == nil && admin != "" {
		err = regular.RemoveAllOwn(filepath.Join(s.git.common, "worktrees", admin))
	}
	if err != nil {
		return fmt.Errorf("take %s away: %w", dir, err)
	}
	return nil
}
