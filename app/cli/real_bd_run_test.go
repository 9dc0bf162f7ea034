//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// bdSite is a repository with a real beads database.
type bdSite struct {
	t   *testing.T
	dir string
	env []string
	bd  string
}

// bdBead is a bead as bd shows it.
type bdBead struct {
	ID, Status, Assignee string
	Labels               []string
	CloseReason          string `json:"close_reason"`
	Type                 string `json:"issue_type"`
	Metadata             map[string]any
	Comments             []struct{ Author, Text string }
}

// newBdSite copies a project, and makes a database with beads of others.
func newBdSite(t *testing.T, project string) *bdSite {
	t.Helper()
	program := os.Getenv("RALPH_BD")
	if program == "" {
		t.Skip("RALPH_BD is not set: make e2e builds the real bd and tests with it")
	}
	home := t.TempDir()
	s := &bdSite{t: t, dir: filepath.Join(t.TempDir(), "links"), bd: program}
	find := exec.Command("go", "env", "GOCACHE", "GOMODCACHE")
	find.Env = append(os.Environ(), "HOME="+userHome)
	caches, err := find.Output()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Fields(string(caches))
	s.env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "BD_") || strings.HasPrefix(v, "BEADS_") || strings.HasPrefix(v, "RALPH_")
	}), "HOME="+home, "GOCACHE="+at[0], "GOMODCACHE="+at[1], "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false")
	if err := os.CopyFS(s.dir, os.DirFS(project)); err != nil {
		t.Fatal(err)
	}
	s.run("git", "init", "-q", "-b", "main", ".")
	s.run("git", "config", "user.name", "Ann")
	s.run("git", "config", "user.email", "ann@example.org")
	bdtest.InitReal(t, program, s.dir, "bd")
	s.as("zoe", "create", "Something else", "--id", "bd-other", "-l", "ui", "-d", "not ralph's")
	s.as("zoe", "comments", "add", "bd-other", "mine")
	return s
}

func (s *bdSite) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

