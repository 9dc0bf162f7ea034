package bd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// written are the issues that an export writes of issues that were imported, by id.
func written(t *testing.T, text string, h *ir.History) map[string]map[string]any {
	t.Helper()
	e := imported(t, text)
	var b bytes.Buffer
	if _, err := bd.Encode(&b, e, h); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for l := range strings.Lines(b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		for _, x := range items(m["dependencies"]) { // ids of epics that are made are none of ours
			if o, is := x.(map[string]any); is && o["depends_on_id"] == string(e.Epic.ID) {
				o["depends_on_id"] = "EPIC"
			}
		}
		out[m["id"].(string)] = m
	}
	return out
}

// An issue comes out with the edges that it came with, those that were none in ralph too, and
// with one parent. S0-12
func TestEdgesOfAnIssueComeOut(t *testing.T) {
	const epic = `,"issue_type":"epic"`
	for _, c := range []struct{ name, issues, want string }{
		{"none", of("b", ""), "parent-child EPIC"},
		{"its epic", of("EPIC", epic) + of("b", `,"parent":"EPIC"`), "parent-child EPIC"},
		{"its epic as an edge", of("EPIC", epic) + of("b", deps(on("EPIC", "parent-child"))), "parent-child EPIC"},
		{"as show answers", of("EPIC", epic) + of("b", deps(`{"id":"EPIC","dependency_type":"parent-child"}`)), "parent-child EPIC"},
		{"an epic that does not come out", of("e", epic) + of("a", "") + of("b", deps(on("e", "parent-child"))), "parent-child e"},
		{"a parent", of("a", "") + of("b", deps(on("a", "parent-child"))), "parent-child a"},
		{"a parent before another", of("a", "") + of("c", "") + of("b", deps(on("a", "parent-child")+","+on("c", "blocks"))), "blocks c, parent-child a"},
		{"one that is gone", of("b", deps(`"a",`+on("x", "related"))), `"a", parent-child EPIC, related x`},
		{"both", of("a", "") + of("b", deps(on("a", "waits-for"))), "blocks a, parent-child EPIC, waits-for a"},
		{"both words", of("a", "") + of("b", deps(on("a", "relates-to"))), "parent-child EPIC, related a, relates-to a"},
		{"all of it", of("a", "") + of("c", deps(on("a", "blocks"))) + of("b", deps(on("c", "blocks")+","+on("a", "blocks"))), "blocks a, blocks c, parent-child EPIC"},
	} {
		var got []string
		for _, x := range items(written(t, strings.ReplaceAll(c.issues, `}{"id"`, "}\n"+`{"id"`), nil)["b"]["dependencies"]) {
			if o, is := x.(map[string]any); is {
				to, kind := o["depends_on_id"], o["type"]
				if to == nil {
					to, kind = o["id"], o["dependency_type"]
				}
				got = append(got, fmt.Sprint(kind, " ", to))
			} else {
				got = append(got, fmt.Sprintf("%q", x))
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// An issue keeps what bd says of its state until ralph begins it; from then on that is
// ralph's, whose metadata and comments join its own. S0-07, S0-10, S0-14..19, S0-159
func TestWhatIsRalphsOfAnIssue(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	blocked := func(n ir.NodeHistory) *ir.History {
		n.Words, n.Status, n.Reason = map[string]string{"issue": "blocked"}, "blocked", "r"
		return &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"a": &n}}
	}
	const came = `,"notes":"n","status":"open","assignee":"ana","external_ref":"gh-9","updated_at":"2026-01-01T00:00:00Z"`
	for _, c := range []struct {
		name, more string
		h          *ir.History
		want       string
	}{
		{"it says nothing", "", nil, "status=open updated_at=2000-01-01T00:00:00Z"},
		{"it says all", came, nil, "assignee=ana external_ref=gh-9 status=open updated_at=2026-01-01T00:00:00Z"},
		{"closed", `,"status":"closed"`, nil, "closed_at=2000-01-01T00:00:00Z status=closed updated_at=2000-01-01T00:00:00Z"},
		{"closed, when and why", `,"status":"closed","closed_at":"2026-01-01T00:00:00Z","close_reason":"c"`, nil, "close_reason=c closed_at=2026-01-01T00:00:00Z status=closed updated_at=2000-01-01T00:00:00Z"},
		{"it waits for others", `,"status":"open"`, blocked(ir.NodeHistory{}), "status=open updated_at=2000-01-01T00:00:00Z"},
		{"ralph has begun it", came, blocked(ir.NodeHistory{Started: at, Updated: at, PRURL: "u"}), "assignee=beads-ralph-scrum-master created_at=2026-03-04T05:06:07Z external_ref=u status=blocked updated_at=2026-03-04T05:06:07Z"},
		{"ralph has said something of it", came, blocked(ir.NodeHistory{Updated: at}), "assignee=beads-ralph-scrum-master status=blocked updated_at=2026-03-04T05:06:07Z"},
		{"ralph is done with it", came, &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{"a": {Words: map[string]string{"issue": "closed"}, Status: "done", Updated: at, Ended: at}}}, "close_reason=done closed_at=2026-03-04T05:06:07Z status=closed updated_at=2026-03-04T05:06:07Z"},
	} {
		m := written(t, of("a", c.more), c.h)["a"]
		var got []string
		if strings.HasPrefix(c.more, came) != (m["notes"] == "n") {
			t.Errorf("%s: its notes are %v", c.name, m["notes"])
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if strings.HasSuffix(k, "_at") || slices.Contains([]string{"status", "assignee", "external_ref", "close_reason"}, k) {
				got = append(got, fmt.Sprint(k, "=", m[k]))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
	comment := `,"comments":[{"author":"ana","text":"one","created_at":"2026-01-01T00:00:00Z"}]`
	h := blocked(ir.NodeHistory{Updated: at, Comments: []ir.Comment{{Author: "ralph", Text: "two", At: at}}})
	m := written(t, of("a", `,"metadata":{"x":1,"branch":"theirs"}`+comment), h)["a"]
	var texts []string
	for _, x := range items(m["comments"]) {
		texts = append(texts, x.(map[string]any)["text"].(string))
	}
	if meta := m["metadata"].(map[string]any); !slices.Equal(texts, []string{"one", "two"}) || meta["x"] != 1.0 || meta["branch"] == "theirs" || meta["branch"] == nil {
		t.Errorf("comments %q, metadata %v", texts, meta)
	}
	if m := written(t, of("a", `,"metadata":"text"`), nil)["a"]; m["metadata"] != "text" {
		t.Errorf("metadata that is a text comes out as %v", m["metadata"])
	}
	if m := written(t, of("a", ""), nil)["a"]; m["metadata"].(map[string]any)["branch"] == nil || m["comments"] != nil {
		t.Errorf("of nothing: %v", m)
	}
}

// What people read of a node, and the labels that it has. S0-05, S0-06, S0-13, K29
func TestWhatPeopleReadOfANode(t *testing.T) {
	task := func(text string, detail ...string) ir.Task { return ir.Task{Text: text, Detail: detail} }
	for _, c := range []struct {
		name                string
		n                   ir.Node
		title, text, labels string
	}{
		{"nothing", ir.Node{}, "1.1", "", "sprint-1-1"},
		{"blanks", ir.Node{Title: " a\n b ", Goal: " g\n"}, "a b", "g", "sprint-1-1"},
		{"tasks", ir.Node{Tasks: []ir.Task{task("t", "d", "e"), task("u")}}, "1.1", "- t\n  d\n  e\n- u", "sprint-1-1"},
		{"a goal and a task", ir.Node{Goal: "g", Tasks: []ir.Task{task("t")}}, "1.1", "g\n\n- t", "sprint-1-1"},
		{"a phase", ir.Node{Phase: "3a"}, "1.1", "", "phase-03a sprint-1-1"},
		{"a phase of two digits", ir.Node{Phase: "12"}, "1.1", "", "phase-12 sprint-1-1"},
		{"a phase of three digits", ir.Node{Phase: "123"}, "1.1", "", "phase-123 sprint-1-1"},
		{"an id that is the key", ir.Node{ID: "1.1"}, "1.1", "", ""},
		{"a merge", ir.Node{Kind: ir.Merge}, "1.1", "", "merge sprint-1-1"},
		{"it merges two", ir.Node{Merges: []ir.Key{"a", "b"}}, "1.1", "", "merge sprint-1-1"},
		{"it merges one", ir.Node{Merges: []ir.Key{"a"}}, "1.1", "", "sprint-1-1"},
		{"a person does it", ir.Node{Kind: ir.Manual}, "1.1", "", "ashep:excluded sprint-1-1"},
	} {
		e := irtest.Worked()
		n := &e.Nodes[0]
		n.Title, n.Goal, n.Tasks, n.Phase, n.Kind, n.Merges, n.Labels = c.n.Title, c.n.Goal, c.n.Tasks, c.n.Phase, c.n.Kind, c.n.Merges, nil
		if c.n.Kind == "" {
			n.Kind = ir.Work
		}
		if c.n.ID != "" {
			n.ID = c.n.ID
		}
		r := rows(t, e, nil)[1]
		own := slices.DeleteFunc(r.Labels, func(l string) bool { return strings.HasPrefix(l, "ralph") })
		if got := strings.Join(own, " "); r.Title != c.title || r.Description != c.text || got != c.labels {
			t.Errorf("%s: %q, %q, %s", c.name, r.Title, r.Description, got)
		}
	}
}

// bd has one edge between two beads, the one that orders; the epic is the only parent. S0-12, K12
func TestSoftEdgesOfANode(t *testing.T) {
	e := irtest.Worked()
	e.Nodes[1].After = []ir.Edge{{Key: "1.1", From: "import", Type: ir.Related}, {Key: "1.1", From: "number", Type: ir.Blocks}}
	e.Nodes[2].After = []ir.Edge{{Key: "1.1", From: "import", Type: ir.ParentChild}}
	e.Nodes[3].After = []ir.Edge{{Key: "1.1", From: "number", Type: ir.Blocks}, {Key: "1.1", From: "import", Type: ir.DiscoveredFrom}}
	r := rows(t, e, nil)
	for i, want := range []string{"blocks", "related", "blocks"} {
		got := r[i+2].Dependencies
		if len(got) != 2 || got[0].Type != "parent-child" || got[0].To != r[0].ID || got[1].Type != want || got[1].To != r[1].ID {
			t.Errorf("%s has %v, want %s", r[i+2].ID, got, want)
		}
	}
}

// The epic's bead is closed when all is complete; who works is whom the policy names.
// S2-24, S2-29, S0-10, S0-17
func TestTheEpicEndsWithItsWork(t *testing.T) {
	e, at := irtest.Worked(), time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("CET", 3600))
	for status, want := range map[string]string{"running": "open", "complete": "closed"} {
		r := rows(t, e, &ir.History{Status: status, Ended: at})[0]
		if r.Status != want || (r.ClosedAt != nil) != (want == "closed") || want == "closed" && !r.ClosedAt.Equal(at.Truncate(time.Second)) {
			t.Errorf("%s: %s at %v", status, r.Status, r.ClosedAt)
		}
	}
	h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{e.Nodes[0].ID: {Started: at}}}
	if r := rows(t, e, h)[1]; r.CreatedAt == nil || r.CreatedAt.Format(time.RFC3339Nano) != "2026-03-04T04:06:07Z" {
		t.Errorf("it was created at %v", r.CreatedAt)
	}
	for actor, want := range map[string]string{"": "beads-ralph-scrum-master", "ralph": "beads-ralph-scrum-master", "ana": "ana"} {
		e.Run.Tracker = &ir.Tracker{Actor: actor}
		if got := bd.Assignee(e); got != want {
			t.Errorf("%q: the assignee is %s", actor, got)
		}
	}
	e.Run.Tracker = nil
	text := func(bytes int) string {
		e.Epic.Description = []string{strings.Repeat("x", bytes)}
		return foreign.Text(rows(t, e, nil)[0].Metadata[bd.EpicKey])
	}
	rest := len(text(1)) - 1
	if got := text(bd.MaxEpicText - rest); len(got) != bd.MaxEpicText {
		t.Errorf("an epic of the most bytes has %d in its bead", len(got))
	}
	if got := text(bd.MaxEpicText - rest + 1); got != "" {
		t.Errorf("one byte more: %d are in its bead", len(got))
	}
}
