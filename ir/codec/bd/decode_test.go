package bd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bd"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
)

func decode(t testing.TB, text string) (*ir.Draft, diag.List) {
	t.Helper()
	return bd.Decode([]*diag.File{diag.NewFile("issues.jsonl", []byte(text))})
}

// edgesOf lists a draft's edges, "b blocks a" for b waits for a.
func edgesOf(d *ir.Draft) []string {
	var out []string
	if d == nil {
		return nil
	}
	for _, n := range d.Nodes {
		for _, e := range n.Edges {
			out = append(out, fmt.Sprintf("%s %s %s", n.ID, e.Type, e.Key))
		}
	}
	slices.Sort(out)
	return out
}

func line(id, more string) string {
	return fmt.Sprintf(`{"id":%q,"title":"T %s","status":"open","priority":2,"issue_type":"task"%s}`, id, id, more) + "\n"
}

func dep(from, to, kind string) string {
	return fmt.Sprintf(`,"dependencies":[{"issue_id":%q,"depends_on_id":%q,"type":%q,"created_at":"2025-12-18T09:59:42.444697-08:00","created_by":"daemon"}]`, from, to, kind)
}

// What an old export, list, ready and show write, with and without the envelope, are
// the same issues.
func TestEveryShapeOfBdIsRead(t *testing.T) { // S4-109, S4-110, S0-12, A4
	old := line("ab-1", "") + line("ab-2", dep("ab-2", "ab-1", "blocks"))
	list := `[{"id":"ab-1","title":"T ab-1","status":"open","priority":2,"issue_type":"task"},{"id":"ab-2","title":"T ab-2","status":"open","priority":2,"issue_type":"task","dependencies":[{"issue_id":"ab-2","depends_on_id":"ab-1","type":"blocks","metadata":"{}"}],"dependency_count":1}]`
	show := strings.ReplaceAll(list, `"issue_id":"ab-2","depends_on_id":"ab-1","type":"blocks","metadata":"{}"`, `"id":"ab-1","title":"T ab-1","dependency_type":"blocks"`)
	scrum := strings.ReplaceAll(list, `{"issue_id":"ab-2","depends_on_id":"ab-1","type":"blocks","metadata":"{}"}`, `"ab-1"`)
	for name, text := range map[string]string{
		"an old export": old, "export": strings.ReplaceAll(old, `{"id"`, `{"_type":"issue","id"`) + `{"_type":"memory","key":"k"}` + "\n",
		"list": list, "list in the envelope": `{"schema_version":1,"data":` + list + `}`, "show": show, "show in the envelope": `{"schema_version":1,"data":` + show + `}`, "scrum agents'": scrum,
	} {
		d, diags := decode(t, text)
		if d == nil || len(d.Nodes) != 2 || !slices.Equal(edgesOf(d), []string{"ab-2 blocks ab-1"}) {
			t.Errorf("%s: %v, %v", name, d, diags)
		}
	}
}

