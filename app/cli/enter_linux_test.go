package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/internal/wall"
	"github.com/ralph-compiler/ralph/ir"
)

// confinedSite is a site whose agents and gates run in sandboxes.
func confinedSite(t *testing.T, work string, change ...func(*ir.Epic)) *site {
	t.Helper()
	if err := tried(wall.Namespaces); err != nil {
		if strings.Contains(os.Getenv("RALPH_SANDBOX_REQUIRE"), string(wall.Namespaces)) {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: no sandbox on this machine: %v", err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	box := func(e *ir.Epic) {
		e.Run.Worktree.Layout = "clone"
		e.Sandboxes = map[string]ir.Sandbox{"default": {Kind: "auto", Read: []string{top + "/bin"}, Write: []string{top + "/log"}}}
		for name, g := range e.Gates {
			g.Sandbox = "default"
			e.Gates[name] = g
		}
		sh := e.Runners["sh"]
		sh.Set = map[string]string{"OF_THE_RUNNER": "set"}
		e.Runners["sh"] = sh
	}
	return newSite(t, work, executortest.Epic([]string{"1.1", "1.2"}, append([]func(*ir.Epic){box}, change...)...), top)
}

const confinedWork = siteWork + `; echo "$RALPH_NODE" > "$HOME/mark"`

// enters runs ralph enter with something to read.
func (s *site) enters(in string, args ...string) ran {
	s.t.Helper()
	return s.begin(func(r *starting) { r.cmd.Stdin = strings.NewReader(in) }, append([]string{"enter"}, args...)...).wait()
}

func TestEnterRunsAProgramWhereTheAgentWas(t *testing.T) {
	t.Parallel()
	s := confinedSite(t, confinedWork)
	s.write("../home/private", "mine")
	s.apply(exit.Done)

	got := s.enters("typed\n", "1.1", "--", "sh", "-c", `
read line; echo "read $line"; echo "to stderr" >&2
cat "$HOME/mark"; pwd; cat out-1.1.txt; echo "$OF_THE_RUNNER $RALPH_NODE [$RALPH_OUTCOME$RALPH_PROMPT]"
ls "$HOME/private" ../../../../project "$TOP/home" 2>&1 | grep -v 'No such'
(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1; wc -l < /proc/net/route
tty; echo later > later; exit 7`)
	if got.code != 7 {
		t.Fatalf("exit %d\n%s", got.code, got.all())
	}
	for _, want := range []string{"read typed\n", "1.1\n" + s.tree("1.1") + "\n1.1\n", "set 1.1 []\n", "not a tty\n"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.all())
		}
	}
	if got.err != "to stderr\n" || strings.Contains(got.out, "private") || strings.Contains(got.out, "epic.json") {
		t.Errorf("outside is there, or stderr is not apart:\n%s", got.all())
	}
	if b, err := os.ReadFile(filepath.Join(s.tree("1.1"), "later")); err != nil || string(b) != "later\n" {
		t.Errorf("what was written in the worktree: %q, %v", b, err)
	}
	if got := s.enters("", "1.1", "--gate", "check", "--", "sh", "-c", `cat "$HOME/mark" 2>/dev/null || echo "not the agent's"; kill -9 $$`); got.code != 137 || got.out != "not the agent's\n" {
		t.Errorf("in the sandbox of a gate: exit %d\n%s", got.code, got.all())
	}
	if got := s.enters("ls out-1.1.txt\nexit 4\n", "1.1"); got.code != 4 || got.out != "out-1.1.txt\n" {
		t.Errorf("a shell without a terminal: exit %d\n%s", got.code, got.all())
	}
	s.nobodyLeft()
}

