package bd

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// What people have changed stays unless the plan has changed the same, and then it
// stays too and is said.
func TestPeoplesChangesStay(t *testing.T) { // issue: local state newer than ours is never overwritten
	c, f, dir := fakeDatabase(t)
	e := irtest.Rich()
	push1(t, c, e)
	n := e.Nodes
	id := func(k int) string { return string(n[k].ID) }
	f.Do(dir, "ana", "update", id(1), "--title", "Ana's title", "--add-label", "ana", "--status", "in_progress", "--metadata", `{"hers":1}`)
	f.Do(dir, "ana", "update", id(5), "--description", "Ana's words", "-p", "0")
	f.Do(dir, "ana", "update", id(6), "--status", "closed", "--force")
	edge := n[7].After[0]
	f.Do(dir, "ana", "dep", "remove", id(7), string(nodeID(e, edge.Key)))
	f.Do(dir, "ana", "label", "remove", id(7), "ralph")
	if p := push1(t, c, irtest.Rich()); p.Calls != 1 {
		t.Errorf("the plan has not changed: %+v", p)
	}
	next := irtest.Rich()
	next.Nodes[1].Title = "The plan's title"
	next.Nodes[1].Acceptance = []string{"More"}
	next.Nodes[5].Goal = "The plan's words"
	next.Nodes[6].Title = "New"
	next.Nodes[7].Title = "New"
	ir.Seal(next)
	p := push1(t, c, next)
	by, err := c.ByID(context.Background(), id(1), id(5), id(6), id(7))
	if err != nil {
		t.Fatal(err)
	}
	if i := by[id(1)]; i.Title != "Ana's title" || i.Acceptance != "- More" || i.Status != "in_progress" || !slices.Contains(i.Labels, "ana") || !strings.Contains(string(i.Metadata), `"hers"`) {
		t.Errorf("%+v", i)
	}
	if i := by[id(5)]; i.Description != "Ana's words" || i.Priority != 0 {
		t.Errorf("%+v", i)
	}
	if i := by[id(6)]; i.Title != "New" || i.Status != "closed" {
		t.Errorf("%+v", i)
	}
	if i := by[id(7)]; i.Title != "New" || slices.Contains(i.Labels, "ralph") || slices.ContainsFunc(i.Dependencies, func(d codec.Dependency) bool { return d.To == string(nodeID(e, edge.Key)) }) {
		t.Errorf("%+v", i)
	}
	want := []string{id(5) + ": the plan and somebody in bd changed its description; bd's stays", id(1) + ": the plan and somebody in bd changed its title; bd's stays"}
	if !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q, want %q", p.Notes, want)
	}
	if p := push1(t, c, next); p.Calls != 1 {
		t.Errorf("the push after it: %+v", p)
	}
}

func nodeID(e *ir.Epic, key ir.Key) ir.NodeID {
	for i := range e.Nodes {
		if e.Nodes[i].Key == key {
			return e.Nodes[i].ID
		}
	}
	return ""
}

// Who writes a bead between the read and the import of a bulk change wins, and the
// next round writes the rest.
func TestABulkChangeLosesToWhoeverWasQuicker(t *testing.T) { // beads: trap 1
	c, f, dir := fakeDatabase(t)
	push1(t, c, irtest.Rich())
	p := &push{c: c, say: func(string) {}, out: &Pushed{Epic: "bd-e00001"}}
	next := many(irtest.Rich())
	var err error
	if p.plan, err = codec.Rows(next, nil); err != nil {
		t.Fatal(err)
	}
	p.now = p.plan
	there, err := p.read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	id := string(next.Nodes[4].ID)
	f.Do(dir, "ana", "update", id, "--status", "in_progress", "--assignee", "ana") // meanwhile
	if again, err := p.change(context.Background(), p.compare(there)); err != nil || !again {
		t.Fatalf("again %v, %v", again, err)
	}
	push1(t, c, next)
	by, err := c.ByID(context.Background(), id)
	if err != nil || by[id].Status != "in_progress" || by[id].Assignee != "ana" || !strings.Contains(by[id].Acceptance, "documented") {
		t.Errorf("%+v, %v", by[id], err)
	}
}

// What people did to a bead survives every further push and import.
func TestAPushNeverReopensWhatIsClosed(t *testing.T) { // beads: trap 1
	c, f, dir := fakeDatabase(t)
	e := irtest.Worked()
	push1(t, c, e)
	id := string(e.Nodes[0].ID)
	f.Do(dir, "ana", "update", id, "--metadata", `{"attempt_count": 3}`)
	f.Do(dir, "ana", "close", id, "--reason", "by hand")
	for range 2 {
		many(e)
		push1(t, c, e)
	}
	rows, err := codec.Rows(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := codec.Lines(rows)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Import(context.Background(), lines, quick); err != nil { // as a person would, from an export
		t.Fatal(err)
	}
	by, err := c.ByID(context.Background(), id)
	if err != nil || by[id].Status != "closed" || by[id].CloseReason != "by hand" || !strings.Contains(string(by[id].Metadata), `"attempt_count":3`) {
		t.Errorf("%+v, %v", by[id], err)
	}
}

// Beads of nodes that are gone are closed and said; who is at work on one is left
// alone; what comes back is opened.
func TestWhatIsGoneFromThePlanIsClosed(t *testing.T) { // K33
	c, f, dir := fakeDatabase(t)
	push1(t, c, irtest.Rich())
	less := irtest.Rich()
	last, other := less.Nodes[23], less.Nodes[22]
	less.Nodes = less.Nodes[:22]
	ir.Seal(less)
	f.Do(dir, "ana", "update", string(other.ID), "--status", "in_progress", "--assignee", "ana")
	p := push1(t, c, less)
	if !slices.Equal(p.Closed, []string{string(last.ID)}) || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], string(other.ID)) {
		t.Errorf("%+v", p)
	}
	by, _ := c.ByID(context.Background(), string(last.ID), string(other.ID))
	if by[string(last.ID)].CloseReason != goneReason || by[string(other.ID)].Status != "in_progress" {
		t.Errorf("%+v", by)
	}
	if p := push1(t, c, less); p.Calls != 1 {
		t.Errorf("the push after it: %+v", p)
	}
	var said []string
	p, err := Push(context.Background(), c, irtest.Rich(), PushOptions{Progress: func(s string) { said = append(said, s) }})
	if err != nil || !slices.Equal(p.Reopened, []string{string(last.ID)}) || slices.Contains(said, "writing 0 edges") {
		t.Errorf("back: %+v, %v, %q", p, err, said)
	}
}

// bd gc runs only if the policy asks for it, behind what is written in bulk.
// A merge that waits for one branch only is work: its bead loses what a merge has,
// while the rest of it changes.
func TestAMergeThatIsNoneAnyMore(t *testing.T) { // K33
	c, f, dir := fakeDatabase(t)
	e := irtest.Rich()
	push1(t, c, e)
	k := slices.IndexFunc(e.Nodes, func(n ir.Node) bool { return len(n.Merges) > 0 })
	n := &e.Nodes[k]
	if !strings.Contains(beads(t, f, dir)[string(n.ID)], "branches_to_merge") {
		t.Fatalf("%s has nothing to merge", n.ID)
	}
	n.Kind, n.Merges, n.Title = ir.Work, nil, "Work"
	push1(t, c, e)
	got := beads(t, f, dir)[string(n.ID)]
	if strings.Contains(got, "branches_to_merge") || !strings.Contains(got, `"title":"Work"`) || !strings.Contains(got, `"beads-ralph-work"`) {
		t.Errorf("%s", got)
	}
}
