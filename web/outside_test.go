//go:build unix

package web

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// What is written to the checkout, and to files, has no event.
func TestWhatNoEventTellsIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, `echo other > "$TOP/README.md"
until [ -e "$TOP/go" ]; do sleep 0.02; done
echo one
until [ -e "$TOP/on" ]; do sleep 0.02; done
echo x > work.txt
`, executortest.Epic([]string{"1.1"}))
	wait := s.start()
	s.serve()
	s.until("its agent works", func() bool {
		tail := got[Sprint](s, "/EPIC/nodes/1.1").Tail
		return tail != nil && tail.File == ""
	})
	next := s.stream("/EPIC/events")
	s.write("go", "")
	for e := next(); e.event != "change"; e = next() { // so that a page asks again
		if e.event == "reset" {
			t.Fatalf("%+v", e)
		}
	}
	if tail := got[Sprint](s, "/EPIC/nodes/1.1").Tail; tail == nil || tail.File != "agent-1.out" {
		t.Errorf("what is written: %+v", tail)
	}
	s.write("on", "")
	wait()
	state := func() string {
		for _, c := range got[Epic](s, "/EPIC").Changes {
			if c.What == "your checkout" {
				return c.State
			}
		}
		return ""
	}
	s.until("it is seen", func() bool { return state() == "open" })
	s.git("checkout", "-q", "README.md")
	for _, file := range []string{"go", "on"} {
		s.git("clean", "-q", "-f", file)
	}
	s.until("it is taken back", func() bool { return state() == "undone" })
}
