//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// stubborn is an epic whose 1.1 passes only with a file that no agent writes.
func stubborn() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2: 1.1", "2.1"}, func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = `test "$RALPH_NODE" != 1.1 || test -e fix.txt`
		e.Gates["check"] = g
		e.Epic.Integration.Gates = []string{}
		e.Nodes[0].Steps[0].Limits.Attempts = 1
	})
}

// worktree is where a node is worked on.
func (r *applyRepo) worktree(branch string) string {
	r.t.Helper()
	dir := filepath.Join(filepath.Dir(r.dir), "project-worktrees", branch)
	if _, err := os.Stat(dir); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

func (r *applyRepo) refuses(args string, wants ...string) {
	r.t.Helper()
	out := r.ralph(exit.Input, strings.Fields(args)...)
	for _, want := range wants {
		if !strings.Contains(out, want) {
			r.t.Errorf("ralph %s lacks %q:\n%s", args, want, out)
		}
	}
}

func TestRetryWithAHintAndWithAPersonsOwnFix(t *testing.T) { // execution §5
	t.Parallel()
	r := newApplyRepo(t, stubborn())
	a := r.run(exit.NotDone)
	for _, want := range []string{"1.1 (blocked):", `ralph retry 1.1 -m "a hint"`, "ralph retry 1.1 --gates-only", "ralph skip 1.1"} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the account lacks %q:\n%s", want, &a.out)
		}
	}
	r.says("retry 1.1 -m fix.txt-is-what-it-wants", "1.1: to be tried again", "to continue: ralph apply")
	r.run(exit.NotDone)
	r.says("show 1.1", "fix.txt-is-what-it-wants", "implement #2: failed")
	dir := r.worktree("ralph/x/1-1")
	if err := os.WriteFile(filepath.Join(dir, "fix.txt"), []byte("by hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.refuses("retry 1.1", "ralph retry 1.1 --gates-only", "ralph retry 1.1 --discard")
	r.says("retry 1.1 --gates-only --as ada", "its gates will judge what is in the worktree", "as ada")
	r.run(exit.Done)
	if got := r.git("show", "ralph/x/integration:fix.txt"); got != "by hand" {
		t.Errorf("the fix is %q", got)
	}
	r.says("show 1.1", "a person's own fix")
	r.refuses("retry 1.1", "nothing to retry", "ralph apply --rerun 1.1")
}

func TestDiscardSavesWhatAPersonLeft(t *testing.T) { // execution §3, §5
	t.Parallel()
	r := newApplyRepo(t, stubborn())
	r.run(exit.NotDone)
	dir := r.worktree("ralph/x/1-1")
	if err := os.WriteFile(filepath.Join(dir, "scratch.txt"), []byte("notes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.says("retry 1.1 --discard", "1.1: to be tried again")
	a := r.run(exit.NotDone)
	if !strings.Contains(a.out.String(), "is kept as refs/ralph/bd-epic/nodes/bd-1-1/saved/") {
		t.Errorf("it said\n%s", &a.out)
	}
	if got := r.git("for-each-ref", "--format=%(refname)", "refs/ralph/bd-epic/nodes/bd-1-1/saved"); got == "" {
		t.Error("nothing was saved")
	}
}

func TestSkipAndCancelAndBack(t *testing.T) { // S1-19, L1-03, execution §5
	t.Parallel()
	r := newApplyRepo(t, stubborn())
	r.run(exit.NotDone)
	r.says("skip 1.1 -m later", "1.1: skipped")
	r.run(exit.Done)
	r.says("status", "1.1", "skipped", "2 of 3 sprints done, 1 skipped")
	if got := r.git("ls-tree", "--name-only", "ralph/x/integration"); strings.Contains(got, "out-1.1.txt") || !strings.Contains(got, "out-1.2.txt") {
		t.Errorf("the result holds %q", got)
	}
	r.says("retry 1.1", "1.1: to be tried again")
	r.run(exit.NotDone)
	r.says("cancel 1.1", "1.1: cancelled")
	a := r.run(exit.NotDone)
	if !strings.Contains(a.out.String(), "1.1  cancelled") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.refuses("approve 2.1", "2.1 is done")
	r.ralph(exit.Usage, "skip")
	r.ralph(exit.Usage, "skip", "9.9")
}

func TestAPausedRunStartsNothing(t *testing.T) { // S1-66, execution §5
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2"}))
	r.run(exit.Done, "--only", "1.1")
	r.says("pause -m lunch", "the run: paused")
	a := r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "Nothing was integrated, as the run ended with 1 sprint that can continue (1.2).") {
		t.Errorf("it said\n%s", &a.out)
	}
	if !strings.Contains(a.out.String(), "ralph resume") || strings.Contains(a.out.String(), "1.2  ▶") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.says("status", "nothing new starts")
	r.says("resume", "the run: resumed")
	r.run(exit.Done)

	r = newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2"}))
	r.run(exit.Done, "--only", "1.1")
	r.says("pause 1.2", "1.2: paused")
	a = r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "ralph resume 1.2") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.says("resume 1.2", "1.2: resumed")
	r.run(exit.Done)
}

func TestABudgetIsAddedTo(t *testing.T) { // S1-38, S3-14, K24, execution §4, S1-51
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Run.Budget, e.Run.OnExceed = ir.Budget{Tokens: 100}, "pause"
		e.Runners["sh"] = ir.Runner{
			Kind: "command", Prompt: "stdin", Env: []string{"PATH"}, Outcome: "optional",
			Run: []string{"sh", "-c", `echo x > out-$RALPH_NODE.txt; echo '{"result":"success","summary":"ok","usage":{"tokens":150,"usd":0.25}}' > "$RALPH_OUTCOME"`},
		}
	})
	r := newApplyRepo(t, e)
	a := r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "ralph resume --budget") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.says("status", "150 tokens, $0.25", "(budget: 100 tokens)")
	r.ralph(exit.Usage, "resume", "--budget", "tokens=5")
	r.says("resume --budget tokens=+1k", "the run: resumed")
	r.run(exit.Done)
	r.says("status", "300 tokens, $0.50", "(budget: 1.1k tokens)")
}

