//go:build unix

package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// holdingWork is an agent that stays until a file lets it go.
const holdingWork = `mkdir -p "$TOP/at.$RALPH_NODE"; until [ -e "$TOP/go.$RALPH_NODE" ]; do sleep 0.1; done
` + siteWork

// at waits until the agent of a sprint is at work.
func (s *site) at(key string) {
	s.t.Helper()
	s.until("the agent of "+key, func() bool { _, err := os.Stat(s.file("../at." + key)); return err == nil })
}

// TestManyAppliesAtOnce starts apply several times at the same moment, and again
// when the one who holds the lock has been killed: there is never more than one.
func TestManyAppliesAtOnce(t *testing.T) { // E1, N6
	t.Parallel()
	s := newSite(t, holdingWork, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
	for round := range 3 {
		ended := make(chan int)
		var all []*starting
		for range 5 {
			a := s.start("apply")
			all = append(all, a)
		}
		for i, a := range all {
			go func() { _ = a.cmd.Wait(); ended <- i }()
		}
		over := map[int]bool{}
		for len(over) < len(all)-1 { // all but one end by themselves
			over[<-ended] = true
		}
		holder := -1
		for i, a := range all {
			if !over[i] {
				holder = i
				continue
			}
			if code, said := a.cmd.ProcessState.ExitCode(), a.err.String(); code != exit.Input || !strings.Contains(said, "another ralph is at work on this epic") {
				t.Errorf("the second one ended with %d: %s", code, said)
			}
		}
		s.at("1.1")
		if round < 2 {
			all[holder].signal(syscall.SIGKILL)
			<-ended
			if err := os.RemoveAll(s.file("../at.1.1")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		s.write("../go.1.1", "")
		s.write("../go.1.2", "")
		<-ended
		if code := all[holder].cmd.ProcessState.ExitCode(); code != exit.Done {
			t.Errorf("exit %d\n%s", code, all[holder].err.String())
		}
	}
	if n := s.noted("agents", "1.1.implement-1"); n != 3 {
		t.Errorf("the agent of 1.1 ran %d times, want 3: once for each holder", n)
	}
	s.sound()
}

// TestTheReaderGoesAway closes the pipe that ralph prints to, as head does.
func TestTheReaderGoesAway(t *testing.T) { // A7
	t.Parallel()
	for _, args := range [][]string{{"apply"}, {"apply", "--events", "jsonl"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2"}))
			ralph := s.start("help").cmd.Args[3] // the program
			cmd := s.command("/bin/sh", "-c", `{ "$0" "$@"; echo $? > "$TOP/code"; } 2>&1 | head -n 1`, ralph)
			cmd.Args = append(cmd.Args, args...)
			if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "\n") != 1 {
				t.Errorf("head printed %q, %v", out, err)
			}
			if code := s.exists("../code"); code != "0" {
				t.Errorf("exit %s\n%s", code, s.failures())
			}
			s.until("the end of everything", func() bool { return len(s.processes()) == 0 })
			if got := s.git("show", "ralph/x/integration:out-1.3.txt"); got != "1.3" {
				t.Errorf("the result holds %q", got)
			}
			s.sound()
		})
	}
}

// TestSignals asks ralph to end: running attempts get their time, nothing new
// starts, and apply goes on later. A second signal ends them at once.
func TestSignals(t *testing.T) { // A6, A8, execution §5
	t.Parallel()
	for name, c := range map[string]struct {
		signals []syscall.Signal
		group   bool // to the whole process group, as a terminal does
		ends    bool // the agent is ended, too
	}{
		"Ctrl-C drains":                   {signals: []syscall.Signal{syscall.SIGINT}},
		"Ctrl-C of a terminal drains":     {signals: []syscall.Signal{syscall.SIGINT}, group: true},
		"SIGTERM drains":                  {signals: []syscall.Signal{syscall.SIGTERM}},
		"a closed terminal drains":        {signals: []syscall.Signal{syscall.SIGHUP}},
		"Ctrl-C twice ends the agent":     {signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, ends: true},
		"SIGTERM after Ctrl-C ends it":    {signals: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, ends: true},
		"kill -9 is taken up by the next": {signals: []syscall.Signal{syscall.SIGKILL}, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, holdingWork, executortest.Epic([]string{"1.1", "1.2: 1.1"}))
			a := s.begin(func(a *starting) { a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }, "apply", "--events", "jsonl", "--grace", "1h")
			s.at("1.1")
			for i, sig := range c.signals {
				to := a.cmd.Process.Pid
				if c.group {
					to = -to
				}
				if err := syscall.Kill(to, sig); err != nil {
					t.Fatal(err)
				}
				if i == 0 && sig != syscall.SIGKILL { // the system would merge two into one
					s.until("the drain", func() bool {
						for _, e := range s.events() {
							if e.Kind() == "run.draining" {
								return true
							}
						}
						return false
					})
				}
			}
			want := exit.Interrupted
			if !c.ends {
				s.write("../go.1.1", "")
			}
			if c.signals[0] == syscall.SIGKILL {
				want = -1
			}
			if got := a.wait(); got.code != want {
				t.Errorf("exit %d, want %d\n%s", got.code, want, got.err)
			}
			s.write("../go.1.1", "")
			s.write("../go.1.2", "")
			done, again := 0, 1
			for _, e := range s.events() {
				if e.Kind() == "node.done" && e.Node == "bd-1-1" {
					done++
				}
				if e.Node == "bd-1-2" {
					t.Errorf("1.2 was begun: %s", e.Kind())
				}
			}
			if c.ends {
				again = 2
			}
			if done != 2-again {
				t.Errorf("1.1 was done %d times, want %d", done, 2-again)
			}
			s.apply(exit.Done, "--events", "jsonl")
			if n := s.noted("agents", "1.1.implement-1"); n != again {
				t.Errorf("the agent of 1.1 ran %d times, want %d", n, again)
			}
			s.sound()
		})
	}
}

