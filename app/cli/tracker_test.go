//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

// withBd calls ralph in a repository, with a bd on PATH.
func (r *applyRepo) withBd(f *bdtest.Fake, args ...string) (out string, code int) {
	r.t.Helper()
	cmd := exec.Command("ralph", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(f.Program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	return string(b), code
}

// Compile writes the epic into bd when it is told to, says what it did, and what is
// missing: a tracker, a database.
func TestCompilePushes(t *testing.T) { // S2-02, S2-05
	r, ids := planRepo(t)
	f := bdtest.New(t)
	out, code := r.withBd(f, "compile", "docs/plan.md", "--push")
	if code != exit.Input || !strings.Contains(out, "tracker \"bd\" {") || len(f.Calls()) > 0 {
		t.Errorf("without a tracker: exit %d\n%s", code, out)
	}
	r.write("ralph.hcl", "tracker \"bd\" {\n}\n")
	if out, code = r.withBd(f, "compile", "docs/plan.md", "--push", "--check"); code != exit.Usage {
		t.Errorf("--check and --push: exit %d\n%s", code, out)
	}
	out, code = r.withBd(f, "compile", "docs/plan.md", "--push")
	if code != exit.Input || !strings.Contains(out, "bd init --prefix bd --stealth --skip-hooks --skip-agents --non-interactive") {
		t.Errorf("without a database: exit %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(r.dir, ".beads")); err == nil {
		t.Error("it made a database")
	}
	f.Init(r.dir)
	f.Forget()
	out, code = r.withBd(f, "compile", "docs/plan.md", "--push")
	for _, want := range []string{"registered the issue types beads-ralph-work and beads-ralph-merge", "3 beads created", "1 edge added"} {
		if code != exit.Done || !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	for _, c := range f.Calls() {
		if c.Actor != "beads-ralph-scrum-master" {
			t.Errorf("%s was called as %q", c.Command, c.Actor)
		}
	}
	if got := string(f.Do(r.dir, "ann", "ready", "--exclude-type", "epic")); !strings.Contains(got, ids[0]) || strings.Contains(got, `"id":"`+ids[1]) {
		t.Errorf("ready: %s", got)
	}
	f.Forget()
	out, code = r.withBd(f, "compile", "docs/plan.md", "--push")
	if code != exit.Done || !strings.Contains(out, "bd is up to date with") || strings.Join(f.Commands(), " ") != "version context list" {
		t.Errorf("again: exit %d, %v\n%s", code, f.Commands(), out)
	}
	f.Faults(bdtest.Fault{On: "version", Do: bdtest.Version, Text: "1.9.0"})
	f.Forget()
	if out, code = r.withBd(f, "compile", "docs/plan.md", "--push"); code != exit.Input || !strings.Contains(out, "version 1.9.0") || !strings.Contains(out, "RALPH_BD_VERSION=1.9") || len(f.Calls()) != 1 {
		t.Errorf("another version: exit %d, calls %v\n%s", code, f.Commands(), out) // beads: trap 12
	}
	t.Setenv("RALPH_BD_VERSION", "1.9")
	if out, code = r.withBd(f, "compile", "docs/plan.md", "--push"); code != exit.Done || !strings.Contains(out, "not tried with bd 1.9.0") {
		t.Errorf("another version that somebody answers for: exit %d\n%s", code, out)
	}
}

// The mode of an epic is that of its plan as soon as that is true: planned when it was
// pushed, ready when somebody approved it, planned again when it became another one.
func TestTheModeFollowsThePlan(t *testing.T) { // S2-03, S2-09, S2-31, S2-34
	r, _ := planRepo(t)
	f := bdtest.New(t)
	r.write("ralph.hcl", "tracker \"bd\" {\n}\nhitl { plan = \"required\" }\n")
	f.Init(r.dir)
	does := func(args ...string) {
		t.Helper()
		if out, code := r.withBd(f, args...); code != exit.Done || strings.Contains(out, "was not updated") || strings.Contains(out, "is missing updates") {
			t.Fatalf("ralph %v: exit %d\n%s", args, code, out)
		}
	}
	var id string
	is := func(mode, why string) {
		t.Helper()
		if id == "" {
			var e struct{ Epic struct{ ID string } }
			if err := json.Unmarshal([]byte(r.read("epic.json")), &e); err != nil {
				t.Fatal(err)
			}
			id = e.Epic.ID
		}
		got, said := string(f.Do(r.dir, "ann", "show", id)), string(f.Do(r.dir, "ann", "list", "--all", "--limit", "0"))
		if strings.Count(got, `"mode:`) != 1 || !strings.Contains(got, `"mode:`+mode+`"`) || !strings.Contains(said, why) {
			t.Errorf("want mode %s, because %s:\n%s\n%s", mode, why, got, said)
		}
	}
	does("compile", "docs/plan.md", "--push")
	is("planning", "the plan waits for approval: digest sha256:")
	does("approve")
	is("ready_for_build", "the plan was approved: digest sha256:")
	f.Forget()
	does("compile", "docs/plan.md", "--push")
	if got := strings.Join(f.Commands(), " "); got != "version context list" {
		t.Errorf("pushed again it is approved still: %s", got)
	}
	r.write("docs/plan.md", r.read("docs/plan.md")+"\nAnd in blue.\n")
	does("compile", "docs/plan.md", "--push")
	is("planning", "the plan waits for approval: digest sha256:")
	f.Faults(bdtest.Fault{On: "set-state", Do: bdtest.Refuse, Text: "the database is locked"})
	if out, code := r.withBd(f, "approve"); code != exit.Done || !strings.Contains(out, "bd was not updated; the next ralph apply updates it") {
		t.Errorf("with a bd that is away: exit %d\n%s", code, out)
	}
}

// Doctor says whether bd can be used here.
func TestDoctorLooksAtBeads(t *testing.T) { // issue: versions outside the tested range
	r, _ := planRepo(t)
	f := bdtest.New(t)
	r.write("ralph.hcl", "tracker \"bd\" {\n}\n")
	if out, _ := r.withBd(f, "compile", "docs/plan.md"); !strings.Contains(out, "wrote") {
		t.Fatal(out)
	}
	says := func(what string, wants ...string) {
		t.Helper()
		out, _ := r.withBd(f, "doctor")
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: doctor does not say %q:\n%s", what, want, out)
			}
		}
	}
	says("no database", "there is no beads database", "bd init --prefix bd --stealth")
	f.Init(r.dir)
	says("an empty database", "its types are registered by the first push")
	if out, code := r.withBd(f, "compile", "docs/plan.md", "--push"); code != exit.Done {
		t.Fatal(out)
	}
	says("a database", "bd 1.3.0", "ralph's types are registered")
	f.Faults(bdtest.Fault{On: "version", Do: bdtest.Version, Text: "1.9.0"})
	f.Forget()
	says("another version", "warning", "version 1.9.0", ">= 1.3.0, < 1.4", "RALPH_BD_VERSION=1.9")
	if calls := slices.Compact(f.Commands()); len(calls) != 1 || calls[0] != "version" {
		t.Errorf("another version: doctor called %v", calls)
	}
	t.Setenv("RALPH_BD_VERSION", "1.9")
	says("another version that somebody answers for", "warning", "not tried with bd 1.9.0")
	f.Faults(bdtest.Fault{On: "version", Do: bdtest.Version, Text: "0.49.6"})
	says("an old version", "bd 0.49.6", "too old")
}

// Agents and gates can read the beads; what they say there is in a name that decides
// nothing, whoever started ralph.
func TestAgentsReadTheBeads(t *testing.T) { // issue: agents get a read-only view
	t.Parallel()
	f := bdtest.New(t)
	b := beadsOf(f)
	epic := mirrored()
	seen := filepath.Join(t.TempDir(), "seen")
	gate := epic.Gates["check"]
	gate.Run = "env | grep -E '^(BD|BEADS)_' | sort > '" + seen + "'"
	epic.Gates["check"] = gate
	r := newApplyRepo(t, epic)
	b.init(r.dir)
	b.ralphWith(t, r, []string{"BEADS_ACTOR=ann", "BD_ACTOR=ann"}, exit.Done, "apply")
	got, err := os.ReadFile(seen)
	if want := "BD_NON_INTERACTIVE=1\nBD_READONLY=true\nBEADS_ACTOR=ralph-agent\n"; err != nil || string(got) != want {
		t.Errorf("a gate saw %q, want %q (%v)", got, want, err)
	}
}
