//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/ir"
)

// site is a repository in which runs go wrong. Everything that belongs to it lies
// below top, and every process of it has top in its environment:
//
//	project   the user's checkout, with epic.json
//	home      the user's home
//	bin       comes first on PATH: stand-ins, and what scripts share
//	log       what agents, gates and stand-ins note: one line each time
//	kill      a directory per point (see point) at which ralph is to be killed
type site struct {
	t        testing.TB
	top, dir string
	path     string // first on PATH after bin
	epic     *ir.Epic
	before   map[string]string // what is the user's, before anything ran
	said     []executor.Event  // what ralph said that it made durable
	kills    int
	moved    []string // what the user did meanwhile: names in before that may differ
}

// pointScript is what scripts share. `point NAME` notes that something was
// reached, and kills ralph with SIGKILL, once, where a test asked for that. In a sandbox,
// which has no ralph to kill, the test is asked to.
const pointScript = `
point() {
	echo "$1" >> "$TOP/log/points"
	if [ -d "$TOP/kill/$1" ] && rmdir "$TOP/kill/$1" 2>/dev/null; then
		if read -r ralph 2>/dev/null < "$TOP/pid"; then
			kill -9 "$ralph"
		else
			echo >> "$TOP/log/kill"
			sleep 60
		fi
	fi
}
`

// siteAgent writes a file for its sprint.
const siteAgent = `#!/bin/sh
set -eu
. "$TOP/bin/point.sh"
at=$RALPH_NODE.$RALPH_STEP-$RALPH_ATTEMPT
echo "$at" >> "$TOP/log/agents"
point "agent.$at.begin"
` + "AGENT" + `
point "agent.$at.end"
`

// siteWork is what an agent does if a test says nothing else: it mends its work
// when it is told to.
const siteWork = `echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -s "$RALPH_FEEDBACK" ]; then echo fixed >> "out-$RALPH_NODE.txt"; fi`

// newSite makes a repository with an epic whose agent is the shell script work
// ("" is siteWork), in a directory of its own or, if one is named, there. A short run skips
// the test: of real processes it has the stories that are atOnce. CI plays half of the tests
// with each commit (see [temptest.Share]).
func newSite(t testing.TB, work string, epic *ir.Epic, where ...string) *site {
	t.Helper()
	temptest.Share(t, 2)
	return undivided(t, work, epic, where...)
}

// undivided is newSite for a test that divides itself.
func undivided(t testing.TB, work string, epic *ir.Epic, where ...string) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("real processes")
	}
	temptest.Pin(t.Cleanup)
	if len(where) == 0 {
		where = []string{t.TempDir()}
	}
	top, err := filepath.EvalSymlinks(where[0])
	if err != nil {
		t.Fatal(err)
	}
	if work == "" {
		work = siteWork
	}
	s := &site{t: t, top: top, dir: filepath.Join(top, "project"), path: os.Getenv("PATH")}
	s.write("../home/.keep", "")
	s.write("../log/points", "")
	s.write("../bin/point.sh", pointScript)
	s.write("agent.sh", strings.Replace(siteAgent, "AGENT", work, 1))
	s.write("README.md", "one\ntwo\nthree\n")
	s.write("tests/a_test.sh", "exit 0\n")
	s.write(".gitignore", "*.log\n")
	s.seal(epic)
	s.git("init", "-q", "-b", "main", ".")
	s.git("config", "user.name", "Test User")
	s.git("config", "user.email", "test@example.org")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	s.write(".git/hooks/post-commit", "#!/bin/sh\ntouch "+filepath.Join(top, "a-hook-of-the-user-ran")+"\n")
	s.before = s.manifest()
	t.Cleanup(s.end)
	return s
}

// end leaves no process behind, whatever went wrong in the test.
func (s *site) end() {
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it carries the mark of this site
	}
}

// seal writes epic.json, and lets every program know where the site is.
func (s *site) seal(epic *ir.Epic) {
	s.t.Helper()
	for name, r := range epic.Runners {
		set := map[string]string{"TOP": s.top}
		for k, v := range r.Set {
			set[k] = v
		}
		r.Set = set
		epic.Runners[name] = r
	}
	for name, g := range epic.Gates {
		if g.Kind == "command" {
			env := map[string]string{"TOP": s.top}
			for k, v := range g.Env {
				env[k] = v
			}
			g.Env = env
			epic.Gates[name] = g
		}
	}
	setup := map[string]string{"TOP": s.top}
	for k, v := range epic.Run.Worktree.Env {
		setup[k] = v
	}
	epic.Run.Worktree.Env = setup
	ir.Seal(epic)
	b, err := ir.Encode(epic)
	if err != nil {
		s.t.Fatal(err)
	}
	s.epic = epic
	s.write("epic.json", string(b))
}

// file is a path in the project; "../" is top.
func (s *site) file(name string) string { return filepath.Join(s.dir, name) }

// state is the epic's state directory.
func (s *site) state() string { return s.file(".git/ralph/" + string(s.epic.Epic.ID)) }

// tree is a node's worktree.
func (s *site) tree(key string) string {
	return filepath.Join(s.top, "project-worktrees/ralph/x", strings.ReplaceAll(key, ".", "-"))
}

func (s *site) write(name, text string) {
	s.t.Helper()
	p := name
	if !filepath.IsAbs(p) {
		p = s.file(name)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o755)); err != nil {
		s.t.Fatal(err)
	}
}

// read returns a file, "" if there is none.
func (s *site) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.file(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(b)
}

// noted counts the lines of a log that are text.
func (s *site) noted(log, text string) int {
	s.t.Helper()
	n := 0
	for l := range strings.Lines(s.read("../log/" + log)) {
		if strings.TrimSpace(l) == text {
			n++
		}
	}
	return n
}

