//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

// workerPolicy has one agent, which runs the script of the site.
const workerPolicy = `
agent "dev" {
  runner       = runner.script
  access       = "write"
  capabilities = ["plan", "implement", "review"]
}
runner "script" {
  kind = "command"
  run  = ["sh", "agent.sh"]
  env  = ["PATH", "HOME", "TOP=TOPDIR"]
  outcome = "optional"
}
worktree { min_free = "1MB" }
`

const plainSteps = `
policy "p" {
  default = true
  step "implement" { capabilities = ["implement"] }
}
`

// database is a site whose work stands in beads: of a stand-in for bd, or of the real one.
type database struct {
	*site
	bd *bdtest.Fake // nil: the real one
	do func(who string, args ...string) json.RawMessage
}

// faultDatabase is newDatabase for stories of several seconds: each call of bd, and each
// run, is a process.
func faultDatabase(t *testing.T, work, policy string) *database {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	return newDatabase(t, work, policy)
}

// newDatabase makes a repository with a policy and an empty database. The agent is
// the shell script work; it runs in the worktree.
func newDatabase(t *testing.T, work, policy string) *database {
	t.Helper()
	d := fakeDatabase(t, workerSite(t, work, policy))
	d.bd.Init(d.dir)
	return d
}

// fakeDatabase gives a site the stand-in for bd.
func fakeDatabase(t *testing.T, s *site) *database {
	fake := bdtest.New(t)
	d := &database{site: s, bd: fake}
	d.do = func(who string, args ...string) json.RawMessage { return fake.Do(d.dir, who, args...) }
	d.path = filepath.Dir(fake.Program) + ":" + d.path
	return d
}

