package beadsmith_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

// derived are the keys of a TaskState that follow from the rest: see Losses.
var derived = []string{
	"key", "failureCode", "reason", "currentBeadId", "beadNumber", "beadStatus", "beadIterationCount", "tokenBudgetRemaining",
	"lastBeadSummary", "beadResults", "workspaceRoot", "status",
}

// tasksOf makes tasks as somebody may write them, in any spelling of the keys.
func tasksOf(r *rand.Rand) []any {
	word := func() string {
		return []string{"cart", "<b> & \"q\"", "zwölf €", "a\nb", "DONE", "\\", "x", "${run.dir}", "e\u0301"}[r.IntN(9)]
	}
	var out []any
	for i := range 1 + r.IntN(4) {
		id := fmt.Sprintf("t%d-%c", i, 'a'+rune(r.IntN(26)))
		t := map[string]any{
			"id": id, "description": "Add " + word(), "tokenBudget": json.Number(fmt.Sprint(1000000 + r.IntN(1000))), "maxIterations": json.Number(fmt.Sprint(1 + r.IntN(50))),
			"testCommand": "make " + word(),
		}
		criteria := []any{}
		for range 1 + r.IntN(4) {
			criteria = append(criteria, []any{
				map[string]any{"type": "tests_pass"},
				map[string]any{"type": "tests_pass", "config": map[string]any{"command": "make " + word(), "gate": "unit"}},
				map[string]any{"type": "no_errors", "config": map[string]any{"note": word()}},
				map[string]any{"type": "done_tag", "config": map[string]any{"marker": "ALL <SET>"}},
				map[string]any{"type": "custom", "config": map[string]any{"command": word(), "pattern": "ok & <done>", "exitCode": json.Number("3")}},
				map[string]any{"type": "custom", "config": map[string]any{"condition": "ALL <SET>"}},
			}[r.IntN(6)])
		}
		t["successCriteria"] = criteria
		if r.IntN(2) == 0 {
			beads := []any{}
			for k := range 1 + r.IntN(3) {
				beads = append(beads, map[string]any{
					"id": fmt.Sprint("b", k), "taskId": id, "beadNumber": json.Number(fmt.Sprint(k + 1)), "status": []string{"running", "awaiting_approval", "approved", "rejected", "skipped"}[r.IntN(5)],
					"prompt": word(), "tokensUsed": []any{nil, json.Number("12")}[r.IntN(2)], "more": map[string]any{word(): []any{true, json.Number("1.5"), nil}},
					"filesChanged": []any{map[string]any{"filePath": word(), "changeType": "created", "impactedNodes": []any{word()}}},
				})
			}
			t["beads"] = beads
		}
		if r.IntN(2) == 0 {
			t["unknown<key>"] = map[string]any{"a": word()}
		}
		out = append(out, t)
	}
	return out
}

func plainJSON(t testing.TB, b []byte) []any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var out []any
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return out
}

// byID is a list of tasks without what is lost.
func byID(list []any) map[string]any {
	out := map[string]any{}
	for _, x := range list {
		m := x.(map[string]any)
		for _, k := range derived {
			delete(m, k)
		}
		if b, ok := m["beads"].([]any); ok && len(b) == 0 {
			delete(m, "beads")
		}
		if m["testCommand"] == nil {
			delete(m, "testCommand")
		}
		out[m["id"].(string)] = m
	}
	return out
}

// What is imported is exported again, up to the losses; and once more is the same.
func TestExportOfAnImportIsTheSame(t *testing.T) { // S1-01..14, S1-34..45, K19
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		src, err := json.Marshal(tasksOf(r))
		if err != nil {
			t.Fatal(err)
		}
		h := &ir.History{Top: "/w"}
		out := exported(t, compiled(t, string(src)), h)
		if got, want := byID(plainJSON(t, out)), byID(plainJSON(t, src)); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, indent(got), indent(want))
		}
		if again := exported(t, compiled(t, string(out)), h); !bytes.Equal(again, out) {
			t.Fatalf("seed %d: the second time\n%s\nthe first\n%s", seed, again, out)
		}
	}
}

