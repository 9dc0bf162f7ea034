package bd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// PushedKey is the key of a bead's metadata that records what the last push wrote, so
// that the next one can tell the plan's changes since from people's.
const PushedKey = "ralph_pushed"

// marker is the value of PushedKey. Texts are in it as short digests.
type marker struct {
	Epic        string   `json:"epic"`
	Staged      bool     `json:"staged,omitempty"` // its edges came behind it: while it has the date of its import, they may be missing
	Lent        bool     `json:"lent,omitempty"`   // people made it: nothing below but the metadata is said
	Done        bool     `json:"done,omitempty"`   // the plan said so
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Acceptance  string   `json:"acceptance"`
	Type        string   `json:"type"`
	Priority    int      `json:"priority"`
	Metadata    string   `json:"metadata"`
	Labels      []string `json:"labels"`
	Edges       []string `json:"edges"` // "blocks bd-1"
}

// tracking are the keys of metadata that a run fills; a push writes them once, with
// the bead. worktree_path depends on the machine.
var tracking = []string{
	"attempt_count", "scrum_master_session_id", "dev_agent_session_id", "dev_agent_executions", "qa_agent_executions",
	"pr_url", "pr_number", "scrum_result", "worktree_path",
}

// fading are the keys of metadata that a plan may take away again.
var fading = []string{"branches_to_merge", codec.EpicKey}

func mark(epic string, r *codec.Row) (*marker, error) {
	m := &marker{
		Epic: epic, Done: r.Status == "closed", Title: short8(r.Title), Description: short8(r.Description), Acceptance: short8(r.Acceptance),
		Type: r.Type, Priority: r.Priority, Labels: r.Labels, Edges: []string{},
	}
	b, err := json.Marshal(planned(r)) // sorted by key
	if err != nil {
		return nil, fmt.Errorf("bead %s: %w", r.ID, err)
	}
	m.Metadata = short8(string(b))
	m.Edges = append(m.Edges, lists.Map(r.Dependencies, func(d codec.Dependency) string { return d.Type + " " + d.To })...)
	slices.Sort(m.Edges)
	return m, nil
}

// planned is the metadata that only the plan decides.
func planned(r *codec.Row) map[string]json.RawMessage {
	out := maps.Clone(r.Metadata)
	for _, k := range tracking {
		delete(out, k)
	}
	return out
}

