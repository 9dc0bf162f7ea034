//go:build unix

package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/worker"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// going starts a worker that goes on until it is told to end.
func (d *database) going(args ...string) *starting {
	d.t.Helper()
	return d.start(append([]string{"worker", "--poll", "300ms"}, args...)...)
}

// stands waits until an issue has a status.
func (d *database) stands(id, status string) {
	d.t.Helper()
	d.until(id+" is "+status, func() bool { return d.bead(id).Status == status })
}

// stop ends a worker as Ctrl-C does.
func (d *database) stop(w *starting, want int) ran {
	d.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		d.t.Fatal(err)
	}
	got := w.wait()
	if got.code != want {
		d.t.Errorf("worker ended with %d, want %d\n%s\n%s", got.code, want, got.all(), d.outputs())
	}
	return got
}

const mustMend = `
gate "fixed" { run = "grep -q fixed out.txt" }
policy "p" {
  default = true
  limits { attempts = 1 }
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.fixed]
  }
}
`

// What fails is blocked with a comment that says why; opened again, the agent gets
// what people wrote since. S4-58, S4-59
func TestABlockedIssueIsTriedAgainWhenItIsOpened(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo made > out.txt; if grep -q "write fixed" "$RALPH_FEEDBACK" 2>/dev/null; then echo fixed >> out.txt; fi`, mustMend)
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b","needs":["bd-a"]}`)
	d.worker(exit.NotDone, "--once")
	i := d.bead("bd-a")
	if c := d.comments("bd-a"); i.Status != "blocked" || !strings.Contains(c, ": blocked: ") || !strings.Contains(c, "fixed") || !strings.Contains(c, "ralph retry bd-a") || !strings.Contains(c, "bd update bd-a -s open") {
		t.Errorf("it is %s, commented\n%s", i.Status, c)
	}
	if i := d.bead("bd-b"); i.Status != "open" || i.Assignee != "" {
		t.Errorf("what waits for it is %s of %s", i.Status, i.Assignee)
	}
	if got := d.worker(exit.Done, "--once"); !strings.Contains(got.out, "nothing was done") {
		t.Errorf("a second worker:\n%s", got.out)
	}
	d.person("comments", "add", "bd-a", "write fixed into it")
	d.person("update", "bd-a", "--status", "open")
	d.worker(exit.NotDone, "--once") // bd-b fails then
	if i := d.bead("bd-a"); i.Status != "closed" {
		t.Errorf("opened again, it is %s\n%s\n%s", i.Status, d.comments("bd-a"), d.outputs())
	}
	if i := d.bead("bd-b"); i.Status != "blocked" {
		t.Errorf("what waited for it is %s", i.Status)
	}
}

// bd keeps seconds: what is written in the second of a claim is not lost. S4-58
func TestWhatIsSaidInTheSecondOfAClaimCounts(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, `true`, "")
	d.put(`{"id":"bd-a"}`)
	claimed := time.Now()
	d.person("comments", "add", "bd-a", "use tabs")
	c, err := bd.Open(t.Context(), bd.Options{Program: d.bd.Program, Dir: d.dir})
	if err != nil {
		t.Fatal(err)
	}
	w := &worker.Worker{Bd: c, Actor: "ralph"}
	if said, err := w.SaidSince(t.Context(), "bd-a", claimed); err != nil || said != "use tabs" {
		t.Errorf("said: %q, %v", said, err)
	}
	if said, err := w.SaidSince(t.Context(), "bd-a", claimed.Add(time.Minute)); err != nil || said != "" {
		t.Errorf("a minute later: %q, %v", said, err)
	}
}

// killAll kills everything that runs in the site, in no order.
func (d *database) killAll() {
	for _, pid := range d.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	d.until("nobody is left", func() bool { return len(d.processes()) == 0 })
}

