package depend

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
)

// drawing reads the arrows of a mermaid graph between nodes that name items or
// groups. A node that names none, and a subgraph that names none, stand for what
// they join; below a heading about dependencies only, for elsewhere such a
// drawing is of something else.
func (o *orderReader) drawing(order *syntax.Order) {
	d := drawingReader{o: o, d: order.Drawing, order: order}
	if !d.name() || !d.expand() || !d.pass() {
		return
	}
	d.state()
}

type drawingReader struct {
	o     *orderReader
	d     *syntax.Drawing
	order *syntax.Order

	vertex   []int32 // by node: what it names; -1
	stray    int     // the first node that names nothing; -1
	arrows   []drawnArrow
	incoming map[int32][]drawnArrow // by vertex, between vertices
}

type drawnArrow struct {
	from, to int32 // nodes; after pass vertices
	at       diag.Range
}

// name finds what the nodes name; false if the drawing is not one of the plan.
func (d *drawingReader) name() bool {
	d.vertex = make([]int32, len(d.d.Nodes))
	named, stray, wrong := map[int32]bool{}, -1, -1
	for i, n := range lists.Each(d.d.Nodes) {
		v, near, ok := d.o.known.node(n, d.order.Headed)
		if d.vertex[i] = v; ok {
			named[v] = true
			continue
		}
		d.vertex[i] = -1
		if near && wrong < 0 {
			wrong = i
		}
		if stray < 0 && !n.Subgraph && !(d.order.Headed && slices.Contains(plainNodes, plainWords(d.label(i)))) {
			stray = i
		}
	}
	switch {
	case len(named) < 2:
		return d.notRead()
	case wrong >= 0:
		d.o.unread(d.d.Nodes[wrong].Range, true, "%q names neither an item nor a group of the plan", clip(d.label(wrong)))
		return false
	case stray >= 0 && !d.order.Headed:
		d.o.unread(d.d.Nodes[stray].Range, false, "%q names neither an item nor a group, and the drawing is not below a heading such as \"Task Dependencies\"", clip(d.label(stray)))
		return false
	}
	d.stray = stray
	return true
}

func (d *drawingReader) label(i int) string {
	if n := &d.d.Nodes[i]; n.Text != "" {
		return n.Text
	}
	return d.d.Nodes[i].ID
}

// expand replaces a subgraph that names no group by the nodes in it: an arrow
// leads to those that nothing in it points to, and from those that point to
// nothing in it.
func (d *drawingReader) expand() bool {
	frame := func(n int) bool { return d.d.Nodes[n].Subgraph && d.vertex[n] < 0 }
	used := map[int][]int32{}
	for _, a := range d.d.Arrows {
		for _, n := range []int{a.From, a.To} {
			if frame(n) {
				used[n] = nil
			}
		}
	}
	if len(used) == 0 {
		for _, a := range d.d.Arrows {
			d.arrows = append(d.arrows, drawnArrow{int32(a.From), int32(a.To), a.Range})
		}
		return true
	}
	for i := range d.d.Nodes {
		if frame(i) {
			continue
		}
		for in := d.d.Nodes[i].In; in >= 0; in = d.d.Nodes[in].In {
			if _, ok := used[in]; ok {
				used[in] = append(used[in], int32(i))
			}
			if !frame(in) {
				break // inside a group, which stands for it
			}
		}
	}
	before, behind := d.joined()
	ends := func(n int, taken map[framed]bool) []int32 {
		if !frame(n) || len(used[n]) == 0 {
			return []int32{int32(n)}
		}
		out := slices.DeleteFunc(slices.Clone(used[n]), func(k int32) bool { return taken[framed{n, int(k)}] })
		if len(out) == 0 { // a cycle, which is reported as one
			return used[n]
		}
		return out
	}
	for _, a := range d.d.Arrows {
		from, to := ends(a.From, behind), ends(a.To, before)
		if d.o.known.work += len(from)*len(to) + len(used[a.From]) + len(used[a.To]); d.o.known.work > maxOrderWork {
			d.o.unread(a.Range, false, "the subgraphs join too many nodes")
			return false
		}
		for _, f := range from {
			for _, t := range to {
				d.arrows = append(d.arrows, drawnArrow{f, t, a.Range})
			}
		}
	}
	return true
}

// framed is a node and a subgraph around it.
type framed struct{ frame, node int }

