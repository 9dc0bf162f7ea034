package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

func push1(t testing.TB, c *Client, e *ir.Epic) *Pushed {
	t.Helper()
	p, err := Push(context.Background(), c, e, PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// beads is what a database holds, without what differs from run to run: times, and
// the order of edges.
func beads(t testing.TB, f *bdtest.Fake, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(f.Do(dir, "p", "export"))) {
		out[idOf(t, line)] = plainBead(t, line)
	}
	return out
}

func idOf(t testing.TB, line string) string {
	t.Helper()
	var i struct{ ID string }
	if err := json.Unmarshal([]byte(line), &i); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return i.ID
}

func plainBead(t testing.TB, line string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"created_at", "updated_at", "closed_at", "revision", "dependency_count", "dependent_count"} {
		delete(m, k)
	}
	if meta, ok := m["metadata"].(map[string]any); ok {
		if mk, ok := meta[PushedKey].(map[string]any); ok {
			delete(mk, "staged") // how it came in
		}
	}
	var deps []string
	list, _ := m["dependencies"].([]any)
	for _, d := range list {
		d := d.(map[string]any)
		deps = append(deps, fmt.Sprint(d["type"], " ", d["depends_on_id"]))
	}
	slices.Sort(deps)
	m["dependencies"] = deps
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] {
			t.Errorf("%s: %s is\n %s\nwant\n %s", what, id, got[id], want[id])
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("%s: there is a bead %s", what, id)
		}
	}
}

// ready are the beads that could be worked on.
func ready(t testing.TB, f *bdtest.Fake, dir string) []string {
	t.Helper()
	var list []Issue
	if err := json.Unmarshal(f.Do(dir, "p", "ready", "--limit", "0", "--exclude-type", "epic"), &list); err != nil {
		t.Fatal(err)
	}
	return ids(list)
}

// An epic and its nodes come into bd with everything that the format has, and a push
// of what is there already is one read.
func TestAnEpicIsPushed(t *testing.T) { // S2-02, S2-05, S2-06, S2-53, S0-01, K5, K30
	c, f, _ := fakeDatabase(t)
	e := irtest.Rich()
	p := push1(t, c, e)
	if p.Created != 25 || p.Beads != 25 || len(p.Types) != 2 || p.Changed != 0 {
		t.Errorf("%+v", p)
	}
	if got := strings.Join(f.Commands(), " "); got != "list list config get config get config set-many import" {
		t.Errorf("calls: %s", got)
	}
	rows, err := codec.Rows(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		i := got[slices.IndexFunc(got, func(i Issue) bool { return i.ID == r.ID })]
		if len(i.Dependencies) != len(r.Dependencies) {
			t.Errorf("%s has the edges %v, want %v", r.ID, i.Dependencies, r.Dependencies)
		}
		if i.Title != r.Title || i.Description != r.Description || i.Status != r.Status || i.Type != r.Type || i.Priority != r.Priority || !slices.Equal(i.Labels, r.Labels) {
			t.Errorf("%s is %+v, want %+v", r.ID, i, r)
		}
	}
	f.Forget()
	p = push1(t, c, e)
	if got := f.Commands(); len(got) != 1 || got[0] != "list" || p.Calls != 1 || !p.Nothing() {
		t.Errorf("the second push: %v, %+v", got, p)
	}
}

