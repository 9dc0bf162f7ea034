package bd

import (
	"context"
	"encoding/json"
	"errors"
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

// changed is an epic that has changed in every way that a plan can: a title, labels,
// an edge more and one less, a node more, a node less, one that is done.
func changed(e *ir.Epic) *ir.Epic {
	n := e.Nodes
	n[1].Title = "Another title"
	n[1].Labels = []string{"new"}
	n[1].Priority = 1
	last := len(n) - 1
	more := n[last]
	more.ID, more.Key, more.Title = "bd-more01", "9.9", "One more"
	more.After = []ir.Edge{{Key: n[2].Key, From: "explicit", Type: ir.Blocks}}
	more.Merges = nil
	gone := n[last].Key
	n[last] = more
	for i := range n {
		n[i].After = slices.DeleteFunc(n[i].After, func(x ir.Edge) bool { return x.Key == gone })
	}
	for i := range n[:last] {
		if i > 3 && len(n[i].After) == 1 && len(n[i].Merges) == 0 {
			n[i].After = nil
			break
		}
	}
	n[0].Done = true
	ir.Seal(e)
	return e
}

// many is an epic of which each node has changed.
func many(e *ir.Epic) *ir.Epic {
	for i := range e.Nodes {
		e.Nodes[i].Acceptance = append(e.Nodes[i].Acceptance, "It is documented")
		e.Nodes[i].Labels = []string{fmt.Sprint("l", i%3)}
	}
	ir.Seal(e)
	return e
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

// A push that is killed, at any call, before, in or behind what it writes, is made
// good by the next one; and in no state between looks a bead ready that is not.
func TestAnInterruptedPushConverges(t *testing.T) { // issue: resumable
	for name, s := range scenarios {
		if testing.Short() && name != "first, large" && name != "changed" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepare := func() (*Client, *bdtest.Fake, string) {
				c, f, dir := fakeDatabase(t)
				for _, e := range s.before {
					push1(t, c, e())
				}
				f.Forget()
				return c, f, dir
			}
			c, f, dir := prepare()
			first := push1(t, c, s.push())
			want, wantReady := beads(t, f, dir), ready(t, f, dir)
			if first.Nothing() {
				t.Fatal("the scenario writes nothing")
			}
			again := push1(t, c, s.push())
			if again.Calls != 1 {
				t.Errorf("the push after it: %+v", again)
			}
			reads := []string{"list", "config get"}
			for n, command := range f.Commands()[:first.Calls] {
				for _, do := range []string{bdtest.Kill, bdtest.Torn, bdtest.Answer} {
					if slices.Contains(reads, command) || do == bdtest.Torn && command != "import" {
						continue
					}
					what := fmt.Sprintf("%s at call %d (%s)", do, n+1, command)
					c, f, dir := prepare()
					f.Faults(bdtest.Fault{Nth: n + 1, Do: do})
					if _, err := Push(context.Background(), c, s.push(), PushOptions{}); err == nil {
						t.Errorf("%s: the push says nothing", what)
					}
					for _, id := range ready(t, f, dir) {
						if strings.HasPrefix(name, "first") && !slices.Contains(wantReady, id) {
							t.Errorf("%s: %s looks ready", what, id)
						}
					}
					f.Faults()
					push1(t, c, s.push())
					same(t, what, beads(t, f, dir), want)
					if p := push1(t, c, s.push()); p.Calls != 1 {
						t.Errorf("%s: the push after that: %+v", what, p)
					}
				}
			}
		})
	}
}

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
	if i := by[id(7)]; i.Title != "New" || slices.Contains(i.Labels, "ralph") || slices.ContainsFunc(i.Dependencies, func(d Dependency) bool { return d.To == string(nodeID(e, edge.Key)) }) {
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

// An id that belongs to another bead is refused with that bead's title, and nothing
// is written.
func TestForeignBeadsAreRefused(t *testing.T) { // beads: trap 3; issue: ids compared before every write
	c, f, dir := fakeDatabase(t)
	e := irtest.Rich()
	f.Do(dir, "ana", "create", "Ana's bead", "--id", string(e.Nodes[3].ID))
	f.Do(dir, "ana", "create", "Of another epic", "--id", string(e.Epic.ID), "-l", "ralph-epic:bd-other")
	before := beads(t, f, dir)
	f.Forget()
	_, err := Push(context.Background(), c, e, PushOptions{})
	var o *Occupied
	if !errors.As(err, &o) || len(o.Beads) != 2 {
		t.Fatal(err)
	}
	for _, want := range []string{string(e.Nodes[3].ID) + ` "Ana's bead"`, `"Of another epic" (of epic bd-other)`, "nothing was written"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	same(t, "refused", beads(t, f, dir), before)
	for _, cmd := range f.Commands() {
		if cmd != "list" && cmd != "export" {
			t.Errorf("it called %s", cmd)
		}
	}
}

// bd takes a part of an id for the one bead that it fits: a push never relies on it.
func TestAPartOfAnIDIsNotTakenForIt(t *testing.T) { // beads: trap 3
	c, f, dir := fakeDatabase(t)
	e := irtest.Worked()
	longer := string(e.Nodes[0].ID) + "x"
	f.Do(dir, "ana", "create", "Ana's bead", "--id", longer)
	before := beads(t, f, dir)
	push1(t, c, e)
	e.Nodes[0].Title = "Another"
	ir.Seal(e)
	push1(t, c, e)
	after := beads(t, f, dir)
	if after[longer] != before[longer] {
		t.Errorf("%s became %s", before[longer], after[longer])
	}
}

// The types that the database has stay.
func TestTypesAreMerged(t *testing.T) { // issue: types.custom is read, merged, written, and said
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "types.custom", "hers, beads-ralph-work")
	var said []string
	p, err := Push(context.Background(), c, irtest.Worked(), PushOptions{Progress: func(s string) { said = append(said, s) }})
	if err != nil || !slices.Equal(p.Types, []string{"beads-ralph-merge"}) {
		t.Fatalf("%+v, %v", p, err)
	}
	if v, _ := c.Config(context.Background(), "types.custom"); v != "hers,beads-ralph-work,beads-ralph-merge" {
		t.Errorf("types.custom is %q", v)
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "beads-ralph-merge") }) {
		t.Errorf("it said %q", said)
	}
}