// joined returns what arrows within a subgraph lead to, and from.
func (d *drawingReader) joined() (before, behind map[framed]bool) {
	before, behind = map[framed]bool{}, map[framed]bool{}
	for _, a := range d.d.Arrows {
		around := map[int]bool{}
		for in := d.d.Nodes[a.From].In; in >= 0; in = d.d.Nodes[in].In {
			around[in] = true
		}
		for in := d.d.Nodes[a.To].In; in >= 0; in = d.d.Nodes[in].In {
			if around[in] {
				before[framed{in, a.To}], behind[framed{in, a.From}] = true, true
			}
		}
	}
	return before, behind
}

// pass leads arrows through nodes that name nothing, and gathers what points to
// each vertex.
func (d *drawingReader) pass() bool {
	into := make([][]drawnArrow, len(d.d.Nodes))
	for _, a := range d.arrows {
		into[a.to] = append(into[a.to], a)
	}
	d.incoming = map[int32][]drawnArrow{}
	type pair struct{ from, to int32 }
	drawn := map[pair]bool{}
	seen := make([]int32, len(d.d.Nodes)) // by node that names nothing: the last node it was passed for, plus one
	for to := range d.d.Nodes {
		if d.vertex[to] < 0 {
			continue
		}
		v := d.vertex[to]
		for _, a := range into[to] {
			stack := []int32{a.from}
			for len(stack) > 0 {
				n := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if d.o.known.work++; d.o.known.work > maxOrderWork {
					d.o.unread(a.at, false, "nodes that name nothing join too much")
					return false
				}
				u := d.vertex[n]
				switch {
				case u < 0 && seen[n] != int32(to)+1:
					seen[n] = int32(to) + 1
					for _, b := range into[n] {
						stack = append(stack, b.from)
					}
				case u < 0, u == v, drawn[pair{u, v}]:
				case d.o.groupOf(u) == v || d.o.groupOf(v) == u:
					d.o.unread(a.at, false, "an arrow joins a group and one of its own items, which is not an order")
					return false
				default:
					drawn[pair{u, v}] = true
					d.incoming[v] = append(d.incoming[v], drawnArrow{u, v, a.at})
				}
			}
		}
	}
	return len(d.incoming) > 0 || d.notRead()
}

// notRead hints at a drawing that says nothing about the plan, if it names items of it.
func (d *drawingReader) notRead() bool {
	if d.order.Named > 1 {
		d.o.diags.Add(syntax.DrawingNotRead(d.order.Range))
	}
	return false
}

// state makes statements of the arrows. What nothing points to can start at once,
// unless something points to its group.
func (d *drawingReader) state() {
	if d.stray >= 0 {
		d.o.diags.Add(diag.New("drawing-node", d.d.Nodes[d.stray].Range, "a node of the drawing names no item").
			WithDetail("%q names neither an item nor a group of the plan: it only joins what points to it with what it points to. If an item is meant, write its id at the beginning of the text.", clip(d.label(d.stray))))
	}
	touched := map[int]bool{} // nodes that an arrow begins or ends at
	for _, a := range d.d.Arrows {
		touched[a.From], touched[a.To] = true, true
	}
	done := map[int32]bool{}
	for i := range d.d.Nodes {
		v := d.vertex[i]
		if v < 0 || done[v] || d.d.Nodes[i].Subgraph && !touched[i] {
			continue
		}
		done[v] = true
		in := d.incoming[v]
		if len(in) == 0 && d.held(i) {
			continue
		}
		targets := lists.Map(in, func(a drawnArrow) target { return d.o.target(a.from, a.at) })
		d.o.say(v, d.d.Nodes[i].Range, targets)
	}
}

// held reports whether an arrow points to the group of a node.
func (d *drawingReader) held(i int) bool {
	if g := d.o.groupOf(d.vertex[i]); g >= 0 && len(d.incoming[g]) > 0 {
		return true
	}
	for in := d.d.Nodes[i].In; in >= 0; in = d.d.Nodes[in].In {
		if d.vertex[in] >= 0 && len(d.incoming[d.vertex[in]]) > 0 {
			return true
		}
	}
	return false
}

// plainNodes are texts of nodes that are no beginning of a title.
var plainNodes = []string{"start", "begin", "end", "finish", "stop", "done", "review", "release"}

