package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// fenced is a sandbox of landlock, where this machine has it or it is required.
func fenced(t *testing.T) wall.Spec {
	t.Helper()
	if _, err := sandbox.Try(t.Context(), wall.Landlock); err != nil {
		if slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), string(wall.Landlock)) {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: no landlock on this machine: %v", err)
	}
	return wall.Spec{Kind: wall.Landlock}
}

// A home and a directory for temporary files are the sandbox's own. The second goes with it.
func TestLandlockHasPlacesOfItsOwn(t *testing.T) {
	s := fenced(t)
	s.Home = t.TempDir()
	out, res := sh(t, s, `echo a > ~/a && echo b > $TMPDIR/b && mkdir $TMPDIR/shut && chmod 0 $TMPDIR/shut && echo $TMPDIR; exit 7`)
	if res.Code != 7 {
		t.Fatalf("%+v: %s", res, out)
	}
	if b, err := os.ReadFile(filepath.Join(s.Home, "a")); err != nil || string(b) != "a\n" {
		t.Errorf("its home: %q, %v", b, err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("%q is still there: %v", out, err)
	}
	if _, _, err := begin(t, s, process.Spec{Argv: []string{filepath.Join(t.TempDir(), "none")}}); err == nil {
		t.Error("a program that is not there ran")
	}
	if _, res := sh(t, s, "kill -KILL $$"); res.How != process.Signaled || res.Signal != syscall.SIGKILL {
		t.Errorf("kill -KILL: %+v", res)
	}
}

func TestLandlockHasATerminal(t *testing.T) { fenced(t); hasATerminal(t, wall.Landlock) }

// What would have to be somewhere else, or not be there, is refused.
func TestLandlockRefusesWhatItCannotHold(t *testing.T) {
	dir := t.TempDir()
	for want, change := range map[string]func(*wall.Spec){
		"cannot be at":      func(s *wall.Spec) { s.Mounts = []wall.Mount{{From: dir, At: "/elsewhere"}} },
		"can be hidden":     func(s *wall.Spec) { s.Mounts = []wall.Mount{{At: dir, Cover: true}} },
		"take nest out":     func(s *wall.Spec) { s.Nest = true },
		"cannot be at 127":  func(s *wall.Spec) { s.Forward = []wall.Forward{{At: "127.0.0.1:1", To: "127.0.0.1:2"}} },
		"none: file does n": func(s *wall.Spec) { s.Mounts = []wall.Mount{{From: filepath.Join(dir, "none")}} },
	} {
		s := fenced(t)
		change(&s)
		if out, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/sh", "-c", "echo began"}}); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%v, %q; want %q", err, out, want)
		}
	}
}