func TestThePlanHasToBeApproved(t *testing.T) { // execution §5; S2-34, S2-36
	t.Parallel()
	e := executortest.Epic([]string{"1.1"}, func(e *ir.Epic) { e.Run.HITL.Plan = "required" })
	r := newApplyRepo(t, e)
	a := r.run(exit.Waiting)
	if !strings.Contains(a.err.String(), "the plan waits for approval") || !strings.Contains(a.err.String(), "ralph approve") {
		t.Errorf("it said %s", &a.err)
	}
	r.says("plan", "the plan waits for approval")
	r.says("status", "the plan waits for approval")
	r.says("approve", "the plan: approved")
	r.run(exit.Done)
	e.Nodes[0].Prompt = []string{"Do something else."}
	r.epic(e)
	r.run(exit.Waiting)
	r.says("approve", "the plan: approved")
	r.run(exit.Done)
}

func TestAgentsAndGatesDecideNothing(t *testing.T) { // execution §5
	t.Parallel()
	e := humanEpic(func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = `ralph approve 1.1 > "$LOG/gate" 2>&1; echo $? >> "$LOG/gate"`
		g.Env = map[string]string{"LOG": t.TempDir()}
		e.Gates["check"] = g
		e.Runners["sh"] = ir.Runner{
			Kind: "command", Prompt: "stdin", Env: []string{"PATH", "HOME"},
			// Without its mark it is still below the lock's holder.
			Run: []string{"sh", "-c", `log=` + g.Env["LOG"] + `/agent; echo x > out.txt; (unset RALPH_OUTCOME; ralph skip 1.2 > "$log" 2>&1; echo $? >> "$log")`},
		}
	})
	dir := e.Gates["check"].Env["LOG"]
	r := newApplyRepo(t, e)
	r.run(exit.Waiting)
	for _, who := range []string{"gate", "agent"} {
		b, err := os.ReadFile(filepath.Join(dir, who))
		if err != nil || !strings.Contains(string(b), "this is for people") || !strings.HasSuffix(string(b), "\n1\n") {
			t.Errorf("%s: %v %s", who, err, b)
		}
	}
	r.says("status", "waiting: approval")
}

func TestAManualSprintIsHandedIn(t *testing.T) { // execution §3, §5
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Nodes[0].Kind = ir.Manual
		e.Nodes[0].Steps[0].Agent = ""
		g := e.Gates["check"]
		g.Run = `test "$RALPH_NODE" != 1.1 || test -e by-hand.txt`
		e.Gates["check"] = g
		e.Epic.Integration.Gates = []string{}
	})
	r := newApplyRepo(t, e)
	a := r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "waits for a person (manual)") || !strings.Contains(a.out.String(), "ralph approve 1.1") {
		t.Errorf("it said\n%s", &a.out)
	}
	dir := r.worktree("ralph/x/1-1")
	if err := os.WriteFile(filepath.Join(dir, "by-hand.txt"), []byte("me\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.git("-C", dir, "add", "-A")
	r.git("-C", dir, "commit", "-q", "-m", "by hand")
	r.says("approve 1.1", "1.1: approved")
	r.run(exit.Done)
	if got := r.git("show", "ralph/x/integration:by-hand.txt"); got != "me" {
		t.Errorf("the result holds %q", got)
	}
}

func TestForeignCommitsOnTheIntegrationBranch(t *testing.T) { // execution §5
	t.Parallel()
	e := executortest.Epic([]string{"1.1"})
	r := newApplyRepo(t, e)
	r.run(exit.Done)
	r.git("checkout", "-q", "ralph/x/integration")
	r.write("mine.txt", "mine\n")
	r.git("add", "mine.txt")
	r.git("commit", "-q", "-m", "mine")
	r.git("checkout", "-q", "main")
	e = executortest.Epic([]string{"1.1", "1.2"})
	r.epic(e)
	a := r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "ralph approve integration") || !strings.Contains(a.out.String(), "ralph retry integration") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.says("status", "integration", "foreign commits")
	r.says("approve integration", "integration: approved")
	r.run(exit.Done)
	got := r.git("ls-tree", "--name-only", "ralph/x/integration")
	for _, want := range []string{"mine.txt", "out-1.1.txt", "out-1.2.txt"} {
		if !strings.Contains(got, want) {
			t.Errorf("the result lacks %s: %q", want, got)
		}
	}
}