// node finds the item or group that a node names: at the beginning of its text,
// else by its id. near says that it begins like an id of the plan but is not one.
func (o *orderNames) node(n *syntax.DrawnNode, headed bool) (v int32, near, ok bool) {
	const marks = " -–—:•✅☑✔🔲⬜🚀[("
	text := strings.TrimLeft(n.Text, marks)
	if !o.marked.begins(text) {
		text = strings.TrimLeft(text, marks+"#")
	}
	if v, near, ok = o.beginning(text); ok {
		return v, false, true
	}
	if us := o.named(text); len(us) == 1 {
		title := plainWords(text)
		if u, ok := o.exact[title]; ok && u == us[0] || headed && !slices.Contains(plainNodes, title) {
			return o.vertex(us[0]), false, true
		}
	}
	if n.Subgraph && n.ID == "" {
		return -1, near, false
	}
	for _, id := range []string{n.ID, strings.ReplaceAll(n.ID, "_", ".")} {
		if v, ok := o.item(id); ok {
			return v, false, true
		}
	}
	if i, ok := o.Names.numbered(n.ID); ok && o.items[i].Number.Shape != "#" {
		return i, false, true
	}
	if n.Text == "" || headed {
		if v, ok := o.short(n.ID); ok {
			return v, false, true
		}
	}
	return -1, near, false
}

// beginning reads "Phase 1: …", "1.2 …", "Task 3", "US1: …".
func (o *orderNames) beginning(text string) (v int32, near, ok bool) {
	if text == "" || len(text) > 1024 {
		return -1, false, false
	}
	w, rest := word(text, Span{0, len(text)})
	lw := strings.ToLower(w)
	id := idToken(text[rest.Start:])
	switch {
	case o.groupWords[lw] && id != "":
		if g, ok := o.group(id); ok {
			return g + int32(len(o.items)), false, true
		}
		if o.itemsAsGroups && o.itemWords[lw] {
			break
		}
		near = digit(id[0]) && len(o.groups) > 0
	case o.itemWords[lw] && id != "":
		if i, ok := o.item(id); ok {
			return i, false, true
		}
		num, _ := ParseNumber(id)
		near = o.shapes[num.Shape] && len(num.Parts) > 0
	}
	if o.itemsAsGroups && o.itemWords[lw] && id != "" {
		if i, ok := o.item(id); ok {
			return i, false, true
		}
	}
	if near {
		return -1, true, false
	}
	first := idToken(text)
	if i, ok := o.item(first); ok {
		// A number alone is an id only with a mark after it: "3. Verbs", not "3 verbs".
		if behind := text[len(first):]; o.items[i].Number.Shape != "#" || behind == "" || strings.IndexByte(".:)", behind[0]) >= 0 {
			return i, false, true
		}
	}
	if m := storyBegin.FindStringSubmatch(text); m != nil {
		if us := o.stories[m[1]]; len(us) == 1 {
			return o.vertex(us[0]), false, true
		}
	}
	num, _ := ParseNumber(first)
	return -1, o.shapes[num.Shape] && len(num.Parts) > 1 && first != "", false
}

// idToken returns the id that a text begins with: up to a space or a mark that
// is in none.
func idToken(s string) string {
	if i := strings.IndexAny(s, " \t:,;()[]{}|—–"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimRight(s, ".-")
}

// short reads an id of a drawing that stands for a keyword and an id: P2, T1,
// phase_2, S1_2.
func (o *orderNames) short(id string) (int32, bool) {
	i := strings.IndexAny(id, "0123456789")
	if i <= 0 {
		return 0, false
	}
	lead := strings.ToLower(strings.TrimRight(id[:i], "_-."))
	rest := strings.ReplaceAll(id[i:], "_", ".")
	stands := func(word string) bool {
		word = strings.ToLower(word)
		return lead == word || word != "" && lead == word[:1]
	}
	if k, ok := o.item(rest); ok {
		w := o.items[k].Word
		if stands(w) || w == "" && (lead == "t" || lead == "task") {
			return k, true
		}
	}
	if g, ok := o.group(rest); ok && stands(o.groups[g].Word) {
		return g + int32(len(o.items)), true
	}
	if us := o.stories[strings.TrimLeft(rest, "0")]; lead == "us" && len(us) == 1 {
		return o.vertex(us[0]), true
	}
	return 0, false
}