// TestADecisionWhileApplyIsKilled sends a decision to an apply that is killed
// before it reads it, when it has made it durable, or while it is started again:
// it counts exactly once, and whoever sent it is told so.
func TestADecisionWhileApplyIsKilled(t *testing.T) { // execution §5, §9
	t.Parallel()
	unread := func(s *site, a *starting, decide func() *starting) *starting {
		a.signal(syscall.SIGSTOP)
		d := decide()
		s.until("the letter", func() bool { return strings.Contains(s.read(".git/ralph/bd-epic/journal.db-wal"), "not needed") })
		a.signal(syscall.SIGKILL)
		return d
	}
	for name, c := range map[string]struct {
		kill  func(s *site, a *starting, decide func() *starting) *starting
		again bool // apply is started again while the decision looks for somebody who takes it
	}{
		"before it reads": {kill: unread},
		"when it is durable and not answered": {kill: func(s *site, _ *starting, decide func() *starting) *starting {
			s.killAt("told.decided.bd-1-2.-0")
			return decide()
		}},
		"and started again at once": {kill: unread, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, holdingWork, executortest.Epic([]string{"1.1", "1.2: 1.1", "1.3: 1.2"}))
			a := s.start("apply", "--events", "jsonl")
			s.at("1.1")
			d := c.kill(s, a, func() *starting { return s.start("skip", "1.2", "-m", "not needed") })
			if got := a.wait(); got.code != -1 {
				t.Errorf("apply was not killed: exit %d\n%s", got.code, got.err)
			}
			for _, key := range []string{"1.1", "1.2", "1.3"} {
				s.write("../go."+key, "")
			}
			if c.again {
				if got := s.ralph("apply", "--events", "jsonl"); got.code != exit.Done && got.code != exit.Input { // the lock may be the other's
					t.Errorf("exit %d\n%s", got.code, got.err)
				}
			}
			if got := d.wait(); got.code != exit.Done {
				t.Errorf("the decision ended with exit code %d: %s", got.code, got.all())
			}
			s.apply(exit.Done, "--events", "jsonl")
			var decided []string
			for _, e := range s.events() {
				if b, ok := e.Body.(executor.Decided); ok {
					decided = append(decided, fmt.Sprint(e.Node, " ", b.Verb, " ", b.Message))
				}
			}
			if len(decided) != 1 || decided[0] != "bd-1-2 skip not needed" {
				t.Errorf("on record are %q", decided)
			}
			if s.noted("agents", "1.2.implement-1") != 0 || s.noted("agents", "1.3.implement-1") != 1 {
				t.Errorf("what ran:\n%s", s.read("../log/agents"))
			}
			s.sound()
		})
	}
}

// TestADecisionThatIsKilled kills the command by which somebody approves, at
// several moments, while no apply runs: it counts once or not at all, and can be
// said again.
func TestADecisionThatIsKilled(t *testing.T) { // execution §5, §9
	t.Parallel()
	s := newSite(t, "", executortest.Epic([]string{"1.1", "1.2: 1.1"}, func(e *ir.Epic) {
		e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
		e.Nodes[0].Steps[0].Gates = []string{"check", "ana"}
	}))
	s.apply(exit.Waiting)
	approvals := func() (n int) {
		for _, e := range s.events() {
			if d, ok := e.Body.(executor.Decided); ok && d.Verb == executor.Approve {
				n++
			}
		}
		return n
	}
	killed := 0
	// It gets longer each time, until it is long enough on this machine, now.
	for delay := time.Duration(0); ; delay += 4*time.Millisecond + delay/8 {
		d := s.start("approve", "1.1", "--as", "ana")
		time.AfterFunc(delay, func() { _ = d.cmd.Process.Kill() }) // it may have ended
		got := d.wait()
		if got.code == -1 {
			killed++
		}
		n := approvals()
		if n > 1 || got.code == exit.Done && n != 1 {
			t.Fatalf("after %v (exit %d) %d approvals are on record\n%s", delay, got.code, n, got.all())
		}
		if n == 1 {
			break
		}
	}
	if killed == 0 {
		t.Error("it was never killed")
	}
	if approvals() == 0 {
		t.Fatal("it was never approved")
	}
	if again := s.ralph("approve", "1.1", "--as", "ana"); again.code == exit.Done && approvals() != 1 {
		t.Errorf("it was approved twice:\n%s", again.all())
	}
	s.apply(exit.Done, "--events", "jsonl")
	if n := approvals(); n != 1 {
		t.Errorf("%d approvals are on record", n)
	}
	if n := s.noted("agents", "1.1.implement-1"); n != 1 {
		t.Errorf("the agent of 1.1 ran %d times", n)
	}
	s.sound()
}

// killAt asks for ralph to be killed at points.
func (s *site) killAt(points ...string) {
	s.t.Helper()
	for _, p := range points {
		if err := os.MkdirAll(s.file("../kill/"+p), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
}