func TestForeignCommitsOnABranchThatWouldNotChange(t *testing.T) { // execution §5
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	r.run(exit.Done)
	ours := r.git("rev-parse", "ralph/x/integration")
	r.run(exit.Done) // as ralph left it
	r.git("checkout", "-q", "ralph/x/integration")
	r.write("mine.txt", "mine\n")
	r.git("add", "mine.txt")
	r.git("commit", "-q", "-m", "mine")
	r.git("checkout", "-q", "main")
	theirs := r.git("rev-parse", "ralph/x/integration")
	a := r.run(exit.Waiting)
	if !strings.Contains(a.out.String(), "ralph approve integration") || !strings.Contains(a.out.String(), "ralph retry integration") {
		t.Errorf("it said\n%s", &a.out)
	}
	r.run(exit.Waiting) // until somebody decides
	r.says("retry integration")
	r.run(exit.Done)
	if got := r.git("rev-parse", "ralph/x/integration"); got != ours {
		t.Errorf("the branch is at %s, want %s again", got, ours)
	}
	if got := r.git("for-each-ref", "--format=%(objectname)", "refs/ralph/bd-epic/sum"); !strings.Contains(got, theirs) {
		t.Errorf("their commit %s is not pinned: %q", theirs, got)
	}
	r.run(exit.Done)
	r.git("branch", "-q", "-D", "ralph/x/integration") // merged elsewhere, and tidied up
	r.run(exit.Done)
}

func TestNotifyTellsAndNeverFailsARun(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	e := humanEpic(func(e *ir.Epic) {
		e.Run.Notify = []ir.Notify{
			{On: []string{"node.waiting", "node.done", "run.done"}, Run: []string{"sh", "-c", `echo "$RALPH_EVENT $RALPH_NODE $RALPH_CAUSE $RALPH_EXIT" >> ` + log}},
			{On: []string{"run.done"}, Run: []string{"no-such-notifier"}},
		}
	})
	r := newApplyRepo(t, e)
	a := r.run(exit.Waiting)
	r.says("approve 1.1 --as ada")
	r.run(exit.Done)
	b, err := os.ReadFile(log)
	want := "node.waiting 1.1 approval \nrun.done   4\nnode.done 1.1  \nnode.done 1.2  \nnode.done integration  \nrun.done   0\n"
	if err != nil || string(b) != want {
		t.Errorf("%v: it was told\n%swant\n%s", err, b, want)
	}
	if strings.Count(a.err.String(), "(reported once; the run continues)") != 1 {
		t.Errorf("it said %s", &a.err)
	}
	e.Run.Notify[0].On = []string{"node.wating"}
	r.epic(e)
	if a := r.run(exit.Input); !strings.Contains(a.err.String(), `there is no event "node.wating"`) {
		t.Errorf("it said %s", &a.err)
	}
}

// What a run is at work on was not interrupted; once it is killed, it was.
func TestThePlanBesideARunSaysWhatRuns(t *testing.T) { // execution §2 "ralph plan shows all of this"
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	path := r.block()
	a := r.start()
	pid := r.blocked(path)
	r.says("plan", "▶ 1.1          running  implement #1: agent", "1 run, 1 running", fmt.Sprintf("ralph apply (process %d) is running: the next apply does what it leaves.", a.cmd.Process.Pid))
	r.says("plan --json", `"action": "running"`, fmt.Sprintf(`"at_work": %d`, a.cmd.Process.Pid))
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.wait()
	r.says("plan", "▷ 1.1          go on  interrupted", "To do it: ralph apply")
	_ = syscall.Kill(pid, syscall.SIGKILL)
	r.unblock(path)
	r.run(exit.Done)
}
