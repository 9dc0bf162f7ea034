//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/ir"
)

// formatStory is work of one format that is imported, applied by scripts, exported and
// imported again.
type formatStory struct {
	files map[string]string // by name; "testdata:DIR/NAME" is one of a codec's own examples
	nodes int
	edges int
	bare  bool // it is not written, or not as what is read
}

// seedExamples are the examples of the documents that describe the formats, where they
// have some.
var seedExamples = map[string]formatStory{
	"bead":       {files: map[string]string{"work.json": "testdata:bead/work.json"}, nodes: 1},
	"ralph-bead": {files: map[string]string{"task.json": "testdata:ralphbead/task.json", "verifiers.json": "testdata:ralphbead/verifiers.json"}, nodes: 2},
	"beadsmith": {nodes: 1, files: map[string]string{"tasks.json": `[{"id": "t-cart", "description": "Add a cart", "workspaceRoot": "/srv/shop",
		"successCriteria": [{"type": "tests_pass"}, {"type": "custom", "config": {"command": "test -s out"}}],
		"tokenBudget": 100000, "maxIterations": 4, "testCommand": "npm test"}]`}},
	"bd": {nodes: 2, edges: 1, files: map[string]string{"issues.jsonl": `{"_type":"issue","id":"bd-aa1","title":"First","description":"Do the first","status":"open","priority":1,"issue_type":"task","created_at":"2026-02-07T10:30:00Z","updated_at":"2026-02-07T10:30:00Z","labels":["demo"]}
{"_type":"issue","id":"bd-aa2","title":"Second","description":"Do the second","status":"open","priority":2,"issue_type":"feature","created_at":"2026-02-07T10:30:00Z","updated_at":"2026-02-07T10:30:00Z","dependencies":[{"issue_id":"bd-aa2","depends_on_id":"bd-aa1","type":"blocks","created_at":"2026-02-07T10:30:00Z"}]}
`}},
	"gsd": {nodes: 2, edges: 1, bare: true, files: map[string]string{
		"01-01-PLAN.md": "---\nphase: 01-first\nplan: 01\nwave: 1\ndepends_on: []\n---\n\n<objective>Do the first</objective>\n",
		"01-02-PLAN.md": "---\nphase: 01-first\nplan: 02\nwave: 2\ndepends_on: [\"01-01\"]\n---\n\n<objective>Do the second</objective>\n",
	}},
	"taskmaster": {nodes: 2, edges: 1, bare: true, files: map[string]string{"tasks.json": `{"master": {"tasks": [
		{"id": 1, "title": "First", "description": "Do the first", "details": "", "testStrategy": "", "status": "pending", "dependencies": [], "priority": "high", "subtasks": []},
		{"id": 2, "title": "Second", "description": "Do the second", "details": "", "testStrategy": "", "status": "pending", "dependencies": [1], "priority": "medium", "subtasks": []}]}}`}},
}

// formatsPolicy has a program for every agent of the examples.
const formatsPolicy = `
runner "script" {
  kind = "command"
  run  = ["sh", "-c", file("agent.sh")]
  env  = ["PATH", "HOME", "TOP"]
}

runner "judge" {
  kind = "command"
  run  = ["sh", "-c", file("qa.sh")]
  env  = ["PATH", "HOME", "TOP"]
}

runner "critic" {
  kind = "command"
  run  = ["sh", "-c", file("second.sh")]
  env  = ["PATH", "HOME", "TOP"]
}

agent "backend-dev" {
  path         = ".claude/agents/backend-dev.md"
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
}

agent "qa-unit-tests" {
  path         = ".claude/agents/qa-unit-tests.md"
  runner       = runner.judge
  capabilities = ["test"]
  access       = "read"
}

agent "qa-security-scan" {
  path         = ".claude/agents/qa-security-scan.md"
  runner       = runner.judge
  capabilities = ["test"]
  access       = "read"
}

agent "critic" {
  runner       = runner.critic
  capabilities = ["review"]
  access       = "read"
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = []

    retry {
      initial = "10ms"
    }
  }
}

worktree {
  min_free = "1MB"
}
`

