//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

// Three issues that wait for each other, one that is excluded and one that a person
// has to approve, in the real bd: the worker closes the chain in order, the second
// sees the first's code, an approval by label is heeded, and nothing else is touched.
// S4-09, S4-12..17, S4-21, S4-49..59, S4-95..100, S4-109..119
func TestBdAWorkerWorksOffARealDatabase(t *testing.T) {
	t.Parallel()
	program := os.Getenv("RALPH_BD")
	if program == "" {
		t.Skip("RALPH_BD is not set: make e2e builds the real bd and tests with it")
	}
	s := newSite(t, `ls > "$TOP/log/saw-$RALPH_NODE"; echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
echo '{"result":"success","summary":"done","created_issues":[{"title":"Look after '"$RALPH_NODE"'"}]}' > "$RALPH_OUTCOME"`, executortest.Epic([]string{"1.1"}))
	s.git("rm", "-q", "--cached", "epic.json")
	if err := os.Remove(s.file("epic.json")); err != nil {
		t.Fatal(err)
	}
	s.write("ralph.hcl", strings.ReplaceAll(workerPolicy, "TOPDIR", s.top)+`
gate "ada" {
  kind      = "human"
  approvers = ["ada"]
}
policy "plain" {
  default = true
  step "implement" { capabilities = ["implement"] }
}
policy "asking" {
  match { label = "ask" }
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.ada]
  }
}
tracker "bd" {
  poll      = "1s"
  approvals = true
  proposals = true
}
`)
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "policy")
	if err := os.Symlink(program, filepath.Join(s.top, "bin/bd")); err != nil {
		t.Fatal(err)
	}
	as := func(who string, args ...string) []byte {
		t.Helper()
		cmd := s.command(program, args...)
		cmd.Env = append(cmd.Env, "BEADS_ACTOR="+who, "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	bead := func(id string) bd.Issue {
		t.Helper()
		var list []bd.Issue
		if err := json.Unmarshal(as("ada", "list", "--all", "--limit", "0", "--id", id, "--json"), &list); err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", id, list, err)
		}
		return list[0]
	}
	bdtest.InitReal(t, program, s.dir, "bd")
	for _, x := range []struct{ id, title, labels, priority string }{
		{"bd-users", "Store users", "api", "2"},
		{"bd-login", "Log in with a password", "api", "2"},
		{"bd-logout", "Log out", "api", "2"},
		{"bd-price", "Change the price", "ashep:excluded", "2"},
		{"bd-legal", "Rewrite the terms", "ask", "3"},
	} {
		as("ada", "create", x.title, "--id", x.id, "-l", x.labels, "-d", "As the customer asked.", "-p", x.priority)
	}
	as("ada", "dep", "add", "bd-login", "bd-users")
	as("ada", "dep", "add", "bd-logout", "bd-login")

	// What is others': nothing of it may change, though it hangs together with what the
	// worker closes.
	as("ada", "config", "set-many", "types.custom=hers")
	for _, x := range [][]string{
		{"An epic of a plan", "--id", "bd-plan", "-t", "epic", "-l", "ralph,ralph-epic:bd-plan"},
		{"A sprint of a plan", "--id", "bd-sprint", "--deps", "parent-child:bd-plan", "-l", "ralph,ralph-epic:bd-plan", "-d", "It is planned."},
		{"Ada's own", "--id", "bd-ada", "-t", "hers", "-a", "ada", "-p", "4", "-e", "30", "--design", "d", "--notes", "n", "--metadata", `{"k":[1,{"o":null}]}`},
		{"Waits for what is run", "--id", "bd-later", "-l", "ashep:excluded"},
		{"Belongs to what is run", "--id", "bd-child", "-l", "ashep:excluded", "--deps", "related:bd-users"},
		{"Closed long ago", "--id", "bd-old", "-d", "Nobody wants it."},
		{"Not yet", "--id", "bd-deferred", "-d", "Perhaps."},
	} {
		as("ada", append([]string{"create"}, x...)...)
	}
	as("ada", "dep", "add", "bd-later", "bd-users")
	as("ada", "comments", "add", "bd-price", "hands off")
	as("ada", "close", "bd-old", "-r", "moved")
	as("ada", "update", "bd-deferred", "-s", "deferred")
	exported := func() map[string]string {
		t.Helper()
		out := map[string]string{}
		for line := range strings.Lines(string(as("ada", "export"))) {
			var row struct{ ID string }
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			out[row.ID] = line
		}
		return out
	}
	before, around := exported(), s.git("config", "--list", "--local")

	got := s.start("worker", "--once", "--poll", "1s").wait()
	t.Logf("worker --once:\n%s", got.all())
	if got.code != exit.Waiting {
		t.Fatalf("worker ended with %d", got.code)
	}
	said := ""
	for line := range strings.Lines(strings.ReplaceAll(got.out, s.dir, "/home/ann/src/shop")) {
		if !strings.Contains(line, "  implement #1") { // is seen or not, as it happens
			said += line
		}
	}
	docShows(t, "../../docs/beads.md", "console worker", "$ ralph worker --once\n"+said)
	order := []int{}
	for _, id := range []string{"bd-users", "bd-login", "bd-logout"} {
		if i := bead(id); i.Status != "closed" || !strings.HasPrefix(i.CloseReason, "done by ralph: commit ") || !slices.Contains(i.Labels, "phase:implement") || !slices.Contains(i.Labels, "api") {
			t.Errorf("%s is %s, %q, %v", id, i.Status, i.CloseReason, i.Labels)
		}
		order = append(order, strings.Index(got.out, id+"  closed: "))
	}
	if !slices.IsSorted(order) || order[0] < 0 {
		t.Errorf("closed in the order %v", order)
	}
	if saw := s.read("../log/saw-bd-logout"); !strings.Contains(saw, "out-bd-users.txt") || !strings.Contains(saw, "out-bd-login.txt") {
		t.Errorf("the last one saw\n%s", saw)
	}
	if legal := bead("bd-legal"); legal.Status != "blocked" || !slices.Contains(legal.Labels, "phase:human_review") || !slices.Contains(legal.Labels, "needs:human_approval") {
		t.Errorf("what waits for ada is %s, %v", legal.Status, legal.Labels)
	}
	t.Logf("bd comments bd-legal:\n%s", as("ada", "comments", "bd-legal"))

	w := s.start("worker", "--poll", "1s")
	as("ada", "label", "add", "bd-legal", "human:approved")
	s.until("what ada approved is closed", func() bool { return bead("bd-legal").Status == "closed" })
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	t.Logf("worker:\n%s", w.wait().all())
	if legal := bead("bd-legal"); slices.Contains(legal.Labels, "needs:human_approval") || slices.Contains(legal.Labels, "human:approved") || !slices.Contains(legal.Labels, "phase:implement") {
		t.Errorf("approved, it has %v", legal.Labels)
	}
	var proposed []bd.Issue
	if err := json.Unmarshal(as("ada", "list", "--all", "--limit", "0", "-l", bd.ProposalLabel, "--json"), &proposed); err != nil || len(proposed) != 4 {
		t.Errorf("%d proposals, %v; want 4", len(proposed), err)
	}
	for _, p := range proposed {
		if p.Status != "deferred" || len(p.Dependencies) != 1 || p.Dependencies[0].Type != "discovered-from" {
			t.Errorf("a proposal: %+v", p)
		}
	}
	ran := []string{"bd-users", "bd-login", "bd-logout", "bd-legal"}
	after := exported()
	for id, line := range before {
		if !slices.Contains(ran, id) && after[id] != line {
			t.Errorf("%s was\n%s\nand is\n%s", id, line, after[id])
		}
	}
	for id, line := range after {
		if before[id] == "" && !strings.Contains(line, `"`+bd.ProposalLabel+`"`) {
			t.Errorf("a bead came into being: %s", line)
		}
	}
	if types := string(as("ada", "config", "get", "types.custom")); strings.TrimSpace(types) != "hers" {
		t.Errorf("types.custom is %s", types)
	}
	t.Logf("monitor:\n%s", s.ralph("monitor").out)
	if now := s.git("config", "--list", "--local"); now != around {
		t.Errorf("git's configuration was\n%s\nand is\n%s", around, now)
	}
	if out, err := exec.Command("git", "-C", s.dir, "status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the user's checkout: %s, %v", out, err)
	}
}
