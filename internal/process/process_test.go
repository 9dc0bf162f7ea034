//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var env = []string{"PATH=" + os.Getenv("PATH")}

func sh(script string) Spec {
	return Spec{Argv: []string{"sh", "-c", script}, Env: env, Dir: os.TempDir(), Grace: 200 * time.Millisecond}
}

func TestRunTellsHowAProgramEnded(t *testing.T) {
	for name, c := range map[string]struct {
		spec Spec
		how  How
		code int
	}{
		"a program that ends well has code 0":          {sh("exit 0"), Exited, 0},
		"an exit code is kept":                         {sh("exit 7"), Exited, 7},
		"a program that kills itself was signaled":     {sh("kill -9 $$"), Signaled, 137},
		"a program that takes too long is timed out":   {with(sh("sleep 60"), func(s *Spec) { s.Time = 50 * time.Millisecond }), TimedOut, 0},
		"a program that says nothing is idle":          {with(sh("sleep 60"), func(s *Spec) { s.Idle = 50 * time.Millisecond }), Idled, 0},
		"a program that ignores SIGTERM is killed":     {with(sh("trap '' TERM; while :; do sleep 1; done"), func(s *Spec) { s.Time = 100 * time.Millisecond }), TimedOut, 0},
		"errors for the null device are discarded":     {with(sh("echo x >&2; exit 3"), func(s *Spec) { s.Stderr = os.DevNull }), Exited, 3},
		"one that leaves a child with its output ends": {sh("sleep 60 & exit 3"), Exited, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got.How != c.how || got.Code != c.code {
				t.Errorf("got how %d code %d, want how %d code %d", got.How, got.Code, c.how, c.code)
			}
		})
	}
}

func with(s Spec, change func(*Spec)) Spec { change(&s); return s }

func TestRunSaysWhatCannotBeStarted(t *testing.T) {
	for name, argv := range map[string][]string{
		"a name that is not on PATH":    {"no-such-program-here"},
		"a path that does not exist":    {"./nothing"},
		"a file that is not executable": {"/etc/passwd"},
		"no program at all":             nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), Spec{Argv: argv, Env: env, Dir: t.TempDir()})
			var not *NotStarted
			if !errors.As(err, &not) {
				t.Errorf("got %v, want *NotStarted", err)
			}
		})
	}
}

func TestCancelKillsDescendantsInSessionsOfTheirOwn(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	s := sh("setsid sh -c 'echo $$ > " + dir + "/pid.tmp; mv " + dir + "/pid.tmp " + dir + "/pid; while :; do sleep 1; done' & wait")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := Run(ctx, s); ended <- err }()
	pid := waitFile(t, filepath.Join(dir, "pid"))
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if p, ok := read(pid); ok {
		t.Errorf("process %d (parent %d) survives", pid, p.parent)
	}
}

func waitFile(t *testing.T, path string) int {
	t.Helper()
	for range time.Tick(5 * time.Millisecond) {
		b, err := os.ReadFile(path)
		if err == nil {
			n := 0
			for _, c := range strings.TrimSpace(string(b)) {
				n = n*10 + int(c-'0')
			}
			return n
		}
		if t.Context().Err() != nil {
			t.Fatal("the file never came")
		}
	}
	return 0
}

func TestSweepFindsProcessesByTheirMark(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	s := sh("echo $$ > " + dir + "/pid.tmp; mv " + dir + "/pid.tmp " + dir + "/pid; while :; do sleep 1; done")
	s.Env = append(s.Env, "RALPH_TEST_MARK="+dir+"/x")
	ended := make(chan Result, 1)
	go func() { r, _ := Run(context.Background(), s); ended <- r }()
	waitFile(t, filepath.Join(dir, "pid"))
	for Sweep(dir+"/", "RALPH_OTHER", "RALPH_TEST_MARK") == 0 { // the program has not said its mark yet
	}
	if r := <-ended; r.How != Signaled || r.Signal != syscall.SIGKILL {
		t.Errorf("got %+v, want a kill", r)
	}
}