// A program that has led what it may write to elsewhere reads no more with it.
func TestLandlockFollowsNoPlantedLink(t *testing.T) {
	s := fenced(t)
	secret, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Home = t.TempDir()
	s.Mounts = []wall.Mount{{From: filepath.Join(dir, ".git"), Write: true, Optional: true}}
	user, upper := t.TempDir(), filepath.Join(t.TempDir(), "upper")
	s.Caches = []wall.Cache{{Lower: filepath.Join(user, ".cache", "go-build"), Upper: upper}}
	for _, link := range []string{filepath.Join(dir, ".git"), filepath.Join(s.Home, ".cache")} {
		if err := os.Symlink(secret, link); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/sh", "-c", "cat .git/key; echo built > ~/.cache/go-build/x"}, Dir: dir, Env: []string{"HOME=" + user}})
	if err != nil || strings.Contains(out, "secret") || !strings.Contains(out, "Permission denied") {
		t.Errorf("%v, %q", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(upper, "x")); err != nil || string(b) != "built\n" {
		t.Errorf("the cache: %q, %v", b, err)
	}
	if names, _ := os.ReadDir(secret); len(names) != 1 {
		t.Errorf("written where a link led: %v", names)
	}
}

// The user's downloads can be read, and not written.
func TestLandlockShowsDownloads(t *testing.T) {
	s := fenced(t)
	s.Home = t.TempDir()
	user := t.TempDir()
	lower := filepath.Join(user, "go", "pkg", "mod")
	if err := os.MkdirAll(lower, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lower, "m"), []byte("module"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Caches = []wall.Cache{{Lower: lower, Upper: filepath.Join(t.TempDir(), "upper"), Downloads: true}}
	out, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/sh", "-c", "cat ~/go/pkg/mod/m; echo; cat $GOMODCACHE/m; echo x > ~/go/pkg/mod/n || echo refused"}, Env: []string{"HOME=" + user, "GOMODCACHE=" + lower}})
	if err != nil || !strings.HasPrefix(out, "module\nmodule") || !strings.HasSuffix(out, "refused") {
		t.Errorf("%v, %q", err, out)
	}
}

// daemons leave processes that do not carry the environment they were started with, in
// sessions of their own, which ignore signals, and says so.
func daemons(seconds string) []string {
	const line = `trap '' TERM; (setsid env -i /bin/sh -c 'sleep SECONDS & trap "" TERM HUP; sleep SECONDS; sleep SECONDS' &); nohup setsid sleep SECONDS > /dev/null 2>&1 &
until cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ' | grep -q '^sleep SECONDS\|[^A-Z]sleep SECONDS'; do :; done; echo ready`
	return []string{"/bin/sh", "-c", strings.ReplaceAll(line, "SECONDS", seconds)}
}

// All that a program has started ends with the sandbox: when the program ends, when ralph's
// socket does, and when ralph is killed.
func TestNothingOutlivesLandlock(t *testing.T) {
	s := fenced(t)
	out, _, err := begin(t, s, process.Spec{Argv: daemons("7651")})
	if err != nil || !strings.Contains(out, "ready") || len(sleeping("7651")) > 0 {
		t.Errorf("its end: %q, %v, these live: %v", out, err, sleeping("7651"))
	}
	for how, end := range map[string]func(in process.Inside, line *os.File) error{
		"the end of its socket": func(in process.Inside, _ *os.File) error { return in.Close() },
		"its own end":           func(_ process.Inside, line *os.File) error { return line.Close() },
	} {
		cmd, in, line := started(t, s, "7652")
		if err := end(in, line); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was ended
		if _, _, known := in.Ended(); known != (how == "its own end") || len(sleeping("7652")) > 0 {
			t.Errorf("%s: known is %v, these live: %v", how, known, sleeping("7652"))
		}
		_ = in.Close()
	}

	said, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	ralph := exec.Command(exe(t), "ralph", t.TempDir(), "7653")
	ralph.Stdout = w
	if err := ralph.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_, err = said.Read(make([]byte, 16))
	all := allSleep("7653")
	if kerr := ralph.Process.Kill(); err != nil || kerr != nil || !all {
		t.Fatalf("not all began: %v, %v", err, kerr)
	}
	_ = ralph.Wait() // it was killed
	for range 500 {
		if len(sleeping("7653")) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("ralph was killed, and these live: %v", sleeping("7653"))
}

// started runs daemons until they are there; the program ends when line is closed.
func started(t *testing.T, s wall.Spec, seconds string) (cmd *exec.Cmd, in process.Inside, line *os.File) {
	t.Helper()
	said, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	defer w.Close()
	stdin, line, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	argv := daemons(seconds)
	argv[2] += "; cat"
	dir := t.TempDir()
	s.Name, s.Mounts = "test", []wall.Mount{{From: dir, Write: true}}
	cmd = &exec.Cmd{Path: argv[0], Args: argv, Env: []string{"PATH=/usr/bin:/bin", "HOME=/"}, Dir: dir, Stdin: stdin, Stdout: w}
	if in, err = sandbox.New(s).Start(cmd, false); err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 16)); err != nil || !allSleep(seconds) {
		t.Fatalf("not all began: %v", err)
	}
	return cmd, in, line
}

// allSleep waits until all that daemons starts is there.
func allSleep(seconds string) bool {
	for range 1000 {
		if len(sleeping(seconds)) >= 3 {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// asRalph runs daemons until it is killed.
func asRalph(dir, seconds string) {
	argv := daemons(seconds)
	argv[2] += "; sleep " + seconds
	_, err := process.Run(context.Background(), process.Spec{
		Argv: argv, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=/"}, Stdout: os.DevNull,
		Tap:  func(_ bool, b []byte) { _, _ = os.Stdout.Write(b) },
		Wall: sandbox.New(wall.Spec{Name: "test", Kind: wall.Landlock, Mounts: []wall.Mount{{From: dir, Write: true}}}),
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Of TCP only the ports that are named are reached, and of other sockets none.
func TestLandlockReachesOnlyWhatIsNamed(t *testing.T) {
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
	at, self := l.Addr().String(), exe(t)
	for want, forward := range map[string][]wall.Forward{
		"hello":                     {{At: at, To: at}},
		"permission denied":         {{At: "127.0.0.1:1", To: "127.0.0.1:1"}},
		"not supported by protocol": nil,
	} {
		s := fenced(t)
		s.Forward, s.Mounts = forward, []wall.Mount{{From: filepath.Dir(self)}}
		if out, _, err := begin(t, s, process.Spec{Argv: []string{self, "dial", at}}); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %q, %v", forward, out, err)
		}
		out, _, err := begin(t, s, process.Spec{Argv: []string{self, "sockets"}})
		if err != nil || !strings.Contains(out, "all were refused, and pairs were not") {
			t.Errorf("%v: %q, %v", forward, out, err)
		}
	}
}

func exe(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// odd tries what leads to others without connect.
func odd() {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fmt.Println("a pair:", err)
		os.Exit(1)
	}
	for what, err := range map[string]error{
		"a pair of datagrams": second(unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)),
		"fast open":           unix.Sendto(pair[0], []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: 80, Addr: [4]byte{127, 0, 0, 1}}),
		"fast open, sendmsg":  unix.Sendmsg(pair[0], []byte("x"), nil, nil, unix.MSG_FASTOPEN),
		"to listen":           listens(),
		"a priority":          unix.Setpriority(unix.PRIO_PROCESS, os.Getppid(), 5),
		"a group's priority":  unix.Setpriority(unix.PRIO_PGRP, 0, 5),
		"shared memory":       second(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)),
	} {
		if err == nil {
			fmt.Println("it may:", what)
			os.Exit(1)
		}
	}
	fmt.Println("all were refused, and pairs were not")
	os.Exit(0)
}

// listens listens without a port of its own, which the kernel then chooses.
func listens() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Listen(fd, 1), unix.Close(fd))
}

func second[T any](_ T, err error) error { return err }

// What begins and ends faster than one can look is ended, too, and does not keep the
// sandbox: each of these lives for one fork.
func TestWhatAlwaysMovesDoesNotOutliveLandlock(t *testing.T) {
	s := fenced(t)
	if sandbox.Weak() != "" {
		t.Skip("SKIPPED: this kernel lets no process be kept from signals to others")
	}
	line := `exec 2> /dev/null; m() { [ $1 -gt 0 ] && m $(($1 - 1)) & }; i=0; while [ $((i+=1)) -le 60 ]; do m 500 & done; echo began`
	begun := time.Now()
	if out, res := sh(t, s, line); out != "began" || res.How != process.Exited || res.Code != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("%q, %+v after %v", out, res, time.Since(begun))
	}
}

// A first process that is killed leaves nothing of its directory.
func TestWhatLandlockLeavesIsRemoved(t *testing.T) {
	s := fenced(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cmd, in, _ := started(t, s, "7655")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	for _, pid := range sleeping("7655") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
