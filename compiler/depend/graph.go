package depend

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/dag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// reportCycles reports each cycle once, with its whole path and the line that
// made each edge, and says whether there was one. It leaves the items in d.topo,
// predecessors first; those on cycles, and what waits for them, are missing.
func (d *depender) reportCycles() bool {
	d.graph = dag.New(len(d.Items), blocking(d.edges))
	d.topo = d.graph.Order()
	if len(d.topo) == len(d.Items) {
		return false
	}
	cycles := d.graph.Cycles()
	for _, c := range cycles[:min(len(cycles), maxCycles)] {
		d.reportCycle(c)
	}
	return true
}

// blocking yields the edges that hold an item back.
func blocking(edges []edge) iter.Seq2[int32, int32] {
	return func(yield func(from, to int32) bool) {
		for _, e := range edges {
			if e.soft == 0 && !yield(e.from, e.to) {
				return
			}
		}
	}
}

// maxCycles bounds how many cycles of one plan are reported.
const maxCycles = 20

// reportCycle reports items of which each waits for the next, the last for the first.
func (d *depender) reportCycle(cycle []int32) {
	words := d.keys(cycle)
	words = append(words, words[0])
	path := make([]edge, len(cycle))
	for k, to := range cycle {
		from := cycle[(k+1)%len(cycle)]
		es := d.out.of(int(to))
		path[k] = es[slices.IndexFunc(es, func(e edge) bool { return e.from == from && e.soft == 0 })]
	}
	if len(words) > 24 {
		words = slices.Concat(words[:12], []string{"…"}, words[len(words)-11:])
	}
	// The caret is under a label, if one took part.
	at := path[max(0, slices.IndexFunc(path, func(e edge) bool { return e.rule != byNumber }))]
	dg := diag.Newf("dependency-cycle", d.place(at), "%s wait for each other", text.Count(len(path), "item")).
		WithDetail("Each of these waits for the next: %s. None of them can ever start. Remove one of the dependencies.", strings.Join(words, " → "))
	for _, e := range path[:min(len(path), 24)] {
		dg = dg.WithRelated(d.place(e), "%s waits for %s (%s)", d.Items[e.to].Key, d.Items[e.from].Key, ruleNames[e.rule])
	}
	d.diags.Add(dg)
}

func (d *depender) place(e edge) diag.Range {
	file := d.File
	if at := d.Items[e.to].At.File; at != "" { // of several that were imported
		file = at
	}
	return diag.Range{File: file, Start: int(e.start), End: int(e.end)}
}

// claim is an id that a clause of item to names.
type claim struct {
	from, to int32
	at       diag.Range
}

// checkProse compares "(after 1.1 merged)" with the edges: every id it names
// must be an ancestor. Where numbers are not in force, it makes edges of items
// without a statement instead.
func (d *depender) checkProse() {
	var claims []claim
	made := false
	for i := range d.Items {
		for _, c := range d.Items[i].Prose {
			for k, id := range c.ids {
				froms := d.clauseItems(id)
				if len(froms) == 0 {
					d.unknownClause(int32(i), id, c.ats[k], c.ids)
				}
				for _, from := range froms {
					if from == int32(i) {
						d.diags.Add(diag.Newf("self-dependency", c.ats[k], "%s waits for itself", clip(id)).
							WithDetail("The sentence says that %s comes after itself. Name the item that it follows.", id))
						continue
					}
					if !d.inForce && !d.replaced[i] {
						d.addEdge(from, int32(i), byProse, c.ats[k])
						made = true
						continue
					}
					claims = append(claims, claim{from: from, to: int32(i), at: c.ats[k]})
				}
			}
		}
	}
	if made {
		d.finish()
		if d.reportCycles() {
			return
		}
	}
	for k, follows := range d.follow(claims) {
		if !follows {
			d.disagree(claims[k])
		}
	}
}

// unknownClause reports an id that item i names, maybe beside others, and that no item has.
func (d *depender) unknownClause(i int32, id string, at diag.Range, others []string) {
	dg := diag.Newf("unknown-dependency", at, "there is no item %q", clip(id))
	near := ""
	if d.names.suggested < maxSuggestions {
		own := string(d.Items[i].Key)
		near, _ = d.names.near(id, func(key string) bool { return key == own || slices.Contains(others, key) })
	}
	d.diags.Add(instead(dg, "The sentence names an item that the plan does not have.", near, " Name one that exists."))
}

// follow reports of each claim whether its item waits for what it names, also by way of
// others.
func (d *depender) follow(claims []claim) []bool {
	out := make([]bool, len(claims))
	var asked []int
	for k, c := range claims {
		if out[k] = d.direct(c.from, c.to); !out[k] {
			asked = append(asked, k)
		}
	}
	leads := d.graph.Leads(d.topo, len(asked), func(j int) (from, to int32) { return claims[asked[j]].from, claims[asked[j]].to })
	for j, k := range asked {
		out[k] = leads[j]
	}
	return out
}

func (d *depender) disagree(c claim) {
	to, from := &d.Items[c.to], &d.Items[c.from]
	dg := diag.Newf("prose-disagrees", c.at, "%s does not come after %s", clip(string(to.Key)), clip(string(from.Key))).
		WithDetail("The sentence says that %s comes after %s, but %s. Change the sentence, the number, or write \"**Depends on**: %s\".", to.Key, from.Key, d.whatElse(c.to), from.Key).
		WithRelated(to.At, "%s is here", to.Key)
	d.diags.Add(dg.WithRelated(from.At, "%s is here", from.Key))
}

func (d *depender) whatElse(i int32) string {
	waits := lists.Keep(d.out.of(int(i)), func(e edge) bool { return e.soft == 0 })
	if len(waits) == 0 {
		return "it waits for nothing"
	}
	by := "by its number"
	if waits[len(waits)-1].rule == byExplicit {
		by = "by its label"
	}
	return fmt.Sprintf("%s it waits for %s", by, d.list(lists.Map(waits, func(e edge) int32 { return e.from })))
}

// hintRedundant names explicit edges that say nothing new: another dependency
// of the item already waits for the same.
func (d *depender) hintRedundant() {
	var cand []edge
	for i := range d.Items {
		es := d.out.of(i)
		for _, e := range es {
			if len(es) > 1 && e.rule == byExplicit && e.soft == 0 && !d.drawnAt[e.start] && d.single(e) {
				cand = append(cand, e)
			}
		}
	}
	d.graph.Redundant(d.topo, len(cand), func(k int) (from, to int32) { return cand[k].from, cand[k].to }, func(k int, leads func(int32) bool) {
		others := d.out.of(int(cand[k].to))
		d.redundant(cand[k], others[slices.IndexFunc(others, func(o edge) bool { return o.soft == 0 && leads(o.from) })])
	})
}

// single reports whether an edge is the only one that its text made: only those
// can be left out by leaving out the text.
func (d *depender) single(e edge) bool {
	return !slices.ContainsFunc(d.out.of(int(e.to)), func(o edge) bool { return o.start == e.start && o.rule == e.rule && o.from != e.from })
}

func (d *depender) redundant(e, other edge) {
	d.diags.Add(diag.Newf("redundant-dependency", d.place(e), "%s need not be named", clip(string(d.Items[e.from].Key))).
		WithDetail("%s waits for %s, which already comes after %s. Leave %s out of the list.",
			d.Items[e.to].Key, d.Items[other.from].Key, d.Items[e.from].Key, d.Items[e.from].Key))
}