func TestEnterGivesAProgramATerminal(t *testing.T) {
	t.Parallel()
	s := confinedSite(t, confinedWork)
	s.apply(exit.Done, "--only", "1.1")
	x := newTerminal(t, 91, 33)
	r := x.run(s, "enter", "1.1", "--", "sh", "-c", `
trap 'echo interrupted; size' INT; size() { echo "size $(stty size)"; }
tty; size; echo ready; while :; do read line || continue; case $line in done) exit 3;; *) echo "heard $line";; esac; done`)
	said := func(want string) {
		t.Helper()
		s.until("the screen says "+want, func() bool { text, _ := x.screen(); return strings.Contains(text, want) })
	}
	said("ready")
	for _, want := range []string{"/dev/pts/0\n", "size 33 91\n"} {
		said(want)
	}
	x.types("hello\r")
	said("heard hello")
	size := [4]uint16{20, 70}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, x.master.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); errno != 0 {
		t.Fatal(errno)
	}
	s.until("the program hears of the new size", func() bool { // which ralph passes on when it comes to it
		x.types("\x03")
		text, _ := x.screen()
		return strings.Contains(text, "interrupted") && strings.Contains(text, "size 20 70")
	})
	x.types("done\r")
	if got := r.wait(); got.code != 3 {
		text, _ := x.screen()
		t.Errorf("exit %d\n%s", got.code, text)
	}
	var state syscall.Termios
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, x.slave.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&state))); errno != 0 || state.Lflag&syscall.ICANON == 0 {
		t.Errorf("the terminal was not put back: %v, %#x", errno, state.Lflag)
	}
}

func TestEnterIsRefused(t *testing.T) {
	t.Parallel()
	s := confinedSite(t, confinedWork+`; while [ -e "$TOP/log/busy" ]; do sleep 0.1; done`)
	s.write("../log/busy", "")
	refused := func(code int, want string, args ...string) {
		t.Helper()
		if got := s.enters("", args...); got.code != code || !strings.Contains(got.err, want) {
			t.Errorf("ralph enter %s: exit %d, without %q\n%s", strings.Join(args, " "), got.code, want, got.all())
		}
	}
	refused(exit.Input, "has no worktree", "1.1")
	r := s.start("apply", "--only", "1.1")
	s.until("the agent works", func() bool { _, err := os.Stat(filepath.Join(s.tree("1.1"), "out-1.1.txt")); return err == nil })
	refused(exit.Input, "is at work now", "1.1")
	refused(exit.Input, "is at work now", "1.1", "--", "sh", "--resume", "ses-1.1-implement-1", "it's") // it has no sessions
	if err := os.Remove(filepath.Join(s.top, "log/busy")); err != nil {
		t.Fatal(err)
	}
	r.wait()
	refused(exit.Usage, `agent "nobody" has no part in 1.1; there are: dev`, "1.1", "--agent", "nobody")
	refused(exit.Usage, `there is no gate "none"`, "1.1", "--gate", "none")
	refused(exit.Usage, "not both", "1.1", "--gate", "check", "--agent", "dev")
	refused(exit.Usage, "write -- before the command", "1.1", "ls")
	refused(exit.Input, "no-such-program does not start", "1.1", "--", "no-such-program")
	refused(exit.Input, "has no worktree", "1.2")
}

func TestTheEndOfARunSaysHowToLookAtWhatConfinedAgentsLeft(t *testing.T) {
	t.Parallel()
	const want = "Look before you run what an agent left: ralph enter KEY opens the worktree inside its sandbox\n"
	fails := func(e *ir.Epic) {
		g := e.Gates["check"]
		g.Run, g.OnFailure = "false", "stop"
		e.Gates["check"] = g
	}
	s := confinedSite(t, confinedWork, fails)
	if got := s.apply(exit.NotDone, "--only", "1.1"); strings.Count(got.all(), want) != 1 || !strings.Contains(got.all(), "worktree: "+s.tree("1.1")) {
		t.Errorf("with a sandbox:\n%s", got.all())
	}
	s = newSite(t, "", executortest.Epic([]string{"1.1"}, fails))
	if got := s.apply(exit.NotDone); strings.Contains(got.all(), "ralph enter") || !strings.Contains(got.all(), "worktree: "+s.tree("1.1")) {
		t.Errorf("without one:\n%s", got.all())
	}
}