// env is the user's environment.
func (s *site) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "PATH" || name == "HOME" || name == "TOP" || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "RALPH_") || strings.HasPrefix(name, "XDG_")
	})
	return append(env, "PATH="+filepath.Join(s.top, "bin")+":"+s.path, "HOME="+filepath.Join(s.top, "home"), "TOP="+s.top,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0")
}

func (s *site) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env()
	return cmd
}

// git is the user's own git, past the stand-ins.
func (s *site) git(args ...string) string {
	s.t.Helper()
	out, err := s.tryGit(args...)
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (s *site) tryGit(args ...string) (string, error) {
	s.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.command(git, append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// ran is what a command of ralph did.
type ran struct {
	code     int // -1: it was killed
	out, err string
	rss      int64 // its greatest size in memory, in bytes, if it was measured
}

func (r ran) all() string { return r.out + r.err }

// starting is a command of ralph that has been started.
type starting struct {
	s        *site
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

// start starts ralph. The process number of apply stands in ../pid before it begins.
func (s *site) start(args ...string) *starting {
	s.t.Helper()
	return s.begin(nil, args...)
}

// begin does what start does; change may alter it before.
func (s *site) begin(change func(*starting), args ...string) *starting {
	s.t.Helper()
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		s.t.Fatal(err)
	}
	r := &starting{s: s, cmd: s.command("/bin/sh", append([]string{"-c", `if [ "$1" = apply ]; then echo $$ > "$TOP/pid.$$" && mv "$TOP/pid.$$" "$TOP/pid"; fi; exec "$0" "$@"`, ralph}, args...)...)}
	r.cmd.Env = append(r.cmd.Env, killAt+"="+filepath.Join(s.top, "kill"), "RALPH_TEST_POINTS="+filepath.Join(s.top, "log/points"))
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	if change != nil {
		change(r)
	}
	if err := r.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (r *starting) wait() ran {
	err := r.cmd.Wait()
	got := ran{out: r.out.String(), err: r.err.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got.code = exit.ExitCode()
	} else if err != nil {
		r.s.t.Fatal(err)
	}
	r.s.heard(got.out)
	return got
}

// signal sends one to ralph.
func (r *starting) signal(sig os.Signal) {
	r.s.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.s.t.Fatal(err)
	}
}

// ralph runs a command to its end.
func (s *site) ralph(args ...string) ran {
	s.t.Helper()
	return s.start(args...).wait()
}

// peakAt names the file in which a ralph says at its end how much memory it took.
const peakAt = "RALPH_TEST_PEAK"

func sayPeak() {
	if file := os.Getenv(peakAt); file != "" {
		b, _ := os.ReadFile("/proc/self/status") // where there is none, nothing is measured
		_ = os.WriteFile(file, b, 0o600)
	}
}

// measured runs a command to its end, and measures it. What the system says of a process that
// has ended includes the one that started it: that is this test.
func (s *site) measured(args ...string) ran {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "peak")
	got := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, peakAt+"="+file) }, args...).wait()
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatalf("it did not say how much it took: %v\n%s", err, got.all())
	}
	for line := range strings.Lines(string(b)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &got.rss); n == 1 {
			got.rss <<= 10
		}
	}
	if got.rss == 0 && runtime.GOOS == "linux" {
		s.t.Fatalf("there is no VmHWM in\n%s", b)
	}
	return got
}

// apply runs apply to its end and expects an exit code.
func (s *site) apply(want int, args ...string) ran {
	s.t.Helper()
	got := s.ralph(append([]string{"apply"}, args...)...)
	if got.code != want {
		s.t.Fatalf("ralph apply %s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), got.code, want, got.all(), s.failures())
	}
	return got
}

// heard keeps what ralph said that it made durable.
func (s *site) heard(out string) {
	for line := range strings.Lines(out) {
		var e executor.Event
		if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "\n") && e.UnmarshalJSON([]byte(line)) == nil {
			s.said = append(s.said, e)
		}
	}
}

// patience is how long a test waits for what has to come: a machine may be slow, but what
// never comes is to be named before go test gives up.
const patience = 5 * time.Minute

// until waits for something that has to become true.
func (s *site) until(what string, ready func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); s.t.Context().Err() == nil && time.Now().Before(end); {
		began := time.Now()
		if ready() {
			return
		}
		pause(began)
	}
	s.t.Fatalf("it never came: %s", what)
}

// pause leaves what is waited for five times as long as asking for it has taken.
func pause(began time.Time) {
	time.Sleep(min(5*time.Millisecond+5*time.Since(began), 2*time.Second))
}

// exists waits for a file of the site and returns what stands in it.
func (s *site) exists(name string) string {
	s.t.Helper()
	var b []byte
	s.until(name, func() bool {
		var err error
		b, err = os.ReadFile(s.file(name))
		return err == nil && bytes.HasSuffix(b, []byte("\n"))
	})
	return strings.TrimSpace(string(b))
}

// events reads the journal.
func (s *site) events() []executor.Event {
	s.t.Helper()
	log, err := journal.Read(s.state(), s.epic.Epic.ID)
	if errors.Is(err, journal.ErrNone) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	var list []executor.Event
	for e, err := range log.Events(s.t.Context()) {
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// processes lists what runs with this site in its environment, other than what
// only waits to be reaped.
func (s *site) processes() []int {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []int
	for _, d := range names {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := readAll("/proc/" + d.Name() + "/environ")
		if err == nil && bytes.Contains(env, []byte(s.top+"\x00")) && alive(pid) {
			list = append(list, pid)
		}
	}
	return list
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