// Nine issues and eight blocks edges; two of the issues are epics that nothing is a
// child of, and so are work.
func TestAnExportOfOldDays(t *testing.T) { // A4
	text, err := os.ReadFile("testdata/old-export.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	d, diags := decode(t, string(text))
	if d == nil || len(d.Nodes) != 9 || len(edgesOf(d)) != 8 || diags.HasErrors() {
		t.Fatalf("%d edges, %v", len(edgesOf(d)), diags)
	}
	e := imported(t, string(text))
	edges := 0
	for i := range e.Nodes {
		edges += len(e.Nodes[i].After)
	}
	if len(e.Nodes) != 9 || edges != 8 {
		t.Errorf("compiled to %d nodes, %d edges", len(e.Nodes), edges)
	}
	var out bytes.Buffer
	if _, err := bd.Encode(&out, e, nil); err != nil || strings.Count(out.String(), `"type":"blocks"`) != 8 {
		t.Errorf("%v, %d blocks edges come out", err, strings.Count(out.String(), `"type":"blocks"`))
	}
}

// An epic with children is no work: it heads them, and edges to and from it are those
// of its children.
func TestEpicsAreParentsAndNoWork(t *testing.T) { // S4-17..21, S2-05
	epic := func(id, more string) string { return strings.Replace(line(id, more), `"task"`, `"epic"`, 1) }
	one := epic("bd-e", `,"description":"Why","owner":"ana","labels":["x","ralph","ralph-epic:bd-e"]`) + line("bd-a", dep("bd-a", "bd-e", "parent-child")) + line("bd-b", `,"parent":"bd-e"`)
	d, diags := decode(t, one)
	if d == nil || d.ID != "bd-e" || d.Title != "T bd-e" || d.Owner != "ana" || !slices.Equal(d.Labels, []string{"x"}) || len(d.Nodes) != 2 || len(edgesOf(d)) != 0 {
		t.Fatalf("%+v, %v", d, diags)
	}
	two := epic("bd-e", "") + epic("bd-f", dep("bd-f", "bd-e", "blocks")) + line("bd-a", dep("bd-a", "bd-e", "parent-child")) + line("bd-b", dep("bd-b", "bd-e", "parent-child")) +
		line("bd-c", dep("bd-c", "bd-f", "parent-child")) + line("bd-d", dep("bd-d", "bd-e", "blocks")) + line("bd-g", dep("bd-g", "bd-a", "parent-child"))
	d, diags = decode(t, two)
	want := []string{"bd-c blocks bd-a", "bd-c blocks bd-b", "bd-d blocks bd-a", "bd-d blocks bd-b", "bd-g parent-child bd-a"}
	if d == nil || d.ID != "" || len(d.Nodes) != 5 || !slices.Equal(edgesOf(d), want) {
		t.Fatalf("%v, %v", edgesOf(d), diags)
	}
	inside := epic("bd-e", "") + strings.Replace(line("bd-a", dep("bd-a", "bd-e", "parent-child")), `"type":"parent-child"`, `"type":"parent-child"},{"depends_on_id":"bd-e","type":"blocks"`, 1) + line("bd-b", dep("bd-b", "bd-e", "parent-child"))
	if d, diags = decode(t, inside); d == nil || len(edgesOf(d)) != 0 {
		t.Errorf("a child that waits for its epic: %v, %v", edgesOf(d), diags)
	}
}

// Closed issues are done, labels that exclude make manual work, edges of bd's own types
// order or not as they do there, unknown types are taken.
func TestWhatAnIssueBecomes(t *testing.T) { // S4-12..16, S4-18..20, S0-07, S0-08, K1, K2, K5
	text := strings.Replace(line("bd-a", `,"closed_at":"2026-01-01T00:00:00Z","close_reason":"x","assignee":"ana","notes":"n","x":{"y":12345678901234567890}`), "open", "closed", 1) +
		line("bd-b", `,"labels":["ashep:excluded","l"],"acceptance_criteria":"- [ ] one\n* two\nthree"`+dep("bd-b", "bd-a", "related")) +
		strings.Replace(line("bd-c", dep("bd-c", "bd-b", "waits-for")), `"task"`, `"convoy"`, 1) +
		line("bd-d", dep("bd-d", "bd-c", "discovered-from")+`,"estimated_minutes":90`) +
		strings.Replace(line("bd-e.1", ""), `"task"`, `"event"`, 1) + strings.Replace(line("bd-t", ""), "open", "tombstone", 1)
	d, diags := decode(t, text)
	if d == nil || len(d.Nodes) != 4 {
		t.Fatal(diags)
	}
	a, b, c, e := d.Nodes[0], d.Nodes[1], d.Nodes[2], d.Nodes[3]
	if !a.Done || a.Key != "bd-a" || a.Priority.Value != "2" || !strings.Contains(string(a.Ext["bd"]), "12345678901234567890") || !slices.Equal(a.Text, []string{"n"}) {
		t.Errorf("%+v", a)
	}
	if b.Kind != ir.Manual || !slices.Equal(b.Labels, []string{"l"}) || !slices.Equal(b.Acceptance, []string{"one", "two", "three"}) {
		t.Errorf("%+v", b)
	}
	if c.Type.Value != "convoy" || e.Estimate.Value != "90m" {
		t.Errorf("%+v %+v", c.Type, e.Estimate)
	}
	if want := []string{"bd-b related bd-a", "bd-c blocks bd-b", "bd-d discovered-from bd-c"}; !slices.Equal(edgesOf(d), want) {
		t.Errorf("%v, want %v", edgesOf(d), want)
	}
}

// A label phase:STEP is where the work begins; two are an error, but for what is closed.
func TestALabelSaysWhereWorkBegins(t *testing.T) { // S4-29
	with := func(id, labels string) string {
		return strings.Replace(line(id, ""), `"id":`, `"labels":[`+labels+`],"id":`, 1)
	}
	d, diags := decode(t, with("bd-1", `"api","phase:test"`)+strings.Replace(with("bd-2", `"phase:plan","phase:test"`), `"open"`, `"closed"`, 1)+with("bd-3", `"phase:"`))
	if d == nil {
		t.Fatal(diags)
	}
	if a, b, c := d.Nodes[0], d.Nodes[1], d.Nodes[2]; a.Start.Value != "test" || !slices.Equal(a.Labels, []string{"api", "phase:test"}) || b.Start.Set() || c.Start.Set() {
		t.Errorf("%+v %+v %+v", a.Start, b.Start, c.Start)
	}
	_, diags = decode(t, with("bd-1", `"phase:plan","phase:test"`))
	if len(diags) != 1 || diags[0].Code != "bead-value" || !strings.Contains(diags[0].Detail, "at most one label phase:STEP") {
		t.Errorf("%v", diags)
	}
}

// All that is wrong with a file is said in one run, with pointer and line.
func TestAllMistakesAreReported(t *testing.T) { // S0-150
	text := "{\"title\":\"no id\"}\n{\"id\":\"bd a\",\"title\":\"x\"}\n{\"id\":\"bd-1\"}\n{\"id\":\"bd-2\",\"title\":\"x\",\"priority\":9,\"labels\":\"l\",\"dependencies\":[{}],\"status\":5,\"issue_type\":[]}\n{oops}\n" +
		line("bd-3", dep("bd-3", "bd-gone", "blocks"))
	d, diags := decode(t, text)
	if d != nil {
		t.Error("there is a draft")
	}
	f := diag.NewFile("issues.jsonl", []byte(text))
	var got []string
	for _, x := range diags {
		got = append(got, fmt.Sprintf("%d %s", f.Position(x.Range.Start).Line, x.Code))
	}
	want := []string{"1 bead-missing", "2 bead-value", "3 bead-missing", "4 bead-value", "4 bead-value", "4 bead-value", "4 bead-value", "4 bead-value", "5 bead-json", "6 bead-dependency"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v\n%v", got, want, diags)
	}
}

// A type of edges that bd does not know orders nothing: it may be misspelt, and that is
// said once.
func TestTypesOfEdgesThatBdDoesNotKnowAreNamed(t *testing.T) { // S4-109, S4-110
	_, diags := decode(t, line("bd-1", "")+line("bd-2", dep("bd-2", "bd-1", "blcks"))+line("bd-3", dep("bd-3", "bd-1", "blcks"))+line("bd-4", dep("bd-4", "bd-1", "tracks")))
	var got []string
	for _, x := range diags {
		got = append(got, string(x.Code)+": "+x.Summary+": "+x.Detail)
	}
	if want := []string{`bead-dependency: dependencies of a type that bd does not know: 2: They are "blcks", and order nothing. Write blocks if the one has to be done before the other.`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// imported compiles issues as ralph import does.
func imported(t testing.TB, text string) *ir.Epic {
	t.Helper()
	d, diags := decode(t, text)
	out := compiler.Compile(compiler.Input{
		Imports: []compiler.Imported{{Sources: []compiler.Source{{Path: "issues.jsonl", Bytes: []byte(text)}}, Draft: d, Diags: diags}},
		Policy:  []compiler.Source{{Path: "ralph.hcl", Bytes: []byte("tracker \"bd\" {\n}\n")}},
	})
	if out.Diags.HasErrors() || len(out.Results) != 1 {
		t.Fatalf("%v\n%s", out.Diags, text)
	}
	e, err := ir.Decode(out.Results[0].JSON)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// issues are the lines of a file by id, without what Losses says is lost.
func issues(t testing.TB, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for l := range strings.Lines(text) {
		var m map[string]any
		dec := json.NewDecoder(strings.NewReader(l))
		dec.UseNumber()
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m["issue_type"] == "epic" {
			continue
		}
		var labels []any
		for _, x := range items(m["labels"]) {
			if s := x.(string); s != "ralph" && s != "merge" && !strings.HasPrefix(s, "ralph-epic:") {
				labels = append(labels, x)
			}
		}
		m["labels"] = labels
		var deps []string
		for _, x := range items(m["dependencies"]) {
			if o := x.(map[string]any); o["type"] != "parent-child" {
				deps = append(deps, fmt.Sprint(o["type"], " ", o["depends_on_id"]))
			}
		}
		slices.Sort(deps)
		m["dependencies"] = deps
		meta, _ := m["metadata"].(map[string]any)
		for k := range meta {
			if !strings.HasPrefix(k, "x") {
				delete(meta, k)
			}
		}
		if len(meta) == 0 {
			delete(m, "metadata")
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out[m["id"].(string)] = string(b)
	}
	return out
}

func items(v any) []any { l, _ := v.([]any); return l }

// some writes a key now and then.
func some(t testing.TB, r *rand.Rand, one int, key string, v any) string {
	if r.IntN(one) > 0 {
		return ""
	}
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(",%q:%s", key, j)
}

// export is a made-up file of issues.
func export(t testing.TB, r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(8) {
		id := fmt.Sprintf("ab-%d", i)
		var deps []map[string]string
		for k := range i {
			if r.IntN(3) == 0 {
				deps = append(deps, map[string]string{"issue_id": id, "depends_on_id": fmt.Sprintf("ab-%d", k), "type": []string{"blocks", "blocks", "related", "discovered-from", "tracks"}[r.IntN(5)]})
			}
		}
		status := []string{"open", "open", "closed", "in_progress", "deferred"}[r.IntN(5)]
		kind := []string{"task", "bug", "feature", "odd"}[r.IntN(4)]
		fmt.Fprintf(&b, `{"id":%q,"title":"Title <%d> & more","status":%q,"priority":%d,"issue_type":%q,"updated_at":"2026-01-0%dT00:00:00Z"`, id, i, status, r.IntN(5), kind, 1+r.IntN(9))
		if status == "closed" {
			b.WriteString(`,"closed_at":"2026-02-01T00:00:00Z"` + some(t, r, 2, "close_reason", "done"))
		}
		b.WriteString(some(t, r, 2, "description", "First line\n\n- a list\n  \"quoted\" ü"))
		more := map[string]any{
			"acceptance_criteria": "- one\n- two", "notes": "n\nm", "design": "d", "assignee": "ana", "owner": "bo", "labels": []string{"a", "b c"}, "external_ref": "gh-9",
			"estimated_minutes": 30, "metadata": map[string]any{"x1": 1.5, "xs": []int{1}, "xo": map[string]any{"k": nil}},
			"comments": []map[string]string{{"author": "a", "text": "t", "created_at": "2026-01-01T00:00:00Z"}}, "surprise": map[string]any{"big": json.Number("9007199254740993")},
		}
		for _, key := range slices.Sorted(maps.Keys(more)) {
			b.WriteString(some(t, r, 3, key, more[key]))
		}
		if deps != nil {
			b.WriteString(some(t, r, 1, "dependencies", deps))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// What is imported comes out again, up to the table of losses.
func TestWhatComesInComesOut(t *testing.T) { // A4, S0-15, S0-159
	out := func(text string) string {
		var b bytes.Buffer
		if _, err := bd.Encode(&b, imported(t, text), nil); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for seed := range uint64(60) {
		text := export(t, rand.New(rand.NewPCG(seed, 1)))
		first := out(text)
		got, want := issues(t, first), issues(t, text)
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if got[id] != want[id] {
				t.Fatalf("seed %d: %s comes out as\n%s\nwas\n%s", seed, id, got[id], want[id])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d issues, want %d", seed, len(got), len(want))
		}
		if second := out(first); !maps.Equal(issues(t, second), want) {
			t.Fatalf("seed %d: the second export is\n%s\nthe first\n%s", seed, second, first)
		}
	}
}

// The table of the document is that of the code.
func TestTheDocumentHasTheLosses(t *testing.T) { // A4
	b, err := os.ReadFile("../../../docs/formats/bd.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := foreigntest.Table(bd.Losses); !strings.Contains(string(b), want) {
		t.Errorf("docs/formats/bd.md does not have this table:\n%s", want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(line("bd-a", "") + line("bd-b", dep("bd-b", "bd-a", "parent-child"))))
	f.Add([]byte(`{"schema_version":1,"data":[{"id":"a","title":"b","dependencies":[{"id":"a","dependency_type":"blocks"}],"parent":"a"}]}`))
	f.Add([]byte(`[{"id":"a","title":"b","issue_type":"epic","parent":"b"},{"id":"b","title":"c","issue_type":"epic","parent":"a"}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, diags := bd.Decode([]*diag.File{diag.NewFile("x.jsonl", b)})
		if d != nil && diags.HasErrors() {
			t.Error("a draft beside an error")
		}
		for _, x := range diags {
			if x.Range.Start < 0 || x.Range.End > len(b) || x.Range.Start > x.Range.End {
				t.Errorf("%v outside the file", x)
			}
		}
	})
}
