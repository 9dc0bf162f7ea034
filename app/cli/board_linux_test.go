package cli

import (
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
	const rows = 24
	x := newTerminal(t, 80, rows)
	watch := x.run(s, "monitor", "--watch")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", x.paged(rows))
		}
	})
	shows := func(want ...string) {
		t.Helper()
		s.until("the screen shows "+strings.Join(want, ", "), func() bool {
			text := x.paged(rows).String()
			for _, w := range want {
				if !strings.Contains(text, w) {
					return false
				}
			}
			return true
		})
	}
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
	x.left(s, rows)

	// The same when it is told to end.
	x = newTerminal(t, 80, rows)
	watch = x.run(s, "monitor", "--watch")
	shows("> 1.2")
	if err := watch.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := watch.wait(); got.code != exit.Done {
		t.Errorf("SIGTERM ends it with %d\n%s", got.code, got.all())
	}
	x.left(s, rows)
}

// left checks that a program has left a terminal as it was.
func (x *terminal) left(s *site, rows int) {
	x.t.Helper()
	var p *page
	s.until("it has left its own screen", func() bool { p = x.paged(rows); return p.other == nil })
	if text := strings.TrimSpace(p.String()); text != "" || !p.cursor || !x.cooked() {
		x.t.Errorf("it leaves a cursor: %v, a keyboard as before: %v, and\n%s", p.cursor, x.cooked(), text)
	}
	if len(p.unknown) > 0 {
		x.t.Errorf("a terminal may not know %q", p.unknown)
	}
}
