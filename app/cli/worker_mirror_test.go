//go:build unix

package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// While an issue runs its bead says how it stands, by the one mirror that every run has.
// What people wrote there, before and meanwhile, stays; status knows of nothing untold.
func TestAnIssueIsMirroredAndKeepsWhatPeopleWrote(t *testing.T) { // S4-14, S4-59, S2-07
	t.Parallel()
	d := faultDatabase(t, `if [ "$RALPH_STEP" = polish ]; then `+untilGo+`; fi; echo "$RALPH_STEP" >> out.txt`, `
policy "p" {
  default = true
  step "implement" { capabilities = ["implement"] }
  step "polish" { capabilities = ["implement"] }
}
`)
	d.put(`{"id":"bd-a","labels":["api","phase:implement"],"acceptance_criteria":"- it works","metadata":{"branch":"mine","k":[1,{"o":null}]}}`)
	w := d.start("worker", "--poll", "300ms", "--once")
	d.exists("../log/at-work")
	d.until("its bead says at which step it is", func() bool { return slices.Contains(d.bead("bd-a").Labels, "phase:polish") })
	d.person("update", "bd-a", "--title", "Make it blue", "--description", "As ada wants it.", "--add-label", "urgent")
	d.person("comments", "add", "bd-a", "mind the hue")
	d.open("go")
	if got := w.wait(); got.code != exit.Done {
		t.Fatalf("worker ended with %d\n%s\n%s", got.code, got.all(), d.outputs())
	}
	i, said := d.bead("bd-a"), d.comments("bd-a")
	slices.Sort(i.Labels)
	if i.Status != "closed" || i.Title != "Make it blue" || i.Description != "As ada wants it." || i.Acceptance != "- it works" || !slices.Equal(i.Labels, []string{"api", "phase:polish", "urgent"}) {
		t.Errorf("it is %+v", i)
	}
	for _, key := range []string{`"branch":"mine"`, `"k":[1,{"o":null}]`, `"ralph":{`, `"ralph_run":{`, `"ralph_epic":"`, `"ralph_digest":"sha256:`, `"ralph_worker":"`} {
		if !strings.Contains(string(i.Metadata), key) {
			t.Errorf("its metadata lacks %s: %s", key, i.Metadata)
		}
	}
	if strings.Contains(string(i.Metadata), "plan_file") || strings.Count(said, "[iter:1]") != 1 || strings.Count(said, "[iter:2]") != 1 || !strings.Contains(said, "ada: mind the hue") {
		t.Errorf("metadata %s, comments\n%s", i.Metadata, said)
	}
	if got := d.ralph("status", "--epic", "bd-a"); got.code != exit.Done || strings.Contains(got.all(), "is missing updates") {
		t.Errorf("status: %s", got.all())
	}
	// Opened again, it is the same issue: what ralph wrote there is no part of it.
	d.person("update", "bd-a", "--status", "open")
	if got := d.worker(exit.Done, "--once"); !strings.Contains(got.out, "bd-a  claimed: Make it blue (policy p, step implement)") {
		t.Errorf("again: %s", got.all())
	}
}

// The journal of an issue that a worker ran is lost: the issue's bead and the branches
// give it back, and the next worker goes on with it. Neither the bead nor the checkout
// changes for that.
func TestTheRunOfAnIssueIsRecovered(t *testing.T) { // S2-41, S2-43, S2-45
	t.Parallel()
	recoversAnIssue(t, faultDatabase)
}

func TestBdTheRunOfAnIssueIsRecovered(t *testing.T) { // S2-41, S2-43, S2-45
	t.Parallel()
	recoversAnIssue(t, realDatabase)
}

func recoversAnIssue(t *testing.T, open func(t *testing.T, work, policy string) *database) {
	d := open(t, `echo made > out.txt; if [ "$RALPH_ATTEMPT" = 2 ]; then echo fixed >> out.txt; fi`, mustMend)
	d.put(`{"id":"bd-a","metadata":{"mine":1}}`)
	d.worker(exit.NotDone, "--once")
	d.lose()
	before := d.bead("bd-a")
	got := d.ralph("recover", "bd-a")
	if got.code != exit.Done || !strings.Contains(got.out, "blocked") || !strings.Contains(got.out, "bd update bd-a --status open && ralph worker --issue bd-a") {
		t.Fatalf("recover: exit %d\n%s", got.code, got.all())
	}
	if now := d.bead("bd-a"); !now.UpdatedAt.Equal(before.UpdatedAt) || d.git("status", "--porcelain") != "" {
		t.Errorf("it is %+v, was %+v; the checkout: %s", now, before, d.git("status", "--porcelain"))
	}
	if got := d.ralph("status", "--epic", "bd-a"); !strings.Contains(got.out, "blocked") {
		t.Errorf("status: %s", got.all())
	}
	d.person("update", "bd-a", "--status", "open")
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" || !strings.Contains(string(i.Metadata), `"mine":1`) || d.noted("agents", "bd-a.implement-2") != 1 {
		t.Errorf("it is %s, agents\n%s\n%s", i.Status, d.read("../log/agents"), d.outputs())
	}
}

// lose removes all that this repository knows of runs and claims.
func (d *database) lose() {
	d.t.Helper()
	if err := os.RemoveAll(d.file(".git/ralph")); err != nil {
		d.t.Fatal(err)
	}
	d.git("worktree", "prune")
}

const twoSteps = `
policy "p" {
  default = true
  step "implement" { capabilities = ["implement"] }
  step "polish" { capabilities = ["implement"] }
}
`

