//go:build amd64 || arm64

package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// bwrapped skips a test where bwrap makes no sandbox, and none is required.
func bwrapped(t *testing.T) wall.Spec {
	t.Helper()
	_, err := sandbox.Try(t.Context(), wall.Bwrap)
	if _, off := errors.AsType[*sandbox.Unavailable](err); off && !slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), "bwrap") {
		t.Skipf("SKIPPED: bwrap makes no sandbox on this machine: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wall.Spec{Kind: wall.Bwrap}
}

func TestBwrapEndsAProgramAsItEndsOutside(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	if out, res := sh(t, s, "echo said; echo so >&2; exit 7"); out != "said\nso" || res.How != process.Exited || res.Code != 7 {
		t.Errorf("exit 7: %q, %+v", out, res)
	}
	if _, res := sh(t, s, "kill -KILL $$"); res.How != process.Signaled || res.Signal != syscall.SIGKILL {
		t.Errorf("kill -KILL: %+v", res)
	}
	for want, argv := range map[string][]string{"0\n1\n2\n3": {"/bin/ls", "/proc/self/fd"}, "SigBlk:\t0000000000000000": {"/bin/grep", "SigBlk", "/proc/self/status"}} {
		if out, _, err := begin(t, s, process.Spec{Argv: argv}); out != want || err != nil {
			t.Errorf("it inherits descriptors, or blocked signals: %q, %v", out, err)
		}
	}
}

// What bwrap complains of is the error, and no matter of trying again.
func TestBwrapSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	s.Mounts = []wall.Mount{{From: t.TempDir(), At: "/etc/passwd"}}
	out, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}})
	if _, is := errors.AsType[*process.NotStarted](err); !is || !strings.Contains(err.Error(), "/etc/passwd") || !strings.Contains(err.Error(), "bwrap: ") || out != "" {
		t.Errorf("it says %v; the program's output has %q", err, out)
	}
}

func TestBwrapHandsOutPortsAndTerminals(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	reachesForwards(t, s, "127.0.0.1:4321")
	if os.Geteuid() == 0 {
		reachesForwards(t, s, "127.0.0.1:80") // it takes a capability
	} else {
		s.Forward = []wall.Forward{{At: "127.0.0.1:80", To: "127.0.0.1:1"}}
		if _, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}}); err == nil || !strings.Contains(err.Error(), "below 1024") {
			t.Errorf("a low port: %v", err)
		}
	}
	hasATerminal(t, wall.Bwrap)
}

func TestBwrapHoldsLimitsAndNests(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	s.Limits = wall.Limits{Tmp: 1 << 20, File: 2 << 20, Pids: 100}
	if out, _ := sh(t, s, "for d in /tmp /run /dev/shm; do dd if=/dev/zero of=$d/x bs=64k count=20 2>&1 | grep -c 'No space left'; done; dd if=/dev/zero of=file bs=64k count=64 2>/dev/null; wc -c < file"); out != "1\n1\n1\n2097152" {
		t.Errorf("it grew: %q", out)
	}
	const nests = "unshare -Ur true 2>/dev/null; echo $?"
	if out, _ := sh(t, s, nests); out != "1" {
		t.Errorf("it nests: %q", out)
	}
	s.Nest = true
	if out, _ := sh(t, s, nests); out != "0" {
		t.Errorf("it does not nest: %q", out)
	}
}

// Who asks a program to end asks the program: bwrap itself would only be killed by it.
func TestBwrapPassesOnThatItShallEnd(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	for _, alone := range []bool{true, false} {
		out, res, err := begin(t, s, process.Spec{
			Argv: []string{"/bin/sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done"}, Time: 2 * time.Second, Grace: 20 * time.Second, Alone: alone,
		})
		if err != nil || res.How != process.TimedOut || !strings.Contains(out, "asked") {
			t.Errorf("alone %v: %+v, %q, %v", alone, res, out, err)
		}
	}
}

