package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Trail is a commit of an attempt of this epic, according to its trailers.
type Trail struct {
	executor.Orphan        // Problems are those that are in the commit
	Ref             string // a branch, or a ref of ralph's, that holds it
}

// Trails returns the commits of this epic's attempts on local branches, remote-tracking
// branches or ralph's refs, sorted by their number in the journal. Trailers are
// unverified: anybody may have written them.
func (s Refs) Trails(ctx context.Context) ([]Trail, error) {
	out, err := s.git.run(ctx, place{}, "", nil, "log", "--no-show-signature", "--source", "--format="+trailerFields+"%x1f%S",
		"--fixed-strings", "--grep=Ralph-Epic: "+string(s.epic.Epic.ID), "--branches", "--remotes", "--glob="+s.prefix()+"*")
	if err != nil {
		return nil, err
	}
	var list []Trail
	for line := range strings.Lines(string(out)) {
		if t, ok := s.readTrail(line, 11); ok {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Trail) int { return bySeq(a.Orphan, b.Orphan) })
	return list, nil
}

// Check runs ralph's own checks on commits without a known verdict. A commit's start and
// the pinned base must exist.
func (s Refs) Check(ctx context.Context, trails []Trail) ([]executor.Orphan, error) {
	var out []executor.Orphan
	for _, t := range trails {
		_, _, there, err := s.Seen(ctx, t.Start)
		if err == nil && there {
			err = s.checkOrphan(ctx, &t.Orphan)
		} else if err == nil {
			t.Problems = append(t.Problems, fmt.Sprintf("the commit %.12s that it starts from is not here", t.Start))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t.Orphan)
	}
	return out, nil
}

// Seen looks for a commit. there says that the repository has it, ref is a branch or a
// ref of ralph's that contains it, "" if none does: it may be gone tomorrow.
func (s Refs) Seen(ctx context.Context, commit string) (tree executor.Tree, ref string, there bool, err error) {
	if !isOid(commit) {
		return executor.Tree{}, "", false, nil
	}
	now, err := s.git.ref(ctx, commit+"^{commit}")
	if err != nil || now != commit {
		return executor.Tree{}, "", false, err
	}
	if tree, err = s.git.at(ctx, commit); err != nil {
		return tree, "", false, err
	}
	ref, err = s.git.line(ctx, place{}, "for-each-ref", "--count=1", "--contains="+commit, "--format=%(refname)", "refs/heads", "refs/remotes", strings.TrimSuffix(s.prefix(), "/"))
	return tree, ref, true, err
}

// Remote returns the head of the remote-tracking branch of this name that contains a
// commit ("": any), "" if none does or several do with different heads.
func (s Refs) Remote(ctx context.Context, branch, holds string) (string, error) {
	args := []string{"for-each-ref", "--format=%(objectname)"}
	if holds != "" {
		if _, _, there, err := s.Seen(ctx, holds); err != nil || !there {
			return "", err
		}
		args = append(args, "--contains="+holds)
	}
	out, err := s.git.line(ctx, place{}, append(args, "refs/remotes/*/"+branch)...)
	if err != nil {
		return "", err
	}
	tips := strings.Fields(out)
	slices.Sort(tips)
	if tips = slices.Compact(tips); len(tips) != 1 {
		return "", nil
	}
	return tips[0], nil
}

// Owner reads a commit's epic and node from its trailers, "" if they are missing.
func (s Refs) Owner(ctx context.Context, commit string) (ir.NodeID, error) {
	line, err := s.git.line(ctx, place{}, "log", "-1", "--no-show-signature", "--format="+trailerFields, commit)
	if err != nil {
		return "", err
	}
	if f := strings.Split(line, "\x1f"); len(f) == 10 && f[3] == string(s.epic.Epic.ID) {
		return ir.NodeID(f[4]), nil
	}
	return "", nil
}

// Pins are the refs that a recovered run needs.
type Pins struct {
	Base     string
	Bases    []executor.NamedTree
	Results  map[ir.NodeID]string
	Attempts []Trail
	Head     string // of the integration branch
}

// Repin recreates the refs of a run whose journal is lost, all or none, each only if it
// has not moved since Repin read it. Existing refs of attempts, and an existing
// integration branch, stay. It returns how many it created or moved. The caller holds
// the run lock.
func (s Refs) Repin(ctx context.Context, p Pins) (int, error) {
	var moves []move
	q := s.git.asking(ctx)
	add := func(ref, commit string, stays bool) {
		if commit == "" {
			return
		}
		if old := q.ref(ref); old != commit && (old == "" || !stays) {
			moves = append(moves, move{ref, old, commit})
		}
	}
	if err := s.eachPin(p.Base, p.Bases, func(ref, commit string) error { add(ref, commit, false); return q.err }); err != nil {
		return 0, err
	}
	for n := range lists.Refs(s.epic.Nodes) {
		add(s.nodeRef(n.ID, "result"), p.Results[n.ID], false)
	}
	pinned := map[string]bool{}
	for _, t := range slices.Backward(p.Attempts) { // the newest first
		if s.nodes[t.Node] == nil || t.Node == executor.Integration {
			continue
		}
		ref := s.attemptRef(executor.Effect{Node: t.Node, Step: t.Step, Attempt: t.Attempt})
		if !pinned[ref] {
			pinned[ref] = true
			add(ref, t.Result.Commit, true)
		}
	}
	add(s.sumRef(), p.Head, true)
	q.update("recover", moves...)
	if q.err != nil {
		return 0, q.err
	}
	return len(moves), nil
}
