package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// treeScript is a program with a tree of processes, all of which stay: in the
// background, with a child; in a session of its own, deaf to signals; without an
// environment; and an orphan in a session of its own.
const treeScript = `#!/bin/sh
export PIDS="$TOP/log/pids"
export STAY='echo $$ >> "$PIDS"; while :; do sleep 60; done'
sh -c "$STAY" &
setsid sh -c "trap '' TERM HUP INT; $STAY" &
env -i PATH="$PATH" PIDS="$PIDS" sh -c "$STAY" &
setsid env -i PATH="$PATH" PIDS="$PIDS" sh -c "$STAY" &
(setsid sh -c 'sh -c "$STAY" & exec sleep 0' &)
until [ "$(wc -l < "$PIDS")" -ge 5 ]; do sleep 0.1; done
sleep "${SEEN:-0}"
echo $$ >> "$PIDS"; mv "$PIDS" "$TOP/tree"
while :; do sleep 60; done
`

// growing is a site whose one sprint runs a tree of processes somewhere.
func growing(t *testing.T, work string, change func(e *ir.Epic)) *site {
	t.Helper()
	top := t.TempDir()
	s := newSite(t, work, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Run.Worktree.Env = map[string]string{"TOP": top}
		if change != nil {
			change(e)
		}
	}), top)
	s.write("../bin/tree", treeScript)
	s.write("../log/pids", "")
	if err := os.Chmod(s.file("../bin/tree"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// grown waits until it stands, and returns the numbers of its processes.
func (s *site) grown() []int {
	s.t.Helper()
	s.until("the tree of processes", func() bool { _, err := os.Stat(s.file("../tree")); return err == nil })
	var out []int
	for line := range strings.Lines(s.read("../tree")) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, pid)
	}
	return out
}

// left are those that live, and everything that carries the site's mark.
func (s *site) left(pids []int) []int {
	var out []int
	for _, pid := range pids {
		if alive(pid) {
			out = append(out, pid)
		}
	}
	return append(out, s.processes()...)
}

// guards are the guards of a ralph.
func guards(ralph int) []int {
	var out []int
	table, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range table {
		b, _ := os.ReadFile(file)
		if strings.Contains(string(b), fmt.Sprintf("\x00guard-processes\x00%d-", ralph)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out = append(out, pid)
		}
	}
	return out
}

// treeSites are the places where a run starts programs.
var treeSites = map[string]struct {
	work   string
	change func(e *ir.Epic)
}{
	"an agent": {work: `"$TOP/bin/tree"`},
	"an agent, seen by the heartbeat": {work: `
		(setsid env -i PATH="$PATH" PIDS="$TOP/log/pids" sh -c 'sh -c "echo \$\$ >> \"\$PIDS\"; while :; do sleep 60; done" & sleep 3' &)
		SEEN=2.5 "$TOP/bin/tree"`},
	"a gate": {change: func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run = `test -e out-$RALPH_NODE.txt || exit 1; "$TOP/bin/tree"`
		e.Gates["check"] = g
	}},
	"preflight": {change: func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run, g.Baseline = `"$TOP/bin/tree"`, "green"
		e.Gates["check"] = g
	}},
	"setup": {change: func(e *ir.Epic) { e.Run.Worktree.Setup = []string{`"$TOP/bin/tree"`} }},
	"an agent's gate": {change: func(e *ir.Epic) {
		e.Runners["qa"] = ir.Runner{Kind: "command", Run: []string{"sh", "-c", `"$TOP/bin/tree"`}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
		e.Agents["qa"] = ir.Agent{Runner: "qa", Access: "read"}
		e.Gates["qa"] = ir.Gate{Kind: "agent", From: "policy", Agent: "qa", Access: "read", Prompt: []string{"Try it."}, OnFailure: "retry", TimeoutMS: 60_000}
		e.Nodes[0].Steps[0].Gates = []string{"qa"}
	}},
}

// TestNothingOutlivesARalphThatIsKilled: whatever a run had started is gone a second
// after kill -9, without another ralph.
func TestNothingOutlivesARalphThatIsKilled(t *testing.T) { // N6, C3, C5, execution §8
	t.Parallel()
	for name, c := range treeSites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var took, bound time.Duration
			for k := 0; k < 3 && took >= bound; k++ { // a machine with other work adds to it
				s := growing(t, c.work, c.change)
				took = outlived(t, s)
				began := time.Now()
				s.ralph("version")
				bound = max(time.Second, 10*time.Since(began)) // ten starts are less, unless it is busy
			}
			if took >= bound {
				t.Errorf("N6: the last process was gone after %s, and not %s", took, bound)
			}
		})
	}
}

// outlived is how long something outlives an apply that is killed.
func outlived(t *testing.T, s *site) time.Duration {
	t.Helper()
	a := s.start("apply")
	pids := s.grown()
	ralph := a.cmd.Process.Pid
	if g := guards(ralph); len(g) != 1 {
		t.Errorf("%d guards are at work, want one", len(g))
	}
	a.signal(syscall.SIGKILL)
	killed := time.Now()
	a.wait()
	s.until("the end of the last process", func() bool { return len(s.left(pids)) == 0 })
	took := time.Since(killed)
	s.until("the end of the guard", func() bool { return len(guards(ralph)) == 0 })
	return took
}

