package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// readStash lists what the user has stashed, oldest first.
func (s *space) readStash() ([]stashed, error) {
	at, err := s.git.refFile(stashRef)
	if err != nil {
		return nil, err
	}
	return stashesOf(s.git.common, at), nil
}

// keepStash pins what is stashed: even if dropped, git keeps it. One ref names a
// commit whose parents are the entries; those that are gone meanwhile stay.
func (s *space) keepStash(ctx context.Context) error {
	list, err := s.readStash()
	if err != nil || len(list) == 0 {
		return err
	}
	s.stash.Lock()
	defer s.stash.Unlock()
	ref := s.prefix() + "stash"
	q := s.git.asking(ctx)
	old := q.ref(ref)
	var parents []string
	if old != "" {
		h, err := s.git.commitHeader(ctx, old)
		if err != nil {
			return err
		}
		parents = h.parents
	}
	pinned := len(parents)
	tree := ""
	for _, e := range list {
		if slices.Contains(parents, e.ID) {
			continue
		}
		h, err := s.git.commitHeader(ctx, e.ID)
		switch {
		case err == nil:
			parents, tree = append(parents, e.ID), h.tree
		case ctx.Err() != nil: // else it is lost already
			return err
		}
	}
	if q.err != nil || len(parents) == pinned {
		return q.err
	}
	commit := q.commit("What was stashed while ralph was at work\n", s.author("ralph"), tree, parents...)
	q.update("keep the stash", move{ref, old, commit})
	return q.err
}

// Bounds of what is compared with what the user has stashed.
const (
	maxStashes   = 20
	maxStashed   = 200     // files of one entry
	maxStashText = 1 << 20 // bytes of a file
	minLine      = 4       // bytes of a line that says something
)

// ofTheStash says that a tree holds what the user had stashed before the attempt, ""
// if it does not: an agent popped it, or applied all of it. It would come onto the
// integration branch as the agent's. In a clone, where nothing is stashed, it was most
// likely the user who popped one that is gone: there only files that are the same count.
func (s *space) ofTheStash(ctx context.Context, e executor.Effect, w *worktree, tree string) (string, error) {
	v, ok := s.refs.Load(e.Node)
	if !ok || e.Person {
		return "", nil
	}
	was := v.(*standing).stash
	if len(was) == 0 {
		return "", nil
	}
	list, err := s.readStash()
	if err != nil {
		return "", err
	}
	for i := len(was) - 1; i >= max(0, len(was)-maxStashes); i-- { // the newest first
		gone := !slices.Contains(list, was[i])
		paths, err := s.takenFrom(ctx, was[i], e.Commit, tree, gone, gone && w.Clone)
		if err != nil {
			return "", err
		}
		if len(paths) == 0 {
			continue
		}
		how := "it applied the user's stash"
		if gone {
			how = "it took the user's stash"
		}
		return fmt.Sprintf("%s (%.12s: %s), which is not its work: leave git stash alone, and work without its content", how, was[i].ID, listed(paths)), nil
	}
	return "", nil
}

// takenFrom lists the files of a stash that a tree has as it has them, and its start
// had not: of one that was dropped meanwhile those that share a line with it, of one
// that is still there all or none. With whole, a file has to be the same.
func (s *space) takenFrom(ctx context.Context, entry stashed, start, tree string, gone, whole bool) ([]string, error) {
	h, err := s.git.commitHeader(ctx, entry.ID)
	if err != nil || len(h.parents) == 0 {
		return nil, ctx.Err()
	}
	type side struct{ from, to string }
	sides := []side{{h.parents[0], entry.ID}}
	if len(h.parents) > 2 { // with what git did not know
		sides = append(sides, side{"", h.parents[2]})
	}
	var taken []string
	seen := 0
	for _, of := range sides {
		paths, err := s.namesOf(ctx, of.from, of.to)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if seen++; seen > maxStashed {
				return taken, nil
			}
			q := s.git.asking(ctx)
			before, now, there := q.ref(start+":"+p), q.ref(tree+":"+p), q.ref(of.to+":"+p)
			switch {
			case q.err != nil:
				return nil, q.err
			case there == before: // it was there without the stash
				continue
			case now == there:
				taken = append(taken, p)
				continue
			case now == "" || now == before:
				if !gone {
					return nil, nil
				}
				continue
			case whole:
				continue
			}
			shares, err := s.sharesLine(ctx, of.from, of.to, start, tree, p, gone)
			if err != nil {
				return nil, err
			}
			if shares {
				taken = append(taken, p)
			} else if !gone {
				return nil, nil
			}
		}
	}
	return taken, nil
}

// namesOf lists the files that a commit has otherwise than another, or all of them.
func (s *space) namesOf(ctx context.Context, from, to string) ([]string, error) {
	args := []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", to}
	if from != "" {
		args = []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to}
	}
	list, err := s.git.list(ctx, place{}, "", args...)
	if err != nil {
		return nil, ctx.Err() // it lacks something: it cannot have been applied
	}
	return list, nil
}

// sharesLine reports whether a file has lines that a stash adds to it and that were not
// there when the attempt began: one is enough, or it has to be all.
func (s *space) sharesLine(ctx context.Context, from, to, start, tree, path string, enough bool) (bool, error) {
	lines := func(at string) (map[string]bool, error) {
		out := map[string]bool{}
		if at == "" {
			return out, nil
		}
		b, err := s.git.blob(ctx, at+":"+path, maxStashText)
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				out[line] = true
			}
		}
		return out, err
	}
	var of [4]map[string]bool
	for i, at := range []string{from, to, start, tree} {
		var err error
		if of[i], err = lines(at); err != nil {
			return false, err
		}
	}
	added, shared := 0, 0
	for line := range of[1] {
		if of[0][line] || of[2][line] {
			continue
		}
		added++
		if of[3][line] {
			shared++
		}
	}
	return shared > 0 && (enough || shared == added), nil
}
