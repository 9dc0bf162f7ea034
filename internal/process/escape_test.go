//go:build linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stay is what an escaped process does: it says its number and lives on.
const stay = `exec sh "$dir/stay"`

// body writes the program that stays into dir.
func body(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "stay"), []byte("echo $$ > $dir/pid.tmp; mv $dir/pid.tmp $dir/pid; while :; do sleep 1; done"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// escapes are ways to outlive a kill of the process group. body stands for stay.
var escapes = map[string]string{
	"in the background":               `sh -c 'body' &`,
	"in a session of its own":         `setsid sh -c 'body' &`,
	"forked twice":                    `(setsid sh -c 'sh -c "body" & exec sleep 0' &)`,
	"ignoring signals":                `setsid sh -c 'trap "" HUP INT TERM QUIT; body' &`,
	"holding the output open":         `setsid nohup sh -c 'body' 2>&1 &`,
	"in a process group of its own":   `set -m; sh -c 'body' & set +m`,
	"without the environment":         `setsid env -i dir=$dir PATH=$PATH sh -c 'body' </dev/null >/dev/null 2>&1 &`,
	"as a daemon without anything":    `(cd / && setsid env -i dir=$dir PATH=$PATH sh -c 'sh -c "body" & exit' </dev/null >/dev/null 2>&1 &)`,
	"from a child that respawns it":   `setsid sh -c 'while :; do sh "$dir/stay"; done' &`,
	"in a thread behind its first":    `thread=$dir ` + os.Args[0] + ` &`,
	"in a thread, in a session":       `setsid env -i thread=$dir ` + os.Args[0] + ` </dev/null >/dev/null 2>&1 &`,
	"stopped, so that it cannot hear": `setsid sh -c 'echo $$ > $dir/pid.tmp; mv $dir/pid.tmp $dir/pid; kill -STOP $$; sleep 60' &`,
}

// With the variable thread this program ends its first thread and lives on in another:
// the process table calls it a zombie.
var _ = func() bool {
	dir := os.Getenv("thread")
	if dir == "" {
		return false
	}
	runtime.LockOSThread()
	go func() {
		_ = os.WriteFile(dir+"/pid.tmp", []byte(fmt.Sprint(os.Getpid())), 0o600)
		time.Sleep(20 * time.Millisecond) // the first thread is gone
		_ = os.Rename(dir+"/pid.tmp", dir+"/pid")
		for {
			time.Sleep(time.Second)
		}
	}()
	_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	return true
}()

// S3-28, S3-31, L3-03; execution §8: no survivor, whatever it does to get away.
func TestNothingSurvivesItsProgram(t *testing.T) {
	for name, escape := range escapes {
		for _, end := range []struct{ how, script string }{
			{"it ends", ""},
			{"it is killed", "; while :; do sleep 1; done"},
			{"it ignores SIGTERM and is killed", "; trap '' TERM; while :; do sleep 1; done"},
		} {
			t.Run(name+", "+end.how, func(t *testing.T) {
				dir := t.TempDir()
				body(t, dir)
				s := sh("dir=" + dir + "; export dir; " + strings.ReplaceAll(escape, "body", stay) + "\nwhile ! test -e $dir/pid; do sleep 0.01; done" + end.script)
				s.Env = append(s.Env, "HOME=/", "RALPH_TEST_MARK="+dir)
				s.Mark, s.Stdout = "RALPH_TEST_MARK", filepath.Join(dir, "out")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { _, err := Run(ctx, s); ended <- err }()
				pid := waitFile(t, filepath.Join(dir, "pid"))
				if end.script != "" {
					cancel()
				}
				if err := <-ended; (end.script != "") != errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				if b, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil { // it may have been started again
					_, _ = fmt.Sscan(string(b), &pid)
				}
				if p, ok := read(pid); ok && !p.dead {
					t.Errorf("process %d (parent %d, session %d) survives", pid, p.parent, p.session)
					signal(p, syscall.SIGKILL)
				}
			})
		}
	}
}

// What could belong to two programs is taken by the one that ends last.
func TestAStrayIsKilledByWhoeverEndsLast(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	other := make(chan error, 1)
	go func() {
		_, err := Run(ctx, sh("echo $$ > "+dir+"/other.tmp; mv "+dir+"/other.tmp "+dir+"/other; while :; do sleep 1; done"))
		other <- err
	}()
	waitFile(t, filepath.Join(dir, "other"))
	body(t, dir)
	s := sh("dir=" + dir + "; " + strings.ReplaceAll(escapes["as a daemon without anything"], "body", stay) + "\nwhile ! test -e $dir/pid; do sleep 0.01; done")
	if _, err := Run(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	pid := waitFile(t, filepath.Join(dir, "pid"))
	cancel()
	<-other
	if p, ok := read(pid); ok && !p.dead {
		t.Errorf("process %d survives both", pid)
		signal(p, syscall.SIGKILL)
	}
}

// execution §7, §8: the user's own processes, and helpers that git starts for
// ralph and leaves running, are not ours to kill.
func TestWhatIsNotOursIsNeverKilled(t *testing.T) {
	adopt()
	t.Setenv("HOME", "/")
	child := exec.Command("sleep", "300")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	dir := t.TempDir()
	body(t, dir)
	if err := exec.Command("sh", "-c", "dir="+dir+" setsid sh -c '"+stay+"' >/dev/null 2>&1 </dev/null &").Run(); err != nil {
		t.Fatal(err)
	}
	orphan := waitFile(t, filepath.Join(dir, "pid"))
	started, ok := read(orphan)
	if !ok {
		t.Fatal("the orphan is gone")
	}
	defer signal(started, syscall.SIGKILL)
	for range 3 {
		if _, err := Run(t.Context(), sh("setsid sleep 60 & exit 0")); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{child.Process.Pid, orphan} {
		if p, ok := read(pid); !ok || p.dead {
			t.Errorf("process %d was killed", pid)
		}
	}
	later := started
	later.start++ // the same number, given to another process
	if signal(later, syscall.SIGKILL) {
		t.Error("a process that only has the same number was signalled")
	}
	if p, ok := read(orphan); !ok || p.dead {
		t.Error("it is dead")
	}
}

func TestSweepTakesDescendantsWithoutTheMark(t *testing.T) {
	dir := t.TempDir()
	body(t, dir)
	cmd := exec.Command("sh", "-c", "dir="+dir+"; export dir; env -i dir=$dir PATH=$PATH sh -c '"+stay+"' & wait")
	cmd.Env = append(os.Environ(), "RALPH_TEST_MARK="+dir+"/x")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFile(t, filepath.Join(dir, "pid"))
	if n := Sweep(dir+"/", "RALPH_TEST_MARK"); n < 2 {
		t.Errorf("killed %d", n)
	}
	_ = cmd.Wait()
	if p, ok := read(pid); ok && !p.dead {
		t.Errorf("process %d survives", pid)
	}
}

// A server that a gate left running must not keep ralph waiting for its output.
func TestAHeldOutputHoldsNobodyUp(t *testing.T) { // S3-31
	s := sh("echo before; sleep 600 & echo after")
	s.Stdout = filepath.Join(t.TempDir(), "out")
	s.Time = 30 * time.Second
	got, err := Run(t.Context(), s)
	if err != nil || got.How != Exited || got.Code != 0 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if b, err := os.ReadFile(s.Stdout); err != nil || string(b) != "before\nafter\n" {
		t.Errorf("got %q, %v", b, err)
	}
}

// A program may end before anybody looked at it: what it started in a process group
// of its own is known by its mark.
func TestWhatAShortProgramLeavesIsKnownByItsMark(t *testing.T) { // S3-31
	for range 5 {
		dir := t.TempDir()
		s := sh("set -m; sh -c 'while :; do sleep 1; done' >/dev/null 2>&1 </dev/null &")
		s.Argv[0] = "bash" // others have no groups without a terminal
		s.Env, s.Mark = append(s.Env, "HOME=/", "RALPH_TEST_MARK="+dir), "RALPH_TEST_MARK"
		if _, err := Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, p := range marked(dir, []string{"RALPH_TEST_MARK"}) {
			t.Errorf("process %d (parent %d, group %d, session %d) survives", p.pid, p.parent, p.group, p.session)
			signal(p, syscall.SIGKILL)
		}
	}
}