func TestEnterNamesTheWorktreeWhereNoSandboxIs(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1"}))
	s.apply(exit.Done)
	if got := s.enters("", "1.1"); got.code != exit.Input || !strings.Contains(got.err, "no sandbox confines agent dev") || !strings.Contains(got.err, "cd "+s.tree("1.1")+"\n") {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
}

// What joins a session of a confined agent does so inside: outside, its program would read
// what the agent left in the worktree.
func TestASessionOfAConfinedAgentIsJoinedInside(t *testing.T) {
	t.Parallel()
	s := confinedSite(t, confinedWork)
	s.program(exit.Done, "apply")
	want := `ralph enter 1.1 -- sh --resume ses-1.1-implement-1 'it'\''s'`
	if got := s.program(exit.Done, "session", "1.1"); !strings.Contains(got.out, "\n  "+want+"\n") || strings.Contains(got.out, "cd ") {
		t.Errorf("session says:\n%s", got.all())
	}
	var list []run.Session
	if err := json.Unmarshal([]byte(s.program(exit.Done, "session", "1.1", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Inside || list[0].Dir != s.dir || strings.Join(list[0].Joined, "|") != "ralph|enter|1.1|--|sh|--resume|ses-1.1-implement-1|it's" {
		t.Errorf("%+v", list)
	}
}

// Where an agent ran without a sandbox its session is in the user's home, and is joined and
// asked there.
func TestASessionOutsideASandboxIsJoinedOutside(t *testing.T) {
	t.Parallel()
	s := confinedSite(t, siteWork+`; if test -d "$TOP/home"; then echo outside; else echo inside; fi >> "$TOP/log/where"`)
	s.program(exit.Done, "apply", "--sandbox", "none")
	s.write("../home/.keep", "")
	if err := os.MkdirAll(effects.Home(s.state(), s.epic.Nodes[0].ID, s.epic.Nodes[0].Steps[0].Agent, ""), 0o755); err != nil { // an earlier run was confined
		t.Fatal(err)
	}
	if got := s.program(exit.Done, "session", "1.1"); strings.Contains(got.out, "ralph enter") || !strings.Contains(got.out, "--resume ses-1.1-implement-1") {
		t.Errorf("session says:\n%s", got.all())
	}
	before := s.read("../log/where")
	s.program(exit.Input, "ask", "1.1", "why?") // the script has no answer
	if got := s.read("../log/where"); got != before+"outside\n" {
		t.Errorf("it ran %q, and %q before it was asked", got, before)
	}
}

// Who joins the session of an agent at work takes it over, also in a sandbox.
func TestASessionAtWorkIsTakenOverInside(t *testing.T) {
	t.Parallel()
	testTakenOverInside(t)
}

// It is the agent's sandbox, where landlock makes that, too.
func TestASessionAtWorkIsTakenOverInLandlock(t *testing.T) {
	t.Parallel()
	if !hasLandlock() {
		t.Skip("SKIPPED: there is no landlock here")
	}
	s := testTakenOverInside(t, "--sandbox", "landlock")
	if got := s.program(exit.Done, "show", "1.1"); !strings.Contains(got.out, "sandbox: default (landlock") {
		t.Errorf("show says:\n%s", got.all())
	}
	// It is no sandbox of namespaces: the user's files are there, and cannot be read.
	s.write("../home/private", "mine")
	if got := s.enters("", "1.1", "--", "sh", "-c", `ls -d "$TOP/home" && cat "$TOP/home/private"`); got.code == 0 || !strings.Contains(got.out, s.top+"/home\n") || !strings.Contains(got.all(), "Permission denied") {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
}

func testTakenOverInside(t *testing.T, flags ...string) *site {
	t.Helper()
	s := confinedSite(t, confinedWork+`; while [ -e "$TOP/log/busy" ]; do sleep 0.1; done`)
	s.write("../log/busy", "")
	r := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"=") }, append([]string{"apply", "--only", "1.1"}, flags...)...)
	s.until("the agent works", func() bool { _, err := os.Stat(filepath.Join(s.tree("1.1"), "out-1.1.txt")); return err == nil })
	if got := s.program(exit.Done, "session", "1.1"); !strings.Contains(got.out, "what you write there is a takeover") || strings.Contains(got.out, "refused") {
		t.Errorf("session says:\n%s", got.all())
	}
	if got := s.program(exit.Input, "enter", "1.1", "--", "sh"); !strings.Contains(got.err, "is at work now") {
		t.Errorf("a shell beside the agent:\n%s", got.all())
	}
	// The script is no program that could resume: it is the shell that says so, inside.
	if got := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"=") }, "enter", "1.1", "--", "sh", "--resume", "ses-1.1-implement-1", "it's").wait(); got.code != 2 || strings.Contains(got.err, "at work") {
		t.Errorf("exit %d\n%s", got.code, got.all())
	}
	if err := os.Remove(filepath.Join(s.top, "log/busy")); err != nil {
		t.Fatal(err)
	}
	r.wait()
	return s
}
