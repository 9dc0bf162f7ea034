package runnertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/runner"
)

// living describes the processes that live and carry a variable ("NAME=value"), or
// work in a directory or below it; each may be "".
func living(variable, dir string) []string {
	var out []string
	table, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range table {
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil || pid == os.Getpid() || !alive(pid) {
			continue
		}
		env, _ := os.ReadFile(p + "/environ")
		cwd, _ := os.Readlink(p + "/cwd")
		carries := variable != "" && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00"))
		within := dir != "" && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
		argv, _ := os.ReadFile(p + "/cmdline")
		if (carries || within) && len(argv) > 0 { // one without is about to be gone
			stat, _ := os.ReadFile(p + "/stat")
			_, rest, _ := strings.Cut(string(stat), ") ") // state, parent, group, session
			marked := bytes.Contains(env, []byte(runner.Mark+"="))
			out = append(out, fmt.Sprintf("%d in %s (%.40s, marked: %v): %.200s", pid, cwd, rest, marked, bytes.ReplaceAll(argv, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// alive reports whether a process is there and not dead.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(stat), ") ")
	return ok && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// dying reports whether a process was killed and is being taken down: its memory is gone.
// ralph's guard may have killed it, then nobody else waits for it.
func dying(pid int) bool {
	argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(argv) == 0 && alive(pid)
}

// tool is a command that writes the numbers of its processes into the file "pids",
// ignores what asks it to end, has a child in a session of its own, and never ends.
const tool = `trap '' HUP INT TERM; setsid sh -c 'echo $$ >> pids; while :; do sleep 1; done' & ` +
	`while ! test -s pids; do sleep 0.1; done; echo $$ >> pids; mv pids running; while :; do sleep 1; done`

// running waits for the tool, unless the turn is over before, and returns the
// numbers of its processes.
func (s *stage) running(t testing.TB, p *playing) []int {
	t.Helper()
	eventually(t, "the tool runs", func() (bool, string) {
		p.still(t)
		return s.has("running"), fmt.Sprintf("the model was asked %d times", len(s.requests()))
	})
	var out []int
	for line := range strings.Lines(s.file(t, "running")) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("the tool says it is process %q", line)
		}
		out = append(out, numbers(pid, s.dir)...)
	}
	return out
}

// numbers returns what a process that works in a directory is called here, whatever
// it calls itself: a program may run its tools in a namespace of their own. It is
// empty when there is no such process any more.
func numbers(itself int, dir string) []int {
	var out []int
	table, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range table {
		cwd, _ := os.Readlink(p + "/cwd")
		status, _ := os.ReadFile(p + "/status")
		_, names, _ := strings.Cut(string(status), "\nNSpid:")
		names, _, _ = strings.Cut(names, "\n")
		all := strings.Fields(names)
		pid, err := strconv.Atoi(filepath.Base(p))
		if err == nil && cwd == dir && len(all) > 0 && all[len(all)-1] == strconv.Itoa(itself) {
			out = append(out, pid)
		}
	}
	return out
}

// gone checks that nothing of a turn lives: neither these processes, nor any that
// works in the worktree.
func (s *stage) gone(t testing.TB, pids []int) {
	t.Helper()
	for _, pid := range pids {
		for end := time.Now().Add(5 * time.Second); dying(pid) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if alive(pid) {
			t.Errorf("process %d of the tool lives", pid)
		}
	}
	if left := living("", s.dir); len(left) > 0 {
		t.Errorf("processes work in the worktree:\n%s", strings.Join(left, "\n"))
	}
}

// programs are the processes that carry a variable, without these.
func programs(variable string, without []int) []int {
	var out []int
	for _, line := range living(variable, "") {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err == nil && !slices.Contains(without, pid) {
			out = append(out, pid)
		}
	}
	return out
}
