package compiler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/policies"
)

// view is what expressions of the policy see of a node.
func (u *unit) view(n *ir.DraftNode) *policies.NodeView {
	v := &policies.NodeView{
		Key: string(n.Key), Phase: n.Phase, Title: n.Title, Goal: n.Goal, Kind: string(n.Kind),
		Lane: n.Lane.Value, Type: n.Type.Value, Priority: defaultPriority,
		Labels: u.labels(n), Owns: n.Scope.Owns, Paths: paths(&n.Scope), Done: n.Done,
	}
	if p, ok := priority(n.Priority.Value); ok && n.Priority.Set() {
		v.Priority = p
	}
	for _, e := range n.Edges {
		if e.Type == ir.Blocks {
			v.After = append(v.After, string(e.Key))
		}
	}
	return v
}

func paths(s *ir.Scope) []string { return slices.Concat(s.Owns, s.Files) }

func (u *unit) labels(n *ir.DraftNode) []string {
	switch {
	case len(u.draft.Labels) == 0:
		return n.Labels
	case len(n.Labels) == 0:
		return u.draft.Labels
	}
	out := slices.Clone(n.Labels)
	for _, l := range u.draft.Labels {
		if !slices.Contains(n.Labels, l) {
			out = append(out, l)
		}
	}
	return out
}

// excluded reports whether a label leaves a node to people: a word that the policy or
// the plan has for it, or Agent Shepherd's.
func (u *unit) excluded(n *ir.DraftNode) bool {
	words := []string{ir.ExcludedLabel}
	of := func(s *policies.Settings) { words = append(words, s.HITL.Labels.V["exclude"]) }
	of(&u.set.Settings)
	of(&u.set.DefaultPolicy().Settings)
	if p := u.runPolicy(); p != nil {
		of(&p.Settings)
	}
	for _, f := range u.fences.plan {
		of(&f.Settings)
	}
	if t := u.set.Tracker; t != nil {
		words = append(words, t.Labels.V["exclude"])
	}
	return slices.ContainsFunc(u.labels(n), func(l string) bool { return l != "" && slices.Contains(words, l) })
}

// level finds the complexity of a node: flag, label, words of the plan.
func (u *unit) level(it *part, diags *diag.List) *policies.Complexity {
	n := it.draft
	found, word := u.set.MatchComplexity(u.words(it))
	it.word, it.from = word, "keyword"
	if word == "" {
		it.from = "default"
	}
	level := u.set.Complexity[found]
	critical := required(level)
	it.floor = critical
	if n.Complexity.Set() {
		if stated := u.set.Complexity[strings.ToLower(n.Complexity.Value)]; stated != nil && u.may("complexity", n.Complexity.Range, diags) {
			if critical && stated.Rank.V < level.Rank.V {
				diags.Add(diag.Newf("leaves-critical", n.Complexity.Range, "%s is %s and cannot be made %s here", clip(string(n.Key)), level.Name, stated.Name).
					WithDetail("The word %q makes this item %s. A plan cannot lower that. Remove the label, or reword the item if the word does not fit.", word, level.Name).
					WithRelated(n.Range, "the item"))
			} else {
				level, it.word, it.from = stated, "", "plan"
			}
		}
	}
	it.floor = it.floor || required(level) // a flag does not skip the review of what the plan calls critical
	if f := u.c.in.Options.Complexity; f != "" {
		if stated := u.set.Complexity[f]; stated != nil {
			level, it.word, it.from = stated, "", "flag"
		}
	}
	return level
}

// words returns title, goal and tasks as written, with their code spans: those
// say nothing about how critical an item is.
func (u *unit) words(n *part) (title, goal string, tasks []string) {
	it := n.item
	if it == nil {
		tasks = lists.Map(n.draft.Tasks, func(t ir.Task) string { return t.Text })
		return n.draft.Title, n.draft.Goal, tasks
	}
	title = it.Title
	if r := it.TitleRange; r.Start >= 0 && r.Start < r.End && r.End <= len(u.file.Bytes) {
		title = u.file.Text(r)
	}
	for k := range it.Body.Labels {
		if lb := &it.Body.Labels[k]; lb.Name == syntax.Goal {
			goal += " " + lb.Value.Raw
			for _, t := range lb.Text {
				goal += " " + t
			}
		}
	}
	tasks = make([]string, 0, len(it.Body.Tasks))
	for k := range it.Body.Tasks {
		tasks = append(tasks, it.Body.Tasks[k].Text.Raw)
	}
	return title, goal, tasks
}

func required(c *policies.Complexity) bool { return c != nil && c.Review.V == "required" }

// checkFlags reports values of flags that the policy does not know.
func (u *unit) checkFlags(diags *diag.List) {
	f := u.c.in.Options.Complexity
	if f != "" && u.set.Complexity[f] == nil {
		known := slices.Sorted(maps.Keys(u.set.Complexity))
		diags.Add(diag.Newf("unknown-complexity", diag.Range{}, "there is no complexity %q", clip(f)).
			WithDetail("Levels are %s.%s", strings.Join(known, ", "), didYouMean(f, known)))
	}
}

// choosePolicy returns the policy block of a node: named by the plan, else the
// one that matches, else the default.
func (u *unit) choosePolicy(n *ir.DraftNode, v *policies.NodeView, diags *diag.List) (*policies.Policy, string) {
	def := u.set.DefaultPolicy()
	for _, named := range []ir.Stated{n.Policy, u.draft.Policy} {
		if !named.Set() {
			continue
		}
		p := u.set.Policies[named.Value]
		if p == nil {
			known := slices.Sorted(maps.Keys(u.set.Policies))
			diags.Add(diag.Newf("unknown-policy", named.Range, "there is no policy %q", clip(named.Value)).
				WithDetail("Policies are %s.%s", strings.Join(known, ", "), didYouMean(named.Value, known)))
			continue
		}
		if !u.may("policy", named.Range, diags) {
			continue
		}
		return u.policyFor(p, v, diags), "named by the plan"
	}
	match := u.set.Matching(v)
	if len(match) == 0 {
		return u.policyFor(def, v, diags), "the default"
	}
	if len(match) > 1 {
		// Once for each pair, however many items they match.
		if !u.c.said.first("ambiguous " + u.source.Path + "\x00" + match[0].Name + "\x00" + match[1].Name) {
			return match[0], "ambiguous"
		}
		d := diag.Newf("ambiguous-policy", n.Range, "two policies match %s", clip(string(n.Key))).
			WithDetail("%q and %q match with the same priority, so ralph cannot choose. Give one of them a higher priority, or narrow its match block.", match[0].Name, match[1].Name)
		diags.Add(d.WithRelated(match[0].Range, "this one").WithRelated(match[1].Range, "and this one"))
	}
	return u.policyFor(match[0], v, diags), fmt.Sprintf("matches policy %q", match[0].Name)
}

func (u *unit) policyFor(p *policies.Policy, v *policies.NodeView, diags *diag.List) *policies.Policy {
	if !p.Dynamic {
		return p
	}
	q, l := p.For(v)
	diags.Add(l...)
	if q == nil {
		return p
	}
	return q
}