// A large epic takes a few calls, whatever its size, and nothing in it looks ready
// before all edges are there.
func TestALargeEpicIsPushedInBulk(t *testing.T) { // beads: section 3, issue: a few calls
	c, f, dir := fakeDatabase(t)
	e := irtest.Large(400)
	p := push1(t, c, e)
	if p.Created != 401 || p.Calls > 8 || p.Edges == 0 || p.Changed != 0 {
		t.Errorf("%+v", p)
	}
	for _, call := range f.Calls() {
		switch call.Command {
		case "import":
			if strings.Contains(call.Input, `"type":"blocks"`) || strings.Contains(call.Input, `"status":"open","priority":2,"issue_type":"beads-ralph`) {
				t.Error("beads came with their edges, or open before they had them")
			}
		case "batch":
			edges, releases := strings.LastIndex(call.Input, "dep add"), strings.Index(call.Input, "status=open")
			if edges > releases {
				t.Error("beads are opened before all edges are there")
			}
			reverse(t, e, call.Input)
		}
	}
	var want []string
	for i := range e.Nodes {
		if !slices.ContainsFunc(e.Nodes[i].After, func(x ir.Edge) bool { return x.Type == ir.Blocks }) && !e.Nodes[i].Done {
			want = append(want, string(e.Nodes[i].ID))
		}
	}
	got := ready(t, f, dir)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ready: %v, want %v", got, want)
	}
	f.Forget()
	if p := push1(t, c, e); p.Calls != 1 {
		t.Errorf("the second push: %+v", p)
	}
}

// reverse checks the order of edges: none leads to a bead that has edges already.
func reverse(t *testing.T, e *ir.Epic, ops string) {
	t.Helper()
	has := map[string]bool{}
	for line := range strings.Lines(ops) {
		w := strings.Fields(line)
		if w[0] != "dep" {
			continue
		}
		if has[w[3]] {
			t.Fatalf("the edge %s → %s comes behind an edge of %s", w[2], w[3], w[3])
		}
		has[w[2]] = true
	}
}

// scenarios are pushes: what bd has before, and what is pushed.
var scenarios = map[string]struct {
	before []func() *ir.Epic
	push   func() *ir.Epic
}{
	"first":             {nil, irtest.Rich},
	"first, large":      {nil, func() *ir.Epic { return irtest.Large(180) }},
	"changed":           {[]func() *ir.Epic{irtest.Rich}, func() *ir.Epic { return changed(irtest.Rich()) }},
	"each node changed": {[]func() *ir.Epic{irtest.Rich}, func() *ir.Epic { return many(irtest.Rich()) }},
	"back again":        {[]func() *ir.Epic{irtest.Rich, func() *ir.Epic { return changed(irtest.Rich()) }}, irtest.Rich},
	"grown":             {[]func() *ir.Epic{func() *ir.Epic { return irtest.Large(20) }}, func() *ir.Epic { return irtest.Large(190) }},
}

func TestGarbageIsCollectedOnlyOnRequest(t *testing.T) { // issue: gc only with tracker { gc = true }
	for _, on := range []bool{false, true} {
		c, f, _ := fakeDatabase(t)
		e := irtest.Large(30)
		e.Run.Tracker = &ir.Tracker{Kind: "bd", GC: on}
		ir.Seal(e)
		push1(t, c, e)
		if got := slices.Contains(f.Commands(), "gc"); got != on {
			t.Errorf("gc = %v: bd gc ran: %v", on, got)
		}
	}
}

// A node's bead is imported as the run has left it.
func TestAPushAfterARunWritesHowItStands(t *testing.T) { // K33
	for name, e := range map[string]*ir.Epic{"small": irtest.Worked(), "large": irtest.Large(170)} {
		c, _, _ := fakeDatabase(t)
		at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		id := e.Nodes[0].ID
		h := &ir.History{Nodes: map[ir.NodeID]*ir.NodeHistory{id: {Status: "done", Words: map[string]string{"issue": "closed"}, Reason: "passed", Updated: at, Ended: at}}}
		if _, err := Push(context.Background(), c, e, PushOptions{History: h}); err != nil {
			t.Fatal(err)
		}
		i, _, err := c.Show(context.Background(), string(id))
		if err != nil || i.Status != "closed" || i.CloseReason != "passed" {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
		p, err := Push(context.Background(), c, e, PushOptions{History: h})
		if err != nil || p.Calls != 1 {
			t.Errorf("%s: the second push: %+v, %v", name, p, err)
		}
	}
}
