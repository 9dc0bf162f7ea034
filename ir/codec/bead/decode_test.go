package bead_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/codec/foreign/foreigntest"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// decoded is the only node of a bead that can be read.
func decoded(t *testing.T, text string) ir.DraftNode {
	t.Helper()
	d, list := bead.Decode(files(text))
	if d == nil {
		t.Fatalf("%v\n%s", list, text)
	}
	return d.Nodes[0]
}

// Where a field of a bead comes to stand. S0-04..27, S0-46..58, S0-95, S0-96, S0-116, K3, K9, K10, K22
func TestFieldsFindTheirPlaces(t *testing.T) {
	d, _ := bead.Decode(files(example(t, "work")))
	n := d.Nodes[0]
	for what, pair := range map[string][2]any{
		"id":       {n.ID, ir.NodeID("bd-a1b2c3")},
		"key":      {n.Key, ir.Key("1.2")},
		"kind":     {n.Kind, ir.Work},
		"title":    {n.Title, "Implement user authentication API"},
		"goal":     {n.Goal, "Create authentication endpoints for user login and signup"},
		"priority": {n.Priority.Value, "1"},
		"phase":    {n.Phase + "/" + d.Phases[n.PhaseIndex].ID, "1/1"},
		"section":  {n.Section, "## Phase 1 > ### Sprint 1.2: User Authentication"},
		"labels":   {fmt.Sprint(n.Labels), "[backend]"},
		"worktree": {n.Worktree.Value, "../{repo}-worktrees/main/1-2-auth-api"},
		"base":     {d.Base.Value, "main"},
		"branch":   {n.Branch.Value, ""}, // git cannot have it
		"attempts": {n.Attempts.Value, "3"},
		"agent":    {fmt.Sprint(n.Agents[0].Name, " ", n.Agents[0].Path, " ", n.Agents[0].Model), "backend-dev .claude/agents/backend-dev sonnet"},
		"judges":   {fmt.Sprint(n.QA[0].Gate, " ", n.QA[0].Model, ", ", n.QA[1].Gate, " ", n.QA[1].Model), "qa-unit-tests haiku, qa-security-scan sonnet"},
		"asked":    {n.QA[0].Note, "Run pytest with coverage. Verify new endpoints have >80% coverage."},
		"in order": {n.Ordered, true},
		"slug":     {d.Slug, "bd-a1b2c3"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	// The agent is told exactly the prompts. S0-48
	want := strings.Join([]string{
		"Implement user authentication API endpoints in the backend service.", "",
		"Follow existing patterns in services/auth/. Use bcrypt for password hashing.", "",
		"Add integration tests for login and signup endpoints.", "", "Update API documentation in docs/api.md",
	}, "\n")
	if got := strings.Join(n.Prompt, "\n"); got != want || len(n.Tasks) != 4 {
		t.Errorf("the agent is told\n%s\nwant\n%s", got, want)
	}
	var schema struct {
		Properties map[string]struct {
			Type  string
			Items struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(n.Outputs[1].Schema, &schema); err != nil || schema.Properties["vulnerabilities"].Items.Properties["severity"] == nil {
		t.Errorf("the schema of the scan is %s", n.Outputs[1].Schema)
	}
	if m := decoded(t, example(t, "merge")); m.Kind != ir.Merge || len(m.Labels) != 0 {
		t.Errorf("the merge bead is %s with labels %v", m.Kind, m.Labels)
	}
}

// Worktrees keep their place beside the repository and lose the machine. S0-20, S0-115..117, K9
func TestWorktreesLoseTheMachine(t *testing.T) {
	for was, want := range map[string]string{
		"/Users/dev/projects/my-app-worktrees/main/1-1-project-setup":     "../{repo}-worktrees/main/1-1-project-setup",
		"/Users/dev/projects/my-app-worktrees/main/3a-2b-api-validation":  "../{repo}-worktrees/main/3a-2b-api-validation",
		"/Users/dev/projects/my-app-worktrees/develop/2-1a-auth-service/": "../{repo}-worktrees/develop/2-1a-auth-service",
		"../my-app-worktrees/x":        "../{repo}-worktrees/x",
		`C:\src\app-worktrees\main\x`:  "../{repo}-worktrees/main/x",
		"/tmp/x":                       "",
		"/src/app-worktrees/../secret": "",
		"/src/app-worktrees/a/../../b": "",
		"/src/app-worktrees/{repo}":    "",
		"/src/app-worktrees/a\u0085b":  "",
	} {
		n := decoded(t, with(t, example(t, "work"), "/metadata/worktree_path", fmt.Sprintf("%q", was)))
		if n.Worktree.Value != want {
			t.Errorf("%s becomes %q, want %q", was, n.Worktree.Value, want)
		}
	}
}

// The keys that the format reserves. S0-152..159, K24
func TestReservedKeysDoWhatRalphCanDo(t *testing.T) {
	m := func(key, value string) ir.DraftNode {
		return decoded(t, fmt.Sprintf(`{"id": "bd-1", "title": "T", "metadata": {%q: %s}}`, key, value))
	}
	for _, c := range []struct{ key, value, got, want string }{
		{"timeout_minutes", "45", m("timeout_minutes", "45").Timeout.Value, "2700s"},
		{"timeout_minutes", "0.5", m("timeout_minutes", "0.5").Timeout.Value, "30s"},
		{"approval_required", "true", m("approval_required", "true").Approval.Value, "required"},
		{"approval_required", "false", m("approval_required", "false").Approval.Value, ""},
		{"approval_required", "names", m("approval_required", `["@ana", "bo"]`).Approval.Value, "required from @ana, @bo"},
		{"approval_required", "object", m("approval_required", `{"approvers": ["ana"], "why": "money"}`).Approval.Value, "required from @ana"},
		{"rollback_strategy", "keep", m("rollback_strategy", `"keep"`).OnFailure.Value, "keep"},
		{"rollback_strategy", "revert", m("rollback_strategy", `"revert"`).OnFailure.Value, "reset"},
		{"rollback_strategy", "else", m("rollback_strategy", `{"x": 1}`).OnFailure.Value, ""},
		{"docker_image", "", fmt.Sprint(*m("docker_image", `"node:22"`).Sandbox), "{container [] [] [] [] map[image:node:22] [] [] false  false}"},
		{"resource_limits", "", fmt.Sprint(*m("resource_limits", `{"cpu": 2, "memory": "4g"}`).Sandbox), "{container [] [] [] [] map[cpu:2 memory:4g] [] [] false  false}"},
	} {
		if c.got != c.want {
			t.Errorf("%s %s: %q, want %q", c.key, c.value, c.got, c.want)
		}
	}
	for _, key := range []string{"notification_config", "cost_estimate", "my_own"} {
		var ext struct{ Metadata map[string]any }
		if err := json.Unmarshal(m(key, `{"a": 1}`).Ext["bead"], &ext); err != nil || !reflect.DeepEqual(ext.Metadata[key], map[string]any{"a": 1.0}) {
			t.Errorf("%s is kept as %v (%v)", key, ext.Metadata, err)
		}
	}
}

// What bd holds as JSON in texts is read as what it is. S0-01, K16
func TestValuesMayBeJSONInTexts(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal([]byte(example(t, "work")), &doc); err != nil {
		t.Fatal(err)
	}
	m := doc["metadata"].(map[string]any)
	for key, v := range m {
		if _, text := v.(string); !text && v != nil {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			m[key] = string(b)
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	got, want := decoded(t, string(b)), decoded(t, example(t, "work"))
	if !reflect.DeepEqual(got.Prompt, want.Prompt) || got.Attempts.Value != "3" || len(got.QA) != 2 || len(got.Outputs) != 2 ||
		string(got.Ext["bead"]) != string(want.Ext["bead"]) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// Two agents of one name are two agents; one agent of two spellings is one. K10
func TestAgentsAreToldApart(t *testing.T) {
	qa := func(path string) string {
		return fmt.Sprintf(`{"agent_path": %q, "model": "haiku", "prompt": "p"}`, path)
	}
	n := decoded(t, `{"id": "bd-1", "title": "T", "metadata": {"dev_agent_path": ".claude/agents/dev.md", "qa_agents": [`+
		strings.Join([]string{qa("./.claude/agents/dev"), qa(".opencode/agents/dev"), qa("a b/c d"), qa("../../x"), qa("scan"), qa("scan")}, ",")+`]}}`)
	var got []string
	for _, q := range n.QA {
		got = append(got, q.Gate+"="+q.Name+"@"+q.Path)
	}
	want := "dev=dev@.claude/agents/dev dev-2=dev-2@.opencode/agents/dev c-d=c-d@a b/c d x=x@ scan=scan@ scan-2=scan@"
	if strings.Join(got, " ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, " "), want)
	}
}

// Encode writes what is true and says what the format would have otherwise; nothing
// that the format demands is made up. S0-128..145, K17
func TestExportTellsWhatTheFormatRefuses(t *testing.T) {
	e := irtest.Worked()
	n := &e.Nodes[0]
	n.Steps[0].Model, n.Git.Branch, n.Section = "gpt-5", "release/1.1", ""
	n.Steps[0].Gates = nil
	var b strings.Builder
	breaches, err := bead.Encode(&b, e, &ir.History{Top: "/home/dev/app"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range breaches {
		if x.Node == n.Key {
			got[x.Pointer] = x.Message
		}
	}
	for pointer, want := range map[string]string{
		"/metadata/dev_model":    `must be sonnet, opus or haiku, not "gpt-5"`,
		"/metadata/branch":       `must be of letters, digits, "/", "_" and "-", not "release/1.1"`,
		"/metadata/plan_section": "must be where the plan speaks of it, a text that is not empty",
		"/metadata/qa_agents":    "must be a list of at least one QA agent",
	} {
		if got[pointer] != want {
			t.Errorf("%s: %q, want %q", pointer, got[pointer], want)
		}
	}
	if !strings.Contains(b.String(), `"dev_model": "gpt-5"`) || !strings.Contains(b.String(), `"branch": "release/1.1"`) {
		t.Errorf("it does not say what is true:\n%s", b.String())
	}
}

// The document has the table of losses as the package has it.
func TestLossesAreWrittenDown(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/bead.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := foreigntest.Table(bead.Losses); !strings.Contains(string(b), want) {
		t.Errorf("docs/formats/bead.md lacks this table:\n%s", want)
	}
}

// FuzzDecode: no bytes make it panic, every place lies inside the file, an error
// leaves no draft, and what is strict is not refused leniently.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"work", "merge", "completed"} {
		f.Add([]byte(example(f, name)))
	}
	f.Add([]byte("[{\"id\": \"bd-1\", \"title\": \"T\", \"dependencies\": [{\"id\": 1}, null, \"bd-1\"]}]"))
	f.Add([]byte(`{"schema_version": 1, "data": {"issue_type": "epic", "metadata": {"qa_agents": [{"agent_path": "..", "output_schema": {"properties": 1}}]}}}`))
	f.Add([]byte("{\"title\": \"a\"}\n{\"title\": \"a\", \"metadata\": {\"sprint\": \"integration\", \"branches_to_merge\": [1]}}\n"))
	f.Add([]byte(`{"title": "a", "metadata": {"branch": "main", "source_branch": "main/x", "approval_required": [[]], "resource_limits": {"a": []}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		lenient, soft := bead.Decode(files(string(b)))
		exact, hard := bead.DecodeStrict(files(string(b)))
		if (lenient == nil) != soft.HasErrors() || (exact == nil) != hard.HasErrors() || exact != nil && lenient == nil {
			t.Fatalf("drafts %v and %v, findings %v and %v", lenient, exact, soft, hard)
		}
		for _, x := range append(soft, hard...) {
			if x.Range.Start < 0 || x.Range.End < x.Range.Start || x.Range.End > len(b) {
				t.Fatalf("%+v in %d bytes", x, len(b))
			}
		}
		if lenient == nil {
			return
		}
		ids, keys := map[ir.NodeID]bool{"": false}, map[ir.Key]bool{}
		for _, n := range lenient.Nodes {
			if ids[n.ID] || keys[n.Key] || n.Key == "" || n.Title == "" {
				t.Fatalf("%q %q %q", n.ID, n.Key, n.Title)
			}
			ids[n.ID], keys[n.Key] = n.ID != "", true
			if raw := n.Ext[bead.Format]; raw != nil && !json.Valid(raw) {
				t.Fatalf("%s", raw)
			}
		}
	})
}
