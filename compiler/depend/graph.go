package depend

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/dag"
	"github.com/ralph-compiler/ralph/internal/text"
)

// reportCycles reports each cycle once, with its whole path and the line that
// made each edge, and says whether there was one. Without cycles it leaves the
// items in d.topo, predecessors first.
func (d *depender) reportCycles() bool {
	n := len(d.Items)
	d.sort()
	if len(d.topo) == n {
		return false
	}
	left := d.graph.Left(d.topo)
	// What is left waits for a cycle or is part of one. Walking backwards from
	// any of it ends in a cycle; each is reported from its smallest item.
	color := make([]int32, n)
	walk := int32(0)
	reported := 0
	for i := range n {
		if !left[i] || color[i] != 0 || reported == maxCycles {
			continue
		}
		walk++
		at := int32(i)
		var path []edge // each: path[k].to waits for path[k].from
		for color[at] == 0 {
			color[at] = walk
			for _, e := range d.out.of(int(at)) {
				if e.soft == 0 && left[e.from] {
					path = append(path, e)
					at = e.from
					break
				}
			}
		}
		if color[at] == walk {
			k := slices.IndexFunc(path, func(e edge) bool { return e.to == at })
			d.reportCycle(path[k:])
			reported++
		}
	}
	return true
}

// sort makes the graph of what blocks what, and leaves its order in d.topo.
func (d *depender) sort() {
	d.graph = dag.New(len(d.Items), blocking(d.edges))
	d.topo = d.graph.Order()
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

// spread asks what comes after each of the sources; see dag.Graph.Reach.
func (d *depender) spread(sources []int32, visit func(round []int32, reached []uint64)) {
	d.graph.Reach(d.topo, sources, visit)
}

// maxCycles bounds how many cycles of one plan are reported.
const maxCycles = 20

func (d *depender) reportCycle(path []edge) {
	// Begin at the item that stands first in the document: a stable start.
	first := 0
	for k := range path {
		if path[k].to < path[first].to {
			first = k
		}
	}
	path = slices.Concat(path[first:], path[:first])
	var words []string
	for _, e := range path {
		words = append(words, string(d.Items[e.to].Key))
	}
	words = append(words, string(d.Items[path[0].to].Key))
	if len(words) > 24 {
		words = slices.Concat(words[:12], []string{"…"}, words[len(words)-11:])
	}
	at := path[0]
	for _, e := range path { // the caret stands under a label, if one took part
		if e.rule != byNumber {
			at = e
			break
		}
	}
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
	clause   diag.Range
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
					claims = append(claims, claim{from: from, to: int32(i), at: c.ats[k], clause: c.at})
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
	d.checkClaims(claims)
}

// unknownClause reports an id that item i names, maybe beside others, and that no item has.
func (d *depender) unknownClause(i int32, id string, at diag.Range, others []string) {
	dg := diag.Newf("unknown-dependency", at, "there is no item %q", clip(id))
	near, ok := "", false
	if d.names.suggested < maxSuggestions {
		taken := map[string]bool{string(d.Items[i].Key): true}
		for _, other := range others {
			taken[other] = true
		}
		near, ok = d.names.near(id, func(key string) bool { return taken[key] })
	}
	if ok {
		dg = dg.WithDetail("The sentence names an item that the plan does not have. Did you mean %q?", near)
	} else {
		dg = dg.WithDetail("The sentence names an item that the plan does not have. Name one that exists.")
	}
	d.diags.Add(dg)
}

func (d *depender) checkClaims(claims []claim) {
	claims = slices.DeleteFunc(claims, func(c claim) bool {
		_, direct := slices.BinarySearchFunc(d.out.of(int(c.to)), c.from, func(e edge, f int32) int { return int(e.from - f) })
		return direct
	})
	for k, follows := range d.follow(claims) {
		if !follows {
			d.disagree(claims[k])
		}
	}
}

// follow reports of each claim whether its item waits for what it names, also by way of
// others.
func (d *depender) follow(claims []claim) []bool {
	out := make([]bool, len(claims))
	by := map[int32][]int{}
	var sources []int32
	for k, c := range claims {
		if out[k] = d.direct(c.from, c.to); out[k] {
			continue
		}
		if by[c.from] == nil {
			sources = append(sources, c.from)
		}
		by[c.from] = append(by[c.from], k)
	}
	d.spread(sources, func(round []int32, reached []uint64) {
		for bit, s := range round {
			for _, k := range by[s] {
				out[k] = reached[claims[k].to]&(1<<bit) != 0
			}
		}
	})
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
	es := d.out.of(int(i))
	var keys []string
	rule := uint8(0)
	for _, e := range es {
		if e.soft == 0 {
			rule = e.rule
			keys = append(keys, string(d.Items[e.from].Key))
		}
	}
	if len(keys) == 0 {
		return "it waits for nothing"
	}
	by := "by its number"
	if rule == byExplicit {
		by = "by its label"
	}
	return fmt.Sprintf("%s it waits for %s", by, text.AndMore(keys[:min(8, len(keys))], len(keys)))
}

// redundantWork bounds the search for redundant edges: it gives only hints.
const redundantWork = 200_000_000

// hintRedundant names explicit edges that say nothing new: another dependency
// of the item already waits for the same.
func (d *depender) hintRedundant() {
	var cand []edge
	var sources []int32
	seen := make([]bool, len(d.Items))
	for i := range d.Items {
		es := d.out.of(i)
		if len(es) < 2 {
			continue
		}
		for _, e := range es {
			if e.rule != byExplicit || e.soft != 0 || d.drawnAt[e.start] || !d.single(e) {
				continue
			}
			cand = append(cand, e)
			if !seen[e.from] {
				seen[e.from] = true
				sources = append(sources, e.from)
			}
		}
	}
	if (len(sources)/64+1)*(len(d.Items)+len(d.edges)) > redundantWork {
		return
	}
	by := map[int32][]edge{}
	for _, e := range cand {
		by[e.from] = append(by[e.from], e)
	}
	d.spread(sources, func(round []int32, reached []uint64) {
		for k, s := range round {
			for _, e := range by[s] {
				for _, other := range d.out.of(int(e.to)) {
					if other.soft == 0 && other.from != e.from && reached[other.from]&(1<<k) != 0 {
						d.redundant(e, other)
						break
					}
				}
			}
		}
	})
}

// single reports whether an edge is the only one that its text made: only those
// can be left out by leaving out the text.
func (d *depender) single(e edge) bool {
	for _, o := range d.out.of(int(e.to)) {
		if o.start == e.start && o.rule == e.rule && o.from != e.from {
			return false
		}
	}
	return true
}

func (d *depender) redundant(e, other edge) {
	d.diags.Add(diag.Newf("redundant-dependency", d.place(e), "%s need not be named", clip(string(d.Items[e.from].Key))).
		WithDetail("%s waits for %s, which already comes after %s. Leave %s out of the list.",
			d.Items[e.to].Key, d.Items[other.from].Key, d.Items[e.from].Key, d.Items[e.from].Key))
}