// TestTheGuardGoesWithRalph: no guard stays when ralph ends as it should, Ctrl-C in a
// terminal does not end the guard, and it keeps nothing open that ralph was given.
func TestTheGuardGoesWithRalph(t *testing.T) { // execution §8
	t.Parallel()
	s := newSite(t, holdingWork, executortest.Epic([]string{"1.1"}))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := s.begin(func(a *starting) {
		a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		a.cmd.ExtraFiles = []*os.File{w}
	}, "apply", "--grace", "1h")
	_ = w.Close()
	s.at("1.1")
	ralph := a.cmd.Process.Pid
	all := guards(ralph)
	if len(all) != 1 {
		t.Fatalf("%d guards are at work, want one", len(all))
	}
	s.until("a guard that holds nothing open", func() bool { // it has only just begun
		fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", all[0]))
		held := 0
		for _, fd := range fds {
			to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", all[0], fd.Name()))
			if fd.Name() != "0" && to != "/dev/null" && !strings.HasPrefix(to, "anon_inode:") {
				held++
			}
		}
		return len(fds) > 0 && held == 0
	})
	if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", all[0])); cwd != "/" {
		t.Errorf("the guard is at work in %s", cwd)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", all[0])); err == nil {
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") {
				t.Log("the guard: " + strings.TrimSpace(line))
			}
		}
	}
	if err := syscall.Kill(-ralph, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.until("the drain", func() bool {
		for _, e := range s.events() {
			if e.Kind() == "run.draining" {
				return true
			}
		}
		return false
	})
	if g := guards(ralph); len(g) != 1 || g[0] != all[0] {
		t.Errorf("Ctrl-C of the terminal changed the guard: %v, then %v", all, g)
	}
	s.write("../go.1.1", "")
	a.wait()
	if g := guards(ralph); len(g) != 0 {
		t.Errorf("guards %v stay behind", g)
	}
}

// TestAnAgentKillsTheGuard: it is started again, that is said once, and it knows what
// the one before it knew.
func TestAnAgentKillsTheGuard(t *testing.T) { // N6, execution §8
	t.Parallel()
	s := growing(t, `"$TOP/bin/tree"`, nil)
	a := s.start("apply")
	pids := s.grown()
	ralph := a.cmd.Process.Pid
	for range 3 {
		was := guards(ralph)
		if len(was) != 1 {
			t.Fatalf("%d guards are at work, want one", len(was))
		}
		_ = syscall.Kill(was[0], syscall.SIGTERM) // which it does not heed
		_ = syscall.Kill(was[0], syscall.SIGKILL)
		s.until("another guard", func() bool { g := guards(ralph); return len(g) == 1 && g[0] != was[0] })
	}
	g := guards(ralph)
	_ = syscall.Kill(g[0], syscall.SIGSTOP)
	s.until("a guard that goes on", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g[0]))
		return strings.Contains(string(stat), ") S ")
	})
	_ = syscall.Kill(g[0], syscall.SIGSTOP) // and ralph has no time to wake it
	a.signal(syscall.SIGKILL)
	got := a.wait()
	s.until("the end of the last process", func() bool { return len(s.left(pids)) == 0 })
	if n := strings.Count(got.err, "was itself killed"); n != 1 {
		t.Errorf("it was said %d times that the guard was killed, want once:\n%s", n, got.err)
	}
}

// TestStatusNamesSurvivors: ralph and its guard are killed together.
func TestStatusNamesSurvivors(t *testing.T) { // N6, execution §8
	t.Parallel()
	s := growing(t, `"$TOP/bin/tree"`, nil)
	a := s.start("apply")
	pids := s.grown()
	ralph := a.cmd.Process.Pid
	if out := s.ralph("status"); strings.Contains(out.out, "left by the killed run") {
		t.Errorf("processes of a run that is at work are called survivors:\n%s", out.out)
	}
	g := guards(ralph)
	if len(g) != 1 {
		t.Fatalf("%d guards are at work, want one", len(g))
	}
	a.signal(syscall.SIGSTOP) // nobody starts another
	_ = syscall.Kill(g[0], syscall.SIGKILL)
	a.signal(syscall.SIGKILL)
	a.wait()
	out := s.ralph("status")
	line := fmt.Sprintf("process %d (sh), agent of bd-1-1/implement-1, since ", pids[len(pids)-1])
	if !strings.Contains(out.out, line) || !strings.Contains(out.out, "ralph apply ends them first; without it: kill -KILL ") {
		t.Errorf("status does not say %q:\n%s", line, out.out)
	}
	var seen struct {
		Run struct{ Survivors []record.SurvivorJSON }
	}
	if err := json.Unmarshal([]byte(s.ralph("status", "--json").out), &seen); err != nil {
		t.Fatal(err)
	}
	named := map[int]bool{}
	for _, j := range seen.Run.Survivors {
		named[j.PID] = true
		if age := time.Since(*j.Since); age < -2*time.Second || age > time.Minute {
			t.Errorf("process %d is at work since %s", j.PID, j.Since)
		}
	}
	for _, pid := range pids {
		if env, err := readAll(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && strings.Contains(string(env), "RALPH_OUTCOME=") && !named[pid] {
			t.Errorf("process %d is not named: %v", pid, seen.Run.Survivors)
		}
	}
	_, kill, _ := strings.Cut(out.out, "without it: ")
	kill, _, _ = strings.Cut(kill, "\n")
	if _, err := exec.Command("sh", "-c", kill).CombinedOutput(); err != nil {
		t.Errorf("%s: %v", kill, err)
	}
	s.until("their end", func() bool { return len(s.processes()) == 0 })
	if out := s.ralph("status"); strings.Contains(out.out, "left by the killed run") {
		t.Errorf("they are gone and still named:\n%s", out.out)
	}
}