// newFormatsRepo is a repository in which the examples can be worked on.
func newFormatsRepo(t *testing.T, files map[string]string) (r *cornerRepo, names []string) {
	t.Helper()
	r = newCornerRepo(t, &cornerCase{
		agent: `cat > /dev/null
echo work >> out
printf '{"result":"success","summary":"did it","usage":{"tokens":10}}' > "$RALPH_OUTCOME"
if [ -s "$RALPH_FEEDBACK" ]; then echo fixed >> out; fi`,
		qa: `cat > /dev/null
if grep -q fixed out; then
	echo '{"status": "pass", "message": "All tests passed. Coverage: 87%", "coverage_percent": 87}'
else
	echo '{"status": "fail", "message": "Unit tests failed: test_signup_duplicate_email FAILED", "coverage_percent": 60}'
fi`,
	})
	r.write("ralph.hcl", formatsPolicy)
	for _, agent := range []string{"backend-dev", "qa-unit-tests", "qa-security-scan"} {
		r.write(".claude/agents/"+agent+".md", "---\nname: "+agent+"\ndescription: one of the examples\n---\nYou know what to do.\n")
	}
	for _, program := range []string{"npm", "npx"} {
		r.write("../bin/"+program, "#!/bin/sh\nexit 0\n")
	}
	for name, text := range files {
		if from, example := strings.CutPrefix(text, "testdata:"); example {
			dir, file := filepath.Split(from)
			b, err := os.ReadFile(filepath.Join("../../ir/codec", dir, "testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		r.write("in/"+name, text)
		names = append(names, "in/"+name)
	}
	slices.Sort(names)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "the examples")
	return r, names
}

func (r *cornerRepo) readEpic(name string) *ir.Epic {
	r.t.Helper()
	e, err := ir.Decode([]byte(r.read(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// outline is what two epics of the same work have in common.
func outline(e *ir.Epic) string {
	var b strings.Builder
	for i := range e.Nodes {
		n := &e.Nodes[i]
		out, err := json.Marshal([]any{n.ID, n.Kind, n.Title, n.Goal, n.Priority, n.Labels, n.After})
		if err != nil {
			panic(err)
		}
		b.Write(append(out, '\n'))
	}
	return b.String()
}

// exported is what stands in an export, line by line, without what names the file that
// was imported or holds the whole epic.
func exported(t *testing.T, text string) []string {
	t.Helper()
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range []string{"plan_file", "ralph_epic", "ralph_digest"} {
				delete(v, k)
			}
			for k := range v {
				v[k] = plain(v[k])
			}
		case []any:
			for i := range v {
				v[i] = plain(v[i])
			}
		}
		return v
	}
	var out []string
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		b, err := json.MarshalIndent(plain(v), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Split(string(b), "\n")...)
	}
	return out
}

// All formats round-trip: what is imported and exported is the same work when it is
// imported again, and exports to the same; it is worked on like a plan; and what
// is exported then is done when it is imported once more.
//
// S0-01..29, S0-93..114, S1-14..19, S3-30, S3-32, S4-109 (examples are read, applied, written)
func TestAllFormatsRoundTrip(t *testing.T) {
	for _, f := range project.Formats {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				t.Skip("real git and real agents")
			}
			if f.Decode == nil {
				if f.Encode == nil && f.Policy == nil {
					t.Fatal("it is neither read nor written")
				}
				return
			}
			story, ok := seedExamples[f.Name]
			if !ok {
				t.Fatal("the format has no example here: add one to seedExamples")
			}
			r, names := newFormatsRepo(t, story.files)
			r.ralph(exit.Done, append([]string{"validate", "--as", f.Name}, names...)...)
			r.ralph(exit.Done, append([]string{"import", "--as", f.Name, "-o", "epic.json"}, names...)...)
			first := r.readEpic("epic.json")
			if s := first.Stats(); s.Nodes != story.nodes || s.Edges != story.edges {
				t.Errorf("%d nodes, %d edges; want %d, %d", s.Nodes, s.Edges, story.nodes, story.edges)
			}
			again := func(from, to string) {
				r.ralph(exit.Done, "export", "--as", f.Name, from, "-o", to)
			}
			if f.Encode != nil && !story.bare {
				again("epic.json", "out/1.json")
				r.ralph(exit.Done, "import", "--as", f.Name, "out/1.json", "-o", "second.json")
				if got, want := outline(r.readEpic("second.json")), outline(first); got != want {
					t.Errorf("imported again it is\n%swant\n%s", got, want)
				}
				again("second.json", "out/2.json")
				got, want := exported(t, r.read("out/2.json")), exported(t, r.read("out/1.json"))
				for i := range max(len(got), len(want)) {
					if i >= len(got) || i >= len(want) || got[i] != want[i] {
						t.Errorf("exported again, line %d is %q, want %q", i+1, got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
						break
					}
				}
			}
			r.ralph(exit.Done, "apply")
			if f.Encode != nil && !story.bare {
				again("epic.json", "out/3.json")
				r.ralph(exit.Done, "import", "--as", f.Name, "out/3.json", "-o", "third.json")
				for _, n := range r.readEpic("third.json").Nodes {
					if !n.Done {
						t.Errorf("%s is done, and exported and imported again it is not", n.Key)
					}
				}
			}
		})
	}
	if got, want := strings.Join(project.FormatNames(nil), " "), "bd bead beadsmith gsd ralph-bead shepherd taskmaster"; got != want {
		t.Errorf("the formats are %s, want %s", got, want)
	}
}

// A bead that fails QA once and passes then is exported closed, with every execution,
// the feedback and the scrum result. The second QA agent judges only what the first one
// has passed.
//
// S0-59, S0-62..64, S0-66, S0-68..72, S0-76..80, S0-83..85, S0-89..91, S0-122..124, S0-126
func TestExportShowsEveryTry(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents")
	}
	r, _ := newFormatsRepo(t, nil)
	r.write("ralph.hcl", strings.Replace(formatsPolicy, "gates        = []", "gates        = []\n    gate_mode    = \"ordered\"", 1))
	r.write("plan.md", `# Accounts

## Phase 1: Backend

### Sprint 1.1: Sign up

**Dev agents**:
- `+"`.claude/agents/backend-dev`"+`

**QA agents**:
- `+"`.claude/agents/qa-unit-tests`"+`
- `+"`.claude/agents/qa-security-scan`"+`

- [ ] let people sign up
`)
	r.ralph(exit.Done, "compile", "plan.md")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "the plan")
	r.ralph(exit.Done, "apply")
	r.ralph(exit.Done, "export", "--as", "bead", "-o", "out.json")
	type execution struct {
		Attempt     int             `json:"attempt"`
		AgentPath   string          `json:"agent_path"`
		StartedAt   string          `json:"started_at"`
		CompletedAt string          `json:"completed_at"`
		Status      string          `json:"status"`
		Message     string          `json:"message"`
		Feedback    *string         `json:"feedback_from_qa"`
		Details     json.RawMessage `json:"details"`
	}
	var b struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		ClosedAt string `json:"closed_at"`
		Metadata struct {
			AttemptCount int         `json:"attempt_count"`
			Dev          []execution `json:"dev_agent_executions"`
			QA           []execution `json:"qa_agent_executions"`
			Scrum        struct {
				BeadID       string      `json:"bead_id"`
				Success      bool        `json:"success"`
				AttemptCount int         `json:"attempt_count"`
				QA           []execution `json:"qa_results"`
				Error        *string     `json:"error"`
			} `json:"scrum_result"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(r.read("out.json")), &b); err != nil {
		t.Fatalf("%v\n%s", err, r.read("out.json"))
	}
	m := b.Metadata
	if b.Status != "closed" || b.ClosedAt == "" || m.AttemptCount != 2 || len(m.Dev) != 2 {
		t.Fatalf("the bead is %+v", b)
	}
	for i, e := range m.Dev {
		if e.Attempt != i+1 || e.Status != "completed" || e.StartedAt == "" || e.CompletedAt < e.StartedAt || !strings.HasPrefix(e.AgentPath, ".claude/agents/backend-dev") {
			t.Errorf("execution %d is %+v", i+1, e)
		}
	}
	if m.Dev[0].Feedback != nil || m.Dev[1].Feedback == nil || !strings.Contains(*m.Dev[1].Feedback, "test_signup_duplicate_email FAILED") {
		t.Errorf("feedback %v, then %v", m.Dev[0].Feedback, m.Dev[1].Feedback)
	}
	var unit, scan []string
	for _, e := range m.QA {
		word := e.Status + " in " + string(rune('0'+e.Attempt))
		switch {
		case strings.Contains(e.AgentPath, "qa-unit-tests"):
			unit = append(unit, word)
			if !strings.Contains(string(e.Details), "coverage_percent") {
				t.Errorf("the details are %s", e.Details)
			}
		case strings.Contains(e.AgentPath, "qa-security-scan"):
			scan = append(scan, word)
		}
		if e.StartedAt == "" || e.CompletedAt < e.StartedAt || e.Message == "" {
			t.Errorf("the execution %+v", e)
		}
	}
	if strings.Join(unit, ", ") != "fail in 1, pass in 2" || strings.Join(scan, ", ") != "pass in 2" {
		t.Errorf("the unit tests said %q, the scan %q", unit, scan)
	}
	s := m.Scrum
	if s.BeadID != b.ID || !s.Success || s.AttemptCount != 2 || len(s.QA) != 2 || s.QA[0].Status != "pass" || s.QA[1].Status != "pass" || !strings.Contains(string(s.QA[0].Details)+string(s.QA[1].Details), "coverage_percent") || s.Error != nil {
		t.Errorf("the scrum result is %+v", s)
	}
}

// Every format has a page, which says what is lost where it is read and written.
func TestEveryFormatHasAPage(t *testing.T) {
	index, err := os.ReadFile("../../docs/formats/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range project.Formats {
		page, err := os.ReadFile("../../docs/formats/" + f.Name + ".md")
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(index), "["+f.Name+"]("+f.Name+".md)") || len(page) < 1000 {
			t.Errorf("%s: the page has %d bytes, or docs/formats/README.md does not list it", f.Name, len(page))
		}
		if (f.Decode != nil || f.Policy != nil) && !strings.Contains(string(page), "| field | what is lost |") {
			t.Errorf("docs/formats/%s.md does not say what is lost", f.Name)
		}
	}
}