// kill -9 of a worker: its ralph apply goes on, and the next worker writes back what
// comes of it; killed together with that, the next one goes on with the run. No agent
// works twice where one has ended. execution §9
func TestAWorkerThatIsKilledIsFollowed(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"the worker alone": false, "the worker and its run": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := faultDatabase(t, `echo > "$TOP/log/at-work"; while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done; echo x > a.txt`, plainSteps)
			d.put(`{"id":"bd-a"}`)
			w := d.going()
			d.exists("../log/at-work")
			if err := w.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = w.wait()
			if both {
				d.killAll()
			}
			if i := d.bead("bd-a"); i.Status != "in_progress" || i.Assignee != "beads-ralph-scrum-master" {
				t.Fatalf("behind the kill it is %s of %s", i.Status, i.Assignee)
			}
			if err := os.WriteFile(d.file("../log/go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			got := d.worker(exit.Done, "--once")
			if i := d.bead("bd-a"); i.Status != "closed" {
				t.Errorf("it is %s\n%s", i.Status, got.all())
			}
			want := 1
			if both {
				want = 2 // the one that was killed, and its successor
			}
			if n := d.noted("agents", "bd-a.implement-1"); n != want {
				t.Errorf("%d agents:\n%s\n%s", n, d.read("../log/agents"), d.outputs())
			}
			if n := strings.Count(d.comments("bd-a"), "[iter:1]"); n != 1 {
				t.Errorf("comments:\n%s", d.comments("bd-a"))
			}
		})
	}
}

// bd answers nothing, or is killed, at every call of a worker: whatever the next
// worker finds, each issue is worked on once and closed. execution §9
func TestAWorkerSurvivesABdThatFails(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > "$RALPH_NODE.txt"`, plainSteps)
	for _, kill := range []string{bdtest.Kill, bdtest.Answer} {
		for n, on := range []string{"update", "close", "comments add", "list"} {
			id := "bd-" + kill + string(rune('a'+n))
			d.put(`{"id":"` + id + `"}`)
			d.bd.Faults(bdtest.Fault{On: on, Nth: 1, Do: kill})
			d.worker(exit.Done, "--once")
			d.bd.Faults()
			if d.bead(id).Status != "closed" {
				d.worker(exit.Done, "--once")
			}
			if i := d.bead(id); i.Status != "closed" || d.noted("agents", id+".implement-1") != 1 {
				t.Errorf("%s at %s: %s, agents\n%s\n%s", kill, on, i.Status, d.read("../log/agents"), d.outputs())
			}
			if c := d.comments(id); strings.Count(c, "[iter:1]") != 1 {
				t.Errorf("%s at %s: comments\n%s", kill, on, c)
			}
		}
	}
}

func TestABdThatIsAwayIsWaitedFor(t *testing.T) { // said once, with backoff
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, plainSteps)
	d.bd.Faults(bdtest.Fault{On: "ready", Do: bdtest.Refuse, Text: "the database is locked"})
	w := d.going()
	d.until("it was asked several times", func() bool { return strings.Count(strings.Join(d.bd.Commands(), " "), "ready") > 3 })
	d.put(`{"id":"bd-a"}`)
	d.bd.Faults()
	d.stands("bd-a", "closed")
	got := d.stop(w, exit.Interrupted)
	if n := strings.Count(got.err, "the database is locked"); n != 1 || !strings.Contains(got.out, "bd answers again") {
		t.Errorf("it was said %d times\n%s", n, got.all())
	}
}

// Two results that do not merge: the issue is blocked with what to merge. A result
// that is not there is said, in bd too.
func TestTheBaseIsTheMergeOfResults(t *testing.T) { // S4-17
	t.Parallel()
	d := faultDatabase(t, `case $RALPH_NODE in bd-a|bd-b) echo "$RALPH_NODE" > same.txt;; *) echo > "$RALPH_NODE.txt";; esac`, plainSteps)
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b"}`, `{"id":"bd-o","status":"closed","closed_at":"2026-01-01T00:00:00Z"}`,
		`{"id":"bd-c","needs":["bd-a","bd-b"]}`, `{"id":"bd-d","needs":["bd-a","bd-o"]}`)
	got := d.worker(exit.NotDone, "--once", "--max", "2")
	i := d.bead("bd-c")
	if c := d.comments("bd-c"); i.Status != "blocked" || !strings.Contains(c, "that of bd-b conflicts in same.txt") || !strings.Contains(c, "git merge ") || !strings.Contains(c, "bd update bd-c -s open") {
		t.Errorf("a conflict: %s\n%s", i.Status, c)
	}
	if d.noted("agents", "bd-c.implement-1") != 0 {
		t.Error("an agent worked on what has no base")
	}
	if i, c := d.bead("bd-d"), d.comments("bd-d"); i.Status != "closed" || !strings.Contains(c, "bd-o has no result of ralph in this repository") || !strings.Contains(got.out, "bd-o has no result of ralph in this repository") {
		t.Errorf("without a result: %s\n%s", i.Status, c)
	}
	// Merged by hand, and opened again.
	a, b := strings.Fields(d.bead("bd-a").CloseReason), strings.Fields(d.bead("bd-b").CloseReason)
	d.git("merge", "-q", a[4])
	if out, err := d.tryGit("merge", "-q", "-X", "ours", b[4]); err != nil {
		t.Fatalf("%s", out)
	}
	d.person("update", "bd-c", "--status", "open")
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-c"); i.Status != "closed" {
		t.Errorf("merged by hand, it is %s\n%s\n%s", i.Status, d.comments("bd-c"), d.outputs())
	}
}

