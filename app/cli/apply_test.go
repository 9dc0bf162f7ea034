//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// applyRepo is a repository with an epic.json and an agent that writes a file
// for each sprint; where the file ../block exists, it says so in ../blocked and
// hangs.
type applyRepo struct {
	t   *testing.T
	dir string
}

const agentScript = `#!/bin/sh
set -eu
if [ -e "$BLOCK" ]; then
	echo $$ > "$BLOCK.tmp" && mv "$BLOCK.tmp" "$BLOCK.pid"
	while :; do sleep 1; done
fi
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -s "$RALPH_FEEDBACK" ]; then echo fixed >> "out-$RALPH_NODE.txt"; fi
`

// newApplyRepo makes a repository with an epic. A short run skips the test, as newSite does.
func newApplyRepo(t *testing.T, epic *ir.Epic) *applyRepo {
	t.Helper()
	if testing.Short() {
		t.Skip("real processes")
	}
	temptest.Pin(t.Cleanup)
	top := t.TempDir()
	r := &applyRepo{t: t, dir: filepath.Join(top, "project")}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.write("agent.sh", agentScript)
	if err := os.Chmod(filepath.Join(r.dir, "agent.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.epic(epic)
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "Test User")
	r.git("config", "user.email", "test@example.org")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	return r
}

// epic writes epic.json.
func (r *applyRepo) epic(epic *ir.Epic) {
	r.t.Helper()
	runner := epic.Runners["sh"]
	runner.Set = map[string]string{"BLOCK": filepath.Join(filepath.Dir(r.dir), "block")}
	epic.Runners["sh"] = runner
	ir.Seal(epic)
	b, err := ir.Encode(epic)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("epic.json", string(b))
}

func (r *applyRepo) write(path, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, path), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *applyRepo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// apply is a started `ralph apply`.
type apply struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

func (r *applyRepo) start(args ...string) *apply {
	r.t.Helper()
	a := &apply{cmd: exec.Command("ralph", append([]string{"apply"}, args...)...)}
	a.cmd.Dir, a.cmd.Stdout, a.cmd.Stderr = r.dir, &a.out, &a.err
	if err := a.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	return a
}

func (a *apply) wait() int {
	var exit *exec.ExitError
	if err := a.cmd.Wait(); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// run runs apply to its end and expects an exit code.
func (r *applyRepo) run(want int, args ...string) *apply {
	r.t.Helper()
	a := r.start(args...)
	if got := a.wait(); got != want {
		r.t.Fatalf("ralph apply %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, want, &a.out, &a.err)
	}
	return a
}

func (r *applyRepo) block() string {
	path := filepath.Join(filepath.Dir(r.dir), "block")
	r.write("../block", "")
	return path
}

// blocked waits until an agent hangs and returns its process.
func (r *applyRepo) blocked(path string) int {
	r.t.Helper()
	for end := time.Now().Add(patience); r.t.Context().Err() == nil && time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if b, err := os.ReadFile(path + ".pid"); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				r.t.Fatal(err)
			}
			return pid
		}
	}
	r.t.Fatal("no agent came")
	return 0
}

func (r *applyRepo) unblock(path string) {
	r.t.Helper()
	if err := errors.Join(os.Remove(path), os.Remove(path+".pid")); err != nil {
		r.t.Fatal(err)
	}
}

func diamondEpic() *ir.Epic {
	return executortest.Epic([]string{"1.1", "1.2a: 1.1", "1.2b: 1.1", "1.3: 1.2a 1.2b"}, func(e *ir.Epic) {
		e.Epic.Integration.Gates = []string{"check"}
		g := e.Gates["check"]
		g.Run = `test "$RALPH_NODE" != 1.2b || grep -q fixed out-1.2b.txt`
		e.Gates["check"] = g
	})
}

func TestApplyRunsAnEpicInRealWorktrees(t *testing.T) { // S0-56, S2-18, S2-19, S2-20, S2-27, S2-28, S4-58
	t.Parallel()
	r := newApplyRepo(t, diamondEpic())
	a := r.run(exit.Done)
	for _, want := range []string{
		"1.2b  ✗ implement #1: gate check: fail: exit code 1\n", "1.2b  ↻ implement #2: again, with feedback",
		"4 of 4 sprints done", "git merge ralph/x/integration",
	} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &a.out)
		}
	}
	if got := r.git("ls-tree", "--name-only", "ralph/x/integration"); got != "agent.sh\nepic.json\nout-1.1.txt\nout-1.2a.txt\nout-1.2b.txt\nout-1.3.txt" {
		t.Errorf("the result holds %q", got)
	}
	if got := r.git("status", "--porcelain") + r.git("symbolic-ref", "HEAD"); got != "refs/heads/main" {
		t.Errorf("the checkout is %q", got)
	}
	if again := r.run(exit.Done); strings.Contains(again.out.String(), "▶") {
		t.Errorf("something ran again:\n%s", &again.out)
	}
	runs, err := os.ReadFile(filepath.Join(r.dir, ".git/ralph/bd-epic/runs.jsonl"))
	if err != nil || bytes.Count(runs, []byte("\n")) != 2 || bytes.Count(runs, []byte(`"outcome":"done","trace":"bd-epic:`)) != 2 { // S4-120, S4-121, S4-122
		t.Errorf("runs.jsonl: %v\n%s", err, runs)
	}
}

