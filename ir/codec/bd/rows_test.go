package bd_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func rows(t *testing.T, e *ir.Epic, h *ir.History) []bd.Row {
	t.Helper()
	out, err := bd.Rows(e, h)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An epic as lines for bd import: the epic first, the edges that no others imply.
func TestAnEpicBecomesRows(t *testing.T) { // S0-01, S0-04..13, S0-25..27, S0-101, S2-02, S2-05, S2-06, S2-53, K2, K5, K29, K30
	var b bytes.Buffer
	if breaches, err := bd.Encode(&b, irtest.Rich(), nil); err != nil || breaches != nil {
		t.Fatal(breaches, err)
	}
	golden.Check(t, "testdata/rich.jsonl", b.Bytes())
}

// bd takes a row without updated_at for newer than everything, one without priority
// for P0, an edge without type for none that blocks.
func TestNoRowLeavesToBdWhatItFillsIn(t *testing.T) { // beads: traps 1 and 2
	b, err := bd.Lines(rows(t, irtest.Rich(), nil))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"id", "title", "status", "priority", "issue_type", "updated_at"} {
			if m[key] == nil {
				t.Errorf("%v has no %s", m["id"], key)
			}
		}
		if m["updated_at"] != bd.Fixed.Format(time.RFC3339) {
			t.Errorf("%v: updated_at %v moves", m["id"], m["updated_at"])
		}
		if m["status"] == "closed" && m["closed_at"] == nil {
			t.Errorf("%v is closed and does not say when", m["id"])
		}
		deps, _ := m["dependencies"].([]any)
		for _, d := range deps {
			if d.(map[string]any)["type"] == "" {
				t.Errorf("%v has an edge without type", m["id"])
			}
		}
	}
}

// The edges that are left order the nodes as all of them did.
func TestEdgesAreReduced(t *testing.T) { // beads: section 3
	e := irtest.Worked()
	e.Nodes[3].After = slices.Insert(e.Nodes[3].After, 0, ir.Edge{Key: "1.1", From: "number", Type: ir.Blocks}) // implied
	var got []string
	for _, r := range rows(t, e, nil)[1:] {
		for _, d := range r.Dependencies {
			if d.Type == "blocks" {
				got = append(got, d.From+" "+d.To)
			}
		}
	}
	var want []string
	id := func(k int) string { return string(e.Nodes[k].ID) }
	for _, p := range [][2]int{{1, 0}, {2, 0}, {3, 1}, {3, 2}} {
		want = append(want, id(p[0])+" "+id(p[1]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A bead stands as its node does.
func TestHistoryBecomesStatus(t *testing.T) { // S0-07, S0-14, S0-16..19, S4-12..15
	e := irtest.Worked()
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{
		e.Nodes[0].ID: {Status: "done", Words: map[string]string{"issue": "closed"}, Started: at, Updated: at, Ended: at, Reason: "passed", PRURL: "https://example.org/1"},
		e.Nodes[1].ID: {Status: "running", Words: map[string]string{"issue": "in_progress"}, Started: at, Updated: at, Comments: []ir.Comment{{Author: "ralph", Text: "[iter:1]", At: at}}},
	}}
	r := rows(t, e, h)
	if x := r[1]; x.Status != "closed" || x.ClosedAt == nil || !x.ClosedAt.Equal(at.Truncate(time.Second)) || x.CloseReason != "passed" || x.ExternalRef != "https://example.org/1" || x.Assignee != "" {
		t.Errorf("done: %+v", x)
	}
	if x := r[2]; x.Status != "in_progress" || x.Assignee != "beads-ralph-scrum-master" || len(x.Comments) != 1 || !x.UpdatedAt.Equal(at.Truncate(time.Second)) {
		t.Errorf("running: %+v", x)
	}
	if x := r[3]; x.Status != "open" || !x.UpdatedAt.Equal(bd.Fixed) || x.CreatedAt != nil {
		t.Errorf("pending: %+v", x)
	}
}

// The epic's bead holds the canonical epic.json, one that is too long its digest.
func TestTheEpicsBeadHoldsTheEpic(t *testing.T) { // S2-38, S2-41, K33
	e := irtest.Worked()
	r := rows(t, e, nil)[0]
	text := foreign.Text(r.Metadata[bd.EpicKey])
	back, err := ir.Decode([]byte(text))
	if err != nil || back.Digest != foreign.Text(r.Metadata[bd.DigestKey]) || back.Epic.ID != e.Epic.ID {
		t.Fatalf("%v, digest %s", err, r.Metadata[bd.DigestKey])
	}
	e.Epic.Description = []string{strings.Repeat("x", bd.MaxEpicText)}
	r = rows(t, e, nil)[0]
	if _, there := r.Metadata[bd.EpicKey]; there || foreign.Text(r.Metadata[bd.DigestKey]) == "" {
		t.Errorf("an epic of more than %d bytes: %s", bd.MaxEpicText, r.Metadata[bd.DigestKey])
	}
}

// bd takes titles of 500 bytes and labels of 255, and parts labels at commas: what is
// longer is cut between characters.
func TestLongTitlesAndLabelsAreCut(t *testing.T) { // beads: trap 4
	e := irtest.Worked()
	e.Nodes[0].Title = "x" + strings.Repeat("ü", 400)
	e.Nodes[0].Labels = []string{"x" + strings.Repeat("ü", 200), "a,b", " "}
	r := rows(t, e, nil)[1]
	if !strings.HasSuffix(r.Title, "ü") && !strings.HasSuffix(r.Title, "…") || len(r.Title) > 500 || len(r.Title) < 490 || !utf8.ValidString(r.Title) {
		t.Errorf("the title has %d bytes: %q", len(r.Title), r.Title)
	}
	for _, l := range r.Labels {
		if l == "" || len(l) > 255 || !utf8.ValidString(l) || strings.Contains(l, ",") {
			t.Errorf("the label has %d bytes: %q", len(l), l)
		}
	}
	if !slices.Contains(r.Labels, "a b") || !slices.ContainsFunc(r.Labels, func(l string) bool { return strings.HasPrefix(l, "xüü") }) {
		t.Errorf("labels %q", r.Labels)
	}
}
