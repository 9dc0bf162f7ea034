package compiler

import (
	"slices"
	"time"

	"github.com/ralph-compiler/ralph/compiler/depend"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// passLints looks at the finished epic for what will probably not go well. It
// changes nothing.
func (b *build) passLints(diags *diag.List) *ir.Epic {
	e := b.epic
	b.lintGates(e, diags)
	b.lintEditable(e, diags)
	b.lintProtect(e, diags)
	b.lintOverlaps(e, diags)
	b.lintDeadlines(e, diags)
	b.lintBudget(e, diags)
	b.lintCapabilities(e, diags)
	return e
}

// maxPairs bounds how many pairs of items are looked at for common files.
const maxPairs = 100_000

// lintOverlaps names items side by side that will change the same files.
func (u *unit) lintOverlaps(e *ir.Epic, diags *diag.List) {
	order := u.deps.Order()
	if len(order) != len(e.Nodes) {
		return // there is a cycle
	}
	claims := make([][]string, len(e.Nodes))
	some := false
	for i := range e.Nodes {
		if !e.Nodes[i].Done {
			claims[i] = paths(&e.Nodes[i].Scope)
			some = some || len(claims[i]) > 0
		}
	}
	if !some {
		return
	}
	place := make([]int32, len(e.Nodes))
	for at, i := range order {
		place[i] = int32(at)
	}
	var pairs []depend.Pair
	for _, o := range depend.Overlaps(claims) {
		slices.SortFunc(o.Items, func(a, b int32) int { return int(place[a] - place[b]) })
		items := o.Items[:min(len(o.Items), 50)]
		if len(pairs) > maxPairs {
			break
		}
		for k := range items {
			for m := range k {
				pairs = append(pairs, depend.Pair{A: items[m], B: items[k], Path: o.Path})
			}
		}
	}
	told := map[[2]int32]bool{}
	u.deps.Unordered(pairs, func(p depend.Pair) {
		if told[[2]int32{p.A, p.B}] || len(told) >= 50 {
			return
		}
		told[[2]int32{p.A, p.B}] = true
		a, b := &u.draft.Nodes[p.A], &u.draft.Nodes[p.B]
		diags.Add(diag.Newf("file-overlap", b.KeyRange, "%s and %s change the same files", clip(string(b.Key)), clip(string(a.Key))).
			WithDetail("Both name %q and neither depends on the other, so their results may conflict when merged. Let one depend on the other, or give them different files.", clip(p.Path)).
			WithRelated(a.KeyRange, "%s is here", a.Key))
	})
}

// lintDeadlines needs a clock, which only warnings may see.
func (u *unit) lintDeadlines(e *ir.Epic, diags *diag.List) {
	now := u.c.in.Options.Now
	if now.IsZero() {
		return
	}
	for it, n := range u.nodes(e) {
		d := it.draft
		at, ok := ir.Deadline(n.Limits.Deadline)
		if !ok || n.Done {
			continue
		}
		left := at.Sub(now)
		need := time.Duration(0)
		for k := range n.Steps {
			l := &n.Steps[k].Limits
			need += time.Duration(l.Attempts) * time.Duration(l.TimeoutMS) * time.Millisecond
		}
		switch {
		case left <= 0:
			diags.Add(diag.Newf("deadline-past", d.Deadline.Range, "the deadline of %s is in the past", clip(string(n.Key))).
				WithDetail("%s is in the past. Write a later one, or remove it.", n.Limits.Deadline))
		case need > left:
			diags.Add(diag.Newf("deadline-tight", d.Deadline.Range, "%s may run beyond its deadline", clip(string(n.Key))).
				WithDetail("All attempts with their timeouts may take %s, but only %s remain. Lower attempts or timeout, or write a later deadline.", need, left.Round(time.Minute)))
		}
	}
}

// lintBudget compares budgets with what no run can stay below: each step reads
// its prompt at least once, and estimates along a path add up.
func (u *unit) lintBudget(e *ir.Epic, diags *diag.List) {
	run := u.whole.Budget
	var total, cost int64
	for it, n := range u.nodes(e) {
		if n.Done {
			continue
		}
		t, c := cheapest(e, n)
		total, cost = total+t, cost+c
		at := cmpRange(it.draft.Budget.Range, it.draft.KeyRange)
		if b := n.Limits.Budget; below(b.Tokens, t) || below(b.USDMicro, c) || below(b.WallMS, n.Limits.EstimateMS) {
			budgetTooSmall(at, "the budget of "+clip(string(n.Key)), "Reading its prompts once costs more than that, or its estimate is longer.", diags)
		}
	}
	for _, b := range []struct {
		of    policies.Value[int64]
		least int64
		what  string
		why   string
	}{
		{run.Tokens, total, "the token budget", readsPrompts},
		{run.USDMicro, cost, "the budget in dollars", readsPrompts},
		{run.WallMS, u.longestEstimate(e), "the time budget", "The estimates of items that follow each other add up to more."},
	} {
		if below(b.of.V, b.least) {
			budgetTooSmall(b.of.Range, b.what, b.why, diags)
		}
	}
}

// below reports whether there is a budget, and it is too small.
func below(budget, least int64) bool { return budget > 0 && budget < least }

// readsPrompts is why a budget of tokens or dollars is too small.
const readsPrompts = "Reading every prompt once costs more than that."

func budgetTooSmall(at diag.Range, what, why string, diags *diag.List) {
	diags.Add(diag.Newf("budget-too-small", at, "%s is below the cheapest run", what).
		WithDetail("%s Raise the budget, or remove it.", why))
}

// bytesPerToken is a cautious bound: real texts have more tokens.
const bytesPerToken = 8

// cheapest returns tokens and cost below which the node cannot be done.
func cheapest(e *ir.Epic, n *ir.Node) (tokens, cost int64) {
	size := 0
	for _, l := range n.Prompt {
		size += len(l) + 1
	}
	for k := range n.Steps {
		if n.Steps[k].Agent == "" {
			continue
		}
		t := int64(size / bytesPerToken)
		tokens += t
		cost += t * e.Models[n.Steps[k].Model].PriceInput / 1_000_000
	}
	return tokens, cost
}

// longestEstimate is the longest sum of estimates along one path.
func (u *unit) longestEstimate(e *ir.Epic) int64 {
	until := make([]int64, len(e.Nodes))
	longest := int64(0)
	for _, i := range u.deps.Order() {
		for from := range u.deps.Waits(i) {
			until[i] = max(until[i], until[from])
		}
		if !e.Nodes[i].Done {
			until[i] += e.Nodes[i].Limits.EstimateMS
		}
		longest = max(longest, until[i])
	}
	return longest
}

// lintCapabilities names capabilities that the plan needs and only one agent
// has: when it is not available, work stops.
func (u *unit) lintCapabilities(e *ir.Epic, diags *diag.List) {
	if !u.set.UserAgents() {
		return
	}
	have := map[string][]*policies.Agent{}
	for _, name := range sortedNames(u.set.Agents) {
		a := u.set.Agents[name]
		if a.Builtin || !a.Active.Get(true) {
			continue
		}
		for _, c := range a.Capabilities.V {
			have[c] = append(have[c], a)
		}
	}
	needed := map[string]bool{}
	for i := range e.Nodes {
		for k := range e.Nodes[i].Steps {
			for _, c := range e.Nodes[i].Steps[k].Capabilities {
				needed[c] = true
			}
		}
	}
	for _, c := range sortedNames(needed) {
		if l := have[c]; len(l) == 1 && len(l[0].Fallback.V) == 0 {
			diags.Add(diag.Newf("single-agent", l[0].Range, "only one agent can %s", clip(c)).
				WithDetail("Only %q has the capability %q, and it has no fallback. Give another agent the capability, or write a fallback.", l[0].Name, c))
		}
	}
}