func TestApplyGoesOnAfterKill9(t *testing.T) { // L0-12, S2-15, S2-37, S2-44
	t.Parallel()
	calm := newApplyRepo(t, diamondEpic())
	calm.run(exit.Done)
	want := calm.git("rev-parse", "ralph/x/integration^{tree}")

	r := newApplyRepo(t, diamondEpic())
	r.epic(diamondEpic())
	path := r.block()
	a := r.start()
	agent := r.blocked(path)
	if b := r.run(exit.Input); !strings.Contains(b.err.String(), "another ralph is at work on this epic: process "+strconv.Itoa(a.cmd.Process.Pid)) {
		t.Errorf("a second apply said %s", &b.err)
	}
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.wait()
	r.unblock(path)
	b := r.run(exit.Done)
	if !strings.Contains(b.err.String(), "was killed; resuming") {
		t.Errorf("it said %s", &b.err)
	}
	if alive(agent) {
		t.Errorf("the killed ralph's agent (process %d) is still at work", agent)
	}
	tree := r.git("rev-parse", "ralph/x/integration^{tree}")
	if got, want := r.git("ls-tree", "-r", tree, "--name-only"), calm.git("ls-tree", "-r", want, "--name-only"); got != want {
		t.Errorf("the result holds %q, want %q", got, want)
	}
	if n := r.git("rev-list", "--count", "main..ralph/x/integration"); n != calm.git("rev-list", "--count", "main..ralph/x/integration") {
		t.Errorf("%s commits", n)
	}
}

// alive reports whether a process runs; one that only waits to be reaped by a
// stranger does not.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestApplyIsInterruptedTwice(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, diamondEpic())
	path := r.block()
	a := r.start("--grace", "1h")
	agent := r.blocked(path)
	for range 2 {
		if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		// The second one must not be merged into the first by the system.
		for range time.Tick(5 * time.Millisecond) {
			b, err := os.ReadFile(filepath.Join(r.dir, ".git/ralph/bd-epic/journal.db-wal"))
			if err != nil || bytes.Contains(b, []byte("run.draining")) {
				break
			}
		}
	}
	if code := a.wait(); code != exit.Interrupted {
		t.Errorf("exit %d, want %d\n%s%s", code, exit.Interrupted, &a.out, &a.err)
	}
	if alive(agent) {
		t.Error("the agent is still at work")
	}
	for _, want := range []string{"running attempts may continue until", "interrupted again: stopping what runs", "1.1   interrupted: in implement #1", "To continue: ralph apply"} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &a.out)
		}
	}
	r.unblock(path)
	if b := r.run(exit.Done); !strings.Contains(b.out.String(), "1.1   ▷ goes on") {
		t.Errorf("it said\n%s", &b.out)
	}
}

func TestApplyPrintsEventsForPrograms(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	a := r.run(exit.Done, "--events", "jsonl")
	seq := int64(0)
	sc := bufio.NewScanner(&a.out)
	for sc.Scan() {
		var e executor.Event
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", sc.Text(), err)
		}
		if seq++; e.Seq != seq {
			t.Errorf("event %d after %d", e.Seq, seq-1)
		}
	}
	if seq < 10 || !strings.Contains(a.err.String(), "1 of 1 sprint done") {
		t.Errorf("%d events; the account says %s", seq, &a.err)
	}
}

func TestApplyEndsWithWhatIsNotDone(t *testing.T) { // S0-57
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2: 1.1", "2.1"})
	g := e.Gates["check"]
	g.Run, g.OnFailure = `test "$RALPH_NODE" != 1.1`, "stop"
	e.Gates["check"] = g
	r := newApplyRepo(t, e)
	a := r.run(exit.NotDone)
	for _, want := range []string{"1.1  blocked: gate check said stop", "1.2  pending: needs 1.1 (blocked)", "1.1 (blocked):", `ralph retry 1.1 -m "a hint"`, "1 of 3 sprints done"} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &a.out)
		}
	}
	g.Run = "true"
	e.Gates["check"] = g
	r.epic(e)
	if a = r.run(exit.NotDone); strings.Contains(a.out.String(), "1.1  ▶") {
		t.Errorf("a stopped sprint was tried again by itself:\n%s", &a.out)
	}
	r.run(exit.Done, "--rerun", "1.1")
}

