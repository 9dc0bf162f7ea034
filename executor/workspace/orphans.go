package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// trailerFields prints a commit as a line of fields.
const trailerFields = "%H%x1f%(trailers:key=Ralph-Epic,valueonly,separator=%x2C)%x1f%(trailers:key=Ralph-Node,valueonly,separator=%x2C)" +
	"%x1f%(trailers:key=Ralph-Attempt,valueonly,separator=%x2C)%x1f%(trailers:key=Ralph-Seq,valueonly,separator=%x2C)" +
	"%x1f%(trailers:key=Ralph-Start,valueonly,separator=%x2C)%x1f%(trailers:key=Ralph-Problem,valueonly,separator=%x2C)" +
	"%x1f%(trailers:key=Ralph-Work,valueonly,separator=%x2C)"

// maxSeq is beyond any number that a journal gives.
const maxSeq = 1 << 53

// Orphans returns the commits that attempts of this epic left and that carry a
// journal sequence number above after: a journal that ends there has lost its
// tail. They are looked for under ralph's refs and on the integration branch, and
// are sorted by number.
func (s *Space) Orphans(ctx context.Context, after int64) ([]executor.Orphan, error) {
	found := map[string]executor.Orphan{}
	note := func(out string, refs map[string]bool) error {
		for line := range strings.Lines(out) {
			f := strings.Split(strings.TrimRight(line, "\n"), "\x1f")
			if len(f) != 8 || f[1] != string(s.epic.Epic.ID) {
				continue
			}
			seq, err := strconv.ParseInt(strings.TrimSpace(f[4]), 10, 64)
			step, number, ok := strings.Cut(f[3], "/")
			n, nerr := strconv.Atoi(number)
			if err != nil || nerr != nil || !ok || seq <= after || seq > maxSeq {
				continue
			}
			if id := ir.NodeID(f[2]); refs != nil && !refs[s.nodeRef(id, "result")+" "+f[0]] && !refs[s.nodeRef(id, fmt.Sprintf("attempts/%s/%d", component(step), n))+" "+f[0]] {
				continue // ralph would have pinned it elsewhere
			}
			tree, err := s.git.tree(ctx, f[0])
			if err != nil {
				return err
			}
			o := executor.Orphan{
				Node: ir.NodeID(f[2]), Step: step, Attempt: n, Start: f[5], Seq: seq, Work: strings.TrimSpace(f[7]),
				Result: executor.Tree{Commit: f[0], Tree: tree},
			}
			if o.Start == "" { // of an older ralph
				if h, err := s.git.commitHeader(ctx, f[0]); err == nil && len(h.parents) > 0 {
					o.Start = h.parents[0]
				}
			}
			if step == executor.MergeStep {
				h, err := s.git.commitHeader(ctx, f[0])
				if err != nil {
					return err
				}
				o.Merged = h.parents
			}
			if err := s.checkOrphan(ctx, &o, f[6]); err != nil {
				return err
			}
			found[f[0]] = o
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
		for line := range strings.Lines(list) {
			line = strings.TrimSuffix(line, "\n")
			refs[line] = true
			tips.WriteString(line[strings.LastIndexByte(line, ' ')+1:] + "\n")
		}
		out, err := s.git.run(ctx, place{}, tips.String(), nil, "log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--format="+trailerFields)
		if err != nil {
			return nil, err
		}
		if err := note(string(out), refs); err != nil {
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
		if err != nil {
			return nil, err
		}
		if err := note(out, nil); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b executor.Orphan) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Result.Commit, b.Result.Commit))
	}), nil
}

// checkOrphan runs ralph's own checks again, whose findings may be lost with the
// journal. seen are those that stand in the commit.
func (s *Space) checkOrphan(ctx context.Context, o *executor.Orphan, seen string) error {
	if seen != "" {
		o.Problems = []string{oneLine(seen, roomListed)}
	}
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
func (s *Space) checkOrphanMerge(ctx context.Context, o *executor.Orphan) error {
	e := executor.Effect{Node: o.Node, Step: o.Step, Attempt: o.Attempt, Merge: true, Start: o.Start, Base: o.Start}
	for _, p := range o.Merged {
		e.Inputs = append(e.Inputs, executor.Result{Tree: executor.Tree{Commit: p}})
	}
	if len(e.Inputs) == 0 {
		return nil
	}
	c, err := s.examineMerge(ctx, e, o.Result.Commit, nil)
	var f *executor.Failure
	if errors.As(err, &f) && f.Class == executor.FailProtected {
		c.Problems, err = append(c.Problems, oneLine(f.Error(), roomListed)), nil
	}
	o.Problems = bounded(append(o.Problems, c.Problems...), roomListed)
	return err
}
