package bead_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

func example(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func files(texts ...string) []*diag.File {
	var out []*diag.File
	for i, text := range texts {
		out = append(out, diag.NewFile(fmt.Sprintf("%c.json", 'a'+i), []byte(text)))
	}
	return out
}

// strict returns the pointers that the strict reading complains about.
func strict(t *testing.T, text string) []string {
	t.Helper()
	draft, list := bead.DecodeStrict(files(text))
	if (draft == nil) != list.HasErrors() {
		t.Fatalf("draft %v with %v", draft, list)
	}
	var out []string
	for _, d := range list {
		if d.Severity == diag.Error {
			pointer, _, _ := strings.Cut(d.Detail, " ")
			out = append(out, pointer)
		}
	}
	return out
}

// with returns a text with another value at a pointer; "" deletes it.
func with(t *testing.T, text, pointer, value string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(pointer, "/")[1:]
	at := doc
	for _, p := range parts[:len(parts)-1] {
		if list, ok := at.([]any); ok {
			var i int
			if _, err := fmt.Sscan(p, &i); err != nil {
				t.Fatal(err)
			}
			at = list[i]
		} else {
			at = at.(map[string]any)[p]
		}
	}
	last := parts[len(parts)-1]
	if value == "" {
		delete(at.(map[string]any), last)
	} else if list, ok := at.([]any); ok {
		list[0] = json.RawMessage(value)
	} else {
		at.(map[string]any)[last] = json.RawMessage(value)
	}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The examples meet what the format demands. S0-93, S0-127..145
func TestTheExamplesAreStrict(t *testing.T) {
	for _, name := range []string{"work", "merge"} {
		if got := strict(t, example(t, name)); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Every demand of the format, broken alone, is one error at its place; leniently it
// is a warning. S0-127..151
func TestEachDemandIsHeld(t *testing.T) {
	const gone = ""
	for _, c := range []struct{ row, pointer, value, at string }{ // at "-" nothing is refused
		{"S0-04", "/id", gone, ""},
		{"S0-06", "/external_ref", `5`, "-"}, // a value that nothing is demanded of
		{"S0-08", "/priority", "4", "-"},
		{"S0-08", "/priority", `"1"`, ""},
		{"S0-08", "/priority", "true", ""},
		{"S0-08", "/priority", "1.5", ""},
		{"S0-13", "/labels", `["a", 5]`, "/labels/1"},
		{"S0-08", "/priority", "5", ""},
		{"S0-12", "/dependencies", `[""]`, "/dependencies/0"},
		{"S0-12", "/dependencies", `[{"type": "blocks"}]`, "/dependencies/0"},
		{"S0-13", "/labels", `"a"`, ""},
		{"S0-17", "/created_at", `"yesterday"`, ""},
		{"S0-127", "/title", gone, ""},
		{"S0-127", "/title", `"  "`, ""},
		{"S0-128", "/status", gone, ""},
		{"S0-128", "/status", `"pinned"`, ""},
		{"S0-128", "/status", `"OPEN"`, ""},
		{"S0-129", "/issue_type", `"task"`, ""},
		{"S0-129", "/issue_type", gone, ""},
		{"S0-130", "/assignee", `"ana"`, ""},
		{"S0-130", "/assignee", "null", ""},
		{"S0-131", "/metadata/worktree_path", `"../my-app-worktrees/x"`, ""},
		{"S0-131", "/metadata/worktree_path", gone, ""},
		{"S0-132", "/metadata/branch", gone, ""},
		{"S0-132", "/metadata/branch", `"-x"`, ""},
		{"S0-132", "/metadata/branch", `"a//b"`, ""},
		{"S0-133", "/metadata/source_branch", `""`, ""},
		{"S0-134", "/metadata/phase", gone, ""},
		{"S0-135", "/metadata/phase", `"2"`, "/metadata/sprint"},
		{"S0-136", "/metadata/plan_file", gone, ""},
		{"S0-137", "/metadata/plan_section", `" "`, ""},
		{"S0-138", "/metadata/plan_sprint_id", gone, ""},
		{"S0-138", "/metadata/plan_sprint_id", `"1.3"`, ""},
		{"S0-98", "/metadata/branches_to_merge", `["a", " "]`, "/metadata/branches_to_merge/1"},
		{"S0-139", "/metadata/dev_agent_path", `"backend-dev"`, ""},
		{"S0-139", "/metadata/dev_agent_path", `"backend-dev.md"`, "-"},
		{"S0-139", "/metadata/dev_agent_path", `".claude\\agents\\dev"`, "-"},
		{"S0-139", "/metadata/dev_agent_path", `".claude/agents\n/dev.md"`, ""},
		{"S0-139", "/metadata/dev_agent_path", gone, ""},
		{"S0-140", "/metadata/dev_model", `"gpt-5"`, ""},
		{"S0-140", "/metadata/dev_model", `"Sonnet"`, ""},
		{"S0-141", "/metadata/dev_prompts", `[]`, ""},
		{"S0-141", "/metadata/dev_prompts", gone, ""},
		{"S0-151", "/metadata/dev_prompts", `"Do it"`, ""},
		{"S0-141", "/metadata/dev_prompts", `["", "x"]`, "/metadata/dev_prompts/0"},
		{"S0-142", "/metadata/qa_agents", `[]`, ""},
		{"S0-142", "/metadata/qa_agents", gone, ""},
		{"S0-142", "/metadata/qa_agents/0", `"qa"`, ""},
		{"S0-143", "/metadata/qa_agents/0/agent_path", gone, ""},
		{"S0-143", "/metadata/qa_agents/0/agent_path", `"qa"`, ""},
		{"S0-143", "/metadata/qa_agents/0/model", gone, ""},
		{"S0-151", "/metadata/qa_agents/0/model", `"gpt-5"`, ""},
		{"S0-151", "/metadata/qa_agents/1/prompt", `""`, ""},
		{"S0-143", "/metadata/qa_agents/0/output_schema", gone, ""},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status", gone, ""},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `["pass", "fail"]`, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `[]`, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `["pass", "fail", "stop", "maybe"]`, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `["pass", "fail", "maybe"]`, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `"pass"`, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", gone, "/metadata/qa_agents/0/output_schema/properties/status"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties/status/enum", `["stop", "fail", "pass"]`, "-"},
		{"S0-144", "/metadata/qa_agents/0/output_schema/properties", `[]`, ""},
		{"S0-145", "/metadata/qa_agents/1/output_schema/properties/message", gone, ""},
		{"S0-53", "/metadata/qa_agents/1/input_schema", `[]`, ""},
		{"S0-58", "/metadata/max_retry_attempts", "0", ""},
		{"S0-58", "/metadata/max_retry_attempts", "10000", "-"},
		{"S0-58", "/metadata/max_retry_attempts", "10001", ""},
		{"S0-58", "/metadata/max_retry_attempts", `"3"`, ""}, // bd may hold it so
		{"S0-59", "/metadata/attempt_count", "-1", ""},
		{"S0-62", "/metadata/dev_agent_executions", "{}", ""},
	} {
		text := with(t, example(t, "work"), c.pointer, c.value)
		want := c.at
		if want == "" {
			want = c.pointer
		}
		got := strict(t, text)
		if want == "-" {
			if len(got) > 0 {
				t.Errorf("%s: %s = %s: %q, want nothing", c.row, c.pointer, c.value, got)
			}
			continue
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: %s = %s: %q, want %s", c.row, c.pointer, c.value, got, want)
		}
		_, list := bead.Decode(files(text))
		if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return strings.Contains(d.Detail, want) }) {
			t.Errorf("%s: %s = %s: leniently it is not said: %v", c.row, c.pointer, c.value, list)
		}
	}
}

// S0-28, S0-29, S0-31, S0-32, S0-146..148
func TestPatterns(t *testing.T) {
	for pointer, words := range map[string]map[string]bool{
		"/metadata/phase": {
			"1": true, "2": true, "3a": true, "3b": true, "12": true, "3ab": true,
			"1.2": false, "a1": false, "1-2": false, "1A": false, "1 ": false, "1\n": false,
		},
		"/metadata/sprint": {
			"1.1": true, "3a.2": true, "3b.2a": true, "3b.2b": true, "12.5c": true,
			"1": false, "1-2": false, "1.2.3": false, "a.1": false, "1.": false, "1.2A": false,
		},
		"/metadata/branch": {
			"main/1-2-auth": true, "develop/3a-2b-api": true, "x_y": true,
			"main/1.2": false, "feat/auth api": false, "größe": false, "/x": false, "x/": false,
		},
	} {
		for word, want := range words {
			text := with(t, example(t, "work"), pointer, fmt.Sprintf("%q", word))
			if pointer == "/metadata/phase" { // else the sprint is of another phase
				text = with(t, with(t, text, "/metadata/sprint", fmt.Sprintf("%q", word+".1")), "/metadata/plan_sprint_id", fmt.Sprintf("%q", word+".1"))
			} else if pointer == "/metadata/sprint" {
				phase, _, _ := strings.Cut(word, ".")
				text = with(t, with(t, text, "/metadata/phase", fmt.Sprintf("%q", phase)), "/metadata/plan_sprint_id", fmt.Sprintf("%q", word))
			}
			if got := !slices.Contains(strict(t, text), pointer); got != want {
				t.Errorf("%s %q: taken %v, want %v", pointer, word, got, want)
			}
		}
	}
}

// All mistakes of all beads of all files are said in one run, each with its place.
// S0-150
func TestAllMistakesAreSaidAtOnce(t *testing.T) {
	one := with(t, with(t, example(t, "work"), "/metadata/dev_model", `"gpt-5"`), "/title", `""`)
	two := with(t, with(t, example(t, "merge"), "/assignee", ""), "/metadata/qa_agents/0/prompt", "")
	_, list := bead.DecodeStrict(files("["+one+"]", two))
	got := map[string]int{}
	for _, d := range list {
		if d.Severity == diag.Error {
			pointer, _, _ := strings.Cut(d.Detail, " ")
			got[d.Range.File+" "+pointer] = d.Range.Start
		}
	}
	for _, want := range []string{"a.json /0/metadata/dev_model", "a.json /0/title", "b.json /assignee", "b.json /metadata/qa_agents/0/prompt"} {
		if _, ok := got[want]; !ok {
			t.Errorf("%s is not among %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d mistakes, want 4: %v", len(got), got)
	}
	if at := got["a.json /0/metadata/dev_model"]; !strings.HasPrefix(("[" + one)[at:], `"gpt-5"`) {
		t.Errorf("dev_model is said to be at %q", ("[" + one)[at:at+20])
	}
}

// Leniently one warning names everything that is missing, at the object that lacks the first of
// it. S0-150
func TestWhatIsMissingIsOneWarning(t *testing.T) {
	text := with(t, with(t, example(t, "work"), "/assignee", ""), "/metadata/phase", "")
	_, list := bead.Decode(files(text))
	n := 0
	for _, x := range list {
		if x.Code == "bead-demand" {
			n++
			if x.Severity != diag.Warning || !strings.Contains(x.Detail, "no /assignee, /metadata/phase.") || x.Range != (diag.Range{File: "a.json", End: 1}) {
				t.Errorf("%+v", x)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d warnings, want one: %v", n, list)
	}
	if _, list := bead.Decode(files(example(t, "work"))); slices.ContainsFunc(list, func(x diag.Diagnostic) bool { return x.Code == "bead-demand" }) {
		t.Errorf("of an example: %v", list)
	}
}

// What import refuses anyway is said once, and everything else that the same object lacks
// besides. S0-150
func TestWhatIsRefusedHidesNothing(t *testing.T) {
	text := with(t, example(t, "work"), "/title", "")
	text = with(t, with(t, text, "/description", ""), "/assignee", "")
	for _, key := range []string{"agent_path", "model"} {
		text = with(t, text, "/metadata/qa_agents/0/"+key, "")
	}
	got := strict(t, text)
	slices.Sort(got)
	if want := []string{"/assignee", "/metadata/qa_agents/0/agent_path", "/metadata/qa_agents/0/model", "/title"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// One bead, a list, one a line, an envelope; dependencies as ids and in each of bd's
// shapes. S0-12
func TestShapesOfFilesAndDependencies(t *testing.T) {
	line := func(id, deps string) string {
		return fmt.Sprintf(`{"id": %q, "title": "T", "dependencies": %s}`, id, deps)
	}
	want := "bd-b: bd-a/blocks"
	for name, c := range map[string][]string{
		"two files":       {line("bd-a", "[]"), line("bd-b", `["bd-a"]`)},
		"a list":          {"[" + line("bd-b", `["bd-a", "bd-a"]`) + "," + line("bd-a", "[]") + "]"},
		"lines":           {line("bd-a", "[]") + "\r\n\r\n" + line("bd-b", `["bd-a"]`) + "\n"},
		"envelope":        {`{"schema_version": 1, "data": [` + line("bd-a", "[]") + "," + line("bd-b", `[{"issue_id": "bd-b", "depends_on_id": "bd-a", "type": "blocks"}]`) + "]}"},
		"as bd shows it":  {"\ufeff[" + line("bd-a", "[]") + "," + line("bd-b", `[{"id": "bd-a", "title": "T", "issue_type": "x", "dependency_type": "blocks"}]`) + "]"},
		"type of waiting": {"[" + line("bd-a", "[]") + "," + line("bd-b", `[{"depends_on_id": "bd-a", "type": "waits-for"}]`) + "]"},
	} {
		d, list := bead.Decode(files(c...))
		if d == nil {
			t.Fatalf("%s: %v", name, list)
		}
		if got := edges(d); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	d, _ := bead.Decode(files("[" + line("bd-a", "[]") + "," + line("bd-b", `[{"depends_on_id": "bd-a", "type": "related"}, {"depends_on_id": "bd-e", "type": "parent-child"}]`) +
		`,{"id": "bd-e", "title": "All of it", "issue_type": "epic", "description": "One\ntwo"}]`))
	if got := edges(d); got != "bd-b: bd-a/related" || d.ID != "bd-e" || d.Title != "All of it" || len(d.Description) != 2 {
		t.Errorf("%s, epic %s %q", got, d.ID, d.Title)
	}
}

func edges(d *ir.Draft) string {
	var out []string
	for _, n := range d.Nodes {
		for _, e := range n.Edges {
			out = append(out, fmt.Sprintf("%s: %s/%s", n.Key, e.Key, e.Type))
		}
	}
	return strings.Join(out, "; ")
}
