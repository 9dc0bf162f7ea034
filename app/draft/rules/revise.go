package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Named is a sprint by its id.
type Named struct {
	ID    ir.NodeID
	Key   ir.Key
	Title string
	Range diag.Range // of its heading
}

// Identities are the ids that a plan states.
type Identities struct {
	Epic  ir.NodeID // "" if it says none
	Items []Named   // that have one
}

// Was is the plan before the change.
type Was struct {
	Identities
	Finished []Named // sprints that are done, by the record or by the plan
	Text     string
	Brief    string // what it was first written for; "" if unknown

	Implements []string // what was under Implements of its sprints
}

// Revised is a changed plan, with its former state.
type Revised struct {
	Compiled
	Was   Was
	Asked string               // what was to be different
	Again map[ir.NodeID]string // sprints that would run with it, and why
}

// CheckRevised is Check for a changed plan: in addition, remaining sprints keep their ids,
// and finished ones are unchanged. The list is sorted.
func CheckRevised(r Revised) diag.List {
	c := r.Compiled
	c.Finished = map[ir.NodeID]bool{}
	unsure := unsureOf(&c)
	for _, f := range r.Was.Finished {
		c.Finished[f.ID] = true
		if len(c.Errors) > 0 { // a sprint without an id in the plan has none yet
			unsure.items[f.Key] = true
		}
	}
	held, added := demanded(r.Was.Implements, r.Was.Brief, r.Asked)
	k := &revising{checking: checking{Compiled: c, unsure: unsure, held: held, asked: added, before: frontOf(diag.NewFile(c.File.Name, []byte(r.Was.Text)))}, was: r.Was, again: r.Again}
	k.all()
	k.identities()
	k.finished()
	k.diags.Sort()
	k.diags.Cap()
	return k.diags
}

type revising struct {
	checking
	was   Was
	again map[ir.NodeID]string
}

// identities holds the ids that the changed plan says against those that it said.
func (k *revising) identities() {
	if was := k.was.Epic; was != "" && k.Now.Epic != was && !k.outside {
		k.diags.Add(diag.New("draft-id-lost", k.title(), "the plan has lost its id").
			WithDetail("With another id all of its work would start from scratch. Write `<!-- beads-ralph-epic: %s -->` below the title, as it was.", was))
	}
	k.inventedEpic(k.was.Epic)
	said, byTitle := map[ir.NodeID]Named{}, map[string][]Named{}
	for _, w := range k.was.Items {
		said[w.ID] = w
		byTitle[folded(w.Title)] = append(byTitle[folded(w.Title)], w)
	}
	lost := k.lost(said)
	for _, n := range k.Now.Items {
		w, known := said[n.ID]
		switch {
		case lost[n.Key]:
		case !known:
			k.invented(n)
		case folded(n.Title) != folded(w.Title):
			if twins := byTitle[folded(n.Title)]; len(twins) == 1 && !kept(k.Now.Items, twins[0]) {
				k.diags.Add(diag.Newf("draft-id-reused", n.Range, "sprint %s has the id of another", short(n.Key)).
					WithDetail("%s was that of %s %q: that sprint's results would count for this one. Write `<!-- beads-ralph: %s -->` here, as it was below this title.", n.ID, w.Key, text.Clip(plain(w.Title), 80), twins[0].ID))
			}
		}
	}
}

// invented reports an id of a sprint that the plan did not have.
func (k *checking) invented(n Named) {
	k.diags.Add(diag.Newf("draft-id-reused", n.Range, "sprint %s has an invented id", short(n.Key)).
		WithDetail("The plan had no %s. Ralph gives a new sprint its id: delete the comment `<!-- beads-ralph: %s -->`.", n.ID, n.ID))
}

// inventedEpic reports an id of a plan that had none.
func (k *checking) inventedEpic(was ir.NodeID) {
	if now := k.Now.Epic; was == "" && now != "" {
		k.diags.Add(diag.New("draft-id-reused", k.title(), "the plan has an invented id").
			WithDetail("The plan had no id. Ralph gives it one: delete the comment `<!-- beads-ralph-epic: %s -->`.", now))
	}
}

// lost reports sprints that keep their title or their key and whose id is gone.
func (k *revising) lost(said map[ir.NodeID]Named) map[ir.Key]bool {
	has, own := map[ir.NodeID]bool{}, map[ir.Key]bool{}
	for _, n := range k.Now.Items {
		has[n.ID] = true
		_, own[n.Key] = said[n.ID]
	}
	byKey, byTitle := map[ir.Key]*ir.Node{}, map[string]*ir.Node{} // without an id that the plan had
	for i := range k.Epic.Nodes {
		if n := &k.Epic.Nodes[i]; !own[n.Key] {
			byKey[n.Key] = n
			if byTitle[folded(n.Title)] == nil {
				byTitle[folded(n.Title)] = n
			}
		}
	}
	out := map[ir.Key]bool{}
	for _, w := range k.was.Items {
		if has[w.ID] {
			continue
		}
		n := cmp.Or(byTitle[folded(w.Title)], byKey[w.Key])
		if n == nil || out[n.Key] {
			continue // it was removed
		}
		if out[n.Key] = true; k.items[n.Key] {
			continue
		}
		k.diags.Add(diag.Newf("draft-id-lost", k.Places[n.Key], "sprint %s has lost its id", short(n.Key)).
			WithDetail("%s %q had the id %s, by which its results are found. Write `<!-- beads-ralph: %s -->` below the heading. If this is another sprint, give it a number and a title that no sprint has had.",
				w.Key, text.Clip(plain(w.Title), 80), w.ID, w.ID))
	}
	return out
}

// kept reports whether a sprint has its id still.
func kept(now []Named, w Named) bool {
	return slices.ContainsFunc(now, func(n Named) bool { return n.ID == w.ID && folded(n.Title) == folded(w.Title) })
}

// finished reports sprints that are done and that the changed plan would lose or do
// once more.
func (k *revising) finished() {
	byID := lists.Pointers(k.Epic.Nodes, func(n *ir.Node) ir.NodeID { return n.ID })
	said := lists.Table(k.Now.Items, func(n Named) (ir.NodeID, bool) { return n.ID, true })
	for _, f := range k.was.Finished {
		n := byID[f.ID]
		switch why, again := k.again[f.ID]; {
		case n == nil && len(k.Errors) > 0 && (said[f.ID] || strings.Contains(string(k.File.Bytes), f.Title)): // perhaps it could not be read
		case n == nil:
			k.diags.Add(diag.Newf("draft-done-changed", k.title(), "sprint %s is done and was removed", short(f.Key)).
				WithDetail("%s %q is finished, and its result is part of the work. Write it back as it was, with its id %s; changes to it belong in a new sprint.", f.Key, text.Clip(plain(f.Title), 80), f.ID))
		case again:
			if why != "" {
				why = " (" + text.Clip(plain(why), 160) + ")"
			}
			k.diags.Add(diag.Newf("draft-done-changed", k.Places[n.Key], "sprint %s is done and would run again", short(n.Key)).
				WithDetail("It would run again%s. Leave what is finished as it was, with all it needs; changes to it belong in a new sprint.", why))
		}
	}
}

// folded is a title as it is compared.
func folded(title string) string { return strings.ToLower(text.OneLine(title)) }
