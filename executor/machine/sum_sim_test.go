package machine

import (
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// branchModel knows what the commits of a simulated run were made from, told by
// the effects alone.
type branchModel struct {
	parents map[string][]string
	stays   []string // results that the sum that is being made must keep
	parts   []string // and those that were there when it began
}

// follow keeps the model in step with an event, and holds what the machine says
// of the integration branch against it.
func (s *sim) follow(e executor.Event) {
	s.t.Helper()
	m := &s.branch
	if m.parents == nil {
		m.parents = map[string][]string{}
	}
	made := func(commit string, from ...string) { m.parents[commit] = append(m.parents[commit], from...) }
	switch b := e.Body.(type) {
	case executor.BaseMade:
		made(b.Base.Commit, commitsOf(s.was.Inputs)...)
	case executor.Collected:
		made(b.Result.Commit, s.was.Commit)
		if s.was.Merge {
			made(b.Result.Commit, commitsOf(s.was.Inputs)...)
		}
	case executor.TailLost:
		for _, o := range b.Found {
			made(o.Result.Commit, o.Start)
		}
	case executor.EffectFailed:
		if b.Class == executor.FailForeign && b.Holds == nil && m.parents[b.Head.Commit] == nil {
			made(b.Head.Commit, s.run.sum.ref)
		}
	case executor.NodeStarted:
		if e.Node == executor.Integration {
			m.stays, m.parts = s.mustStay(), nil
			for _, n := range s.run.nodes {
				if n.accepted != nil && !n.sum {
					m.parts = append(m.parts, n.accepted.result.Commit)
				}
			}
		}
	case executor.Published:
		if e.Node != executor.Integration || !s.run.joins() {
			return
		}
		holds := m.ancestors(b.Result.Commit)
		for _, c := range m.stays {
			if !holds[c] {
				s.t.Errorf("event %d moves the branch to %s and it loses %s, of a node that is not done", e.Seq, b.Result.Commit, c)
			}
		}
	case executor.NodeDone:
		holds := m.ancestors(s.run.sum.ref)
		for _, c := range m.parts {
			if e.Node == executor.Integration && s.run.joins() && !holds[c] {
				s.t.Errorf("the sum at %s does not hold %s, which was done when it began", s.run.sum.ref, c)
			}
		}
	case executor.RunEnded, executor.RunStarted, executor.Decided:
	default:
		return
	}
	s.accountIsTrue()
}

// ancestors is a commit with all that it was made from.
func (m *branchModel) ancestors(commit string) map[string]bool {
	out := map[string]bool{}
	for todo := []string{commit}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !out[c] {
			out[c] = true
			todo = append(todo, m.parents[c]...)
		}
	}
	return out
}

// mustStay lists what the branch holds of nodes that are not done.
func (s *sim) mustStay() (out []string) {
	r := s.run
	if !r.joins() || r.sum.others() {
		return nil
	}
	holds := s.branch.ancestors(r.sum.ref)
	for _, n := range r.nodes {
		if st := n.shown(); n.sum || st == executor.Done || st == executor.Skipped || st == executor.Cancelled || s.onlyCancelled(n) {
			continue
		}
		for _, x := range n.successes {
			if holds[x.result.Commit] && !r.sum.mayLose[x.result.Commit] {
				out = append(out, x.result.Commit)
			}
		}
	}
	return out
}

// onlyCancelled reports whether everything that a pending node lacks, however far up,
// comes down to what people cancelled.
func (s *sim) onlyCancelled(n *node) bool {
	if n.status != executor.Pending || n.people.paused != "" {
		return false
	}
	lacking, seen := 0, map[int]bool{}
	for todo := slices.Clone(n.deps); len(todo) > 0; {
		d := s.run.nodes[todo[0]]
		i := todo[0]
		todo = todo[1:]
		switch {
		case seen[i] || d.status == executor.Done || d.status == executor.Skipped:
		case d.status == executor.Cancelled:
			lacking++
		case d.shown() == executor.Pending && d.people.paused == "" && d.unsettled > 0:
			todo = append(todo, d.deps...)
		default:
			return false
		}
		seen[i] = true
	}
	return lacking > 0
}

// moved is a publish that finds the branch where others have put it: on top of what
// ralph left, back to where it stood before, or somewhere else.
func (s *sim) moved(e executor.Effect, mark string) executor.EffectFailed {
	m := &s.branch
	f := executor.EffectFailed{Class: executor.FailForeign, Detail: "foreign", Head: executor.Tree{Commit: "f" + mark, Tree: "t" + mark}}
	switch s.rng.IntN(4) {
	case 0: // as an earlier ralph told it
		m.parents[f.Head.Commit] = []string{e.Old}
		return f
	case 1:
		m.parents[f.Head.Commit] = []string{e.Old}
	case 2:
		for _, c := range e.Known {
			if s.rng.IntN(3) == 0 {
				m.parents[f.Head.Commit] = append(m.parents[f.Head.Commit], c)
			}
		}
	default:
		before := slices.Sorted(maps.Keys(m.ancestors(e.Old)))
		f.Head.Commit, f.Back = before[s.rng.IntN(len(before))], true
	}
	holds := m.ancestors(f.Head.Commit)
	f.Holds = []string{}
	for _, c := range e.Known {
		if holds[c] {
			f.Holds = append(f.Holds, c)
		}
	}
	return f
}

// accountIsTrue checks that of the results on record exactly those are listed that
// are ancestors of the integration branch, and that what is done and not in it is
// named. execution §5 (the sum)
func (s *sim) accountIsTrue() {
	s.t.Helper()
	r := s.run
	if r.sum.node == nil || !r.joins() || r.runs.foreign {
		return
	}
	b := r.Integration().Branch(nil)
	listed := map[string]bool{}
	for _, h := range b.Holds {
		listed[h.Commit] = true
	}
	holds := s.branch.ancestors(r.sum.ref)
	for _, c := range r.results() {
		if listed[c] != holds[c] {
			s.t.Errorf("after event %d the branch is at %q: result %s is an ancestor: %t; listed: %t", r.seq, r.sum.ref, c, holds[c], listed[c])
		}
	}
	for _, h := range b.Left {
		if holds[h.Commit] {
			s.t.Errorf("after event %d the branch is at %q: result %s is an ancestor, and is said to have left it", r.seq, r.sum.ref, h.Commit)
		}
	}
	missing := map[ir.Key]bool{}
	for _, l := range b.LeftOut {
		missing[l.Key] = l.Done
	}
	for _, n := range r.nodes {
		if n.accepted != nil && !n.sum && holds[n.accepted.result.Commit] == missing[n.ir.Key] {
			s.t.Errorf("%s is done with %s: an ancestor: %t; named as missing: %t", n.ir.Key, n.accepted.result.Commit, holds[n.accepted.result.Commit], missing[n.ir.Key])
		}
	}
}