// realDatabase is newDatabase with the real bd; the test is skipped where it is not there.
func realDatabase(t *testing.T, work, policy string) *database {
	t.Helper()
	program := os.Getenv("RALPH_BD")
	if program == "" {
		t.Skip("RALPH_BD is not set: make e2e builds the real bd and tests with it")
	}
	d := &database{site: workerSite(t, work, policy)}
	if err := os.Symlink(program, filepath.Join(d.top, "bin/bd")); err != nil {
		t.Fatal(err)
	}
	d.do = func(who string, args ...string) json.RawMessage {
		t.Helper()
		cmd := d.command(program, append(args, "--json")...)
		cmd.Env = append(cmd.Env, "BEADS_ACTOR="+who, "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	bdtest.InitReal(t, program, d.dir, "bd")
	return d
}

// workerSite is a repository with a policy, and without an epic.json.
func workerSite(t *testing.T, work, policy string) *site {
	t.Helper()
	s := newSite(t, work, executortest.Epic([]string{"1.1"}))
	s.git("rm", "-q", "--cached", "epic.json")
	if err := os.Remove(s.file("epic.json")); err != nil {
		t.Fatal(err)
	}
	s.write("ralph.hcl", strings.ReplaceAll(workerPolicy, "TOPDIR", s.top)+policy)
	s.write(".git/info/exclude", ".beads\n")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "policy")
	return s
}

// put makes or changes beads, as a person would.
func (d *database) put(rows ...string) {
	d.t.Helper()
	text := ""
	for _, r := range rows {
		var m map[string]any
		if err := json.Unmarshal([]byte(r), &m); err != nil {
			d.t.Fatalf("%s: %v", r, err)
		}
		for k, v := range map[string]any{"title": "Make " + fmt.Sprint(m["id"]), "description": "It is wanted.", "issue_type": "task", "status": "open", "priority": 2, "updated_at": "2026-01-01T00:00:00Z"} {
			if _, has := m[k]; !has {
				m[k] = v
			}
		}
		if needs, ok := m["needs"].([]any); ok {
			var deps []map[string]string
			for _, n := range needs {
				deps = append(deps, map[string]string{"issue_id": m["id"].(string), "depends_on_id": n.(string), "type": "blocks"})
			}
			m["dependencies"] = deps
			delete(m, "needs")
		}
		b, err := json.Marshal(m)
		if err != nil {
			d.t.Fatal(err)
		}
		text += string(b) + "\n"
	}
	d.write("../rows.jsonl", text)
	d.do("ada", "import", d.file("../rows.jsonl"))
}

// person calls bd as ada.
func (d *database) person(args ...string) { d.t.Helper(); d.do("ada", args...) }

// bead is an issue as it stands.
func (d *database) bead(id string) bd.Issue {
	d.t.Helper()
	var list []bd.Issue
	if err := json.Unmarshal(d.do("ada", "list", "--all", "--limit", "0", "--id", id), &list); err != nil || len(list) != 1 {
		d.t.Fatalf("bead %s: %v, %v", id, list, err)
	}
	var short bytes.Buffer // the real bd writes it over several lines
	if json.Compact(&short, list[0].Metadata) == nil {
		list[0].Metadata = short.Bytes()
	}
	return list[0]
}

// comments of an issue, one text.
func (d *database) comments(id string) string {
	d.t.Helper()
	var list []bd.Comment
	if err := json.Unmarshal(d.do("ada", "comments", id), &list); err != nil {
		d.t.Fatal(err)
	}
	out := ""
	for _, c := range list {
		out += c.Author + ": " + c.Text + "\n"
	}
	return out
}

// worker runs one to its end.
func (d *database) worker(want int, args ...string) ran {
	d.t.Helper()
	got := d.start(append([]string{"worker", "--poll", "300ms"}, args...)...).wait()
	if got.code != want {
		d.t.Fatalf("worker ended with %d, want %d\n%s\n%s", got.code, want, got.all(), d.outputs())
	}
	return got
}

// outputs are those of all runs that workers began.
func (d *database) outputs() string {
	files, _ := filepath.Glob(d.file(".git/ralph/worker/*/output.log"))
	out := ""
	for _, f := range files {
		b, _ := os.ReadFile(f)
		out += f + ":\n" + string(b)
	}
	return out
}

// Three issues in a row: each is closed with its commit, and sees what the one before
// made. What is excluded, planned, an epic or somebody's is left alone.
// S4-11, S4-12, S4-13, S4-15, S4-16, S4-17, S4-21, S4-49..58
func TestAWorkerWorksOffADatabase(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, `ls > "$TOP/log/saw-$RALPH_NODE"; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`, plainSteps)
	d.put(`{"id":"bd-a","priority":1}`, `{"id":"bd-b","needs":["bd-a"]}`, `{"id":"bd-c","needs":["bd-b"],"labels":["phase:implement"]}`,
		`{"id":"bd-x","labels":["ashep:excluded"]}`, `{"id":"bd-p","labels":["ralph-epic:bd-e9"]}`, `{"id":"bd-e","issue_type":"epic"}`, `{"id":"bd-h","assignee":"ada"}`,
		`{"id":"bd-r","dependencies":[{"issue_id":"bd-r","depends_on_id":"bd-x","type":"related"}],"labels":["ashep:excluded"]}`)
	got := d.worker(exit.Done, "--once", "--poll", "10m") // what ends is followed at once; nothing is asked in between
	if n := d.noted("agents", "bd-a.implement-1") + d.noted("agents", "bd-b.implement-1") + d.noted("agents", "bd-c.implement-1"); n != 3 || strings.Count(d.read("../log/agents"), "\n") != 3 {
		t.Errorf("agents:\n%s", d.read("../log/agents"))
	}
	for id, sees := range map[string][]string{"bd-a": nil, "bd-b": {"out-bd-a.txt"}, "bd-c": {"out-bd-a.txt", "out-bd-b.txt"}} {
		i := d.bead(id)
		if i.Status != "closed" || !strings.HasPrefix(i.CloseReason, "done by ralph: commit ") || !slices.Equal(i.Labels, []string{"phase:implement"}) || i.Assignee != "beads-ralph-scrum-master" {
			t.Errorf("%s is %s, %q, %v, %s", id, i.Status, i.CloseReason, i.Labels, i.Assignee)
		}
		if c := d.comments(id); !strings.Contains(c, ": [iter:1] [task:"+id+"]") {
			t.Errorf("%s is commented:\n%s", id, c)
		}
		saw := strings.Fields(d.read("../log/saw-" + id))
		for _, f := range sees {
			if !slices.Contains(saw, f) {
				t.Errorf("%s saw %v, want %s among it", id, saw, f)
			}
		}
		if !strings.Contains(got.out, id+"  claimed: Make "+id) || !strings.Contains(got.out, id+"  closed: done by ralph") {
			t.Errorf("nothing is said of %s:\n%s", id, got.out)
		}
	}
	for _, id := range []string{"bd-x", "bd-p", "bd-e", "bd-h", "bd-r"} {
		if i := d.bead(id); i.Status != "open" || !strings.HasPrefix(i.UpdatedAt.String(), "2026-01-01") {
			t.Errorf("%s was touched: %+v", id, i)
		}
	}
	if strings.Count(got.out, "bd-h  left alone") != 1 {
		t.Errorf("an issue of a person's:\n%s", got.out)
	}
	if calls := d.bd.Commands(); len(calls) > 38 { // two to open it, one to look each time, ten for an issue (two of them its mirror opens bd with), one for what it builds on
		t.Errorf("%d calls of bd for three issues: %q", len(calls), calls)
	}
}
