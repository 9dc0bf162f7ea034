package compiler

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// identities are the ids of an epic and its nodes.
type identities struct {
	epic  ir.NodeID
	nodes []ir.NodeID // in the order of the draft
}

// idWidth is how many characters follow the prefix: one width for all, so
// that no id is a prefix of another.
const idWidth = 6

// idAlphabet is that of bd: letters and digits, lower case.
const idAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// maxTries is how often an id is counted on before it may begin with another one:
// imported ids can be so short that all derived ones do.
const maxTries = 1000

// idPrefix is what derived ids begin with.
func (u *unit) idPrefix() string {
	if t := u.set.Tracker; t != nil && t.Prefix.V != "" {
		return strings.TrimSuffix(t.Prefix.V, "-")
	}
	return "bd"
}

// listed reports whether the items are in the plan's front matter. They have ids of
// their own there, and nothing is written to them: what else is there is another
// tool's.
func (u *unit) listed() bool { return u.dialect.In == syntax.InFrontMatter }

// deriving knows which ids are taken.
type deriving struct {
	prefix  string
	taken   map[ir.NodeID]bool
	lengths map[int]bool       // of annotated ids, to keep them from being prefixes
	longer  map[ir.NodeID]bool // what longer annotated ids begin with
}

func (u *unit) newDeriving() *deriving {
	d := &deriving{prefix: u.idPrefix(), taken: map[ir.NodeID]bool{}, lengths: map[int]bool{}}
	if u.draft.ID != "" {
		d.taken[u.draft.ID] = true
	}
	for i := range u.draft.Nodes {
		if id := u.draft.Nodes[i].ID; id != "" {
			d.taken[id] = true
		}
	}
	for id := range d.taken {
		if !strings.HasPrefix(d.prefix+"-", string(id)) { // of all derived ids: no count helps
			d.lengths[len(id)] = true
		}
	}
	d.longer = prefixesOf(d.taken, len(d.prefix)+1+idWidth)
	return d
}

func (d *deriving) free(id ir.NodeID) bool {
	if d.taken[id] {
		return false
	}
	for n := range d.lengths {
		if n < len(id) && d.taken[id[:n]] {
			return false
		}
	}
	return true
}

// derive takes the first id that is free, counted from n, and not used.
func (d *deriving) derive(seed, key string, n int, used map[ir.NodeID]string) ir.NodeID {
	for ; ; n++ {
		id := ir.NodeID(d.prefix + "-" + shortHash(seed+"\x00"+key+"\x00"+strconv.Itoa(n)))
		if _, known := used[id]; known {
			continue
		}
		if d.free(id) && !d.longer[id] || n >= maxTries && !d.taken[id] {
			d.taken[id] = true
			return id
		}
	}
}

// deriveIDs takes ids from annotations, else derives them from the plan's path (the
// epic's id, of listed items) and the key. Smaller keys choose first; an id that is taken is counted on.
func (u *unit) deriveIDs(h ir.Header, diags *diag.List) identities {
	d := u.newDeriving()
	out := identities{epic: u.draft.ID, nodes: make([]ir.NodeID, len(u.draft.Nodes))}
	if out.epic == "" {
		out.epic = d.derive(u.draft.Plan, "", 0, nil)
	}
	h.ID = out.epic
	seed := u.draft.Plan
	if u.listed() { // the epic's id is all that the plan keeps
		seed = string(out.epic)
	}
	past := u.past(h)
	byKey := make([]int, len(u.draft.Nodes))
	for i := range byKey {
		byKey[i] = i
	}
	slices.SortStableFunc(byKey, func(a, b int) int { return ir.CompareKeys(u.draft.Nodes[a].Key, u.draft.Nodes[b].Key) })
	for _, i := range byKey {
		n := &u.draft.Nodes[i]
		switch {
		case n.ID != "":
			out.nodes[i] = n.ID
		case slices.Contains(u.c.in.Options.FreshIDs, string(n.Key)):
			out.nodes[i] = d.derive(seed, string(n.Key), 1, past.Journal)
		default:
			out.nodes[i] = d.derive(seed, string(n.Key), 0, nil)
			u.checkInherited(n, out.nodes[i], &past, diags)
		}
	}
	return out
}

// prefixesOf returns the prefixes of a length of longer annotated ids.
func prefixesOf(ids map[ir.NodeID]bool, length int) map[ir.NodeID]bool {
	out := map[ir.NodeID]bool{}
	for id := range ids {
		if len(id) > length {
			out[id[:length]] = true
		}
	}
	return out
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	v := uint64(0)
	for _, b := range sum[:8] {
		v = v<<8 | uint64(b)
	}
	var out [idWidth]byte
	for i := range out {
		out[i] = idAlphabet[v%uint64(len(idAlphabet))]
		v /= uint64(len(idAlphabet))
	}
	return string(out[:])
}

// checkMovingKeys warns of items whose key is their place and whose id is written
// nowhere: when an item is inserted above them, they become another one.
func (u *unit) checkMovingKeys(diags *diag.List) {
	if !u.c.in.Options.NoAnnotate || u.dialect.In != syntax.InTodo {
		return
	}
	n, first := 0, diag.Range{}
	for _, it := range lists.Each(u.tree.Items) {
		if it.Annotation.Set() || !it.Placed {
			continue
		}
		if n++; n == 1 {
			first = it.Range
		}
	}
	if n == 0 {
		return
	}
	diags.Add(diag.Newf("moving-key", first, "%s identified by position only", countAre(n, "item")).
		WithDetail("The key of an item without an id is its position, which moves when an item is inserted above it; --no-annotate leaves out the lasting id. Compile without it, or begin the items with ids such as #12."))
}