func (s *bdSite) run(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// as lets somebody use bd.
func (s *bdSite) as(who string, args ...string) string {
	s.t.Helper()
	cmd := s.command(s.bd, args...)
	cmd.Env = append(slices.Clone(cmd.Env), "BEADS_ACTOR="+who)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *bdSite) beads(args ...string) (out []bdBead) {
	s.t.Helper()
	cmd := s.command(s.bd, append(args, "--json")...)
	cmd.Env = append(slices.Clone(cmd.Env), "BD_JSON_ENVELOPE=1")
	text, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("bd %s: %v", strings.Join(args, " "), err)
	}
	var e struct{ Data []bdBead }
	if err := json.Unmarshal(text, &e); err != nil {
		s.t.Fatalf("bd %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return e.Data
}

// others is what the database holds beside an epic.
func (s *bdSite) others(epic string) string {
	s.t.Helper()
	var out []string
	for line := range strings.Lines(s.as("looker", "export")) {
		if !strings.Contains(line, `"ralph-epic:`+epic+`"`) && !strings.Contains(line, `"id":"`+epic+`.`) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// eventually asks again and again until ok, or until the program has ended. Who asks bd
// all the time leaves the program no time to tell it anything.
func eventually(t *testing.T, ended <-chan error, ok func() bool) error {
	t.Helper()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		if ok() {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("it ended before: %v", err)
		case <-tick.C:
		}
	}
}

// The whole way of a plan through a real beads database.
func TestBdTheDemoIsAppliedAndApprovedInBd(t *testing.T) { // issue "Done when"; S3-37, S2-02, S2-05..07, S2-15..24, S2-29, S2-30..36, S2-39, S4-95..100, L0-06
	t.Parallel()
	temptest.Share(t, 2)
	s := newBdSite(t, "../../examples/demo/project")
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile(filepath.Join(s.dir, "ralph.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	policy = append(policy, `
hitl {
  level     = "every-node"
  approvers = ["ann"]
}

tracker "bd" {
  approvals = true
  poll      = "3s"
}
`...)
	if err := os.WriteFile(filepath.Join(s.dir, "ralph.hcl"), policy, 0o644); err != nil {
		t.Fatal(err)
	}
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", "links: the skeleton")
	s.run(ralph, "compile", "plans/links.md", "-o", "epic.json")
	s.run("git", "add", "-A")
	s.run("git", "commit", "-q", "-m", "plans: compile")
	var epic struct {
		Epic  struct{ ID string }
		Nodes []struct{ ID, Key string }
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "epic.json"))
	if err == nil {
		err = json.Unmarshal(b, &epic)
	}
	if err != nil {
		t.Fatal(err)
	}
	head := s.run("git", "rev-parse", "HEAD")
	before := s.others(epic.Epic.ID)

	apply := s.command(ralph, append([]string{"apply", "--wait"}, unconfined()...)...)
	var out bytes.Buffer
	apply.Stdout, apply.Stderr = &out, &out
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- apply.Wait() }()
	t.Cleanup(func() { _ = apply.Process.Kill() })

	closed := func() bool {
		return len(s.beads("list", "--all", "--limit", "0", "--status", "closed", "--id", epic.Epic.ID)) == 1
	}
	asked, back := map[string]bool{}, false
	sentBack := epic.Nodes[slices.IndexFunc(epic.Nodes, func(n struct{ ID, Key string }) bool { return n.Key == "1.3" })].ID
	err = eventually(t, ended, func() bool {
		done := false
		for _, b := range s.beads("list", "--all", "--limit", "0") {
			done = done || b.ID == epic.Epic.ID && b.Status == "closed"
			if !slices.Contains(b.Labels, "needs:human_approval") || slices.ContainsFunc(b.Labels, func(l string) bool { return strings.HasPrefix(l, "human:") }) {
				continue
			}
			if b.Status != "blocked" || !slices.Contains(b.Labels, "phase:human_review") {
				t.Errorf("%s asks, and is %s with %q", b.ID, b.Status, b.Labels)
			}
			if b.ID == sentBack && !back { // it has to be done better
				back = true
				s.as("ann", "comments", "add", b.ID, "say in the README what it is for")
				s.as("ann", "label", "add", b.ID, "human:changes_requested")
				continue
			}
			asked[b.ID] = true
			s.as("ann", "label", "add", b.ID, "human:approved")
		}
		return done
	})
	if err == nil {
		err = <-ended
	} else if strings.HasSuffix(err.Error(), "<nil>") {
		err = nil // it ended well
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	// Where bd is slow, what apply did not wait for is told by the next one.
	for try := 0; try < 10 && !closed(); try++ {
		out.WriteString(s.run(ralph, append([]string{"apply"}, unconfined()...)...))
	}
	if !closed() {
		t.Fatalf("bd was never told everything\n%s", out.String())
	}

	for _, n := range epic.Nodes {
		show := s.beads("show", n.ID, "--include-comments")
		if len(show) != 1 || show[0].Status != "closed" || show[0].CloseReason == "" || show[0].Assignee != "beads-ralph-scrum-master" {
			t.Errorf("%s (%s): %+v", n.ID, n.Key, show)
			continue
		}
		var text strings.Builder
		for _, c := range show[0].Comments {
			text.WriteString(c.Text + "\n")
		}
		for _, want := range []string{"[APPROVAL NEEDED] [task:" + n.ID + "]", "[decided] [task:" + n.ID + "] ann (bd) approved", "[iter:1] [task:" + n.ID + "] [tests:"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s lacks %q in\n%s", n.ID, want, text.String())
			}
		}
		if n.ID == sentBack && !strings.Contains(text.String(), "say in the README what it is for") {
			t.Errorf("the feedback is not there:\n%s", text.String())
		}
		for _, l := range show[0].Labels {
			if strings.HasPrefix(l, "phase:") || strings.HasPrefix(l, "human:") || strings.HasPrefix(l, "needs:") {
				t.Errorf("%s keeps the label %s", n.ID, l)
			}
		}
		if !asked[n.ID] || show[0].Metadata["scrum_result"] == nil || show[0].Metadata["ralph"] == nil {
			t.Errorf("%s: asked %v, metadata %v", n.ID, asked[n.ID], show[0].Metadata)
		}
	}
	of := s.as("looker", "comments", epic.Epic.ID)
	for _, want := range []string{"[run] started by", "[iter:1] [task:" + epic.Nodes[0].ID + "]", "5 done"} {
		if !strings.Contains(of, want) {
			t.Errorf("bd comments %s lacks %q:\n%s", epic.Epic.ID, want, of)
		}
	}
	if e := s.beads("show", epic.Epic.ID); len(e) != 1 || !slices.Contains(e[0].Labels, "mode:complete") {
		t.Errorf("the epic: %+v", e)
	}
	if after := s.others(epic.Epic.ID); after != before {
		t.Errorf("beads of others changed:\n%s\nwere\n%s", after, before)
	}
	if got := s.run("git", "rev-parse", "HEAD"); got != head || s.run("git", "status", "--porcelain") != "" {
		t.Errorf("the checkout was touched: %s, was %s\n%s", got, head, s.run("git", "status", "--porcelain"))
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if keep := os.Getenv("RALPH_BD_SHOW"); keep != "" { // for docs/beads.md
		text := out.String() + "\n" + s.as("looker", "show", sentBack) + "\n" + s.as("looker", "comments", sentBack) + "\n" + of + "\n" + s.as("looker", "list", "--all")
		if err := os.WriteFile(keep, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
