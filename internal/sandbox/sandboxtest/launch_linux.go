package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Launch runs attacks at a level, all of them if none is named, and returns the results.
// The test ends, skipped or as a failure, if the level does not start.
// The process that plays ralph has been started with descriptors of the user's home
// directory, and has the secret in its environment.
func (s *Site) Launch(level string, ids ...string) []Result {
	s.t.Helper()
	return s.launch(nil, level, ids)
}

// Program is the attacker's command line for whoever starts it himself: the attacks named,
// or all. It prints what Results reads.
func (s *Site) Program(ids ...string) []string { return s.World.program(ids).Argv }

func (s *Site) launch(terminal *os.File, level string, ids []string) []Result {
	s.t.Helper()
	home, err := os.Open(s.Home)
	s.ok(err)
	defer home.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.exe(), append([]string{roleRalph, s.file(), level}, ids...)...)
	cmd.Env = []string{"HOME=" + s.Home, "PATH=/usr/local/bin:/usr/bin:/bin", "TOKEN=" + s.Secret}
	cmd.Dir = s.Main
	cmd.SysProcAttr = s.as()
	cmd.ExtraFiles = slices.Repeat([]*os.File{home}, 16) // nothing closes them on exec, and some may be in the way of others
	if terminal != nil {
		cmd.Stdin, cmd.SysProcAttr.Setctty = terminal, true
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = 2 * time.Second // what outlives it holds its output
	if err := cmd.Run(); err != nil {
		s.fail(level, cmd.ProcessState.ExitCode(), fmt.Errorf("%w\n%s", err, errOut.String()))
	}
	return s.Results(out.Bytes())
}

// fail ends the test because a level did not start: it is skipped if this machine does
// not have it, unless RALPH_SANDBOX_REQUIRE, a list with commas, names the level.
func (s *Site) fail(level string, code int, err error) {
	s.t.Helper()
	if code == exitUnavailable && !slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), level) {
		s.t.Skipf("SKIPPED: this machine has no level %s: %v", level, err)
	}
	s.t.Fatalf("level %s did not start: %v", level, err)
}

// Elsewhere puts files of the test's in the place of the system's.
func (s *Site) Elsewhere() {
	s.t.Helper()
	dir := filepath.Join(s.Root, "system")
	for name, at := range map[string]*string{"shadow": &s.Shadow, "core_pattern": &s.CorePattern, "sysrq": &s.SysRq} {
		*at = s.put("", dir, name)
	}
	for name, at := range map[string]*string{"top": &s.Top, "bin": &s.Bin, "cron": &s.Cron, "dev": &s.Dev} {
		*at = filepath.Join(dir, name)
		s.ok(os.MkdirAll(*at, 0o755))
	}
	s.put("", s.Dev, "full")
	s.Disks = []string{s.put("", dir, "disk")}
	s.Cgroups = []string{filepath.Dir(s.put("", dir, "group", "cgroup.procs"))}
	s.Init = proc(s.Ralph.PID)
	s.give()
	s.tell()
}

// LaunchOnTerminal is Launch with a terminal of its own.
func (s *Site) LaunchOnTerminal(level string, ids ...string) []Result {
	s.t.Helper()
	const open = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	leader, err := unix.Open("/dev/ptmx", open, 0)
	s.ok(err)
	defer unix.Close(leader)
	s.ok(unix.IoctlSetPointerInt(leader, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(leader, unix.TIOCGPTN)
	s.ok(err)
	name := "/dev/pts/" + strconv.Itoa(n)
	fd, err := unix.Open(name, open, 0)
	s.ok(err)
	terminal := os.NewFile(uintptr(fd), name)
	defer terminal.Close()
	return s.launch(terminal, level, ids)
}