func indent(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// A history goes out and comes in as a record; from then on it stays.
func TestWhatWasExportedStays(t *testing.T) { // S1-53, L1-01
	h := scripted()
	h.Nodes["t-cart"].Words["task"] = "running" // completed would be done by the plan
	first := exported(t, compiled(t, twoTasks), h)
	top := &ir.History{Top: "/srv/shop"}
	second := exported(t, compiled(t, string(first)), top)
	third := exported(t, compiled(t, string(second)), top)
	if got, want := byID(plainJSON(t, second)), byID(plainJSON(t, first)); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", indent(got), indent(want))
	}
	if !bytes.Equal(second, third) {
		t.Errorf("the third time\n%s\nthe second\n%s", third, second)
	}
}

// Spellings of keys, lists, lines and files mean the same. K19, A4
func TestSpellingsAndShapesMeanTheSame(t *testing.T) {
	one := `{"id": "a", "description": "d", "successCriteria": [{"type": "tests_pass", "config": {"command": "make"}}], "tokenBudget": 100, "maxIterations": 2, "testCommand": "x"}`
	two := `{"id": "b", "description": "e", "successCriteria": [{"type": "done_tag"}]}`
	bead := `{"id": "x", "taskId": "a", "beadNumber": 1, "status": "approved"}`
	snake := strings.NewReplacer("successCriteria", "success_criteria", "tokenBudget", "TokenBudget", "maxIterations", "max_iterations", "testCommand", "test-command", "taskId", "task_id", "beadNumber", "BeadNumber")
	read := func(texts ...string) string {
		var files []*diag.File
		for i, text := range texts {
			files = append(files, diag.NewFile(fmt.Sprintf("%d.json", i), []byte(text)))
		}
		d, list := beadsmith.Decode(files)
		if d == nil {
			t.Fatalf("%q: %+v", texts, list)
		}
		var b strings.Builder
		for _, n := range d.Nodes {
			var ext struct{ Beads []json.RawMessage }
			if err := json.Unmarshal(n.Ext[beadsmith.Format], &ext); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, n.ID, n.Goal, n.Budget.Value, n.Attempts.Value, len(ext.Beads))
			for _, g := range n.Verify {
				fmt.Fprintln(&b, " ", g.Name, g.Run, g.Promise, g.NoErrors)
			}
		}
		return b.String()
	}
	want := read("[" + one + "," + two + "," + bead + "]")
	for name, got := range map[string]string{
		"lines":       read(one + "\n" + two + "\n" + bead + "\n"),
		"files":       read(one, two, bead),
		"beads first": read(bead, one, two),
		"spelling":    read(snake.Replace("[" + one + "," + two + "," + bead + "]")),
		"with a BOM":  read("\ufeff[" + one + ",\r\n" + two + "," + bead + "]"),
	} {
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// No bytes make it panic, and what can be read can be written.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(twoTasks))
	f.Add([]byte(`{"id":"a","description":"d","successCriteria":[{"type":"custom","config":{"command":"x\ny","pattern":"p"}}],"beads":[{"id":1}]}`))
	f.Add([]byte(`{"taskId":"a"}`))
	f.Add([]byte("\ufeff[{\"successCriteria\": [{\"type\": \"done_tag\", \"config\": {\"marker\": \"</promise>\"}}]}]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := diag.NewFile("x.json", b)
		d, list := beadsmith.Decode([]*diag.File{file})
		if (d == nil) != list.HasErrors() {
			t.Fatalf("a draft: %v, errors: %v", d != nil, list.HasErrors())
		}
		for _, x := range list {
			if x.Range.Start < 0 || x.Range.End > len(b) || x.Range.Start > x.Range.End {
				t.Fatalf("%s lies at %+v of %d bytes", x.Code, x.Range, len(b))
			}
		}
		if d == nil {
			return
		}
		e := &ir.Epic{Gates: map[string]ir.Gate{}}
		for i := range d.Nodes {
			n := &d.Nodes[i]
			node := ir.Node{ID: n.ID, Key: n.Key, Title: n.Title, Goal: n.Goal, Ext: n.Ext, Steps: []ir.Step{{Name: "s"}}}
			for _, g := range n.Verify {
				name := string(n.Key) + "/" + g.Name
				e.Gates[name] = ir.Gate{Kind: "command", Run: g.Run, Promise: g.Promise}
				node.Steps[0].Gates = append(node.Steps[0].Gates, name)
			}
			e.Nodes = append(e.Nodes, node)
		}
		exported(t, e, nil)
	})
}
