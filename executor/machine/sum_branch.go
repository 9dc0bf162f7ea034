package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Branch says what the integration branch holds.
type Branch struct {
	Holds   []Held    // every result on record that is an ancestor of it, in the epic's order, those of nodes that are gone last
	LeftOut []LeftOut // nodes that have or should have a result, and of which it holds none
	Left    []Held    // what the last sum of the present run took out
	Others  []string  // heads of commits of others that it took out
	Theirs  []string  // while it waits over what it would lose: heads of accepted commits of others
	Before  string    // ref under which that sum kept what stood there before, "" if nothing did
}

// Held is a result that the integration branch holds, or held.
type Held struct {
	Node   ir.NodeID
	Key    ir.Key
	Commit string
	Older  bool   // it is not what the node comes to now
	Like   bool   // older, with the very files of the present result
	Why    string // older: where its node stands: "blocked: gate check failed"
	Keep   bool   // older, and ralph retry KEY --keep-old makes it the present one
}

// LeftOut is a node of which the integration branch holds no result.
type LeftOut struct {
	Key  ir.Key
	Why  string // "blocked: gate check failed"
	Done bool   // it is done: its result is not joined yet
	Gone bool   // it is no longer in the epic
}

// Branch says what the integration branch holds. within reports whether a commit
// is it or an ancestor of it; without, it is derived from what results were made
// from, which does not know what an agent has merged by itself.
func (r *Run) Branch(within func(commit string) bool) Branch {
	if within == nil {
		in := r.inBranch()
		within = func(c string) bool { return in[c] }
	}
	b := Branch{Before: r.sumPinned}
	h := r.onHold()
	nodes := r.recorded()
	present := map[string]bool{}
	for _, n := range nodes {
		if a := n.present(); a != nil {
			present[a.result.Commit] = true
		}
	}
	for _, n := range nodes {
		key, why := r.keyOf(n), r.standsAt(n, h)
		a := n.present()
		has := a != nil || n.passes && n.status == executor.Done
		if a != nil && within(a.result.Commit) {
			b.Holds = append(b.Holds, Held{Node: n.id, Key: key, Commit: a.result.Commit})
		} else if a != nil {
			b.LeftOut = append(b.LeftOut, LeftOut{Key: key, Why: why, Done: true})
		}
		seen := map[string]bool{}
		for i := len(n.successes) - 1; i >= 0; i-- {
			s := &n.successes[i]
			if c := s.result.Commit; !present[c] && !seen[c] && within(c) {
				seen[c], has = true, true
				like := a != nil && a.result.Tree == s.result.Tree
				keep := len(seen) == 1 && n.ir != nil && r.cannotKeepOld(n) == "" && r.oldOf(n).result.Commit == c
				h := Held{Node: n.id, Key: key, Commit: c}
				if !n.byBase || n.status != executor.Done { // else it is what the base holds
					h.Older, h.Like, h.Why, h.Keep = true, like, why, keep
				}
				b.Holds = append(b.Holds, h)
			}
		}
		if !has && (n.ir != nil || len(n.successes) > 0) {
			b.LeftOut = append(b.LeftOut, LeftOut{Key: key, Why: why, Gone: n.ir == nil})
		}
	}
	for _, x := range r.sumLeft {
		if within(x.Commit) {
			continue // it came back with the base, into which somebody had merged it
		}
		n := r.byID[x.Node]
		b.Left = append(b.Left, Held{Node: n.id, Key: r.keyOf(n), Commit: x.Commit, Older: true, Why: r.standsAt(n, h)})
	}
	if r.sum != nil && r.sum.waitsFor(executor.CauseOlder) {
		b.Theirs = commitsOf(r.losesOthers(true))
	}
	for _, c := range r.leftOthers {
		if !within(c) {
			b.Others = append(b.Others, c)
		}
	}
	return b
}

// LeftOthers lists the heads of commits of others that the last sum of the present
// run took out.
func (r *Run) LeftOthers() []string { return slices.Clone(r.leftOthers) }

// present is the success that makes a node of the epic done, nil if none does.
func (n *node) present() *success {
	if n.ir == nil {
		return nil
	}
	return n.accepted
}

