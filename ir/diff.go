package ir

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Difference is the change from one epic to another, in terms of the plan.
// Everything derived (order, digests, merges, a node's copy of its step's
// limits) is left out. No slice is nil, so that its JSON has no null.
type Difference struct {
	Old Side `json:"old"`
	New Side `json:"new"`

	Weaker  []Weakening  `json:"weaker"` // what judges less or allows more than before
	Added   []NodeRef    `json:"added"`
	Removed []NodeRef    `json:"removed"`
	Renamed []Rename     `json:"renamed"`
	Changed []NodeChange `json:"changed"`

	EdgesAdded   []EdgeRef `json:"edges_added"` // between nodes that both epics have, and of new nodes
	EdgesRemoved []EdgeRef `json:"edges_removed"`

	Entries []EntryChange `json:"entries"` // agents, gates, runners, …
	Plan    []Change      `json:"plan"`    // epic.…, run.…, waivers, files
}

// Side names one of the two epics.
type Side struct {
	ID     NodeID `json:"id"`
	Slug   string `json:"slug"`
	Nodes  int    `json:"nodes"`
	Digest string `json:"digest"`
}

// NodeRef names a node.
type NodeRef struct {
	ID    NodeID `json:"id"`
	Key   Key    `json:"key"`
	Title string `json:"title"`
}

// Rename is a node that kept its id under another key.
type Rename struct {
	ID    NodeID `json:"id"`
	Old   Key    `json:"old"`
	New   Key    `json:"new"`
	Title string `json:"title"`
}

// NodeChange is a node whose fields differ.
type NodeChange struct {
	ID     NodeID   `json:"id"`
	Key    Key      `json:"key"`
	Title  string   `json:"title"`
	Effect string   `json:"effect"` // of applying it again: "runs", "judged", or "none"
	Fields []Change `json:"fields"`
}

// EdgeRef is an edge: Node waits for Key.
type EdgeRef struct {
	Node Key      `json:"node"`
	Key  Key      `json:"key"`
	Type EdgeType `json:"type"`
	From string   `json:"from"`
}

// EntryChange is a change of one of the epic's tables.
type EntryChange struct {
	Table  string   `json:"table"` // agents, gates, runners, models, secrets, sandboxes
	Name   string   `json:"name"`
	What   string   `json:"what"` // added, removed, changed
	Fields []Change `json:"fields"`
}

// Empty reports whether the epics do not differ.
func (d *Difference) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Renamed)+len(d.Changed)+len(d.EdgesAdded)+
		len(d.EdgesRemoved)+len(d.Entries)+len(d.Plan) == 0
}

// Diff compares two epics: nodes are the same if they have the same id, else if
// they have the same key. It reads both and changes neither.
func Diff(old, now *Epic) *Difference {
	d := &Difference{
		Old: side(old), New: side(now),
		Weaker: []Weakening{}, Added: []NodeRef{}, Removed: []NodeRef{}, Renamed: []Rename{}, Changed: []NodeChange{},
		EdgesAdded: []EdgeRef{}, EdgesRemoved: []EdgeRef{}, Entries: []EntryChange{}, Plan: []Change{},
	}
	m := match(old, now)
	w := &weaker{old: old, now: now, found: map[finding]int{}}

	for j, n := range lists.Each(now.Nodes) {
		i := m.oldOf[j]
		if i < 0 {
			d.Added = append(d.Added, NodeRef{n.ID, n.Key, n.Title})
			d.EdgesAdded = appendEdges(d.EdgesAdded, n.Key, n.After)
			continue
		}
		o := m.translated(&old.Nodes[i])
		if o.Key != n.Key || old.Nodes[i].Key != n.Key {
			d.Renamed = append(d.Renamed, Rename{n.ID, old.Nodes[i].Key, n.Key, n.Title})
		}
		d.edges(n.Key, o.After, n.After)
		if c := changeOf(o, n); len(c.Fields) > 0 {
			d.Changed = append(d.Changed, c)
		}
		w.node(o, n)
	}
	for i := range old.Nodes {
		if o := &old.Nodes[i]; !m.kept[i] {
			d.Removed = append(d.Removed, NodeRef{o.ID, o.Key, o.Title})
			d.EdgesRemoved = appendEdges(d.EdgesRemoved, o.Key, o.After)
		}
	}

	d.tables(old, now, m)
	d.plan(old, now)
	w.plan(m)
	d.Weaker = append(d.Weaker, w.list()...)
	return d
}

func side(e *Epic) Side {
	return Side{ID: e.Epic.ID, Slug: e.Epic.Slug, Nodes: len(e.Nodes), Digest: e.Digest}
}

// matching pairs the nodes of two epics.
type matching struct {
	oldOf []int       // index of the old node for each new one, or -1
	kept  []bool      // for each old node
	keys  map[Key]Key // old key to new key, of renamed nodes only
}

func match(old, now *Epic) *matching {
	m := &matching{oldOf: make([]int, len(now.Nodes)), kept: make([]bool, len(old.Nodes)), keys: map[Key]Key{}}
	byID := make(map[NodeID]int, len(old.Nodes))
	byKey := make(map[Key]int, len(old.Nodes))
	for i := range old.Nodes {
		byID[old.Nodes[i].ID] = i
		byKey[old.Nodes[i].Key] = i
	}
	for j := range now.Nodes {
		m.oldOf[j] = -1
		if i, same := byID[now.Nodes[j].ID]; same && !m.kept[i] {
			m.oldOf[j], m.kept[i] = i, true
			if o, n := old.Nodes[i].Key, now.Nodes[j].Key; o != n {
				m.keys[o] = n
			}
		}
	}
	for j := range now.Nodes {
		if i, same := byKey[now.Nodes[j].Key]; same && m.oldOf[j] < 0 && !m.kept[i] {
			m.oldOf[j], m.kept[i] = i, true
		}
	}
	return m
}