func short8(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// markerOf reads what the last push wrote; nil if the bead does not say.
func markerOf(i Issue) *marker {
	var m struct {
		Pushed *marker `json:"ralph_pushed"`
	}
	if len(i.Metadata) == 0 || json.Unmarshal(i.Metadata, &m) != nil {
		return nil
	}
	return m.Pushed
}

// difference is what a round has to write.
type difference struct {
	news     []int     // rows that bd does not have, the epic first
	changes  []*change // beads that are written, the epic last
	add, cut []edge    // edges, those of later nodes first
	release  []string  // beads that are opened when all edges are there
	fresh    int       // how many of release and touch are new themselves
	touch    []touched // beads that stay as they are, whose date has to move
	close    []closing
	reopen   []string
}

type edge struct{ from, to, kind string }

type touched struct {
	id       string
	priority int // the present one
}

type closing struct{ id, reason string }

// change is what is different about one bead.
type change struct {
	bead     Issue
	title    *string
	text     *string // the description
	accept   *string
	kind     string
	priority *int
	add, cut []string // labels
	metadata map[string]json.RawMessage
	unset    []string
}

func (d *difference) empty() bool {
	return len(d.news)+len(d.changes)+len(d.add)+len(d.cut)+len(d.release)+len(d.touch)+len(d.close)+len(d.reopen) == 0
}

// goneReason is why a bead was closed whose node is gone.
const goneReason = "gone from the plan"

// compare finds what bd lacks. It walks the nodes backwards: an edge that is added
// when what it leads to has no edges yet costs bd nothing to check for cycles.
func (p *push) compare(there map[string]Issue) *difference {
	d := &difference{}
	p.out.Notes = nil
	wanted := map[string]bool{}
	theirs := slices.ContainsFunc(p.plan, func(r codec.Row) bool {
		f, has := there[r.ID]
		return has && p.lends(f)
	})
	for i := range p.plan {
		id := p.plan[i].ID
		wanted[id] = true
		_, has := there[id]
		_, lent := p.lent[id]
		switch {
		case has:
		case lent && theirs:
			p.note("%s was imported and is not in bd any more; it is not made again", id)
		default:
			d.news = append(d.news, i)
		}
	}
	for i := len(p.plan) - 1; i >= 0; i-- {
		if f, has := there[p.plan[i].ID]; has {
			p.bead(d, &p.plan[i], f)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if !wanted[id] {
			p.gone(d, there[id])
		}
	}
	return d
}

// bead compares a bead with its row.
func (p *push) bead(d *difference, r *codec.Row, f Issue) {
	want, err := mark(p.out.Epic, r)
	if err != nil {
		return // create would have failed on it
	}
	was := markerOf(f)
	if p.lends(f) && (was == nil || was.Lent) {
		p.borrow(d, r, f, was)
		return
	}
	half := was != nil && was.Staged && f.UpdatedAt.Equal(codec.Fixed)
	p.edges(d, r, f, was, half)
	if half {
		if f.Status == "deferred" {
			d.release = append(d.release, f.ID)
		} else {
			d.touch = append(d.touch, touched{f.ID, f.Priority})
		}
	}
	p.ends(d, f, was, want)
	if was != nil {
		want.Staged = was.Staged
		if reflect.DeepEqual(was, want) && slices.Contains(f.Labels, codec.EpicLabel+p.out.Epic) {
			return
		}
	}
	known := was != nil
	if !known {
		was = &marker{}
	}
	ch := &change{bead: f, metadata: map[string]json.RawMessage{PushedKey: plainJSON(want)}}
	p.texts(ch, r, was, known)
	for _, l := range r.Labels {
		if !slices.Contains(f.Labels, l) && (!slices.Contains(was.Labels, l) || l == codec.EpicLabel+p.out.Epic) {
			ch.add = append(ch.add, l)
		}
	}
	ch.cut = lists.Keep(was.Labels, func(l string) bool { return !slices.Contains(r.Labels, l) && slices.Contains(f.Labels, l) })
	if was.Metadata != want.Metadata {
		p.out.Anew = p.out.Anew || f.ID == p.out.Epic
		maps.Copy(ch.metadata, planned(r))
		have := metadataOf(f)
		for _, k := range fading {
			if _, is := ch.metadata[k]; !is && have[k] != nil {
				ch.unset = append(ch.unset, k)
			}
		}
	}
	d.changes = append(d.changes, ch)
}

// texts finds what the plan has changed of a bead's columns since the last push, if that is
// known. What people have also changed in bd stays.
func (p *push) texts(ch *change, r *codec.Row, was *marker, known bool) {
	f := ch.bead
	theirs := func(what string) { p.note("%s: the plan and somebody in bd changed its %s; bd's stays", f.ID, what) }
	text := func(what, current, now, old string) *string {
		switch {
		case current == now || known && short8(now) == old:
			return nil
		case known && short8(current) != old:
			theirs(what)
			return nil
		}
		return &now
	}
	ch.title, ch.text = text("title", f.Title, r.Title, was.Title), text("description", f.Description, r.Description, was.Description)
	ch.accept = text("acceptance criteria", f.Acceptance, r.Acceptance, was.Acceptance)
	if f.Type != r.Type && (!known || r.Type != was.Type) {
		ch.kind = r.Type
	}
	switch {
	case f.Priority == r.Priority || known && r.Priority == was.Priority:
	case known && f.Priority != was.Priority:
		theirs("priority")
	default:
		ch.priority = &r.Priority
	}
}

func metadataOf(f Issue) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	_ = json.Unmarshal(f.Metadata, &out) // what is no object has none
	return out
}

// edges compares the edges of a bead: those that the plan has new are added, those
// that it has no longer are removed; what people did stays.
func (p *push) edges(d *difference, r *codec.Row, f Issue, was *marker, half bool) {
	has := lists.Table(f.Dependencies, func(x codec.Dependency) (string, bool) { return x.Type + " " + x.To, true })
	wanted := map[string]bool{}
	for _, x := range r.Dependencies {
		k := x.Type + " " + x.To
		wanted[k] = true
		if !has[k] && (half || was == nil || !slices.Contains(was.Edges, k)) {
			d.add = append(d.add, edge{x.From, x.To, x.Type})
		}
	}
	if was == nil {
		return
	}
	for _, k := range was.Edges {
		kind, to, _ := strings.Cut(k, " ")
		if has[k] && !wanted[k] {
			d.cut = append(d.cut, edge{f.ID, to, kind})
		}
	}
}

// ends closes what the plan says is done since, and opens what it no longer does.
func (p *push) ends(d *difference, f Issue, was, want *marker) {
	before := was != nil && was.Done
	switch {
	case want.Done && !before && f.Status != "closed":
		d.close = append(d.close, closing{f.ID, "done, says the plan"})
	case !want.Done && f.Status == "closed" && (f.CloseReason == goneReason || before && f.CloseReason == "done, says the plan"):
		d.reopen = append(d.reopen, f.ID)
	}
}

// gone is a bead of the epic that the plan has no more.
func (p *push) gone(d *difference, f Issue) {
	m := markerOf(f)
	switch {
	case m == nil || m.Epic != p.out.Epic:
		p.note("%s %q has the label of this epic and was not pushed by ralph; it is left alone", f.ID, clip(f.Title))
	case f.Status == "closed":
	case m.Lent:
		p.note("%s %q was imported and is gone from the epic; it is left alone", f.ID, clip(f.Title))
	case f.Status == "open" || f.Status == "deferred":
		d.close = append(d.close, closing{f.ID, goneReason})
	default:
		p.note("%s %q is gone from the plan and is %s in bd; close it yourself: bd close %s --force", f.ID, clip(f.Title), f.Status, f.ID)
	}
}

func (p *push) note(format string, args ...any) {
	p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, args...))
}

// update is a change as the client writes it.
func (ch *change) update() Change {
	out := Change{Add: ch.add, Remove: ch.cut, Metadata: ch.metadata, Unset: ch.unset, Type: ch.kind, Text: ch.text, Acceptance: ch.accept, Priority: ch.priority}
	if ch.title != nil {
		out.Title = *ch.title
	}
	return out
}