// Results lists the commits of all results on record, each once.
func (r *Run) Results() []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range r.recorded() {
		for i := range n.successes {
			if c := n.successes[i].result.Commit; !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// recorded lists the nodes of the epic, without the sum, and those that are gone.
func (r *Run) recorded() []*node {
	var out []*node
	for _, n := range r.nodes {
		if !n.sum {
			out = append(out, n)
		}
	}
	for _, id := range r.Gone() {
		if id != executor.Integration {
			out = append(out, r.byID[id])
		}
	}
	return out
}

// keyOf is what people call a node, also one that is gone.
func (r *Run) keyOf(n *node) ir.Key {
	switch {
	case n.ir != nil:
		return n.ir.Key
	case n.key != "":
		return n.key
	}
	return ir.Key(n.id)
}

// standsAt says where a node stands and why, in one line.
func (r *Run) standsAt(n *node, h holds) string {
	if n.ir == nil {
		return "no longer in the epic"
	}
	s := r.shown(n)
	why, reason := r.word(n), r.reason(n, s, h)
	switch {
	case reason == "":
		return why
	case strings.HasPrefix(reason, why):
		return reason
	}
	return why + ": " + reason
}

// put is a sum that the branch was moved to, and that is not on record as made.
type put struct {
	inputs []executor.Result
	before map[string]bool // commits of results that it held before
}

// putAt notes that the branch is moved to a sum of these. It is told before it holds them.
func (r *Run) putAt(inputs []executor.Result) {
	before := r.inBranch()
	if r.sumPut != nil {
		before = r.sumPut.before
	}
	r.sumPut = &put{inputs, before}
}

// inBranch is the set of commits of results that the integration branch holds
// where ralph put it last.
func (r *Run) inBranch() map[string]bool {
	out := map[string]bool{}
	var todo []string
	add := func(commit string) {
		if !out[commit] {
			out[commit] = true
			todo = append(todo, commit)
		}
	}
	p := r.sumPut
	if p != nil {
		for _, in := range p.inputs {
			add(in.Commit)
		}
	}
	switch {
	case r.sumTold != nil && (p == nil || p.inputs[0].Commit == r.accepted.Commit): // where others left it
		for c := range inOrder(r.sumTold) {
			add(c)
		}
	case p == nil && r.sumRef != "", p != nil && p.inputs[0].Node == executor.Integration:
		if r.sumUnder == nil || slices.Contains(r.sumUnder, r.sumBase.Commit) {
			add(r.sumBase.Commit)
		}
		for _, in := range inOrder(r.sumHolds) {
			add(in.Commit)
		}
		for _, c := range r.sumUnder {
			add(c)
		}
	}
	if out[r.started.Base.Commit] {
		for _, x := range r.mergedResults() {
			add(x.Commit)
		}
	}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range r.madeFrom[c] {
			add(in.Commit)
		}
	}
	return out
}

// mergedResults lists the results that the pinned base holds: a sum on it has them.
func (r *Run) mergedResults() []executor.Result {
	var out []executor.Result
	for _, n := range r.recorded() {
		for i := range n.successes {
			if s := &n.successes[i]; s.merged {
				out = append(out, executor.Result{Node: n.id, Tree: s.result})
			}
		}
	}
	return out
}

// older lists the results that the integration branch holds of nodes that are not
// done now, and that are part of nothing that is: it would lose them by a failure.
// What a person skipped or cancelled, or took out of the plan, may leave.
func (r *Run) older() []executor.Result {
	if !r.joins() || r.others() {
		return nil
	}
	branch := r.inBranch()
	if len(branch) == 0 {
		return nil
	}
	var all []executor.Result
	for _, n := range r.nodes {
		if n.accepted != nil && !n.sum {
			all = append(all, executor.Result{Node: n.id, Tree: n.accepted.result})
		}
	}
	if r.accepted.Commit == "" || branch[r.started.Base.Commit] {
		all = append(all, r.mergedResults()...)
	}
	stays, _ := r.ancestors(all)
	for _, x := range all {
		stays[x.Commit] = true
	}
	var out []executor.Result
	for _, n := range r.nodes {
		if s := r.shown(n); n.sum || s == executor.Done || s == executor.Skipped || s == executor.Cancelled || r.heldByCancelled(n) {
			continue
		}
		for i := len(n.successes) - 1; i >= 0; i-- {
			if c := n.successes[i].result; branch[c.Commit] && !stays[c.Commit] {
				stays[c.Commit] = true // named once
				out = append(out, executor.Result{Node: n.id, Tree: c})
			}
		}
	}
	return out
}

// heldByCancelled reports whether nothing but what people cancelled keeps a node from
// being done: what that holds leaves with what they cancelled.
func (r *Run) heldByCancelled(n *node) bool {
	if r.shown(n) != executor.Pending || n.unsettled == 0 || n.people.paused != "" {
		return false
	}
	for _, i := range n.deps {
		if d := r.nodes[i]; !d.status.Settled() && d.status != executor.Cancelled && !r.heldByCancelled(d) {
			return false
		}
	}
	return true
}

// loses lists what leaves the branch when it is made of what is done now, and only by
// the word of somebody who was told of it: older results, and accepted commits of others.
func (r *Run) loses() []executor.Result {
	older := r.older()
	return append(older, r.losesOthers(len(older) > 0)...)
}

// wouldLose reports whether a sum would take something out of the branch of which
// nobody who was told of it has said that it may.
func (r *Run) wouldLose() bool {
	return slices.ContainsFunc(r.loses(), func(x executor.Result) bool { return !r.mayLose[x.Commit] })
}

// losesText says why the branch is not moved.
func (r *Run) losesText(loses []executor.Result) string {
	return text.Head("the branch stays as it is; it holds "+r.lostNames(loses), executor.MaxNote)
}

func (r *Run) lostNames(loses []executor.Result) string {
	var names []string
	for _, x := range loses {
		if x.Node == executor.Integration {
			names = append(names, fmt.Sprintf("commits of others that you accepted, %.7s", x.Commit))
			continue
		}
		names = append(names, fmt.Sprintf("an older result of %s, %.7s", r.nameOf(x.Node), x.Commit))
	}
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, "; ")
}

// holdBack lets the sum wait for a person.
func (r *Run) holdBack(n *node, b executor.NodeWaiting) error {
	if n.status != executor.Pending {
		if err := r.move(n, executor.Pending); err != nil {
			return err
		}
	}
	n.life, n.accepted, n.wait = life{}, nil, b
	return r.move(n, executor.Waiting)
}

// gone lists the newest result of each node that the branch held before, and of
// which it holds none now.
func (r *Run) gone(before, now map[string]bool) []executor.Result {
	var out []executor.Result
	for _, n := range r.recorded() {
		var left executor.Result
		for i := range n.successes {
			c := n.successes[i].result
			if now[c.Commit] {
				left = executor.Result{}
				break
			}
			if before[c.Commit] {
				left = executor.Result{Node: n.id, Tree: c}
			}
		}
		if left.Commit != "" && !slices.ContainsFunc(out, func(x executor.Result) bool { return x.Commit == left.Commit }) {
			out = append(out, left)
		}
	}
	return out
}