func (m *matching) key(k Key) Key {
	if now, renamed := m.keys[k]; renamed {
		return now
	}
	return k
}

// gate translates the name of a gate that a renamed node defines.
func (m *matching) gate(name string) string {
	if len(m.keys) == 0 {
		return name
	}
	key, rest, own := strings.Cut(name, "/")
	if now, renamed := m.keys[Key(key)]; own && renamed {
		return string(now) + "/" + rest
	}
	return name
}

// translated returns o in terms of the new keys: what a renaming alone changes
// is no difference.
func (m *matching) translated(o *Node) *Node {
	if len(m.keys) == 0 {
		return o
	}
	n := *o
	n.Key = m.key(n.Key)
	n.After = slices.Clone(n.After)
	for i := range n.After {
		n.After[i].Key = m.key(n.After[i].Key)
	}
	n.Steps = slices.Clone(n.Steps)
	for i := range n.Steps {
		n.Steps[i].Gates = slices.Clone(n.Steps[i].Gates)
		for j, g := range n.Steps[i].Gates {
			n.Steps[i].Gates[j] = m.gate(g)
		}
	}
	return &n
}

var derivedOfNode = map[string]bool{"key": true, "after": true, "merges": true, "digest": true}

func changeOf(o, n *Node) NodeChange {
	c := NodeChange{ID: n.ID, Key: n.Key, Title: n.Title, Effect: "none"}
	a, b := reflect.ValueOf(o).Elem(), reflect.ValueOf(n).Elem()
	if o.Digest == n.Digest && o.Title == n.Title && equal(nodeShape(), a, b) { // cheapest and likeliest difference first
		return c
	}
	skip := derivedOfNode
	if len(o.Steps) > 0 && len(n.Steps) > 0 {
		skip = derivedWithSteps()
	}
	cmp := comparer{skip: skip}
	cmp.walk(nodeShape(), "", a, b)
	c.Fields = cmp.changes
	switch {
	case n.Done:
	case o.Digest.Work != n.Digest.Work:
		c.Effect = "runs"
	case o.Digest.Judge != n.Digest.Judge:
		c.Effect = "judged"
	}
	return c
}

// derivedWithSteps leaves out the limits that repeat those of a step.
var derivedWithSteps = sync.OnceValue(func() map[string]bool {
	skip := maps.Clone(derivedOfNode)
	for _, f := range shapeOf(reflect.TypeFor[StepLimits]()).fields {
		skip["limits."+f.name] = true
	}
	return skip
})

func (d *Difference) edges(key Key, old, now []Edge) {
	if slices.Equal(old, now) {
		return
	}
	// An edge that another rule makes now is a removed and an added one.
	had := lists.Set(old)
	has := lists.Set(now)
	d.EdgesAdded = appendEdges(d.EdgesAdded, key, lists.Keep(now, func(e Edge) bool { return !had[e] }))
	d.EdgesRemoved = appendEdges(d.EdgesRemoved, key, lists.Keep(old, func(e Edge) bool { return !has[e] }))
}

func appendEdges(list []EdgeRef, key Key, edges []Edge) []EdgeRef {
	for _, e := range edges {
		list = append(list, EdgeRef{key, e.Key, e.Type, e.From})
	}
	return list
}

// tables compares the objects by name.
func (d *Difference) tables(old, now *Epic, m *matching) {
	gates := old.Gates
	if len(m.keys) > 0 {
		gates = make(map[string]Gate, len(old.Gates))
		for name, g := range old.Gates {
			gates[m.gate(name)] = g
		}
	}
	table(d, "agents", old.Agents, now.Agents)
	table(d, "gates", gates, now.Gates)
	table(d, "runners", old.Runners, now.Runners)
	table(d, "models", old.Models, now.Models)
	table(d, "secrets", old.Secrets, now.Secrets)
	table(d, "sandboxes", old.Sandboxes, now.Sandboxes)
}

func table[T any](d *Difference, name string, old, now map[string]T) {
	s := shapeOf(reflect.TypeFor[T]())
	names := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(now))
	slices.Sort(names)
	var a, b T // one pair for all: each would be an allocation
	for _, k := range slices.Compact(names) {
		var was, is bool
		a, was = old[k]
		b, is = now[k]
		c := EntryChange{Table: name, Name: k, What: "changed", Fields: []Change{}}
		switch {
		case !was:
			c.What = "added"
		case !is:
			c.What = "removed"
		default:
			cmp := comparer{}
			cmp.walk(s, "", reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
			if c.Fields = cmp.changes; len(c.Fields) == 0 {
				continue
			}
		}
		d.Entries = append(d.Entries, c)
	}
}

// plan compares what concerns the epic as a whole.
func (d *Difference) plan(old, now *Epic) {
	c := comparer{skip: map[string]bool{
		"nodes": true, "digest": true, "agents": true, "gates": true, "runners": true,
		"models": true, "secrets": true, "sandboxes": true,
	}}
	s := epicShape()
	a, b := reflect.ValueOf(old).Elem(), reflect.ValueOf(now).Elem()
	for i := range s.fields {
		if f := &s.fields[i]; !c.skip[f.name] {
			c.walk(f.shape, f.name, f.of(a), f.of(b))
		}
	}
	d.Plan = append(d.Plan, c.changes...)
}