// A worker, its run and all that they knew are gone in the middle of the second step:
// recover restores the claim too, and the next worker goes on by itself, with that step.
func TestAWorkerGoesOnWithARecoveredIssue(t *testing.T) { // S2-41, S2-43, S2-45, S4-59
	t.Parallel()
	goesOnWithRecovered(t, faultDatabase)
}

func TestBdAWorkerGoesOnWithARecoveredIssue(t *testing.T) { // S2-41, S2-43, S2-45, S4-59
	t.Parallel()
	goesOnWithRecovered(t, realDatabase)
}

func goesOnWithRecovered(t *testing.T, open func(t *testing.T, work, policy string) *database) {
	d := open(t, `echo "$RALPH_STEP" >> out.txt; if [ "$RALPH_STEP" = polish ] && ! [ -e "$TOP/log/go" ]; then echo > "$TOP/log/at-work"; sleep 600; fi`, twoSteps)
	d.put(`{"id":"bd-a","labels":["api"]}`)
	w := d.start("worker", "--poll", "300ms")
	d.exists("../log/at-work")
	d.until("its bead says at which step it is", func() bool { return slices.Contains(d.bead("bd-a").Labels, "phase:polish") })
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = w.wait()
	d.killAll()
	d.lose()
	before := d.bead("bd-a")
	if got := d.ralph("recover", "bd-a"); got.code != exit.Done || !strings.Contains(got.out, "To continue: ralph worker --issue bd-a") {
		t.Fatalf("recover: exit %d\n%s", got.code, got.all())
	}
	if now := d.bead("bd-a"); !now.UpdatedAt.Equal(before.UpdatedAt) || now.Token() != before.Token() {
		t.Errorf("recover wrote the bead: %+v, was %+v", now, before)
	}
	d.open("go")
	got := d.worker(exit.Done, "--once")
	i := d.bead("bd-a")
	slices.Sort(i.Labels)
	if i.Status != "closed" || i.Token() == before.Token() || !slices.Equal(i.Labels, []string{"api", "phase:polish"}) || !strings.Contains(got.out, "bd-a  resumed: Make bd-a (its run was recovered)") {
		t.Errorf("it is %s with %v\n%s\n%s", i.Status, i.Labels, got.all(), d.outputs())
	}
	if d.noted("agents", "bd-a.implement-1") != 1 || strings.Count(d.comments("bd-a"), "[iter:3]") != 1 {
		t.Errorf("agents\n%s\ncomments\n%s", d.read("../log/agents"), d.comments("bd-a"))
	}
}

// Somebody changed the issue between recover and the next worker: it stays theirs.
func TestARecoveredIssueOfSomebodyElseIsNotTakenOver(t *testing.T) { // S4-59
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, askAda)
	d.put(`{"id":"bd-a"}`)
	d.worker(exit.Waiting, "--once")
	d.lose()
	if got := d.ralph("recover", "bd-a"); got.code != exit.Done {
		t.Fatalf("recover: %s", got.all())
	}
	d.person("update", "bd-a", "--status", "in_progress", "--assignee", "ada", "--metadata", `{"ralph_worker":"another's"}`)
	before := d.bead("bd-a")
	got := d.worker(exit.Done, "--once")
	if now := d.bead("bd-a"); !now.UpdatedAt.Equal(before.UpdatedAt) || now.Token() != "another's" || !strings.Contains(got.out, "bd-a  is not taken over") {
		t.Errorf("it is %+v\n%s", now, got.all())
	}
}

// An issue that waited for a person is asked about again where its run was recovered: no
// approval is taken from the beads.
func TestARecoveredIssueThatWaitedAsksAgain(t *testing.T) { // S4-97, K33
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, askAda)
	d.put(`{"id":"bd-a"}`)
	d.worker(exit.Waiting, "--once")
	d.lose()
	if got := d.ralph("recover", "bd-a"); got.code != exit.Done {
		t.Fatalf("recover: %s", got.all())
	}
	d.worker(exit.Waiting, "--once")
	if i := d.bead("bd-a"); i.Status != "blocked" || !slices.Contains(i.Labels, "needs:human_approval") || strings.Count(d.read("../log/agents"), "\n") != 1 {
		t.Errorf("it is %s with %v; agents\n%s\n%s", i.Status, i.Labels, d.read("../log/agents"), d.outputs())
	}
	if got := d.ralph("approve", "bd-a", "--as", "ada", "--epic", "bd-a"); got.code != exit.Done {
		t.Fatalf("approve: %s", got.all())
	}
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" {
		t.Errorf("it is %s\n%s", i.Status, d.outputs())
	}
}

// A person takes an issue over while its run goes on: the run is stopped, and the issue
// stays theirs, as they have it.
func TestAnIssueThatAPersonTakesOverStaysTheirs(t *testing.T) { // S4-59
	t.Parallel()
	d := faultDatabase(t, untilGo+`; echo made > out.txt`, plainSteps)
	d.put(`{"id":"bd-a"}`)
	w := d.start("worker", "--poll", "300ms", "--once")
	d.exists("../log/at-work")
	d.person("update", "bd-a", "--assignee", "ada", "--force")
	d.until("the run drains", func() bool { return strings.Contains(d.outputs(), "interrupted: nothing new starts") })
	d.open("go")
	got := w.wait()
	if i := d.bead("bd-a"); i.Status != "in_progress" || i.Assignee != "ada" || strings.Contains(d.comments("bd-a"), "blocked") || !strings.Contains(got.out, "was taken away in bd meanwhile") {
		t.Errorf("it is %s of %s\n%s\n%s", i.Status, i.Assignee, d.comments("bd-a"), got.all())
	}
}