// What cannot be run is said once, by one worker and by the next; a policy that
// cannot be compiled stops the worker before it claims anything.
func TestWhatCannotBeRunIsSaidOnce(t *testing.T) { // S4-12, S4-51
	t.Parallel()
	d := faultDatabase(t, `echo x > a.txt`, plainSteps)
	d.put(`{"id":"bd-a","title":""}`, `{"id":"bd-b","description":""}`, `{"id":"bd-c","labels":["phase:reviewing"]}`, `{"id":"bd-d","labels":["phase:implement","phase:plan"]}`, `{"id":"bd-z"}`)
	w := d.going()
	d.stands("bd-z", "closed")
	d.bd.Forget()
	d.until("it was asked several times", func() bool { return strings.Count(strings.Join(d.bd.Commands(), " "), "ready") > 3 })
	got := d.stop(w, exit.Interrupted)
	again := d.worker(exit.Done, "--once")
	for id, want := range map[string]string{"bd-a": "it has no title", "bd-b": "it has no description", "bd-c": `there is no step "reviewing"`, "bd-d": "several labels"} {
		if n := strings.Count(got.out, id+"  not run: "); n != 1 {
			t.Errorf("%s: said %d times\n%s", id, n, got.out)
		}
		if c := d.comments(id); strings.Count(c, "ralph does not run this") != 1 || !strings.Contains(c, want) {
			t.Errorf("%s: comments\n%s\nwant one with %q", id, c, want)
		}
		if i := d.bead(id); i.Status != "open" || i.Assignee != "" {
			t.Errorf("%s is %s of %s", id, i.Status, i.Assignee)
		}
		_ = again
	}
	d.write("ralph.hcl", "nonsense {}\n")
	if got := d.worker(exit.Input, "--once"); !strings.Contains(got.err, "no issue can be compiled under this policy") {
		t.Errorf("a policy that is wrong: %s", got.all())
	}
}