// A program that is being started says its mark only then: it is waited for in the group of
// one that was killed.
func TestASweepWaitsForWhatIsBeingStarted(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no /proc")
	}
	dir := t.TempDir()
	mark := "RALPH_TEST_MARK=" + dir + "/x"
	start := func(group int, env []string, line string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Setpgid: true, Pgid: group}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	first := start(0, []string{mark}, "while :; do sleep 1; done")
	late := start(first.Process.Pid, []string{}, "sleep 0.5; exec env "+mark+" sleep 100")
	for Sweep(dir+"/", "RALPH_TEST_MARK") == 0 { // the first one has not said its mark yet
	}
	for _, cmd := range []*exec.Cmd{first, late} {
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Errorf("%s lives after the sweep", cmd)
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

func TestOutputIsCutInTheMiddle(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := sh("yes start | head -c 500000; echo END")
	s.Stdout, s.Cap = out, 1000
	if _, err := Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1100 || !strings.HasPrefix(string(b), "start\n") || !strings.HasSuffix(string(b), "END\n") || !strings.Contains(string(b), "left out") {
		t.Errorf("got %d bytes: %.60q … %.60q", len(b), b, b[max(0, len(b)-60):])
	}
	tail, err := Tail(out, 20)
	if err != nil || !strings.HasSuffix(tail, "END\n") || strings.HasPrefix(tail, "tart") {
		t.Errorf("tail %q, %v", tail, err)
	}
}

func TestTextIsHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":            "plain\n",
		"\x1b[31mred\x1b[0m": "red",
		"\x1b]0;title\x07x":  "x",
		"a\x00b\rc":          "abc",
		"\u202Eevil":         "evil",
		"\xff\xfe":           "\uFFFD",
		"ünï":                "ünï",
		"\x1b":               "",
		"a\x1bü":             "aü", // else it went on in the middle of a character
		"a\x1b\xff":          "a\uFFFD",
	} {
		if got := printable([]byte(in), false); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAProgramIsAskedToEndUnlessAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		atOnce bool
		want   string
	}{
		"it ends as it was asked":        {false, "asked"},
		"at once it writes nothing more": {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := sh("cd " + dir + "; trap 'printf asked > said; exit 0' USR1; trap 'printf term > said; exit 0' TERM; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 0.01; done")
			s.Grace = time.Minute
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			var pid int
			s.Ask = func() { _ = syscall.Kill(pid, syscall.SIGUSR1) }
			s.AtOnce = func() bool { return c.atOnce }
			go func() { _, err := Run(ctx, s); ended <- err }()
			pid = waitFile(t, filepath.Join(dir, "pid"))
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			got, err := os.ReadFile(filepath.Join(dir, "said"))
			if err != nil && !errors.Is(err, os.ErrNotExist) || string(got) != c.want {
				t.Errorf("it said %q, want %q (%v)", got, c.want, err)
			}
		})
	}
}

// TestWhoEndedInTimeIsNotTooLate: this process was stopped (Ctrl-Z) when the program
// ended, and goes on when its time is over. execution §4
func TestWhoEndedInTimeIsNotTooLate(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	f := join(ended.Process.Pid, "", nil)
	defer f.leave()
	if f.root.start == 0 {
		t.Skip("no /proc")
	}
	for p, ok := read(f.root.pid); ok && !p.dead; p, ok = read(f.root.pid) {
		time.Sleep(time.Millisecond)
	}
	done := make(chan error, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		done <- ended.Wait()
	}()
	var last atomic.Int64
	how, err := watch(t.Context(), Spec{Time: time.Nanosecond, Idle: time.Nanosecond}, f, time.Now(), &last, done)
	if how != Exited || err != nil {
		t.Errorf("got %v, %v", how, err)
	}
}
