//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/view"
)

// askedWork does the work, and answers when it is asked.
const askedWork = `prompt=$(cat)
case $prompt in *"A person asks you"*)
	echo "I am $SESSION and read $(cat out-1.1.txt | tr '\n' ' ')"
	case $prompt in
	*"where"*) pwd; git log -1 --format=%H ;;
	*"mischief"*) echo changed > out-1.1.txt; echo new > new.txt ;;
	*"for ever"*) echo $$ > "$TOP/log/asked"; sleep 1000 ;;
	*"fall over"*) exit 7 ;;
	esac
	exit 0 ;;
esac
` + siteWork

func TestAskForksTheSessionThatDidTheWork(t *testing.T) { // S0-114
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, askedWork)
	if got := s.program(exit.Input, "ask", "1.1", "why?"); !strings.Contains(got.err, "no agent has worked on it yet") {
		t.Errorf("before the run: %s", got.err)
	}
	s.program(exit.Done, "apply")
	before, events, tree := s.git("for-each-ref"), len(s.events()), s.git("-C", s.tree("1.1"), "status", "--porcelain=v2", "--branch")

	got := s.program(exit.Done, "ask", "1.1", "where are you?")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(lines) != 3 || strings.TrimSpace(lines[0]) != "I am ses-1.1-implement-2-fork and read 1.1 fixed" {
		t.Fatalf("it answers\n%s", got.all())
	}
	if lines[1] == s.tree("1.1") || !strings.HasPrefix(lines[1], s.tree("1.1")+".ask-") {
		t.Errorf("it is asked in %s", lines[1])
	}
	if want := s.git("rev-parse", "ralph/x/1-1"); lines[2] != want {
		t.Errorf("it sees commit %s, want %s", lines[2], want)
	}
	if got := s.program(exit.Done, "ask", "1.1", "what?", "--attempt", "1", "--step", "implement"); got.out != "I am ses-1.1-implement-1-fork and read 1.1\n" {
		t.Errorf("the first attempt answers %q", got.out)
	}
	if got := s.program(exit.Done, "ask", "1.1", "mischief"); !strings.Contains(got.out, "fixed") {
		t.Errorf("it answers %q", got.out)
	}

	// The question from standard input.
	asked := s.begin(func(r *starting) {
		r.cmd.Env = append(r.cmd.Env, asProgram+"=")
		r.cmd.Stdin = strings.NewReader("where, again?")
	}, "ask", "1.1", "-").wait()
	if asked.code != exit.Done || !strings.Contains(asked.out, ".ask-") {
		t.Errorf("exit %d\n%s", asked.code, asked.all())
	}

	// What cannot be asked, or does not answer.
	s.program(exit.Usage, "ask", "1.1", "  ")
	s.program(exit.Usage, "ask", "9.9", "why?")
	if got := s.program(exit.Input, "ask", "1.1", "fall over"); !strings.Contains(got.err, "no answer") {
		t.Errorf("of an agent that fails it says %q", got.err)
	}
	if got := s.program(exit.Input, "ask", "1.1", "wait for ever", "--timeout", "1s"); !strings.Contains(got.err, "did not answer within 1s") {
		t.Errorf("of an agent that is slow it says %q", got.err)
	}
	if got := s.programThat("fork", exit.Input, "ask", "1.1", "why?"); !strings.Contains(got.err, "it is a test") || !strings.Contains(got.err, "--in-session") {
		t.Errorf("of an agent that cannot fork it says %q", got.err)
	}
	if got := s.programThat("fork", exit.Done, "ask", "1.1", "why?", "--in-session"); !strings.HasPrefix(got.out, "I am ses-1.1-implement-2 and") {
		t.Errorf("in the session it answers %q", got.out)
	}
	if got := s.ralph("ask", "1.1", "why?"); got.code != exit.Input || !strings.Contains(got.err, "cannot be asked") {
		t.Errorf("of a command: exit %d, %s", got.code, got.err)
	}

	// Nothing is left of it, and nothing changed.
	if now := s.git("for-each-ref"); now != before {
		t.Errorf("refs are\n%s\nwere\n%s", now, before)
	}
	if now := len(s.events()); now != events {
		t.Errorf("%d events on record, were %d", now, events)
	}
	if now := s.git("-C", s.tree("1.1"), "status", "--porcelain=v2", "--branch"); now != tree {
		t.Errorf("the worktree is\n%s\nwas\n%s", now, tree)
	}
	s.nothingAside()
}

// nothingAside expects no directory of ask.
func (s *site) nothingAside() {
	s.t.Helper()
	if left, _ := filepath.Glob(s.tree("*") + ".ask-*"); len(left) > 0 {
		s.t.Errorf("left behind: %v", left)
	}
	if list := s.git("worktree", "list"); strings.Contains(list, ".ask-") {
		s.t.Errorf("git still knows\n%s", list)
	}
}

func TestAskWorksWhileARunGoesOnAndEndsWithCtrlC(t *testing.T) { // S0-114
	t.Parallel()
	s := sessionSite(t, []string{"1.1", "1.2: 1.1"}, askedWork+`
if [ "$RALPH_NODE" = 1.2 ]; then echo begun > "$TOP/log/second"; while [ ! -e "$TOP/log/go" ]; do sleep 0.1; done; fi`)
	run := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"=") }, "apply")
	s.exists("../log/second")
	if got := s.program(exit.Done, "ask", "1.1", "why?"); !strings.Contains(got.out, "I am ses-1.1-implement-2-fork") {
		t.Errorf("it answers %q", got.out)
	}
	if got := s.program(exit.Input, "ask", "1.2", "why?", "--in-session"); !strings.Contains(got.err, "1.2 is at work now") {
		t.Errorf("in a session where the agent is at work it says %q", got.err)
	}
	if got := s.program(exit.Done, "session", "1.2"); !strings.Contains(got.out, `is a takeover (on_human_message = "pause")`) {
		t.Errorf("of a session where the agent is at work it says\n%s", got.out)
	}
	asked := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, asProgram+"=") }, "ask", "1.1", "wait for ever")
	s.exists("../log/asked")
	asked.signal(syscall.SIGINT)
	if got := asked.wait(); got.code != exit.Interrupted {
		t.Errorf("after Ctrl-C: exit %d\n%s", got.code, got.all())
	}
	s.nothingAside()
	if err := os.WriteFile(s.file("../log/go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := run.wait(); got.code != exit.Done {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
	if left := s.processes(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

func TestOnATerminalTheAnswerIsPrintedOnceAsItComes(t *testing.T) { // S0-114
	path := filepath.Join(t.TempDir(), "ask.out")
	var out bytes.Buffer
	live := view.FollowFile(path, &out) // the file is not there yet
	if err := os.WriteFile(path, []byte("[tool] Read x\x1b[2J\nBecause of\n  bcrypt."), 0o644); err != nil {
		t.Fatal(err)
	}
	said := live.End()
	if got := out.String(); strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "Because of\n  bcrypt.\n") {
		t.Errorf("printed %q", got)
	}
	for answer, want := range map[string]string{"Because of bcrypt.": "", "Something else": "Something else\n"} {
		out.Reset()
		if err := sayAnswer(&out, []byte(answer), said); err != nil || out.String() != want {
			t.Errorf("answer %q is printed as %q (%v), want %q", answer, out.String(), err, want)
		}
	}
	if err := sayAnswer(&out, nil, ""); err == nil {
		t.Error("no answer at all is no error")
	}
}
