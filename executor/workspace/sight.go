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

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// state of a worktree.
type sight struct {
	head     string // commit, "" if unreadable
	branch   string // ref that HEAD names, "" if none
	dirty    bool
	broken   bool     // HEAD or the index cannot be read
	staged   bool     // the index is not the commit's
	unmerged []string // paths
	changed  []string // tracked files
	fresh    []string // untracked files; of a new directory only its name, with a slash
}

func (s *space) look(ctx context.Context, w *worktree) (sight, error) {
	if w.Left == "" { // just made, nothing is checked out
		return sight{}, nil
	}
	out, err := s.git.line(ctx, w.at, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		// HEAD or the index are broken: everything there is to be saved.
		return sight{dirty: true, broken: true}, ctx.Err()
	}
	var v sight
	for entry := range strings.SplitSeq(out, "\x00") {
		kind, rest, _ := strings.Cut(entry, " ")
		switch kind {
		case "#":
			if oid, ok := strings.CutPrefix(rest, "branch.oid "); ok {
				v.head = oid
			} else if b, ok := strings.CutPrefix(rest, "branch.head "); ok && b != "(detached)" {
				v.branch = "refs/heads/" + b
			}
		case "1", "u", "?":
			v.dirty = true
			v.note(kind, rest)
		}
	}
	if v.head == "(initial)" {
		v.head = ""
	}
	return v, nil
}

// note reads an entry of git status --porcelain=v2.
func (v *sight) note(kind, rest string) {
	if kind == "?" {
		v.fresh = append(v.fresh, rest)
		return
	}
	fields := 8 // before the path: XY sub mH mI mW hH hI
	if kind == "u" {
		fields = 9 // XY sub m1 m2 m3 mW h1 h2 h3, and the path
	}
	parts := strings.SplitN(rest, " ", fields+map[string]int{"1": 0, "u": 1}[kind])
	if len(parts) < fields || len(parts[0]) != 2 {
		return
	}
	path := parts[len(parts)-1]
	if kind == "u" {
		v.unmerged = append(v.unmerged, path)
		return
	}
	v.staged = v.staged || parts[0][0] != '.'
	v.changed = append(v.changed, path)
}

// untouched reports whether the worktree is as ralph last left it.
func (s *space) untouched(ctx context.Context, w *worktree, now sight) (bool, error) {
	switch {
	case w.Left == "":
		return true, nil
	case now.head != w.Left || now.branch != w.ref && !now.broken:
		return false, nil
	case w.Shot == "":
		return !now.dirty, nil
	case now.broken || !slices.Equal(s.mergeHeads(w), w.Heads):
		return false, nil
	}
	shot, err := s.snapshot(ctx, w, s.fits)
	if errors.Is(err, errUnfit) {
		return false, nil
	}
	return shot == w.Shot, err
}

// Edited implements executor.Workspace.
func (s *Space) Edited(ctx context.Context, node ir.NodeID) (bool, error) {
	defer s.hold(string(node))()
	w := s.own(s.nodes[node])
	if there, err := s.stands(w); err != nil || !there || w.Left == "" {
		return false, err
	}
	if found, err := special(ctx, w.dir, ""); err != nil || len(found) > 0 || !s.linkIntact(w) {
		return true, err
	}
	if w.Clone { // nothing is taken: this only looks
		if on, head, err := s.cloneHead(w); err != nil || on != w.ref || head != w.Left {
			return true, err
		}
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return false, err
	}
	as, err := s.untouched(ctx, w, now)
	return !as, err
}

// save commits whatever differs from the commit that ralph last left in the
// worktree (new commits, what is staged, what is not) and pins it. The commit
// has no key: it is never taken for a result.
func (s *space) save(ctx context.Context, w *worktree, now sight, seq int64) (string, error) {
	parent := cmp.Or(now.head, w.Left)
	q := s.git.asking(ctx)
	if now.dirty {
		if err := s.unnest(ctx, w, false); err != nil && ctx.Err() != nil {
			return "", err // else the index is broken: the files alone are saved below
		}
		staged, serr := s.git.line(ctx, w.at, "write-tree")
		whole, err := s.snapshot(ctx, w, s.stage)
		if err != nil {
			return "", err
		}
		trees := []string{whole}
		if serr == nil && staged != whole {
			trees = []string{staged, whole}
		}
		for _, t := range trees {
			if q.tree(parent) != t && q.err == nil {
				msg := fmt.Sprintf("Saved before a reset (%s/%s)\n\nRalph-Epic: %s\nRalph-Node: %s\n", s.epic.Epic.ID, w.node.ID, s.epic.Epic.ID, w.node.ID)
				parent = q.commit(msg, s.author("ralph"), t, parent)
			}
		}
	}
	if q.err != nil || parent == w.Left { // only ignored or empty things differed
		return "", q.err
	}
	ref := s.nodeRef(w.node.ID, fmt.Sprintf("saved/%d", seq))
	return ref, s.git.point(ctx, "save", [2]string{ref, parent})
}