// Ctrl-C lets what runs finish; a second one stops it, and the issue is open again.
func TestAWorkerEndsGently(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo > "$TOP/log/at-work"; while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done; echo x > a.txt`, plainSteps)
	d.put(`{"id":"bd-a"}`, `{"id":"bd-b"}`)
	w := d.going()
	d.exists("../log/at-work")
	if err := w.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	d.until("the run drains", func() bool { return strings.Contains(d.outputs(), "interrupted: nothing new starts") })
	got := d.stop(w, exit.Interrupted)
	if i := d.bead("bd-a"); i.Status != "open" || i.Assignee != "" || len(i.Labels) != 0 || !strings.Contains(got.out, "bd-a  open again: interrupted") {
		t.Errorf("stopped, it is %s of %q, %v\n%s", i.Status, i.Assignee, i.Labels, got.all())
	}
	if i := d.bead("bd-b"); i.Status != "open" || i.Assignee != "" {
		t.Errorf("what was not begun is %s of %q", i.Status, i.Assignee)
	}
	if err := os.WriteFile(d.file("../log/go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.worker(exit.Done, "--once")
	if i := d.bead("bd-a"); i.Status != "closed" {
		t.Errorf("the next worker leaves it %s\n%s", i.Status, d.outputs())
	}
}

// A worker that is told to end while bd is away tells what came of its run once bd
// answers; told again, it ends, and the next one tells it. execution §9
func TestAWorkerThatEndsWhileBdIsAwayLosesNothing(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"bd comes back": false, "it is told again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := faultDatabase(t, untilGo, plainSteps)
			d.put(`{"id":"bd-a"}`)
			w := d.going()
			d.exists("../log/at-work")
			d.bd.Faults(bdtest.Fault{Do: bdtest.Refuse, Text: "the database is locked"})
			w.signal(syscall.SIGINT)
			d.until("the run drains", func() bool { return strings.Contains(d.outputs(), "interrupted: nothing new starts") })
			d.open("go")
			d.until("the run has ended", func() bool { return strings.Contains(d.outputs(), "Interrupted. To continue") })
			d.bd.Forget()
			d.until("it was tried several times", func() bool { return len(d.bd.Calls()) > 3 })
			if again {
				w.signal(syscall.SIGINT)
			} else {
				d.bd.Faults()
			}
			if got := w.wait(); got.code != exit.Interrupted || strings.Count(got.err, "cannot be written to bd yet: ") != 1 {
				t.Errorf("worker ended with %d\n%s\n%s", got.code, got.all(), d.outputs())
			}
			if again {
				d.bd.Faults()
				d.worker(exit.Done, "--once")
			}
			if i := d.bead("bd-a"); i.Status != "closed" || d.noted("agents", "bd-a.implement-1") != 1 {
				t.Errorf("it is %s, agents\n%s", i.Status, d.read("../log/agents"))
			}
		})
	}
}

// Two workers on one database never run an issue twice. S4-60
func TestTwoWorkersShareADatabase(t *testing.T) {
	t.Parallel()
	d := faultDatabase(t, `echo x > "$RALPH_NODE.txt"`, plainSteps)
	ids := []string{"bd-a", "bd-b", "bd-c", "bd-d"}
	for _, id := range ids {
		d.put(`{"id":"` + id + `"}`)
	}
	one, said := d.watching("one.txt", "worker", "--poll", "300ms", "--max", "2")
	two, also := d.watching("two.txt", "worker", "--poll", "300ms")
	for _, id := range ids {
		d.stands(id, "closed")
	}
	for _, said := range []func() string{said, also} { // else it has not begun to listen for Ctrl-C
		d.until("it is at work", func() bool { return strings.Contains(said(), "at work on ") })
	}
	d.stop(one, exit.Interrupted)
	d.stop(two, exit.Interrupted)
	for _, id := range ids {
		if n := d.noted("agents", id+".implement-1"); n != 1 {
			t.Errorf("%s was worked on %d times", id, n)
		}
	}
}

// What agents propose becomes deferred beads, only if the policy says so. S4-20
func TestAWorkerFilesProposals(t *testing.T) {
	t.Parallel()
	const propose = `echo x > a.txt; echo '{"result":"success","summary":"done","created_issues":[{"title":"Fix the clock","description":"It is late."}]}' > "$RALPH_OUTCOME"`
	for name, policy := range map[string]string{"not asked for": plainSteps, "asked for": plainSteps + "tracker \"bd\" { proposals = true }\n"} {
		t.Run(name, func(t *testing.T) {
			d := faultDatabase(t, propose, policy)
			d.put(`{"id":"bd-a"}`)
			d.worker(exit.Done, "--once")
			all := string(d.bd.Do(d.dir, "ada", "list", "--all", "--limit", "0"))
			if got := strings.Contains(all, "Fix the clock"); got != (name == "asked for") {
				t.Errorf("%s: %v\n%s", name, got, all)
			}
			if name == "asked for" && (!strings.Contains(all, "discovered-from") || !strings.Contains(all, "deferred") || !strings.Contains(all, "ralph-proposal")) {
				t.Errorf("the proposal:\n%s", all)
			}
		})
	}
}

// An ordinary apply files them too, each once, beside the mirror. S4-20
func TestAnApplyFilesProposals(t *testing.T) {
	t.Parallel()
	const propose = `echo x > "out-$RALPH_NODE.txt"; echo '{"result":"success","summary":"done","created_issues":[{"title":"Fix the clock"}]}' > "$RALPH_OUTCOME"`
	s := newSite(t, propose, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Run.Tracker = &ir.Tracker{Kind: "bd", Prefix: "bd", Mirror: []string{}, Labels: map[string]string{}, Actor: "ralph", PollMS: 15_000, MaxConcurrentRuns: 1, Proposals: true}
	}))
	d := fakeDatabase(t, s)
	d.write(".git/info/exclude", ".beads\n")
	d.bd.Init(d.dir)
	for range 2 {
		got := d.ralph("apply")
		if got.code != exit.Done {
			t.Fatalf("apply: exit %d\n%s", got.code, got.all())
		}
		all := string(d.bd.Do(d.dir, "ada", "list", "--all", "--limit", "0"))
		if n := strings.Count(all, "Fix the clock"); n != 1 || !strings.Contains(all, "discovered-from") || !strings.Contains(all, "ralph-proposal") {
			t.Fatalf("proposed %d times\n%s\n%s", n, all, got.all())
		}
	}
}
