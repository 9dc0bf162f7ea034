package compiler

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
)

// Plan language, rule 19: items of a front matter keep their ids when the plan is moved
// and when their texts change, and no byte of the front matter does.
func TestListedItemsKeepTheirIDs(t *testing.T) {
	const plan = "---\ndialect: cursor\ntodos:\n  - id: a\n    content: First thing\n  - id: b\n    content: Second thing\n---\n\n# P\n"
	compile := func(path, text string) (Output, map[ir.Key]ir.NodeID) {
		t.Helper()
		out := Compile(Input{Plans: []Source{{path, []byte(text)}}})
		if out.Diags.HasErrors() {
			t.Fatal(out.Diags)
		}
		ids := map[ir.Key]ir.NodeID{}
		for _, n := range out.Results[0].Epic.Nodes {
			ids[n.Key] = n.ID
		}
		return out, ids
	}
	out, first := compile("old.md", plan)
	r := out.Results[0]
	annotated := string(r.Annotated)
	if r.Added != 0 || !strings.HasPrefix(annotated, plan) || strings.Count(annotated, "<!--") != 1 || !strings.Contains(annotated, "<!-- beads-ralph-epic: "+string(r.Epic.Epic.ID)+" -->") {
		t.Fatalf("the annotated plan is\n%s", annotated)
	}
	_, second := compile("moved/new.md", strings.Replace(annotated, "First thing", "Something else altogether", 1))
	for k, id := range first {
		if second[k] != id {
			t.Errorf("the id of %s was %s and is %s", k, id, second[k])
		}
	}
	out = Compile(Input{Plans: []Source{{"old.md", []byte(annotated)}}, Options: Options{FreshIDs: []string{"a"}}})
	if !out.Diags.HasErrors() || out.Diags[0].Code != "id-choice" {
		t.Errorf("--fresh-id: %v", out.Diags)
	}
}

// What depends on a cancelled item waits for what that one depended on, else for nothing.
func TestCancelledListedItemsArePassedThrough(t *testing.T) {
	const plan = "---\ndialect: cursor\ntodos:\n" +
		"  - {id: a, content: a}\n" +
		"  - {id: old, content: o, status: cancelled, dependencies: [older]}\n" +
		"  - {id: older, content: o, status: cancelled, dependencies: [a, old]}\n" +
		"  - {id: gone, content: g, status: cancelled}\n" +
		"  - {id: b, content: b, dependencies: [old]}\n" +
		"  - {id: c, content: c, dependencies: [gone]}\n" +
		"---\n# P\n"
	out := Compile(Input{Plans: []Source{{"p.md", []byte(plan)}}})
	if out.Diags.HasErrors() {
		t.Fatal(out.Diags)
	}
	var got []string
	for _, n := range out.Results[0].Epic.Nodes {
		for _, a := range n.After {
			got = append(got, string(n.Key)+"←"+string(a.Key))
		}
	}
	if s := strings.Join(got, " "); s != "b←a" {
		t.Errorf("the edges are %q, want b←a\n%v", s, out.Diags)
	}
	for _, d := range out.Diags {
		if d.Code == "dependency-prose" {
			t.Errorf("%s: %s", d.Code, d.Detail)
		}
	}
}