// saved is save where it is not reported of the ref.
func (s *space) saved(ctx context.Context, w *worktree, now sight, seq int64) error {
	_, err := s.save(ctx, w, now, seq)
	return err
}

// snapshot writes the worktree's present files as a tree, by way of an index of
// its own, to which add (stage or fits) adds them.
func (s *space) snapshot(ctx context.Context, w *worktree, add func(context.Context, *worktree, place) error) (string, error) {
	tmp, err := os.CreateTemp(s.state, "index-*")
	if err != nil {
		return "", err
	}
	at := w.at
	at.index = tmp.Name()
	defer os.Remove(tmp.Name())
	b, err := regular.ReadFile(filepath.Join(w.at.gitDir, "index"))
	if err == nil {
		_, err = tmp.Write(b)
	}
	if err = errors.Join(tmp.Close(), err); err != nil || len(b) == 0 {
		if err := os.Remove(tmp.Name()); err != nil { // git wants none rather than an empty one
			return "", err
		}
	}
	if err := add(ctx, w, at); errors.Is(err, errUnfit) {
		return "", err
	} else if err != nil {
		// The index may be what is broken: then the files alone are saved.
		if rerr := os.Remove(at.index); rerr != nil {
			return "", err
		}
		if err := add(ctx, w, at); err != nil {
			return "", err
		}
	}
	return s.git.line(ctx, at, "write-tree")
}

// attach makes HEAD of the worktree name its branch; of one without, the commit:
// to reset it must not move a branch that was checked out there.
func (s *space) attach(ctx context.Context, w *worktree, commit string) error {
	on, _, err := s.headOf(w)
	if err != nil {
		return err
	}
	switch {
	case w.ref != "":
		s.git.unlock(w.ref)
		if err := s.plain(ctx, w.ref); err != nil || on == w.ref {
			return err
		}
		_, err = s.git.line(ctx, w.at, "symbolic-ref", "HEAD", w.ref)
	case on != "":
		_, err = s.git.line(ctx, w.at, "update-ref", "--no-deref", "HEAD", commit)
	}
	return err
}

// plain makes a ref of ralph's that was made symbolic a plain one again: what
// moves HEAD of a worktree would move what it leads to.
func (s *space) plain(ctx context.Context, ref string) error {
	if !s.git.symbolic(ref) {
		return nil
	}
	at, err := s.git.ref(ctx, ref)
	if err != nil {
		return err
	}
	if at == "" { // it leads nowhere
		_, err = s.git.line(ctx, place{}, "update-ref", "--no-deref", "-d", ref)
		return err
	}
	return s.git.update(ctx, "plain", move{ref, at, at})
}

// reset puts the worktree at a commit, on the node's branch. Ignored files and
// what setup made stay.
func (s *space) reset(ctx context.Context, w *worktree, commit string) error {
	q := s.git.asking(ctx)
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "AUTO_MERGE"} {
		q.do(func() error { return os.RemoveAll(filepath.Join(w.at.gitDir, name)) })
	}
	q.do(func() error { return s.attach(ctx, w, commit) })
	q.do(func() error {
		_, err := s.git.line(ctx, w.at, "reset", "--hard", "--quiet", commit)
		// What is of value is saved; a broken index is not.
		if err == nil || os.Remove(filepath.Join(w.at.gitDir, "index")) != nil {
			return err
		}
		return s.unlocked(ctx, w, "reset", "--hard", "--quiet", commit)
	})
	if w.Left == "" { // nothing else can be there yet
		return q.err
	}
	q.do(func() error {
		if _, err := s.git.line(ctx, w.at, "clean", "-ffdq"); err == nil || ctx.Err() != nil {
			return err
		}
		return s.unlocked(ctx, w, "clean", "-ffdq")
	})
	return q.err
}

// unlocked runs git in a worktree all of whose directories its owner may use.
func (s *space) unlocked(ctx context.Context, w *worktree, args ...string) error {
	err := unlockDirs(w.dir)
	if err == nil {
		_, err = s.git.line(ctx, w.at, args...)
	}
	return err
}

// stands is find of a worktree whose directory is there, too.
func (s *space) stands(w *worktree) (bool, error) {
	there, err := s.find(w)
	if err == nil && there {
		there, err = exists(w.dir)
	}
	return there, err
}
