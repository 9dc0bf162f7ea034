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
// directory; it has the secret in its environment, and a terminal.
func (s *Site) Launch(level string, ids ...string) []Result {
	s.t.Helper()
	leader, terminal := s.terminal()
	defer leader.Close()
	defer terminal.Close()
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
	cmd.Stdin, cmd.SysProcAttr.Setctty = terminal, true
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = 2 * time.Second // what outlives it holds its output
	if err := cmd.Run(); err != nil {
		s.fail(level, cmd.ProcessState.ExitCode(), fmt.Errorf("%w\n%s", err, errOut.String()))
	}
	return s.Results(out.Bytes())
}

// Program is the attacker's command line for whoever starts it himself: the attacks named,
// or all. It prints what Results reads.
func (s *Site) Program(ids ...string) []string { return s.World.program(ids).Argv }

// fail ends the test because a level did not start: it is skipped if this machine does
// not have it, unless RALPH_SANDBOX_REQUIRE, a list with commas, names the level.
func (s *Site) fail(level string, code int, err error) {
	s.t.Helper()
	if code == exitUnavailable && !slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), level) {
		s.t.Skipf("SKIPPED: this machine has no level %s: %v", level, err)
	}
	s.t.Fatalf("level %s did not start: %v", level, err)
}

// InGroups lets the sandboxes of this world have groups below a directory.
func (s *Site) InGroups(base string) {
	s.t.Helper()
	s.Groups, s.Memory = base, 512<<20
	s.give()
	s.tell()
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

// terminal makes a terminal that nobody sits at.
func (s *Site) terminal() (leader, follower *os.File) {
	s.t.Helper()
	leader, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	s.ok(err)
	s.ok(unix.IoctlSetPointerInt(int(leader.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(leader.Fd()), unix.TIOCGPTN)
	s.ok(err)
	follower, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	s.ok(err)
	if os.Getuid() == 0 {
		s.ok(follower.Chown(s.uid, s.uid))
	}
	return leader, follower
}
