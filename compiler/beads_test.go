package compiler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// scrumBeads imports the beads of scrum agents that the files hold, as one epic.
func scrumBeads(sources ...Source) Imported {
	files := make([]*diag.File, len(sources))
	for i, src := range sources {
		files[i] = diag.NewFile(src.Path, src.Bytes)
	}
	draft, list := bead.Decode(files)
	return Imported{Sources: sources, Draft: draft, Diags: list}
}

// passed imports, compiles and exports; agents are the files that the project has.
func passed(t *testing.T, text string, agents ...string) ([]map[string]any, []foreign.Breach, *ir.Epic) {
	t.Helper()
	project := fstest.MapFS{}
	for _, a := range agents {
		project[a] = &fstest.MapFile{Data: []byte("You work.\n")}
	}
	out := Compile(Input{Imports: []Imported{scrumBeads(Source{Path: "x.json", Bytes: []byte(text)})}, Project: project})
	if out.Diags.HasErrors() {
		t.Fatalf("%s\n%s", printDiags(out), text)
	}
	e := out.Results[0].Epic
	if found := e.Verify(); len(found) > 0 {
		t.Fatalf("the epic is refused: %v\n%s", found, text)
	}
	var b bytes.Buffer
	breaches, err := bead.Encode(&b, e, &ir.History{Top: "/Users/dev/projects/my-app"})
	if err != nil {
		t.Fatal(err)
	}
	return beadsIn(t, b.String()), breaches, e
}

func beadsIn(t *testing.T, text string) []map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if one, ok := doc.(map[string]any); ok {
		return []map[string]any{one}
	}
	var out []map[string]any
	for _, x := range doc.([]any) {
		out = append(out, x.(map[string]any))
	}
	return out
}

func example(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../ir/codec/bead/testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ownGates leaves out the QA agents that an export adds for gates of the policy.
func ownGates(b map[string]any) {
	m := b["metadata"].(map[string]any)
	m["qa_agents"] = slices.DeleteFunc(m["qa_agents"].([]any), func(q any) bool { return q.(map[string]any)["gate"] != nil })
}

// What scrum agents wrote comes out as it went in: whole the two that have not run,
// with what it has the one that is completed. S0-93, S0-95..101, S0-15
func TestExamplesComeOutAsTheyWentIn(t *testing.T) {
	for _, name := range []string{"work", "merge", "completed"} {
		in := beadsIn(t, example(t, name))[0]
		got, _, e := passed(t, example(t, name), ".claude/agents/backend-dev.md", ".claude/agents/qa-unit-tests.md")
		ownGates(got[0])
		want := in
		if name == "completed" { // it lacks most of what the format demands
			got[0] = only(got[0], in)
			if !e.Nodes[0].Done {
				t.Error("the completed bead would run again")
			}
		}
		if !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, indented(got[0]), indented(want))
		}
	}
}

// only returns the keys of got that want has, in its metadata too.
func only(got, want map[string]any) map[string]any {
	out := map[string]any{}
	for k, w := range want {
		if g, there := got[k]; there {
			out[k] = g
			if sub, ok := w.(map[string]any); ok && k == "metadata" {
				out[k] = only(g.(map[string]any), sub)
			}
		}
	}
	return out
}

func indented(v any) string {
	b, _ := json.MarshalIndent(v, "", "  ")
	return string(b)
}

// What an export wrote can be imported again, and the second export is the first: a
// gate of the policy does not become the bead's own. S0-159
func TestExportsDoNotGrow(t *testing.T) {
	first, _, _ := passed(t, example(t, "work"))
	if n := len(first[0]["metadata"].(map[string]any)["qa_agents"].([]any)); n != 3 {
		t.Fatalf("%d QA agents, want the bead's two and the review of the policy", n)
	}
	second, _, _ := passed(t, indented(first[0]))
	if !reflect.DeepEqual(first, second) {
		t.Errorf("%s\nthen\n%s", indented(first[0]), indented(second[0]))
	}
}

// export(import(x)) is x, up to what bead.Losses lists. S0-93, S0-12, S0-15, S0-152..159
func TestRandomBeadsComeOutAsTheyWentIn(t *testing.T) {
	runs := 80
	if testing.Short() {
		runs = 20
	}
	for i := range runs {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		in := randomBeads(r)
		text := indented(in)
		want := beadsIn(t, text)
		got, _, _ := passed(t, text)
		if len(got) != len(want) {
			t.Fatalf("run %d: %d beads, want %d\n%s", i, len(got), len(want), text)
		}
		for _, w := range want {
			at := slices.IndexFunc(got, func(g map[string]any) bool { return g["id"] == w["id"] })
			if at < 0 {
				t.Fatalf("run %d: %v is gone", i, w["id"])
			}
			g := got[at]
			ownGates(g)
			lossy(g, w)
			if !reflect.DeepEqual(g, w) {
				t.Fatalf("run %d:\n%s\nwant\n%s", i, indented(g), indented(w))
			}
		}
	}
}

