package sandbox_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// groups is where sandboxes get groups. The test is skipped where this machine makes none,
// unless RALPH_SANDBOX_REQUIRE names groups.
func groups(t *testing.T) string {
	t.Helper()
	base, err := group.Base(t.Context(), group.Memory, group.CPU, group.Pids)
	switch {
	case err == nil:
	case slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), "groups"):
		t.Fatal(err)
	default:
		t.Skipf("SKIPPED: no groups on this machine: %v", err)
	}
	return base
}

// inGroup are the groups of sandboxes.
func inGroup(t *testing.T, base string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(base, "ralph-*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func kinds(t *testing.T, f func(t *testing.T, kind wall.Kind)) {
	t.Helper()
	for _, kind := range wall.Confining {
		t.Run(string(kind), func(t *testing.T) {
			if kind == wall.Bwrap {
				bwrapped(t)
			}
			f(t, kind)
		})
	}
}

// eats takes more memory than any test allows: the end of a line that has none.
const eats = "head -c 2000000000 /dev/zero | tail > /dev/null; echo it lives"

func TestAMemoryLimitEndsTheSandboxAlone(t *testing.T) { // S0-153
	base := groups(t)
	kinds(t, func(t *testing.T, kind wall.Kind) {
		told := 0
		s := wall.Spec{Kind: kind, Groups: base, Limits: wall.Limits{Memory: 128 << 20}, OutOfMemory: func() { told++ }}
		out, res := sh(t, s, "(sleep 60 > /dev/null 2>&1 &); "+eats)
		if res.How != process.Signaled || res.Signal != syscall.SIGKILL || strings.Contains(out, "lives") || told != 1 {
			t.Errorf("%+v, %q, told %d times", res, out, told)
		}
		if out, res := sh(t, s, "echo fine; kill -9 $$"); out != "fine" || res.Signal != syscall.SIGKILL || told != 1 {
			t.Errorf("what kills itself: %+v, %q, told %d times", res, out, told)
		}
		out, res = sh(t, s, "dd if=/dev/zero of=/dev/shm/x bs=64k 2>&1; echo it lives") // files in memory count
		if res.Signal != syscall.SIGKILL || told != 2 {
			t.Errorf("/dev/shm: %+v, %q, told %d times", res, out, told)
		}
		if left := inGroup(t, base); len(left) > 0 {
			t.Errorf("groups are left: %q", left)
		}
	})
}

func TestAGroupHoldsProcessesAndProcessors(t *testing.T) {
	base := groups(t)
	kinds(t, func(t *testing.T, kind wall.Kind) {
		s := wall.Spec{Name: "test", Kind: kind, Groups: base, Limits: wall.Limits{Memory: 256 << 20, CPU: 150, Pids: 30}}
		seen := map[string]string{}
		out := filepath.Join(t.TempDir(), "out")
		_, err := process.Run(t.Context(), process.Spec{
			Argv: []string{"/bin/sh", "-c", "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all of them"}, Dir: "/",
			Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: out, Stderr: out, Wall: sandbox.New(s),
			Begun: func(process.Inside) {
				for _, dir := range inGroup(t, base) {
					for _, file := range []string{"memory.max", "memory.oom.group", "cpu.max", "pids.max", "memory.swap.max"} {
						b, _ := os.ReadFile(filepath.Join(dir, file)) // it is said to be missing below
						seen[file] = strings.TrimSpace(string(b))
					}
				}
			},
		})
		b, rerr := os.ReadFile(out)
		if err != nil || rerr != nil || strings.Contains(string(b), "all of them") {
			t.Errorf("60 processes: %q, %v, %v", b, err, rerr)
		}
		for file, want := range map[string]string{"memory.max": "268435456", "memory.oom.group": "1", "cpu.max": "150000 100000", "pids.max": "30"} {
			if seen[file] != want {
				t.Errorf("%s: %q, want %q", file, seen[file], want)
			}
		}
		if swap := seen["memory.swap.max"]; swap != "0" && swap != "" { // a kernel may have none
			t.Errorf("swap: %q", swap)
		}
	})
}

func TestALimitTooSmallToStartIsSaid(t *testing.T) {
	base := groups(t)
	kinds(t, func(t *testing.T, kind wall.Kind) {
		_, _, err := begin(t, wall.Spec{Kind: kind, Groups: base, Limits: wall.Limits{Memory: 1 << 20}}, process.Spec{Argv: []string{"/bin/true"}})
		if err == nil || !strings.Contains(err.Error(), "too little to start anything") {
			t.Errorf("%v", err)
		}
		if left := inGroup(t, base); len(left) > 0 {
			t.Errorf("groups are left: %q", left)
		}
	})
}

// TestGroupsOfAKilledRalphGo: its sandboxes end with it, and the next one removes what is left.
func TestGroupsOfAKilledRalphGo(t *testing.T) {
	base := groups(t)
	kinds(t, func(t *testing.T, kind wall.Kind) {
		cmd := exec.Command(os.Args[0], "linger", base, string(kind))
		cmd.Env = os.Environ()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "inside\n" {
			t.Fatalf("%q, %v", line, err)
		}
		left := inGroup(t, base)
		if len(left) != 1 {
			t.Fatalf("groups: %q", left)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		for begun := time.Now(); ; {
			b, err := os.ReadFile(filepath.Join(left[0], "cgroup.events"))
			if err != nil || strings.Contains(string(b), "populated 0") {
				break
			}
			if time.Since(begun) > 30*time.Second {
				t.Fatal("what was in the sandbox of a killed ralph runs on")
			}
		}
		groups(t)
		if left := inGroup(t, base); len(left) > 0 {
			t.Errorf("groups are left: %q", left)
		}
	})
}

// linger is a ralph with a sandbox whose program does not end.
func linger(base, kind string) {
	_, _ = process.Run(context.Background(), process.Spec{
		Argv: []string{"/bin/sh", "-c", "sleep 600"}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")},
		Wall:  sandbox.New(wall.Spec{Name: "test", Kind: wall.Kind(kind), Groups: base}),
		Begun: func(process.Inside) { _, _ = os.Stdout.WriteString("inside\n") },
	})
	os.Exit(1)
}

// TestALimitWithoutAGroupIsRefused: it would not hold.
func TestALimitWithoutAGroupIsRefused(t *testing.T) {
	for _, l := range []wall.Limits{{Memory: 1 << 30}, {CPU: 100}} {
		_, _, err := begin(t, wall.Spec{Limits: l}, process.Spec{Argv: []string{"/bin/true"}})
		if err == nil || !strings.Contains(err.Error(), "need a group") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}