func TestApplyTellsWhatAnAgentSaidAndWhereToLook(t *testing.T) {
	t.Parallel()
	e := executortest.Epic([]string{"1.1a", "1.1b"}, func(e *ir.Epic) {
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Limits.Attempts = 1
		}
		e.Runners["sh"] = ir.Runner{
			Kind: "command", Prompt: "stdin", Env: []string{"PATH"}, Outcome: "optional",
			Run: []string{"sh", "-c", `printf 'no key \033[31mfound\n'; if [ $RALPH_NODE = 1.1a ]; then exit 7; fi; no-such-tool-here`},
		}
	})
	r := newApplyRepo(t, e)
	a := r.run(exit.NotDone)
	top, err := filepath.EvalSymlinks(filepath.Dir(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1.1a  ✗ implement #1: the agent ended with exit code 7: no key", "found\n",
		"  worktree: " + top + "/project-worktrees/ralph/x/1-1a\n  output:   " + top + "/project/.git/ralph/bd-epic/attempts/bd-1-1a/implement-1\n",
		"1.1b  ? waits for a person (configuration): agent dev cannot run: exit code 127: ", "no-such-tool-here",
		"1.1b (waiting: configuration):\n  ralph retry 1.1b   once what it names is fixed",
	} {
		if !strings.Contains(a.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &a.out)
		}
	}
	if strings.Contains(a.out.String(), "\x1b") || strings.Count(a.out.String(), "exit code 127") != 2 {
		t.Errorf("it printed\n%q", &a.out)
	}
}

func TestApplyRefusesAllAtOnceWhatItCannotDo(t *testing.T) {
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2"})
	e.Run.Worktree.Submodules = true
	e.Sandboxes = map[string]ir.Sandbox{"box": {Kind: "seatbelt"}}
	e.Nodes[0].Steps[0].Sandbox = "box"
	r := newApplyRepo(t, e)
	a := r.run(exit.Input)
	for _, want := range []string{"submodules", `sandbox "box" of kind seatbelt: write kind = "auto"`, ": 1.1\n", "Nothing was started"} {
		if !strings.Contains(a.err.String(), want) {
			t.Errorf("the refusal lacks %q:\n%s", want, &a.err)
		}
	}
	if got := r.git("for-each-ref", "refs/ralph") + r.git("branch", "--list", "ralph/*"); got != "" {
		t.Errorf("refs were made: %s", got)
	}
}

func TestApplyRefusesProgramsAndDeadlinesBeforeAnythingRuns(t *testing.T) { // S3-15, execution §4
	t.Parallel()
	e := executortest.Epic([]string{"1.1", "1.2"})
	g := e.Gates["check"]
	g.Run = "FOO=1 no-such-linter-here --all"
	e.Gates["check"] = g
	r := newApplyRepo(t, e)
	if a := r.run(exit.Input); !strings.Contains(a.err.String(), "gate check: ") || !strings.Contains(a.err.String(), "no-such-linter-here") {
		t.Errorf("it said %s", &a.err)
	}
	g.Run = "true"
	e.Gates["check"] = g
	for _, past := range []string{"2020-01-01", "2020-01-02T15:04Z", "2020-01-02T15:04:00Z"} {
		e.Nodes[1].Limits.Deadline = past
		r.epic(e)
		if a := r.run(exit.Input); !strings.Contains(a.err.String(), "deadlines are in the past:\n  - 1.2: "+past+"\n") {
			t.Errorf("%s: it said %s", past, &a.err)
		}
	}
	e.Nodes[1].Limits.Deadline = "2999-01-01"
	r.epic(e)
	r.run(exit.Done)
}

func TestApplyUsage(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, executortest.Epic([]string{"1.1"}))
	for want, args := range map[string][]string{
		"--parallel -1: write a number from 1":   {"--parallel=-1"},
		"--events xml: write jsonl or beadsmith": {"--events", "xml"},
		"there is no sprint 1.l":                 {"--only", "1.l"},
	} {
		if a := r.run(exit.Usage, args...); !strings.Contains(a.err.String(), want) {
			t.Errorf("%v: %s", args, &a.err)
		}
	}
}
