package sandbox_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// TestMain makes this binary a client, too: "dial ADDRESS" prints what is answered,
// "serve ADDRESS" answers.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "dial" {
		c, err := net.DialTimeout("tcp", os.Args[2], 5*time.Second)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = io.Copy(os.Stdout, c)
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "connect" {
		connected(os.Args[2])
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serve(os.Args[2])
	}
	if len(os.Args) == 2 && os.Args[1] == "sockets" {
		odd()
	}
	if len(os.Args) == 4 && os.Args[1] == "ralph" {
		asRalph(os.Args[2], os.Args[3])
	}
	if len(os.Args) == 4 && os.Args[1] == "linger" {
		linger(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// serve says hello to whoever connects, and that it listens.
func serve(at string) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("it listens")
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		_, _ = io.WriteString(c, "hello from inside")
		_ = c.Close()
	}
}

// begin runs a program in a sandbox and returns what it printed and how it ended.
func begin(t *testing.T, s wall.Spec, p process.Spec) (string, process.Result, error) {
	t.Helper()
	s.Name, s.Kind = "test", cmp.Or(s.Kind, wall.Namespaces)
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	s.Mounts = append([]wall.Mount{{From: p.Dir, Write: true}}, s.Mounts...)
	p.Stdout = filepath.Join(t.TempDir(), "out")
	p.Stderr = p.Stdout
	p.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, p.Env...)
	p.Wall = sandbox.New(s)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := process.Run(ctx, p)
	b, _ := os.ReadFile(p.Stdout) // it may not have begun
	return strings.TrimSpace(string(b)), res, err
}

// missing skips a test where this machine has no sandboxes, and none are required.
func missing(t *testing.T, err error) {
	t.Helper()
	if _, off := errors.AsType[*sandbox.Unavailable](err); off && !strings.Contains(os.Getenv("RALPH_SANDBOX_REQUIRE"), string(wall.Namespaces)) {
		t.Skipf("SKIPPED: no sandbox on this machine: %v", err)
	}
}

func sh(t *testing.T, s wall.Spec, line string) (string, process.Result) {
	t.Helper()
	out, res, err := begin(t, s, process.Spec{Argv: []string{"/bin/sh", "-c", line}})
	missing(t, err)
	if err != nil {
		t.Fatal(err)
	}
	return out, res
}

func TestAProgramEndsAsItDoesOutside(t *testing.T) {
	if out, res := sh(t, wall.Spec{}, "echo said; exit 7"); out != "said" || res.How != process.Exited || res.Code != 7 {
		t.Errorf("exit 7: %q, %+v", out, res)
	}
	if _, res := sh(t, wall.Spec{}, "kill -KILL $$"); res.How != process.Signaled || res.Signal != syscall.SIGKILL {
		t.Errorf("kill -KILL: %+v", res)
	}
	_, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{"/bin/sh", "-c", "true"}, Dir: "/"})
	if err == nil {
		t.Error("the root of the machine was mounted over the sandbox's")
	}
	// A program whose interpreter is not inside.
	missing := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(missing, []byte("#!"+filepath.Join(t.TempDir(), "none")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var not *process.NotStarted
	if _, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{missing}}); !errors.As(err, &not) {
		t.Errorf("a program that is not inside: %v", err)
	}
}

