package compiler

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// What an epic costs is the sum of what its nodes carry. Some of it is in the
// plan or the policy once and in each node again: labels of the plan, the goal of a
// phase, gates and steps of a policy. It is counted before it is made.

// Approximate bytes of a node's part in epic.json; lists of names are searched.
const (
	stepWidth = 600
	gateWidth = 600
	nameWidth = 100
)

// roomFor is what all nodes of a compile may carry.
func roomFor(size int) int { return max(smallEpic, epicGrowth*size) }

// carry counts n bytes more that a node is to carry and reports whether there is room.
// The first time there is none it says so, at the node.
func (u *unit) carry(d *ir.DraftNode, n int, what string) bool {
	before := u.c.room
	u.c.room -= n
	if u.c.room >= 0 {
		return true
	}
	if before >= 0 {
		u.c.diags.Add(diag.New("plan-too-large", d.Range, "the items carry too much text").
			WithDetail("With %s of this item, what all items carry is more than %d MB: text written once in the plan or the policy is repeated in every item. Shorten it, or write it where it is needed.", what, roomFor(u.c.size)>>20))
	}
	return false
}

// lengthOf is how many bytes a list of texts takes.
func lengthOf(texts []string) int {
	n := 0
	for _, s := range texts {
		n += len(s) + 8
	}
	return n
}

// listed estimates how many values the lists of a label hold; 0 for text and
// dependencies, which have limits of their own.
func listed(lb *syntax.Label) int {
	switch lb.Name {
	case syntax.Goal, syntax.Description, syntax.Prompt, syntax.DependsOn, syntax.Blocks, syntax.Related, syntax.Parent, syntax.DiscoveredFrom:
		return 0
	}
	v := lb.Value.Value
	return 1 + max(strings.Count(v, ","), strings.Count(lb.Value.Raw, "`")/2) + len(lb.Items) + len(lb.Text) + len(lb.Fences)
}

// within returns the labels of a section up to those that list more than an item can
// have.
func (l *lowering) within(labels []syntax.Label) []syntax.Label {
	n := 0
	for i := range labels {
		if n += listed(&labels[i]); n > maxEntries {
			l.tooMany(labels[i].Range())
			return labels[:i]
		}
	}
	return labels
}

func (l *lowering) tooMany(at diag.Range) {
	l.diags.Add(diag.New("plan-too-large", at, "the labels list too much").
		WithDetail("The labels below one heading may list %d values in total. Write a glob for many paths, or split the item.", maxEntries))
}

// unique returns the values without repetitions, in order.
func unique(values []string) []string {
	seen := make(map[string]bool, len(values))
	return slices.DeleteFunc(values, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}