// An import that leaves edges out is an error, and the next push adds them.
func TestSkippedDependenciesAreAnError(t *testing.T) { // beads: trap 2
	c, f, dir := fakeDatabase(t)
	f.Faults(bdtest.Fault{On: "import", Do: bdtest.Skips})
	e := irtest.Worked()
	_, err := Push(context.Background(), c, e, PushOptions{})
	if err == nil || !strings.Contains(err.Error(), "left out dependencies") {
		t.Fatal(err)
	}
	f.Faults()
	push1(t, c, e)
	other, f2, dir2 := fakeDatabase(t)
	push1(t, other, e)
	same(t, "after the second push", beads(t, f, dir), beads(t, f2, dir2))
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

// Keys that ralph does not know do no harm.
func TestUnknownKeysAreNoHarm(t *testing.T) { // issue: unknown JSON fields
	c, f, _ := fakeDatabase(t)
	f.Faults(bdtest.Fault{Do: bdtest.Keys})
	push1(t, c, irtest.Rich())
	push1(t, c, changed(irtest.Rich()))
	f.Forget()
	if push1(t, c, changed(irtest.Rich())); len(f.Calls()) != 1 {
		t.Errorf("calls: %v", f.Commands())
	}
}

// bd exits 0 with help for what it does not know: that is no answer.
func TestHelpIsNoAnswer(t *testing.T) { // beads: trap 11
	for _, on := range []string{"list", "import", "config get"} {
		c, f, _ := fakeDatabase(t)
		f.Faults(bdtest.Fault{On: on, Do: bdtest.Help})
		if _, err := Push(context.Background(), c, irtest.Worked(), PushOptions{}); err == nil || !strings.Contains(err.Error(), "not the JSON") {
			t.Errorf("%s: %v", on, err)
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

// An epic with ids of another prefix than the database's is pushed, and that is said.
func TestAnotherPrefixIsSaid(t *testing.T) { // issue: tracker.prefix against the database's
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "issue_prefix", "web")
	p := push1(t, c, irtest.Worked())
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], `prefix = "web"`) {
		t.Errorf("notes %q", p.Notes)
	}
}

// bd makes no event for a bead of another prefix: its state is set all the same, with
// the reason, once.
func TestStateInADatabaseOfAnotherPrefix(t *testing.T) { // S2-31
	c, f, dir := fakeDatabase(t)
	f.Do(dir, "ana", "config", "set", "issue_prefix", "web")
	otherPrefix(t, c)
}

func TestBdStateInADatabaseOfAnotherPrefix(t *testing.T) { // S2-31
	c, _ := databaseOf(t, "web")
	otherPrefix(t, c)
}

func otherPrefix(t *testing.T, c *Client) {
	t.Helper()
	ctx := context.Background()
	row := `{"id":"bd-e1","title":"E","issue_type":"epic","status":"open","priority":2,"labels":["ralph"],"updated_at":"2026-01-01T00:00:00Z"}`
	if _, err := c.Import(ctx, []byte(row), quick); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ value, why string }{{"planning", "compiled"}, {"building", "started"}, {"building", "started"}} {
		if err := c.SetState(ctx, "bd-e1", "mode", step.value, step.why); err != nil {
			t.Fatal(err)
		}
	}
	by, err := c.ByID(ctx, "bd-e1")
	if err != nil || !slices.Contains(by["bd-e1"].Labels, "mode:building") || slices.Contains(by["bd-e1"].Labels, "mode:planning") {
		t.Errorf("%+v, %v", by, err)
	}
	said, err := c.Comments(ctx, "bd-e1")
	if err != nil || len(said) != 2 || said[1].Text != "[mode] building: started" {
		t.Errorf("%+v, %v", said, err)
	}
}

