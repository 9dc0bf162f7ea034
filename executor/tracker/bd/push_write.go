package bd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// Bounds of what is written at once.
const (
	// stagedFrom is the number of new beads from which edges come after them: an
	// import checks each edge against all others, which grows faster than the graph.
	stagedFrom = 150
	// bulkFrom is the number of changed beads from which they are written by import.
	bulkFrom = 20
	// edgesAtOnce bounds a transaction of edges; what is written stays when a push is
	// interrupted.
	edgesAtOnce = 2000
)

// create imports the new beads. Many come without their edges and deferred, so that
// nobody takes one for ready: batch adds the edges and opens them. Few come whole:
// bd imports them in one transaction.
func (p *push) create(ctx context.Context, d *difference) error {
	staged := len(d.news) > stagedFrom
	rows, edges, err := p.rows(d, staged)
	if err != nil {
		return err
	}
	if staged {
		p.stage(d)
	}
	lines, err := codec.Lines(rows)
	if err != nil {
		return err
	}
	p.say("importing " + text.Count(len(rows), "bead"))
	got, err := p.c.Import(ctx, lines, limitFor(len(rows), edges))
	if err != nil {
		if len(got.SkippedBy) > 0 {
			p.forget(ctx, got.SkippedBy)
		}
		return err
	}
	if len(got.Stale) > 0 {
		return fmt.Errorf("%s were created during the push; push again", strings.Join(got.Stale[:min(len(got.Stale), 5)], ", "))
	}
	p.out.Created += len(rows)
	p.out.Anew = p.out.Anew || d.news[0] == 0
	return nil
}

// rows are the new beads as they are imported, and how many edges come with them.
func (p *push) rows(d *difference, staged bool) (rows []codec.Row, edges int, err error) {
	for _, i := range d.news {
		r := p.now[i]
		m, err := mark(p.out.Epic, &p.plan[i])
		if err != nil {
			return nil, 0, err
		}
		m.Staged = staged
		r.Metadata = maps.Clone(r.Metadata)
		r.Metadata[PushedKey] = plainJSON(m)
		if staged {
			r.UpdatedAt = codec.Fixed // bead knows by it that its edges may be missing
			if r.Status == "open" {
				r.Status = "deferred"
			}
			r.Dependencies = slices.DeleteFunc(slices.Clone(r.Dependencies), ordering)
		}
		p.out.Edges += len(lists.Keep(r.Dependencies, ordering))
		edges += len(r.Dependencies)
		rows = append(rows, r)
	}
	return rows, edges, nil
}

// ordering reports whether an edge comes after the beads that are staged.
func ordering(x codec.Dependency) bool { return x.Type != "parent-child" }

// stage leaves to batch what was left out of the new beads.
func (p *push) stage(d *difference) {
	for _, i := range slices.Backward(d.news) {
		r := &p.plan[i]
		for _, x := range lists.Keep(r.Dependencies, ordering) {
			d.add = append(d.add, edge{x.From, x.To, x.Type})
		}
		if p.now[i].Status == "open" {
			d.release = append(d.release, r.ID)
		} else {
			d.touch = append(d.touch, touched{r.ID, r.Priority})
		}
		d.fresh++
	}
}

// forget takes the marker from beads whose edges bd left out, so that the next push
// adds them.
func (p *push) forget(ctx context.Context, skipped []string) {
	seen := map[string]bool{}
	for _, s := range skipped {
		id, _, _ := strings.Cut(s, " ")
		if seen[id] {
			continue
		}
		seen[id] = true
		if by, err := p.c.ByID(ctx, id); err == nil && len(by) == 1 {
			_, _ = p.c.Update(ctx, id, Change{Unset: []string{PushedKey}})
		}
	}
}

