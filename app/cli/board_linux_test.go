package cli

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// cooked reports whether a terminal is one in which a shell can be typed at.
func (x *terminal) cooked() bool {
	var t syscall.Termios
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, x.slave.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); errno != 0 {
		x.t.Fatal(errno)
	}
	return t.Lflag&syscall.ICANON != 0 && t.Lflag&syscall.ECHO != 0
}

const boardRows = 24

// board opens the monitor on a terminal; shows waits until the screen holds all of some texts.
func (x *terminal) board(s *site) (watch *starting, shows func(want ...string)) {
	watch = x.run(s, "monitor", "--watch")
	x.t.Cleanup(func() {
		if x.t.Failed() {
			x.t.Logf("the screen:\n%s", x.paged(boardRows))
		}
	})
	return watch, func(want ...string) {
		x.t.Helper()
		s.until("the screen shows "+strings.Join(want, ", "), func() bool {
			text := x.paged(boardRows).String()
			return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) })
		})
	}
}

// A person opens the monitor on a terminal of 80 × 24, reads, approves one sprint, rejects
// another with a reason, sees both change, and quits; the terminal is as it was.
func TestAPersonDecidesAtTheMonitor(t *testing.T) {
	t.Parallel()
	s := newSite(t, `printf 'line of \033[31m%s\n' "$RALPH_NODE"; echo x > "out-$RALPH_NODE.txt"`, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Gates["ann"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Gates = append(e.Nodes[i].Steps[0].Gates, "ann")
		}
	}))
	s.apply(exit.Waiting)
	x := newTerminal(t, 80, boardRows)
	watch, shows := x.board(s)
	shows("2 wait", "> 1.1", "waiting: approval (gate ann, ann decides)", "ralph approve 1.1 --as ann", "? keys  q quit")
	if x.cooked() {
		t.Error("keys come only with enter")
	}
	x.types("\r")
	shows("line 1 of", "What you can decide", "a  approve", "r  reject")
	x.types("l")
	shows("log of 1.1", `| line of \x1b[31m`, "ended")
	x.types("\x1b")
	shows("What you can decide")
	x.types("d")
	shows("diff of 1.1", "+x", "(new)")
	x.types("a")
	shows("Approve  1.1", "as ann, which is recorded as your claim", "ralph approve 1.1 --as ann")
	x.types("y")
	shows("1.1: approved, gate ann", "ralph apply")
	x.types("\x1b")
	shows("What you can decide")
	x.types("\x1b")
	shows("1 waits", "goes on")
	x.types("n")
	shows("> 1.2")
	x.types("r")
	shows("Reject  1.2", "the reason")
	x.types("say it shorter\r")
	shows("ralph reject 1.2 --as ann -m 'say it shorter'")
	x.types("y")
	shows("1.2: rejected")
	if got := s.ralph("show", "1.2").out; !strings.Contains(got, "say it shorter") {
		t.Errorf("show:\n%s", got)
	}
	s.apply(exit.Waiting) // 1.1 is merged, 1.2 has been done again
	shows("> 1.2", "waiting: approval", "done")
	x.types("q")
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("q ends it with %d\n%s", got.code, got.all())
	}
	x.left(s)

	// The same when it is told to end.
	x = newTerminal(t, 80, boardRows)
	watch, shows = x.board(s)
	shows("> 1.2")
	if err := watch.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("SIGTERM ends it with %d\n%s", got.code, got.all())
	}
	x.left(s)
}

// A person follows a log while it grows, lets a sprint that failed try again with a hint while
// apply is at work, and skips another one that has failed.
func TestAPersonGuidesARunAtTheMonitor(t *testing.T) {
	t.Parallel()
	second := `if [ $RALPH_NODE = 1.2 ]; then until [ -e "$TOP/log/second" ]; do sleep 0.1; done; echo x > out-1.2.txt; exit; fi
`
	s := newSite(t, second+followedWork, executortest.Epic([]string{"1.1", "1.2"}, func(e *ir.Epic) {
		e.Gates["check"] = ir.Gate{Kind: "command", Run: "grep fixed out-*.txt", From: "policy", OnFailure: "retry", TimeoutMS: 60_000}
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Limits.Attempts = 1
		}
	}))
	apply := s.start("apply")
	s.exists("../log/reached-1")
	x := newTerminal(t, 80, boardRows)
	watch, shows := x.board(s)
	shows("> 1.1")
	x.types("l")
	shows("log of 1.1", "| attempt 1: two")
	s.open("go-1")
	shows("| attempt 1: trouble")
	s.open("half-1", "go-2", "half-2")
	shows("| attempt 1: half a line", "gate check: fail", "blocked")
	x.types("\x1b")
	shows("1 failed", "> 1.1")
	x.types("t")
	shows("Retry  1.1", "a hint")
	x.types("write fixed into it\r")
	shows("ralph retry 1.1 -m 'write fixed into it'")
	x.types("y")
	shows("1.1: to be tried again")
	s.until("1.1 is done", func() bool { return s.nodeStatus("1.1").Status == "done" })
	if got := s.ralph("show", "1.1").out; !strings.Contains(got, "write fixed into it") {
		t.Errorf("show:\n%s", got)
	}
	s.open("second")
	if got := apply.wait(); got.code != exit.NotDone {
		t.Errorf("apply: %d\n%s", got.code, got.all())
	}
	shows("  1.2", "blocked")
	x.types("N")
	shows("> 1.2")
	x.types("s")
	shows("Skip  1.2", "why, or nothing")
	x.types("not this week\r")
	shows("ralph skip 1.2 -m 'not this week'")
	x.types("y")
	shows("1.2: skipped", "ralph apply")
	x.types("q")
	watch.wait()
	x.left(s)
	s.apply(exit.Done)
	if got := s.nodeStatus("1.2").Status; got != "skipped" {
		t.Errorf("1.2 is %s", got)
	}
}

// left checks that a program has left a terminal as it was.
func (x *terminal) left(s *site) {
	x.t.Helper()
	var p *page
	s.until("it has left its own screen", func() bool { p = x.paged(boardRows); return p.other == nil })
	if text := strings.TrimSpace(p.String()); text != "" || !p.cursor || !x.cooked() {
		x.t.Errorf("it leaves a cursor: %v, a keyboard as before: %v, and\n%s", p.cursor, x.cooked(), text)
	}
	if len(p.unknown) > 0 {
		x.t.Errorf("a terminal may not know %q", p.unknown)
	}
}
