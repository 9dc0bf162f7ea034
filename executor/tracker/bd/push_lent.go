package bd

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// lentBy finds the beads of an epic that people made and ralph imported: they are lent to
// it, with their ids. A push gives them the epic's label and its own keys of metadata,
// and writes nothing else. The value is when bd says that the bead came into being.
func lentBy(e *ir.Epic) map[string]time.Time {
	out := map[string]time.Time{}
	for i := range e.Nodes {
		ext, ok := e.Nodes[i].Ext[codec.Format]
		if !ok {
			continue
		}
		var kept struct {
			Created time.Time `json:"created_at"`
		}
		_ = json.Unmarshal(ext, &kept) // without a time it is known by its id alone
		out[string(e.Nodes[i].ID)] = kept.Created
	}
	if len(e.Nodes) > 0 && len(out) == len(e.Nodes) {
		out[string(e.Epic.ID)] = time.Time{}
	}
	return out
}

// lends reports whether a bead is one that was imported: not just one with its id.
func (p *push) lends(f Issue) bool {
	made, lent := p.lent[f.ID]
	switch {
	case !lent, !made.IsZero() && !made.Truncate(time.Second).Equal(f.CreatedAt.Truncate(time.Second)):
		return false
	case f.ID == p.out.Epic && f.Type != codec.TypeEpic:
		return false
	}
	m := markerOf(f)
	return (m == nil || m.Epic == p.out.Epic) && !slices.ContainsFunc(f.Labels, func(l string) bool {
		return strings.HasPrefix(l, codec.EpicLabel) && l != codec.EpicLabel+p.out.Epic
	})
}

// borrow compares a bead that is lent: with the label, and what says whose it is.
func (p *push) borrow(d *difference, r *codec.Row, f Issue, was *marker) {
	own := map[string]json.RawMessage{}
	var unset []string
	if f.ID == p.out.Epic {
		own[codec.DigestKey] = r.Metadata[codec.DigestKey]
		if text, ok := r.Metadata[codec.EpicKey]; ok {
			own[codec.EpicKey] = text
		} else if metadataOf(f)[codec.EpicKey] != nil {
			unset = []string{codec.EpicKey}
		}
	}
	text, err := json.Marshal(own)
	if err != nil {
		return // it is plain
	}
	want := &marker{Epic: p.out.Epic, Lent: true, Metadata: short8(string(text))}
	label := codec.EpicLabel + p.out.Epic
	if has := slices.Contains(f.Labels, label); has && reflect.DeepEqual(was, want) {
		return
	}
	p.out.Anew = p.out.Anew || f.ID == p.out.Epic && (was == nil || was.Metadata != want.Metadata)
	ch := &change{bead: f, metadata: map[string]json.RawMessage{PushedKey: plainJSON(want)}, unset: unset}
	maps.Copy(ch.metadata, own)
	if !slices.Contains(f.Labels, label) {
		ch.add = []string{label}
	}
	d.changes = append(d.changes, ch)
}