func TestASandboxShowsOnlyWhatItsSpecNames(t *testing.T) {
	outside := t.TempDir()
	for name, text := range map[string]string{"read/a": "a", "hidden/b": "b", "hidden.txt": "c"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(outside, "in", name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, "in", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := filepath.Join(outside, "in")
	s := wall.Spec{Mounts: []wall.Mount{
		{From: in},
		{At: filepath.Join(in, "hidden"), Cover: true},
		{At: filepath.Join(in, "hidden.txt"), Cover: true},
		{From: filepath.Join(outside, "nowhere"), Optional: true},
		{From: filepath.Join(in, "read/a"), At: "/elsewhere/a"},
	}}
	out, _ := sh(t, s, fmt.Sprintf("cd %s; cat read/a /elsewhere/a; ls hidden; cat hidden.txt; echo x > read/a; ls %s /root /home 2>/dev/null | head; id -u; cat /proc/1/environ", in, outside))
	for _, want := range []string{"aa", "Read-only file system"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	for _, not := range []string{"nowhere", "RALPH", "b\n", "c\n"} {
		if strings.Contains(out, not) {
			t.Errorf("%q in %q", not, out)
		}
	}
	s = wall.Spec{Mounts: []wall.Mount{{From: filepath.Join(outside, "nowhere")}}}
	if _, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a mount that is missing: %v", err)
	}
}

func TestWhatIsWrittenToACacheStaysAbove(t *testing.T) {
	lower, upper := t.TempDir(), filepath.Join(t.TempDir(), "upper")
	if err := os.WriteFile(filepath.Join(lower, "theirs"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := wall.Spec{Caches: []wall.Cache{{Lower: lower, Upper: upper}}}
	if out, _ := sh(t, s, fmt.Sprintf("cd %s; cat theirs; echo mine > theirs; echo new > new; rm -f theirs; ls", lower)); out != "theirsnew" {
		t.Errorf("the cache has %q", out)
	}
	if out, _ := sh(t, s, "ls "+lower); out != "new" {
		t.Errorf("later it has %q", out)
	}
	if b, err := os.ReadFile(filepath.Join(lower, "theirs")); err != nil || string(b) != "theirs" {
		t.Errorf("the user's: %q, %v", b, err)
	}
}

func TestNothingOutlivesItsSandbox(t *testing.T) {
	dir := t.TempDir()
	mark := fmt.Sprintf("sandboxed-%d", os.Getpid())
	line := fmt.Sprintf("(setsid sleep 1234 &) ; nohup sh -c 'exec -a %s sleep 1235' >/dev/null 2>&1 & env -i setsid sh -c 'sleep 1236 & sleep 1236' & sleep 0.2; echo begun", mark)
	out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{"/bin/sh", "-c", line}, Dir: dir})
	missing(t, err)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "begun") {
		t.Fatal(out)
	}
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, n := range names {
		b, _ := os.ReadFile(n) // it may be gone
		for _, left := range []string{"1234", "1235", "1236"} {
			if strings.HasPrefix(string(b), "sleep\x00"+left) {
				t.Errorf("%s lives: %q", n, b)
			}
		}
	}
}

func TestATimeoutAsksFirst(t *testing.T) {
	out, res, err := begin(t, wall.Spec{}, process.Spec{
		Argv: []string{"/bin/sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done"}, Time: time.Second, Grace: 5 * time.Second,
	})
	missing(t, err)
	if err != nil {
		t.Fatal(err)
	}
	if res.How != process.TimedOut || !strings.Contains(out, "asked") {
		t.Errorf("%+v, %q", res, out)
	}
}

func TestOnlyForwardedAddressesAreReached(t *testing.T) {
	reachesForwards(t, wall.Spec{}, "127.0.0.1:4321")
}

func reachesForwards(t *testing.T, s wall.Spec, at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hello"))
			_ = c.Close()
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.Mounts = []wall.Mount{{From: self}}
	s.Forward = []wall.Forward{{At: at, To: l.Addr().String()}}
	if out, _ := sh(t, s, self+" dial "+at); out != "hello" {
		t.Errorf("through: %q", out)
	}
	if out, _ := sh(t, s, self+" dial "+l.Addr().String()); !strings.Contains(out, "refused") {
		t.Errorf("past it: %q", out)
	}
}

func TestLimitsHold(t *testing.T) {
	s := wall.Spec{Limits: wall.Limits{Tmp: 1 << 20, File: 2 << 20, Pids: 100}}
	if out, _ := sh(t, s, "dd if=/dev/zero of=/tmp/x bs=64k count=20 2>&1"); !strings.Contains(out, "No space left") {
		t.Errorf("/tmp: %q", out)
	}
	if out, _ := sh(t, s, "dd if=/dev/zero of=file bs=64k count=64 2>&1; ls -l file"); !strings.Contains(out, " 2097152 ") {
		t.Errorf("the file grew: %q", out)
	}
	if out, _ := sh(t, s, "grep -E 'processes|core' /proc/self/limits | tr -s ' '"); !strings.Contains(out, "Max processes 100 100") || !strings.Contains(out, "core file size 0 0") {
		t.Errorf("processes, core: %q", out)
	}
}

func TestTryRunsAProgram(t *testing.T) {
	took, err := sandbox.Try(context.Background(), wall.Namespaces)
	missing(t, err)
	if err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
}

// The terminal is the sandbox's own: it has a name inside, a size, and programs can be
// interrupted from it.
func TestAProgramInsideHasATerminal(t *testing.T) { hasATerminal(t, wall.Namespaces) }

func hasATerminal(t *testing.T, kind wall.Kind) {
	t.Helper()
	dir := t.TempDir()
	said := make(chan string, 1)
	x := sandbox.Terminal{Columns: 91, Rows: 17, Lead: func(leader *os.File) {
		go func() {
			defer leader.Close()
			_, _ = leader.WriteString("typed\n") // else the test tells
			var all []byte
			b := make([]byte, 4096)
			for {
				n, err := leader.Read(b)
				if err != nil { // nobody is inside any more
					said <- string(all)
					return
				}
				if all = append(all, b[:n]...); strings.HasSuffix(string(all), "ready\r\n") {
					_, _ = leader.WriteString("\x03")
				}
			}
		}()
	}}
	line := `read line; echo "got $line"; tty; stty size; ls /dev/pts; echo ready; while :; do sleep 0.05; done`
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", "trap 'echo interrupted; exit 3' INT; " + line}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")},
		Wall: sandbox.New(wall.Spec{Name: "test", Kind: kind, Mounts: []wall.Mount{{From: dir, Write: true}}}).With(x),
	})
	if _, off := errors.AsType[*sandbox.Unavailable](err); off {
		t.Skipf("SKIPPED: no sandbox on this machine: %v", err)
	}
	if err != nil || res.Code != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	out := <-said
	wants := []string{"got typed", "17 91", "interrupted"}
	if !kind.InPlace() { // else it is one of the machine's
		wants = append(wants, "/dev/pts/0")
	}
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if !kind.InPlace() && strings.Contains(out, "/dev/pts/1") {
		t.Errorf("there are other terminals: %q", out)
	}
}

