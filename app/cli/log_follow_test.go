//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// followedWork speaks in steps that a test opens, on both of its outputs.
const followedWork = `cat > /dev/null
wait_for() { while [ ! -e "$TOP/log/$1" ]; do sleep 0.1; done; }
echo "attempt $RALPH_ATTEMPT: one"; echo "attempt $RALPH_ATTEMPT: two"
echo reached > "$TOP/log/reached-$RALPH_ATTEMPT"
wait_for "go-$RALPH_ATTEMPT"
echo "attempt $RALPH_ATTEMPT: trouble" >&2
printf 'attempt %s: half' $RALPH_ATTEMPT; wait_for "half-$RALPH_ATTEMPT"; echo " a line"
` + siteWork

// watching is a command whose output grows in a file.
func (s *site) watching(name string, args ...string) (*starting, func() string) {
	s.t.Helper()
	f, err := os.Create(filepath.Join(s.top, name))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { f.Close() })
	r := s.begin(func(r *starting) { r.cmd.Stdout, r.cmd.Stderr = f, f }, args...)
	return r, func() string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			s.t.Error(err)
		}
		return string(b)
	}
}

func (s *site) open(names ...string) {
	s.t.Helper()
	for _, n := range names {
		s.write("../log/"+n, "")
	}
}

func TestLogFollowsASprintFromTurnToTurn(t *testing.T) { // S4-62, S4-63
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, followedWork)
	apply := s.start("apply")
	s.exists("../log/reached-1")
	log, said := s.watching("follow.txt", "log", "1.1", "--follow", "-n", "1")
	s.until("the last line of what was there", func() bool { return strings.Contains(said(), "| attempt 1: two") })
	if text := said(); strings.Contains(text, "attempt 1: one") || !strings.Contains(text, "implement #1: begins: agent") {
		t.Errorf("it begins with\n%s", text)
	}
	s.open("go-1")
	s.until("what came on the other output", func() bool {
		return regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  implement #1 dev \(stderr\) \| attempt 1: trouble$`).MatchString(said())
	})
	if strings.Contains(said(), "half") {
		t.Errorf("half a line is printed:\n%s", said())
	}
	s.open("half-1")
	s.exists("../log/reached-2")
	s.until("the next attempt", func() bool { return strings.Contains(said(), "implement #2 dev | attempt 2: two") })
	s.open("go-2", "half-2")
	log.wait() // it ends with the sprint
	text := said()
	order := []string{
		"attempt 1: half a line", "implement #1: agent dev exited", "implement #1 gate qa | {\"status\":\"fail\"", "implement #1: gate qa: fail", "implement #1: failed",
		"implement #2: attempt at", "attempt 2: one", "attempt 2: half a line", "implement #2: agent dev exited", "implement #2: passed", "done:",
	}
	for _, want := range order {
		i := strings.Index(text, want)
		if i < 0 {
			t.Fatalf("%q does not come, or too early, in\n%s", want, said())
		}
		text = text[i:]
	}
	if got := apply.wait(); got.code != exit.Done {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
	if got := s.ralph("log", "1.1", "-f"); got.code != exit.Done || !strings.Contains(got.out, "done:") {
		t.Errorf("of what is over: exit %d\n%s", got.code, got.all())
	}
}

func TestLogStopsFollowingWithCtrlCAndTheRunGoesOn(t *testing.T) { // S4-62
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, followedWork)
	apply := s.start("apply")
	s.exists("../log/reached-1")
	log, said := s.watching("follow.txt", "log", "1.1", "--follow", "--lines", "-1")
	s.until("all that was there", func() bool { return strings.Contains(said(), "dev | attempt 1: one\n") })
	log.signal(syscall.SIGINT)
	if got := log.wait(); got.code != exit.Done {
		t.Errorf("after Ctrl-C: exit %d\n%s", got.code, said())
	}
	s.open("go-1", "half-1", "go-2", "half-2")
	if got := apply.wait(); got.code != exit.Done {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
}

func TestLogPrintsTheRawStream(t *testing.T) { // S4-62
	t.Parallel()
	s := sessionSite(t, []string{"1.1"}, `cat > /dev/null
printf '{"at":"x","line":{"n":%d}}\n' $RALPH_ATTEMPT > "${RALPH_OUTCOME%.outcome.json}.stream.jsonl"
`+siteWork)
	if got := s.ralph("log", "1.1", "--raw"); got.code != exit.Input || !strings.Contains(got.err, "streamed anything") {
		t.Errorf("before the run: exit %d, %s", got.code, got.err)
	}
	s.apply(exit.Done)
	const want = "{\"at\":\"x\",\"line\":{\"n\":1}}\n{\"at\":\"x\",\"line\":{\"n\":2}}\n"
	if got := s.ralph("log", "1.1", "--raw"); got.out != want {
		t.Errorf("it prints\n%swant\n%s", got.out, want)
	}
	for _, args := range [][]string{{"log", "--raw"}, {"log", "1.1", "--raw", "--json"}} {
		if got := s.ralph(args...); got.code != exit.Usage {
			t.Errorf("ralph %v: exit %d, want %d", args, got.code, exit.Usage)
		}
	}
}