// A newer bd that opens a database changes it, and older ones refuse it from then on:
// a bd of another major.minor than ralph was tried with is not let near it, unless
// somebody answers for exactly that one.
func TestAnotherVersionIsNotLetNearADatabase(t *testing.T) { // issue: versions outside the tested range; beads: trap 12
	for version, want := range map[string]string{
		"0.49.6": "too old", "1.2.2": "does not use another", "1.3.0": "", "1.3.7": "", "1.4.0": "does not use another",
		"2.0.0": "does not use another", "dev": "does not use another",
	} {
		f, dir := bdtest.New(t), t.TempDir()
		f.Init(dir)
		f.Faults(bdtest.Fault{On: "version", Do: bdtest.Version, Text: version})
		open := func() (*Client, error) {
			f.Forget()
			return Open(context.Background(), Options{Program: f.Program, Dir: dir})
		}
		_, err := open()
		var m *Missing
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", version, err)
		case want != "" && (!errors.As(err, &m) || !strings.Contains(m.Why, version) || !strings.Contains(m.Why, want)):
			t.Errorf("%s: %v", version, err)
		case want != "" && !slices.Equal(f.Commands(), []string{"version"}):
			t.Errorf("%s: it called %v", version, f.Commands())
		}
		if want != "does not use another" {
			continue
		}
		answered := version
		if major, minor, ok := numbers(version); ok {
			answered = fmt.Sprintf("%d.%d", major, minor)
		}
		if !m.Untested || !strings.Contains(m.Type, AnsweredFor+"="+answered) {
			t.Errorf("%s: it does not say what to type: %+v", version, m)
		}
		t.Setenv(AnsweredFor, answered)
		if c, err := open(); err != nil || c.Untested() == "" {
			t.Errorf("%s, answered for: %v", version, err)
		}
		t.Setenv(AnsweredFor, "1.5")
		if _, err := open(); !errors.As(err, &m) {
			t.Errorf("%s, another answered for: %v", version, err)
		}
		t.Setenv(AnsweredFor, "")
	}
}

// Without a database the error says what to type, and nothing is made.
func TestWithoutADatabaseTheCommandIsSaid(t *testing.T) { // issue: ralph prints the exact bd init and never runs it
	f, dir := bdtest.New(t), t.TempDir()
	_, err := Open(context.Background(), Options{Program: f.Program, Dir: dir})
	var m *Missing
	if !errors.As(err, &m) || !strings.Contains(m.Type, "bd init --prefix bd --stealth --skip-hooks --skip-agents --non-interactive") {
		t.Fatal(err)
	}
	if slices.Contains(f.Commands(), "init") {
		t.Error("it ran bd init")
	}
	_, err = Open(context.Background(), Options{Program: dir + "/bd", Dir: dir})
	if !errors.As(err, &m) {
		t.Errorf("no bd: %v", err)
	}
}