// batch writes edges, and what opens and closes beads, in transactions in which ids
// are exact.
func (p *push) batch(ctx context.Context, d *difference) error {
	ops := lists.Map(d.cut, func(e edge) string { return "dep remove " + word(e.from) + " " + word(e.to) })
	ops = append(ops, lists.Map(d.add, func(e edge) string { return "dep add " + word(e.from) + " " + word(e.to) + " " + e.kind })...)
	total := len(ops)
	for len(ops) > edgesAtOnce {
		if err := p.c.Batch(ctx, ops[:edgesAtOnce], limitFor(len(p.plan), edgesAtOnce)); err != nil {
			return err
		}
		ops = ops[edgesAtOnce:]
		p.say(fmt.Sprintf("%d of %d edges", total-len(ops), total))
	}
	edges := len(ops)
	ops = append(ops, lists.Map(d.close, func(x closing) string { return "close " + word(x.id) + " " + word(x.reason) })...)
	ops = append(ops, lists.Map(d.reopen, func(id string) string { return "update " + word(id) + " status=open" })...)
	ops = append(ops, lists.Map(d.touch, func(x touched) string { return fmt.Sprintf("update %s priority=%d", word(x.id), x.priority) })...)
	for _, id := range d.release { // the last: only now anything may look ready
		ops = append(ops, "update "+word(id)+" status=open")
	}
	if len(ops) == 0 {
		return nil
	}
	if edges > 0 {
		p.say("writing " + text.Count(edges, "edge"))
	}
	if err := p.c.Batch(ctx, ops, limitFor(len(p.plan), edges)); err != nil {
		return err
	}
	p.out.Edges += len(d.add)
	p.out.Cut += len(d.cut)
	p.out.Closed = append(p.out.Closed, lists.Map(d.close, func(x closing) string { return x.id })...)
	p.out.Reopened = append(p.out.Reopened, d.reopen...)
	p.out.Changed += len(d.touch) + len(d.release) - d.fresh
	return nil
}

// word writes a token of bd's batch language.
func word(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"\\#") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s) + `"`
}

// change writes what is different about beads: a few one by one, many by an import
// that bd refuses for each bead that was written meanwhile (again).
func (p *push) change(ctx context.Context, d *difference) (again bool, err error) {
	list := d.changes
	lent := func(ch *change) bool { return p.lends(ch.bead) } // of whom no row is written
	if len(list) > bulkFrom && !slices.ContainsFunc(list, lent) {
		last := list[len(list)-1] // the epic's, if it is among them: it says what all of it is
		list = list[:len(list)-1]
		if again, err = p.bulk(ctx, list); again || err != nil {
			return again, err
		}
		list = []*change{last}
	}
	for _, ch := range list {
		if _, err := p.c.Update(ctx, ch.bead.ID, ch.update()); err != nil {
			return false, err
		}
		p.out.Changed++
	}
	return false, nil
}

// derived are the keys that bd shows and an import does not take.
var derived = []string{"dependencies", "dependency_count", "dependent_count", "comment_count", "parent", "revision", "comments"}

// bulk writes changed beads by import: the whole row as it was read, with what is new,
// one second younger. A later write has a later date, and bd keeps theirs.
func (p *push) bulk(ctx context.Context, list []*change) (again bool, err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, ch := range list {
		if len(ch.cut) > 0 { // an import adds labels and takes none away; they have no date
			if _, err := p.c.Update(ctx, ch.bead.ID, Change{Remove: ch.cut}); err != nil {
				return false, err
			}
		}
		row, err := ch.row()
		if err != nil {
			return false, err
		}
		if err := enc.Encode(row); err != nil {
			return false, err
		}
	}
	p.say("changing " + text.Count(len(list), "bead"))
	got, err := p.c.Import(ctx, b.Bytes(), limitFor(len(list), 0))
	if err != nil {
		return false, err
	}
	p.out.Changed += len(list) - len(got.Stale)
	return len(got.Stale) > 0, nil
}

// row is the bead as it is with the change in it.
func (ch *change) row() (map[string]any, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(ch.bead.Raw, &raw); err != nil {
		return nil, fmt.Errorf("bead %s: %w", ch.bead.ID, err)
	}
	out := map[string]any{}
	for k, v := range raw {
		if !slices.Contains(derived, k) {
			out[k] = v
		}
	}
	set := func(key string, v *string) {
		if v != nil {
			out[key] = *v
		}
	}
	set("title", ch.title)
	set("description", ch.text)
	set("acceptance_criteria", ch.accept)
	if ch.kind != "" {
		out["issue_type"] = ch.kind
	}
	if ch.priority != nil {
		out["priority"] = *ch.priority
	}
	if _, has := out["priority"]; !has {
		out["priority"] = ch.bead.Priority
	}
	meta := map[string]json.RawMessage{}
	maps.Copy(meta, metadataOf(ch.bead))
	maps.Copy(meta, ch.metadata)
	for _, k := range ch.unset {
		delete(meta, k)
	}
	out["metadata"] = meta
	out["labels"] = slices.DeleteFunc(slices.Concat(ch.bead.Labels, ch.add), func(l string) bool { return slices.Contains(ch.cut, l) })
	out["updated_at"] = ch.bead.UpdatedAt.Add(time.Second).Format(time.RFC3339)
	return out, nil
}
