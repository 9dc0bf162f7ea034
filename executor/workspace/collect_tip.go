package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
)

// adopt returns the commit of this very effect, if it was made before, and the
// problems that were seen then and can no longer be.
func (s *space) adopt(ctx context.Context, e executor.Effect) (string, []string, error) {
	commit, err := s.git.ref(ctx, s.attemptRef(e))
	if err != nil || commit == "" || commit == e.Commit {
		return "", nil, err
	}
	// Anybody can write such a ref, and a commit with this key. It is ralph's if ralph
	// may have been here before: it was cut short, or had left the worktree there.
	if w := s.own(s.nodes[e.Node]); !e.Redo {
		if _, err := s.find(w); err != nil || w.Left != commit {
			return "", nil, err
		}
	}
	h, err := s.git.commitHeader(ctx, commit)
	if err != nil {
		return "", nil, err
	}
	key := ""
	var problems []string
	for line := range strings.Lines(h.message) { // ralph indents what agents say
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "Ralph-Key":
			key = value
		case "Ralph-Problem":
			problems = append(problems, value)
		}
	}
	if key != oneLine(e.Key(s.epic.Epic.ID), 400) {
		return "", nil, nil
	}
	// The branch may not have followed when the crash came.
	if branch := s.own(s.nodes[e.Node]).ref; branch != "" {
		err = s.git.point(ctx, "adopt", [2]string{branch, commit})
	}
	return commit, problems, err
}

// tip returns the commit that ralph's commit is on: the agent's own commits,
// as long as it stayed on its branch and rewrote nothing.
func (s *space) tip(ctx context.Context, e executor.Effect, w *worktree) (string, []string, error) {
	head, problems, err := s.headLeft(ctx, e, w)
	if err != nil || head == "" {
		return e.Commit, problems, err
	}
	q := s.git.asking(ctx)
	has := slices.ContainsFunc(append([]string{head}, s.mergeHeads(w)...), func(c string) bool { return q.ancestor(e.Commit, c) })
	switch {
	case q.err != nil:
		return "", nil, q.err
	case !has && e.Person && !e.Merge: // it stays theirs, and Collect says so
		return head, problems, nil
	case !has:
		return e.Commit, append(problems, "it rewrote history: the commit that it started from is gone from its branch"), nil
	}
	wrong, err := s.unsound(ctx, w, head, e.Commit)
	if err != nil {
		return "", nil, err
	}
	if wrong != "" {
		problems = append(problems, wrong+": leave such objects alone, and commit with git commit; its files are taken without its commits")
		if !e.Person || e.Merge {
			head = e.Commit
		}
		return head, problems, nil
	}
	forged, err := s.forged(ctx, e, head)
	return head, append(problems, forged...), err
}

// headLeft is the commit that HEAD of a worktree names, "" if none of it can be taken,
// and what is wrong with that.
func (s *space) headLeft(ctx context.Context, e executor.Effect, w *worktree) (head string, problems []string, err error) {
	if w.cut {
		problems = append(problems, "the link of its worktree to the repository (.git, HEAD) was replaced")
	}
	if w.refused != "" {
		problems = append(problems, w.refused)
	}
	on, head, err := s.headOf(w)
	if err != nil {
		return "", nil, err
	}
	if on != w.ref {
		problems = append(problems, fmt.Sprintf("it left its branch %s", w.node.Git.Branch))
	}
	if strings.HasPrefix(on, "refs/") {
		if w.Clone {
			_, head, err = s.cloneHead(w)
		} else {
			head, err = s.git.ref(ctx, on)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if head != "" { // before anything of it is read
		if wrong, err := s.overweight(ctx, e, w, head); err != nil {
			return "", nil, err
		} else if wrong != "" {
			return "", append(problems, "its own commits cannot be taken: "+wrong), nil
		}
		if _, err := s.git.commitHeader(ctx, head); err == nil {
			return head, problems, nil
		}
	}
	return "", append(problems, "HEAD of its worktree names no commit"), ctx.Err()
}

// forged finds commits of the agent's own that carry a number of the journal that
// was not given yet: they would pass for commits that the journal has lost. One
// that was taken from another sprint carries a smaller number.
func (s *space) forged(ctx context.Context, e executor.Effect, head string) ([]string, error) {
	if head == e.Commit || e.Seq == 0 {
		return nil, nil
	}
	out, err := s.git.line(ctx, place{}, "log", "--no-show-signature", "--format=%h %(trailers:key=Ralph-Seq,valueonly,separator=%x20)", head, "^"+e.Commit)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		commit, given, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, g := range strings.Fields(given) {
			if n, err := strconv.ParseInt(g, 10, 64); err != nil || n > e.Seq {
				return []string{fmt.Sprintf("its commit %s says that ralph made it (Ralph-Seq: %s): leave such lines out of messages", commit, oneLine(g, 40))}, nil
			}
		}
	}
	return nil, nil
}
