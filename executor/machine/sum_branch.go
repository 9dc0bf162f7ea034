package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// Branch is the content of the integration branch.
type Branch struct {
	Holds   []Held    // every result on record that is an ancestor of it, in the epic's order, those of nodes that are gone last
	LeftOut []LeftOut // nodes that have or should have a result, and of which it holds none
	Left    []Held    // what the last sum of the present run took out
	Others  []string  // heads of commits of others that it took out
	Theirs  []string  // while it waits over what it would lose: heads of accepted commits of others
	Before  string    // ref under which that sum kept what was there before, "" if nothing did
}

// Held is a result that is, or was, in the integration branch.
type Held struct {
	Node   ir.NodeID
	Key    ir.Key
	Commit string
	Older  bool   // it is not what the node comes to now
	Like   bool   // older, with the very files of the present result
	Why    string // older: where its node is: "blocked: gate check failed"
	Keep   bool   // older, and ralph retry KEY --keep-old makes it the present one
}

// LeftOut is a node without a result in the integration branch.
type LeftOut struct {
	Key  ir.Key
	Why  string // "blocked: gate check failed"
	Done bool   // it is done: its result is not joined yet
	Gone bool   // it is no longer in the epic
}

// Branch returns the content of the integration branch. within reports whether a
// commit is its head or an ancestor; if nil, that is derived from what results were
// made from, which does not include an agent's own merges.
func (v Integration) Branch(within func(commit string) bool) Branch {
	if within == nil {
		in := v.r.sum.inBranch()
		within = func(c string) bool { return in[c] }
	}
	b := Branch{Before: v.r.sum.pinned}
	h := v.r.onHold()
	nodes := v.r.recorded()
	present := map[string]bool{}
	for _, n := range nodes {
		if a := n.present(); a != nil {
			present[a.result.Commit] = true
		}
	}
	for _, n := range nodes {
		key, why := n.keyOf(), v.r.standsAt(n, h)
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
				keep := len(seen) == 1 && n.ir != nil && v.r.cannotKeepOld(n) == "" && v.r.oldOf(n).result.Commit == c
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
	for _, x := range v.r.sum.left {
		if within(x.Commit) {
			continue // it came back with the base, into which it had been merged
		}
		n := v.r.byID[x.Node]
		b.Left = append(b.Left, Held{Node: n.id, Key: n.keyOf(), Commit: x.Commit, Older: true, Why: v.r.standsAt(n, h)})
	}
	if v.r.sum.node != nil && v.r.sum.node.waitsFor(executor.CauseOlder) {
		b.Theirs = commitsOf(v.r.sum.losesOthers(true))
	}
	b.Others = lists.Keep(v.r.sum.leftOthers, func(c string) bool { return !within(c) })
	return b
}

// LeftOthers lists the heads of others' commits that the last sum of the present run
// took out.
func (v Integration) LeftOthers() []string { return slices.Clone(v.r.sum.leftOthers) }

// present is the success that makes a node of the epic done, nil if none does.
func (n *node) present() *success {
	if n.ir == nil {
		return nil
	}
	return n.accepted
}

// Results lists the commits of all results on record, each once.
func (v Integration) Results() []string { return v.r.results() }

func (gr *graph) results() []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range gr.recorded() {
		for i := range n.successes {
			if c := n.successes[i].result.Commit; !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// present lists the results of the epic's nodes, as they are now.
func (gr *graph) present() (out []executor.Result) {
	for _, n := range gr.nodes {
		if n.accepted != nil && !n.sum {
			out = append(out, executor.Result{Node: n.id, Tree: n.accepted.result})
		}
	}
	return out
}

// recorded lists the nodes of the epic, without the sum, and those that are gone.
func (gr *graph) recorded() []*node {
	var out []*node
	for n := range gr.all() {
		if n.id != executor.Integration {
			out = append(out, n)
		}
	}
	return out
}

// keyOf is what people call a node, also one that is gone.
func (n *node) keyOf() ir.Key {
	switch {
	case n.ir != nil:
		return n.ir.Key
	case n.key != "":
		return n.key
	}
	return ir.Key(n.id)
}

// standsAt is a node's state with its reason, in one line.
func (r *Run) standsAt(n *node, h holds) string {
	if n.ir == nil {
		return "no longer in the epic"
	}
	s := n.shown()
	why, reason := r.runs.word(n), r.reason(n, s, h)
	switch {
	case reason == "":
		return why
	case s.InReason():
		return reason
	}
	return why + ": " + reason
}

// put is a sum that the branch was moved to, and that is not on record as made.
type put struct {
	inputs []executor.Result
	before map[string]bool // commits of results that it held before
}

// putAt notes that the branch is moved to a sum of these. Called before the branch holds them.
func (sm *sum) putAt(inputs []executor.Result) {
	before := sm.inBranch()
	if sm.put != nil {
		before = sm.put.before
	}
	sm.put = &put{inputs, before}
}

// inBranch is the set of commits of results that the integration branch holds
// where ralph put it last.
func (sm *sum) inBranch() map[string]bool {
	out := map[string]bool{}
	var todo []string
	add := func(commit string) {
		if !out[commit] {
			out[commit] = true
			todo = append(todo, commit)
		}
	}
	p := sm.put
	if p != nil {
		for _, in := range p.inputs {
			add(in.Commit)
		}
	}
	switch {
	case sm.told != nil && (p == nil || p.inputs[0].Commit == sm.accepted.Commit): // where others left it
		for c := range inOrder(sm.told) {
			add(c)
		}
	case p == nil && sm.ref != "", p != nil && p.inputs[0].Node == executor.Integration:
		if sm.under == nil || slices.Contains(sm.under, sm.base.Commit) {
			add(sm.base.Commit)
		}
		for _, in := range inOrder(sm.holds) {
			add(in.Commit)
		}
		for _, c := range sm.under {
			add(c)
		}
	}
	if out[sm.runs.started.Base.Commit] {
		for _, x := range sm.mergedResults() {
			add(x.Commit)
		}
	}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, in := range sm.lineage.madeFrom[c] {
			add(in.Commit)
		}
	}
	return out
}

// mergedResults lists the results that the pinned base holds: a sum on it has them.
func (gr *graph) mergedResults() []executor.Result {
	var out []executor.Result
	for _, n := range gr.recorded() {
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
func (sm *sum) older() []executor.Result {
	if !sm.joins() || sm.others() {
		return nil
	}
	branch := sm.inBranch()
	if len(branch) == 0 {
		return nil
	}
	all := sm.present()
	if sm.accepted.Commit == "" || branch[sm.runs.started.Base.Commit] {
		all = append(all, sm.mergedResults()...)
	}
	stays, _ := sm.lineage.ancestors(all)
	for _, x := range all {
		stays[x.Commit] = true
	}
	var out []executor.Result
	for _, n := range sm.nodes {
		if s := n.shown(); n.sum || s == executor.Done || s == executor.Skipped || s == executor.Cancelled || sm.heldByCancelled(n) {
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

// heldByCancelled reports whether only nodes that people cancelled keep a node from being
// done: its results leave the branch with theirs.
func (gr *graph) heldByCancelled(n *node) bool {
	if n.shown() != executor.Pending || n.unsettled == 0 || n.people.paused != "" {
		return false
	}
	for _, i := range n.deps {
		if d := gr.nodes[i]; !d.status.Settled() && d.status != executor.Cancelled && !gr.heldByCancelled(d) {
			return false
		}
	}
	return true
}

// loses lists what leaves the branch when it is made of what is done now, and only by
// the word of a person who was informed of it: older results, and accepted commits of others.
func (sm *sum) loses() []executor.Result {
	older := sm.older()
	return append(older, sm.losesOthers(len(older) > 0)...)
}

// wouldLose reports whether a sum would take something out of the branch of which
// no informed person has allowed it.
func (sm *sum) wouldLose() bool {
	return slices.ContainsFunc(sm.loses(), func(x executor.Result) bool { return !sm.mayLose[x.Commit] })
}

// losesText says why the branch is not moved.
func (gr *graph) losesText(loses []executor.Result) string {
	return executor.Fitting("the branch stays as it is; it holds " + gr.lostNames(loses))
}

func (gr *graph) lostNames(loses []executor.Result) string {
	var names []string
	for _, x := range loses {
		if x.Node == executor.Integration {
			names = append(names, fmt.Sprintf("commits of others that you accepted, %.7s", x.Commit))
			continue
		}
		names = append(names, fmt.Sprintf("an older result of %s, %.7s", gr.nameOf(x.Node), x.Commit))
	}
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, "; ")
}

// holdBack lets the sum wait for a person.
func (r *Run) holdBack(n *node, b executor.NodeWaiting) error {
	if err := r.toPending(n); err != nil {
		return err
	}
	n.life, n.accepted, n.wait = life{}, nil, b
	return r.move(n, executor.Waiting)
}

// leftOf lists the newest result of each node that the branch held before, and of
// which it holds none now.
func (gr *graph) leftOf(before, now map[string]bool) []executor.Result {
	var out []executor.Result
	for _, n := range gr.recorded() {
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