// A program is often a link from a directory of PATH to where its version lies.
func TestALinkedProgramOfPathRuns(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	bin, versions := filepath.Join(top, "user", "bin"), filepath.Join(top, "user", "versions")
	for _, dir := range []string{bin, versions} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(versions, "1.2.3"), []byte("#!/bin/sh\necho this is 1.2.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(bin, "tool")
	if err := os.Symlink("../versions/1.2.3", tool); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bin, "/usr/bin"} {
		out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{tool}, Env: []string{"PATH=" + path}})
		missing(t, err)
		if err != nil || out != "this is 1.2.3" {
			t.Errorf("with PATH=%s: %q, %v", path, out, err)
		}
	}
}

// A sandbox that cannot be made as it is asked for is no matter of trying again.
func TestASandboxThatCannotBeMadeSaysSo(t *testing.T) {
	t.Parallel()
	_, _, err := begin(t, wall.Spec{Mounts: []wall.Mount{{From: "/nowhere/at/all"}}}, process.Spec{Argv: []string{"/bin/true"}})
	missing(t, err)
	if _, is := errors.AsType[*process.NotStarted](err); !is || !strings.Contains(err.Error(), "/nowhere/at/all") {
		t.Errorf("it says %v", err)
	}
}

// PATH may name what this user cannot read, after su.
func TestADirectoryOfPathThatIsClosedIsLeftOut(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: nothing is closed to root")
	}
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "closed", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(top, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(top, "closed"), 0o700) }) // so that it can be removed
	out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{"/bin/sh", "-c", "echo it runs"}, Env: []string{"PATH=" + filepath.Join(top, "closed", "bin") + ":/usr/bin"}})
	missing(t, err)
	if err != nil || out != "it runs" {
		t.Errorf("%q, %v", out, err)
	}
}

// dialing starts a program that answers at a port inside, and returns what reaches in.
func dialing(t *testing.T, kind wall.Kind) process.Inside {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	came, ended := make(chan process.Inside, 1), make(chan error, 1)
	listens := make(chan bool, 1)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); <-ended })
	go func() {
		_, err := process.Run(ctx, process.Spec{
			Argv: []string{exe, "serve", "127.0.0.1:7777"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "HOME=" + os.Getenv("HOME")},
			Wall: sandbox.New(wall.Spec{Name: "test", Kind: kind}), Begun: func(in process.Inside) { came <- in },
			Tap: func(bool, []byte) {
				select {
				case listens <- true:
				default:
				}
			},
		})
		ended <- err
	}()
	select {
	case <-listens:
		return <-came
	case err := <-ended:
		ended <- err
		missing(t, err)
		t.Fatal(err)
	}
	return nil
}

func TestAServerInsideIsReachedFromOutside(t *testing.T) {
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			if kind == wall.Bwrap {
				bwrapped(t)
			}
			reach(t, dialing(t, kind))
		})
	}
}

func reach(t *testing.T, in process.Inside) {
	t.Helper()
	if c, err := net.DialTimeout("tcp", "127.0.0.1:7777", time.Second); err == nil {
		c.Close()
		t.Error("it listens on this machine")
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			c, err := in.Dial(t.Context(), "127.0.0.1:7777")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if b, err := io.ReadAll(c); string(b) != "hello from inside" || err != nil {
				t.Errorf("it says %q, %v", b, err)
			}
		})
	}
	wg.Wait()
	for _, at := range []string{"127.0.0.1:7778", "192.0.2.1:80", "nowhere"} {
		if c, err := in.Dial(t.Context(), at); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v, %v", at, c, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	if _, err := in.Dial(ctx, strings.Repeat("1", 300)+":80"); err == nil || ctx.Err() != nil {
		t.Errorf("a very long address: %v", err)
	}
	cancel()
	if _, err := in.Dial(ctx, "127.0.0.1:7777"); err == nil {
		t.Error("a dial that was given up succeeds")
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if _, err := in.Dial(t.Context(), "127.0.0.1:7777"); err == nil {
		t.Error("a sandbox that is gone is reached")
	}
}

// What a directory of shims leads to is there; what else lies beside it is not.
func TestShimsFindTheirVersions(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"shims/tool": "#!/bin/sh\nexec " + top + "/versions/1/tool\n", "versions/1/tool": "#!/bin/sh\necho version 1\n", "private": "mine",
	} {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{"/bin/sh", "-c", "tool; cat " + top + "/private"}, Env: []string{"PATH=" + top + "/shims:/usr/bin:/bin"}})
	missing(t, err)
	if err != nil || !strings.HasPrefix(out, "version 1\n") || strings.Contains(out, "mine") {
		t.Errorf("%q, %v", out, err)
	}
}
