package workspace

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// trailerFields prints a commit as a line of fields, see readTrail.
var trailerFields = "%H%x1f%T%x1f%P" + trailer("Epic") + trailer("Node") + trailer("Attempt") + trailer("Seq") + trailer("Start") + trailer("Problem") + trailer("Work")

func trailer(key string) string {
	return "%x1f%(trailers:key=Ralph-" + key + ",valueonly,separator=%x2C)"
}

// maxSeq is beyond any number that a journal gives.
const maxSeq = 1 << 53

// maxTrailers bounds what trailers say, in bytes: it has to fit into an event.
const maxTrailers = 1000

// readTrail reads a line of so many fields: trailerFields, and the ref. ok is false if it
// is no commit of an attempt of this epic: a base that ralph merged, or what was saved.
func (s *space) readTrail(line string, fields int) (t Trail, ok bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), "\x1f")
	if len(f) != fields || f[3] != string(s.epic.Epic.ID) {
		return t, false
	}
	if len(f[4])+len(f[5])+len(f[7])+len(f[9]) > maxTrailers {
		return t, false // ralph writes none so long
	}
	step, number, ok := strings.Cut(f[5], "/")
	attempt, err := strconv.Atoi(number)
	seq, serr := strconv.ParseInt(strings.TrimSpace(f[6]), 10, 64)
	if !ok || err != nil || serr != nil || attempt < 1 || seq < 1 || seq > maxSeq {
		return t, false
	}
	t.Orphan = executor.Orphan{
		Node: ir.NodeID(f[4]), Step: step, Attempt: attempt, Start: f[7], Seq: seq, Work: strings.TrimSpace(f[9]), Result: executor.Tree{Commit: f[0], Tree: f[1]},
	}
	parents := strings.Fields(f[2])
	if t.Start == "" && len(parents) > 0 { // of an older ralph
		t.Start = parents[0]
	}
	if step == executor.MergeStep {
		t.Merged = parents
	}
	if f[8] != "" {
		t.Problems = []string{oneLine(f[8], roomListed)}
	}
	t.Ref = strings.Join(f[10:], "")
	return t, true
}

func bySeq(a, b executor.Orphan) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Result.Commit, b.Result.Commit))
}

// Orphans returns the commits of this epic's attempts that carry a journal sequence
// number above after: a journal that ends there has lost its tail. It searches ralph's
// refs and the integration branch, and sorts by number.
func (s Refs) Orphans(ctx context.Context, after int64) ([]executor.Orphan, error) {
	found := map[string]executor.Orphan{}
	note := func(out string, refs map[string]bool) error {
		for line := range strings.Lines(out) {
			o, ok := s.readTrail(line, 10)
			if !ok || o.Seq <= after {
				continue
			}
			if at := " " + o.Result.Commit; refs != nil && !refs[s.nodeRef(o.Node, "result")+at] && !refs[s.attemptRef(executor.Effect{Node: o.Node, Step: o.Step, Attempt: o.Attempt})+at] {
				continue // ralph would have pinned it elsewhere
			}
			if err := s.checkOrphan(ctx, &o.Orphan); err != nil {
				return err
			}
			found[o.Result.Commit] = o.Orphan
		}
		return nil
	}
	list, err := s.git.line(ctx, place{}, "for-each-ref", "--format=%(refname) %(objectname)", s.prefix()+"nodes/")
	if err != nil {
		return nil, err
	}
	if list != "" {
		var tips strings.Builder
		refs := map[string]bool{}
		for line := range strings.SplitSeq(list, "\n") {
			refs[line] = true
			tips.WriteString(line[strings.LastIndexByte(line, ' ')+1:] + "\n")
		}
		out, err := s.git.run(ctx, place{}, tips.String(), nil, "log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--format="+trailerFields)
		if err == nil {
			err = note(string(out), refs)
		}
		if err != nil {
			return nil, err
		}
	}
	tip, err := s.Integrated(ctx)
	if err != nil {
		return nil, err
	}
	base, err := s.base(ctx)
	if err != nil {
		return nil, err
	}
	if tip != "" && base != "" {
		out, err := s.git.line(ctx, place{}, "log", "--no-show-signature", "--format="+trailerFields, tip, "^"+base)
		if err == nil {
			err = note(out, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(found), bySeq), nil
}

// checkOrphan runs ralph's own checks again, whose findings may be lost with the
// journal. They join those that are in the commit.
func (s *space) checkOrphan(ctx context.Context, o *executor.Orphan) error {
	n := s.nodes[o.Node]
	if n == nil || n.Kind == ir.Manual || o.Start == "" {
		return nil
	}
	if o.Step == executor.MergeStep { // whatever the work is that begins on it
		return s.checkOrphanMerge(ctx, o)
	}
	if o.Work == "" && n.Digest.Work != "" {
		o.Problems = append(o.Problems, "it does not say what it was made for")
	}
	step := stepOf(n, o.Step)
	c, err := s.examine(ctx, executor.Effect{Node: o.Node, Step: o.Step, Attempt: o.Attempt, Start: o.Start, Base: o.Start}, n, step, o.Result.Commit, nil)
	o.Problems = bounded(append(o.Problems, c.Problems...), roomListed)
	return err
}

// checkOrphanMerge checks a resolution against what its parents merge to.
func (s *space) checkOrphanMerge(ctx context.Context, o *executor.Orphan) error {
	e := executor.Effect{Node: o.Node, Step: o.Step, Attempt: o.Attempt, OfTree: executor.OfTree{Merge: true}, Start: o.Start, Base: o.Start}
	e.Inputs = lists.Map(o.Merged, func(p string) executor.Result { return executor.Result{Tree: executor.Tree{Commit: p}} })
	if len(e.Inputs) == 0 {
		return nil
	}
	c, err := s.examineMerge(ctx, e, o.Result.Commit, nil)
	if f, ok := errors.AsType[*executor.Failure](err); ok && f.Class == executor.FailProtected {
		c.Problems, err = append(c.Problems, oneLine(f.Error(), roomListed)), nil
	}
	o.Problems = bounded(append(o.Problems, c.Problems...), roomListed)
	return err
}