// lossy evens out, in what came out and in what went in, what Losses lists and
// nothing else.
func lossy(got, want map[string]any) {
	for _, pair := range [][2]map[string]any{{got, want}, {got["metadata"].(map[string]any), want["metadata"].(map[string]any)}} {
		for k := range pair[0] {
			if _, there := pair[1][k]; !there { // absent keys are filled in
				delete(pair[0], k)
			}
		}
	}
	for _, b := range []map[string]any{got, want} {
		for _, list := range []any{b["labels"], b["dependencies"], b["metadata"].(map[string]any)["branches_to_merge"]} { // order
			if list, ok := list.([]any); ok {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
		}
	}
}

// randomBeads makes beads that the format allows, with what imports meet besides:
// unknown keys, odd models, statuses of other executors, kept executions.
func randomBeads(r *rand.Rand) []map[string]any {
	words := []string{"cart", "import", "Größe", "a < b & c", "日本語", "\"quoted\"", "tabs\tinside", "${run.x}", "${plan}", "- item", "1.", "Tasks:", "#"}
	phrase := func() string {
		var out []string
		for range 1 + r.IntN(4) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	text := func() string {
		out := phrase()
		for range r.IntN(3) {
			out += []string{"\n", "\n\n", "\n  "}[r.IntN(3)] + phrase()
		}
		return out
	}
	odd := func() any {
		return []any{phrase(), 1.5, true, []any{}, map[string]any{"x": []any{1, "y"}, "": "empty key"}}[r.IntN(5)]
	}
	maybe := func(b map[string]any, key string, v any) {
		if r.IntN(3) == 0 {
			b[key] = v
		}
	}
	var out []map[string]any
	n := 1 + r.IntN(5)
	for i := range n {
		phase := []string{"1", "3a", "12"}[r.IntN(3)]
		sprint := fmt.Sprintf("%s.%d", phase, i+1)
		branch := fmt.Sprintf("work/%d-%d", r.IntN(1000), i)
		b := map[string]any{
			"id": fmt.Sprintf("bd-%d%c", i, 'a'+r.IntN(26)), "title": strings.Join(strings.Fields(phrase()), " "), "description": text(), "status": "open",
			"priority": r.IntN(5), "issue_type": "beads-ralph-work", "assignee": bead.Assignee,
		}
		labels := []any{fmt.Sprintf("phase-%s%s", map[bool]string{true: "0"}[len(strings.TrimRight(phase, "a")) == 1], phase), "sprint-" + strings.ReplaceAll(sprint, ".", "-")}
		deps := []any{}
		var merged []any
		for k := range i {
			if r.IntN(3) == 0 {
				deps = append(deps, out[k]["id"])
				merged = append(merged, out[k]["metadata"].(map[string]any)["branch"])
			}
		}
		if r.IntN(4) == 0 {
			deps = append(deps, "bd-gone", "bd-older")
		}
		m := map[string]any{
			"worktree_path": "/Users/dev/projects/my-app-worktrees/" + branch, "branch": branch, "source_branch": "main",
			"phase": phase, "sprint": sprint, "plan_file": "plans/x.md", "plan_section": "## Phase > ### " + sprint, "plan_sprint_id": sprint,
			"dev_agent_path": ".claude/agents/" + []string{"dev", "other-dev.md"}[r.IntN(2)], "dev_model": []string{"sonnet", "opus", "gpt-5"}[r.IntN(3)],
			"max_retry_attempts": 1 + r.IntN(9),
		}
		if r.IntN(3) == 0 { // git cannot have it
			m["branch"] = "main/" + branch
		}
		if len(merged) > 1 {
			b["issue_type"] = "beads-ralph-merge"
		} else if r.IntN(5) == 0 {
			b["issue_type"] = "beads-ralph-merge"
			if merged == nil {
				merged = []any{}
			}
			merged = append(merged, "somebody/else")
		}
		if b["issue_type"] == "beads-ralph-merge" {
			labels = append(labels, "merge")
		}
		if len(merged) > 1 {
			m["branches_to_merge"] = merged
		}
		maybe(b, "owner", "ana")
		b["labels"] = append(labels, []any{"backend", "x y"}[:r.IntN(3)]...)
		b["dependencies"] = deps
		var prompts []any
		for range 1 + r.IntN(4) {
			prompts = append(prompts, text())
		}
		m["dev_prompts"] = prompts
		var qa []any
		for range 1 + r.IntN(3) {
			q := map[string]any{
				"agent_path": ".claude/agents/" + []string{"qa", "scan"}[r.IntN(2)], "model": []string{"haiku", "sonnet"}[r.IntN(2)], "prompt": text(),
				"output_schema": map[string]any{"type": "object", "required": []any{"status", "message"}, "properties": map[string]any{
					"status": map[string]any{"enum": []any{"pass", "fail", "stop"}}, "message": map[string]any{"type": "string"},
					phrase(): map[string]any{"type": "number", "minimum": 1.50},
				}},
			}
			maybe(q, "input_schema", map[string]any{"type": "object"})
			maybe(q, "weight", odd())
			qa = append(qa, q)
		}
		m["qa_agents"] = qa
		maybe(m, "timeout_minutes", 30)
		maybe(m, "rollback_strategy", []any{"keep", "reset", "revert", "by hand"}[r.IntN(4)])
		maybe(m, "cost_estimate", 1.25)
		maybe(m, "notification_config", odd())
		maybe(m, "docker_image", "node:22")
		maybe(m, "team", odd())
		maybe(m, "attempt_count", 1)
		maybe(m, "dev_agent_session_id", "claude-1")
		maybe(m, "scrum_master_session_id", "claude-0")
		maybe(m, "dev_agent_executions", []any{map[string]any{"attempt": 1, "status": "completed", "extra": odd()}})
		maybe(m, "pr_url", "https://example.com/pull/3")
		maybe(m, "pr_number", 3)
		maybe(m, "scrum_result", map[string]any{"success": false, "qa_results": []any{}})
		maybe(b, "status", []string{"in_progress", "blocked", "closed", "deferred"}[r.IntN(4)])
		maybe(b, "priority", 7)
		maybe(b, "assignee", "ana")
		maybe(b, "notes", odd())
		maybe(b, "comments", []any{map[string]any{"author": "ana", "text": text(), "created_at": "2026-02-07T10:00:00Z"}})
		maybe(b, "created_at", "2026-02-07T10:00:00Z")
		maybe(b, "updated_at", "2026-02-07T10:00:00Z")
		maybe(b, "external_ref", "https://example.com/pull/3")
		if b["status"] == "closed" {
			b["closed_at"] = "2026-02-07T10:45:00Z"
		}
		b["metadata"] = m
		out = append(out, b)
	}
	return out
}

// Whatever stands where in a bead: it is read or refused, and what is read compiles or
// is refused; an epic that compiles goes out and in again. S0-150, S0-159
func TestMutilatedBeadsNeverPanic(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 60
	}
	values := []any{
		nil, true, 0, -1, 1.5, 7, "", " ", "x", "a/b", "../x", "main", "main/x", "integration", "1.1", "3a.2b", "a\nb", "\x00", "{repo}", "${x", strings.Repeat("long ", 200),
		[]any{},
		[]any{""},
		[]any{"x", "x"},
		[]any{nil, 1},
		[]any{[]any{}},
		map[string]any{},
		map[string]any{"id": "bd-a1b2c3"},
		map[string]any{"status": 1},
		"[1, {}]", "{}",
	}
	compiled := 0
	for i := range runs {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		beads := []map[string]any{beadsIn(t, example(t, "work"))[0], beadsIn(t, example(t, "merge"))[0]}
		for range 1 + r.IntN(6) {
			mutilate(r, beads[r.IntN(2)], values)
		}
		text := indented(beads)
		out := Compile(Input{Imports: []Imported{scrumBeads(Source{Path: "x.json", Bytes: []byte(text)})}})
		if out.Diags.HasErrors() {
			continue
		}
		compiled++
		var b bytes.Buffer
		if _, err := bead.Encode(&b, out.Results[0].Epic, &ir.History{Top: "/src/app"}); err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, text)
		}
		if again := scrumBeads(Source{Path: "x.json", Bytes: b.Bytes()}); again.Draft == nil {
			t.Fatalf("run %d: what went out is refused: %v\n%s\nfrom\n%s", i, again.Diags, b.String(), text)
		}
	}
	if compiled < runs/10 {
		t.Errorf("only %d of %d compile", compiled, runs)
	}
}

// mutilate puts a value somewhere.
func mutilate(r *rand.Rand, at any, values []any) {
	switch at := at.(type) {
	case map[string]any:
		keys := make([]string, 0, len(at))
		for k := range at {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if len(keys) == 0 {
			return
		}
		k := keys[r.IntN(len(keys))]
		switch at[k].(type) {
		case map[string]any, []any:
			if r.IntN(8) > 0 {
				mutilate(r, at[k], values)
				return
			}
		}
		if r.IntN(6) == 0 {
			delete(at, k)
			return
		}
		at[k] = values[r.IntN(len(values))]
	case []any:
		if len(at) == 0 {
			return
		}
		i := r.IntN(len(at))
		switch at[i].(type) {
		case map[string]any:
			mutilate(r, at[i], values)
		default:
			at[i] = values[r.IntN(len(values))]
		}
	}
}