func TestBwrapShowsOnlyWhatItsSpecNames(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	in := t.TempDir()
	for _, name := range []string{"read/a", "hidden/b", "deep/er/hidden.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(in, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in, name), []byte("it is "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Mounts = []wall.Mount{
		{From: in, Write: true},
		{At: filepath.Join(in, "hidden"), Cover: true},
		{At: filepath.Join(in, "deep/er/hidden.txt"), Cover: true},
		{At: filepath.Join(in, "nowhere"), Cover: true},
		{From: filepath.Join(in, "nowhere"), Optional: true},
		{From: filepath.Join(in, "read/a"), At: "/elsewhere/a"},
	}
	out, _ := sh(t, s, fmt.Sprintf("cd %s; cat read/a /elsewhere/a; ls -A hidden; cat deep/er/hidden.txt && echo empty; echo x > /elsewhere/a; mv deep moved; ls -A /; touch hidden/x /dev/x", in))
	for _, want := range []string{"it is read/ait is read/a", "empty", "/elsewhere/a: Read-only file system", "'deep' to 'moved': Device or resource busy", "'hidden/x': Read-only", "'/dev/x': Read-only"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	for _, not := range []string{"it is hidden", "it is deep", "home\n", "boot"} {
		if strings.Contains(out, not) {
			t.Errorf("%q in %q", not, out)
		}
	}
	s.Mounts = []wall.Mount{{From: filepath.Join(in, "nowhere")}}
	if _, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a mount that is missing: %v", err)
	}
}

// A link that a program plants in its home leads none of bwrap's mounts elsewhere, and one
// in what is only read stops them.
func TestBwrapFollowsNoPlantedLink(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	top := t.TempDir()
	outside := filepath.Join(top, "outside")
	s.Home = filepath.Join(top, "home")
	for _, dir := range []string{outside, s.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Mounts = []wall.Mount{{From: t.TempDir(), At: filepath.Join(os.Getenv("HOME"), "planted", "tree")}}
	sh(t, s, "cd && rmdir planted/tree; mv planted away; ln -s "+outside+" planted")
	if out, _ := sh(t, s, "ls ~/planted && echo there"); out != "tree\nthere" {
		t.Errorf("got %q", out)
	}
	if e, err := os.ReadDir(outside); err != nil || len(e) > 0 {
		t.Errorf("outside there is %v, %v", e, err)
	}
	if err := os.Symlink(outside, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	s.Mounts = []wall.Mount{{From: top}, {From: outside, At: filepath.Join(top, "link", "x")}}
	if _, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a mount on a link: %v", err)
	}
}

// Bwrap makes no overlays: what is downloaded is read, and what is built is private.
func TestBwrapLeavesCachesAlone(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	lower, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(lower, "theirs"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	line := "cd " + lower + "; cat theirs; echo mine > mine; ls"
	s.Caches = []wall.Cache{{Lower: lower, Upper: filepath.Join(dir, "a"), Downloads: true}}
	if out, _ := sh(t, s, line); !strings.HasPrefix(out, "theirs") || !strings.Contains(out, "Read-only") {
		t.Errorf("downloads: %q", out)
	}
	s.Caches = []wall.Cache{{Lower: lower, Upper: filepath.Join(dir, "b")}}
	if out, _ := sh(t, s, line); !strings.HasSuffix(out, "\nmine") {
		t.Errorf("what is built: %q", out)
	}
	if has, err := sandbox.Overlays(t.Context(), wall.Bwrap, dir); has || err != nil {
		t.Errorf("overlays: %v, %v", has, err)
	}
}

func TestNothingOutlivesBwrap(t *testing.T) {
	t.Parallel()
	s := bwrapped(t)
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The test kills bwrap, which it finds as the parent of process 1.
	ready, killed := make(chan struct{}), make(chan error, 1)
	go func() {
		<-ready
		killed <- killBwrap("7654")
	}()
	dir := t.TempDir()
	s.Name, s.Mounts = "test", []wall.Mount{{From: dir, Write: true}}
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", "(setsid sleep 7654 &); trap '' TERM; echo ready; sleep 7654"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir},
		Stdout: out, Stderr: out, Wall: sandbox.New(s), Tap: func(bool, []byte) { close(ready) },
	})
	if kerr := <-killed; kerr != nil || err != nil || res.How != process.Signaled {
		t.Fatalf("%v, %+v, %v", kerr, res, err)
	}
	for range 100 {
		if len(sleeping("7654")) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("these live: %v", sleeping("7654"))
}

// sleeping are the processes that sleep so long.
func sleeping(seconds string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, n := range names {
		if b, _ := os.ReadFile(n); string(b) == "sleep\x00"+seconds+"\x00" { // it may be gone
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(n)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// killBwrap kills the bwrap above a process that sleeps so long.
func killBwrap(seconds string) error {
	for range 200 {
		for _, pid := range sleeping(seconds) {
			for ; pid > 1; pid = parent(pid) {
				if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(b) == "bwrap\n" {
					return syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("there is no bwrap")
}

func parent(pid int) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "PPid:\t"); ok {
			n, _ := strconv.Atoi(rest)
			return n
		}
	}
	return 0
}
