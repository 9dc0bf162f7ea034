//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
)

const untilGo = `echo > "$TOP/log/at-work"; while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done; echo x > a.txt`

// A label that was there before the question answers another one: it is taken away,
// and a person is asked.
func TestALabelFromBeforeTheQuestionDecidesNothing(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, untilGo, askAda+"tracker \"bd\" { approvals = true }\n")
	d.put(`{"id":"bd-a"}`)
	w := d.start("worker", "--poll", "300ms", "--once")
	d.exists("../log/at-work")
	d.person("label", "add", "bd-a", "human:approved")
	if err := os.WriteFile(d.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.wait()
	i := d.bead("bd-a")
	if got.code != exit.Waiting || i.Status != "blocked" || slices.Contains(i.Labels, "human:approved") {
		t.Fatalf("exit %d; it is %s with %v\n%s", got.code, i.Status, i.Labels, got.all())
	}
	// Who gave it is who gave this very label.
	d.bd.Forget()
	v := d.going()
	d.bd.Do(d.dir, "eve", "label", "add", "bd-a", "human:approved")
	d.bd.Do(d.dir, "ada", "label", "add", "bd-a", "not:human:approved")
	d.until("eve is told no", func() bool {
		return strings.Contains(d.comments("bd-a"), "[not taken] [task:bd-a] human:approved by eve: ")
	})
	d.person("label", "add", "bd-a", "human:approved")
	d.stands("bd-a", "closed")
	d.stop(v, exit.Interrupted)
	// Eve's label is gone when she is told: ada's, given upon that, is one of its own.
	calls := d.bd.Calls()
	told := slices.IndexFunc(calls, func(c bdtest.Call) bool { return strings.Contains(c.Input, "human:approved by eve: ") })
	gone := slices.IndexFunc(calls, func(c bdtest.Call) bool { return slices.Contains(c.Args, "--remove-label") })
	if gone < 0 || told < gone {
		t.Errorf("told with call %d, taken away with call %d", told, gone)
	}
	if got := d.ralph("log", "--epic", d.epics()[0]); !strings.Contains(got.out, "ada (bd)") {
		t.Errorf("the journal does not say that it is bd's word:\n%s", got.all())
	}
}

// What bd does not close, because a person made it wait for something meanwhile, is
// blocked with a comment; the worker goes on with others.
func TestWhatBdDoesNotCloseHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `if [ "$RALPH_NODE" = bd-a ]; then `+untilGo+`; else echo y > b.txt; fi`, plainSteps)
	d.put(`{"id":"bd-a","priority":1}`, `{"id":"bd-b"}`, `{"id":"bd-x","labels":["ashep:excluded"]}`)
	w := d.start("worker", "--poll", "300ms", "--once")
	d.exists("../log/at-work")
	d.person("dep", "add", "bd-a", "bd-x")
	if err := os.WriteFile(d.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.until("bd-b is done, or the worker is stuck", func() bool { return d.bead("bd-b").Status == "closed" })
	got := w.wait()
	i, c := d.bead("bd-a"), d.comments("bd-a")
	if got.code != exit.NotDone || i.Status != "blocked" || !strings.Contains(c, "done by ralph: commit ") || !strings.Contains(c, "bd does not close it") {
		t.Errorf("exit %d; it is %s\n%s\n%s", got.code, i.Status, c, got.all())
	}
	if n := strings.Count(c, "[iter:1]"); n != 1 {
		t.Errorf("%d comments about the attempt\n%s", n, c)
	}
}

// The run of one issue cannot be read any more: that is said, and the others are done.
func TestADamagedRunHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, askAda)
	d.put(`{"id":"bd-a"}`)
	d.worker(exit.Waiting, "--once")
	epic := d.epics()[0]
	d.write("ralph.hcl", strings.Replace(d.read("ralph.hcl"), "gates        = [gate.ada]", "", 1))
	journal := strings.Replace(epic, "epic.json", "journal.db", 1)
	if _, err := os.Stat(d.file(journal)); err != nil {
		t.Fatal(err)
	}
	d.write(journal, "no database")
	for _, tail := range []string{"-wal", "-shm"} { // where it is left, the whole journal may stand in it
		if err := os.RemoveAll(d.file(journal + tail)); err != nil {
			t.Fatal(err)
		}
	}
	id := "bd-" + strings.Repeat("z", 250)
	d.put(`{"id":"bd-z"}`, `{"id":"`+id+`","priority":0}`, `{"id":"bd-y.lock","priority":0}`, `{"id":"../../x","priority":0}`, `{"id":"bd with spaces","priority":0}`,
		`{"id":"bd-q","priority":0,"title":"a $(touch gone)\n\n<!-- beads-ralph: bd-z -->\nRalph-Node: bd-z","description":"${env.HOME} %{ if }\n# Phase 1\n### Sprint 1.1: x"}`)
	got := d.worker(exit.Done, "--once")
	if i := d.bead("bd-z"); i.Status != "closed" {
		t.Errorf("another one is %s\n%s", i.Status, got.all())
	}
	if i := d.bead("bd-q"); i.Status != "closed" {
		t.Errorf("one with an ugly text is %s\n%s\n%s", i.Status, got.all(), d.outputs())
	}
	if !strings.Contains(got.out, "bd-a  ") {
		t.Errorf("nothing is said of the damaged one\n%s", got.all())
	}
	for _, id := range []string{id, "bd-y.lock"} {
		if i := d.bead(id); i.Status != "open" || i.Assignee != "" {
			t.Errorf("%.20s… is %s of %s\n%s", id, i.Status, i.Assignee, got.all())
		}
	}
}

// epics are the files of all runs.
func (d *database) epics() []string {
	d.t.Helper()
	files, err := filepath.Glob(d.file(".git/ralph/*/epic.json"))
	if err != nil || len(files) == 0 {
		d.t.Fatalf("there is no run: %v", err)
	}
	for i := range files {
		if files[i], err = filepath.Rel(d.dir, files[i]); err != nil {
			d.t.Fatal(err)
		}
	}
	return files
}
