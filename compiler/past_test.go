package compiler

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// What the clone knows gives diagnostics, and says which ids are not fresh; it
// changes no other byte. execution §2, design §3
func TestPastChangesNoByte(t *testing.T) {
	const bare = "# P\n\n### Sprint 1.1: A\n\n- a\n\n### Sprint 1.2: B\n\n- b\n"
	plan := func(past func(ir.Header) Past, o Options, text string) Output {
		return Compile(Input{Plans: []Source{{Path: "p.md", Bytes: []byte(text)}}, Past: past, Options: o})
	}
	first := plan(nil, Options{}, bare).Results[0]
	ids := map[ir.Key]ir.NodeID{}
	for _, n := range first.Epic.Nodes {
		ids[n.Key] = n.ID
	}
	knows := func(h ir.Header) Past {
		if h.ID != first.Epic.Epic.ID || h.Slug != "p" {
			t.Errorf("asked about %s, %s", h.ID, h.Slug)
		}
		return Past{Journal: map[ir.NodeID]string{ids["1.1"]: `1.1 "Gone"`}}
	}
	asked := func(ir.Header) Past { t.Error("asked about a plan that has all its ids"); return Past{} }

	if out := plan(knows, Options{}, bare); !out.Diags.HasErrors() || !strings.Contains(printDiags(out), `1.1 "Gone"`) {
		t.Errorf("an id of a deleted item was taken:\n%s", printDiags(out))
	}
	same := plan(knows, Options{SameIDs: []string{"1.1"}}, bare)
	if same.Diags.HasErrors() || !bytes.Equal(same.Results[0].JSON, first.JSON) {
		t.Errorf("kept, the id gives other bytes:\n%s", printDiags(same))
	}
	fresh := plan(knows, Options{FreshIDs: []string{"1.1"}}, bare)
	if fresh.Diags.HasErrors() || fresh.Results[0].Epic.Nodes[0].ID == ids["1.1"] || fresh.Results[0].Epic.Nodes[1].ID != ids["1.2"] {
		t.Errorf("a fresh id is none, or concerns another item:\n%s", printDiags(fresh))
	}
	again := plan(asked, Options{}, string(fresh.Results[0].Annotated))
	if !bytes.Equal(again.Results[0].JSON, fresh.Results[0].JSON) {
		t.Error("the fresh id that is in the plan is not believed")
	}
	// One on record about the fresh id as well: the next one.
	both := func(ir.Header) Past {
		return Past{Journal: map[ir.NodeID]string{ids["1.1"]: "", fresh.Results[0].Epic.Nodes[0].ID: ""}}
	}
	if id := plan(both, Options{FreshIDs: []string{"1.1"}}, bare).Results[0].Epic.Nodes[0].ID; id == ids["1.1"] || id == fresh.Results[0].Epic.Nodes[0].ID {
		t.Errorf("%s is on record", id)
	}
	unknown := func(ir.Header) Past { return Past{Unknown: "The journal cannot be read"} }
	if out := plan(unknown, Options{}, bare); strings.Count(printDiags(out), "deleted-id") != 2 {
		t.Errorf("a journal that cannot be read was taken for an empty one:\n%s", printDiags(out))
	}
}

// Another item that takes a number in the same edit that removed the old one is seen by
// its title, in a plan that says what the ids of its items are. execution §2
func TestAnItemThatReplacesAnotherInOneEdit(t *testing.T) {
	compile := func(text string, past Past) string {
		return printDiags(Compile(Input{Plans: []Source{{Path: "p.md", Bytes: []byte(text)}}, Past: func(ir.Header) Past { return past }}))
	}
	const bare = "# P\n\n### Sprint 1.1: Parse the query\n\n- a\n\n### Sprint 1.2: B\n\n- b\n"
	first := Compile(Input{Plans: []Source{{Path: "p.md", Bytes: []byte(bare)}}}).Results[0]
	id, plan := first.Epic.Nodes[0].ID, string(first.Annotated)
	at := strings.Index(plan, "<!-- beads-ralph: "+string(id))
	typed := plan[:at] + plan[at+strings.Index(plan[at:], "\n")+1:] // 1.1 without its annotation
	for _, c := range []struct {
		name, text, title string
		journal, want     bool
		fate              string
	}{
		{"another one", typed, "Draw a map", true, true, ""},
		{"some words are the same", typed, "Parse mail", true, true, ""},
		{"the same title, the annotation is gone", typed, "Parse the query", true, false, ""},
		{"the title is a little better", typed, "Parse the long query!", true, false, ""},
		{"nothing is on record", typed, "Draw a map", false, false, ""},
		{"the id is there", plan, "Draw a map", true, false, ""},
		{"a plan without ids", bare, "Draw a map", true, false, ""},
		{"a plan without ids, done", bare, "Draw a map", true, true, "done"},
		{"a plan without ids, the same item", bare, "Parse a query", true, false, "done"},
		{"a replaced one without a title", typed, "", true, false, ""},
	} {
		past := Past{Replaced: map[ir.NodeID]string{id: c.title, first.Epic.Nodes[1].ID: "B"}, Journal: map[ir.NodeID]string{}}
		if c.journal {
			past.Journal[id] = ""
			past.Fate = func() map[ir.NodeID]string { return map[ir.NodeID]string{id: c.fate} }
		}
		got := compile(c.text, past)
		if strings.Contains(got, "deleted-id") != c.want || c.want && !strings.Contains(got, c.title) {
			t.Errorf("%s: got\n%s", c.name, got)
		}
	}
}

// A file that ralph does not write cannot be given an id: it is to say another one.
func TestPastOfAnImport(t *testing.T) {
	draft := imported("a")
	draft.Draft.Nodes[0].ID = ""
	in := Input{Imports: []Imported{draft}}
	id := Compile(in).Results[0].Epic.Nodes[0].ID
	in.Past = func(ir.Header) Past { return Past{Journal: map[ir.NodeID]string{id: ""}} }
	if got := printDiags(Compile(in)); !strings.Contains(got, "give it another id in beads.json") {
		t.Errorf("got:\n%s", got)
	}
}
