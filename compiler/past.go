package compiler

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// past is what is on record of the epic, if an id has to be derived.
func (u *unit) past(h ir.Header) Past {
	derived := slices.ContainsFunc(u.draft.Nodes, func(n ir.DraftNode) bool { return n.ID == "" })
	if u.c.in.Past == nil || !derived {
		return Past{}
	}
	return u.c.in.Past(h)
}

// checkInherited refuses an id under which something is on record that epic.json
// no longer has, or that was another item there: this one would inherit the recorded outcome
// of that one.
func (u *unit) checkInherited(n *ir.DraftNode, id ir.NodeID, past *Past, diags *diag.List) {
	title, there := past.Replaced[id]
	another := there && !alike(title, n.Title)
	fate := ""
	if another && !u.saysIDs() { // every edit of a title would ask otherwise
		if past.Fate != nil {
			fate = past.Fate()[id]
		}
		another = fate != ""
	}
	if there && !another || slices.Contains(u.c.in.Options.SameIDs, string(n.Key)) {
		return
	}
	key := clip(string(n.Key))
	if past.Unknown != "" {
		diags.Add(diag.Newf("deleted-id", n.KeyRange, "it is not known whether the id of %s is free", key).
			WithDetail("%s. If a deleted item had the id %s, this one would inherit its results and decisions. Fix the journal; or, if it is the same item, compile with --same-id %s.",
				past.Unknown, id, n.Key))
		return
	}
	was, known := past.Journal[id]
	if !known {
		return
	}
	lacks := "lacks it"
	switch {
	case another:
		lacks = fmt.Sprintf("has it for %q, where the plan has no id for this item", clip(title))
		if fate != "" {
			lacks = fmt.Sprintf("has it for %q (%s), where the plan has no ids", clip(title), fate)
		}
		was = ""
	case was != "":
		was = " (" + was + ")"
	}
	fresh := "compile with --fresh-id " + string(n.Key)
	if fate != "" {
		fresh += ", which writes its id into the plan (so without --no-annotate)"
	}
	if u.tree == nil || u.listed() { // what ralph does not write
		fresh = "give it another id in " + u.source.Path
	}
	diags.Add(diag.Newf("deleted-id", n.KeyRange, "%s would get the id of a deleted item", key).
		WithDetail("The journal of this repository knows %s%s, and the epic.json that is replaced %s. With this id %s would inherit the results and decisions of that item. If it is a new one, %s; if it is the same, with --same-id %s.",
			id, was, lacks, key, fresh, n.Key))
}

// saysIDs reports whether the plan says what ids its items have: one without was typed
// since, or lost its annotation. A plan that is never annotated says nothing.
func (u *unit) saysIDs() bool {
	return u.tree != nil && !u.listed() && (u.draft.ID != "" || slices.ContainsFunc(u.draft.Nodes, func(n ir.DraftNode) bool { return n.ID != "" }))
}

// alike reports whether two titles can be those of one item: more than half of the words
// of the longer one are in both. Where one has none, nothing is known.
func alike(a, b string) bool {
	words := func(s string) []string {
		list := strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		slices.Sort(list)
		return slices.Compact(list)
	}
	x, y := words(a), words(b)
	if len(x) == 0 || len(y) == 0 {
		return true
	}
	both := lists.Count(x, func(w *string) bool { return slices.Contains(y, *w) })
	return 2*both > max(len(x), len(y))
}

// checkIDChoices holds FreshIDs and SameIDs to items that exist, each in one plan;
// FreshIDs to items without an id.
func (c *compilation) checkIDChoices() {
	for _, key := range c.in.Options.FreshIDs {
		c.checkIDChoice("--fresh-id", key, true)
	}
	for _, key := range c.in.Options.SameIDs {
		c.checkIDChoice("--same-id", key, false)
	}
}

func (c *compilation) checkIDChoice(flag, key string, fresh bool) {
	var known []string
	var found []*ir.DraftNode
	listed := false
	for _, u := range c.builds {
		for _, n := range lists.Each(u.draft.Nodes) {
			if string(n.Key) == key {
				found = append(found, n)
				listed = listed || u.listed()
			}
			known = append(known, string(n.Key))
		}
	}
	switch {
	case len(found) == 0:
		c.diags.Add(diag.Newf("id-choice", diag.Range{}, "there is no item %q", clip(key)).
			WithDetail("%s names an item of the plan.%s Write its id as the plan has it.", flag, didYouMean(key, known)))
	case len(found) > 1:
		c.diags.Add(diag.Newf("id-choice", found[1].KeyRange, "several plans have an item %q", clip(key)).
			WithDetail("%s applies to one of them. Compile that plan alone.", flag).
			WithRelated(found[0].KeyRange, "the other one"))
	case fresh && listed:
		c.diags.Add(diag.Newf("id-choice", found[0].KeyRange, "%s has its own id", clip(key)).
			WithDetail("Items of a front matter are not annotated, so %s cannot set another id. Change the id there.", flag))
	case fresh && found[0].ID != "":
		c.diags.Add(diag.Newf("id-choice", found[0].IDRange, "the plan already states the id of %s", clip(key)).
			WithDetail("It has the id %s, and ids written in the plan are kept. If it is another item, delete that annotation and compile with %s again.", clip(string(found[0].ID)), flag))
	}
}

// checkTaken warns of names that someone else has, where the plan says them, else at
// the item, else at the title.
func (u *unit) checkTaken(e *ir.Epic, ids identities, diags *diag.List) {
	if u.c.in.Taken == nil {
		return
	}
	for _, t := range u.c.in.Taken(e) {
		at := u.draft.Range
		if i := slices.Index(ids.nodes, t.Nodes[0]); i >= 0 {
			n := &u.draft.Nodes[i]
			at = cmpRange(n.Branch.Range, cmpRange(n.Worktree.Range, n.KeyRange))
		}
		diags.Add(diag.New("name-taken", at, "a name that this epic needs is already in use").
			WithDetail("%s%s. What to do: %s.", strings.ToUpper(t.What[:1]), t.What[1:], strings.Join(t.Ways, "; or ")))
	}
}
