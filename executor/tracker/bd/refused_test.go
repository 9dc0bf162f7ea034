package bd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// failing lets the node 1.1 fail so often, each time in other words, before it passes.
func (s *scene) failing(times int) {
	n := 0
	s.answer = func(e executor.Effect) executor.Body {
		if e.Node != "bd-1-1" || e.Kind != executor.EffectGate || n == times {
			return nil
		}
		n++
		v := executortest.Verdict(e.Gate, executor.Fail)
		v.Message = fmt.Sprintf("trouble %d", n)
		return v
	}
}

// settled lets time go by until the mirror has nothing more to do.
func (s *scene) settled() {
	s.t.Helper()
	for range 12 {
		s.settle(true)
		s.now = s.now.Add(time.Minute)
	}
}

// remembered is what the mirror has left in its file.
func (s *scene) remembered() Told {
	s.t.Helper()
	told, err := ReadTold(s.state)
	if err != nil {
		s.t.Fatal(err)
	}
	return told
}

// A comment that bd refuses for good is passed over and remembered; those behind it
// come, and so do the fields. Each is told once, and the next run does not begin anew.
func TestACommentThatBdRefusesIsPassedOver(t *testing.T) { // comments never dropped; what bd refuses is reported
	for _, c := range []struct {
		name string
		keep bool // the mirror keeps up: comments come one by one
	}{{"told one by one", true}, {"told together", false}} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 9 })
			s.failing(4)
			s.fake.Faults(bdtest.Fault{On: "comments add", In: "trouble 2", Do: bdtest.Refuse, Text: "Error: no such words"})
			s.open()
			s.begin()
			s.play(func() {
				if c.keep {
					s.settle(false)
					s.now = s.now.Add(2 * time.Second)
				}
			})
			s.ended()
			s.settled()
			text := s.texts("bd-1-1")
			for n := 1; n <= 4; n++ {
				if want := 1 - b2i(n == 2); strings.Count(text, fmt.Sprint("trouble ", n)) != want {
					t.Errorf("trouble %d is told otherwise than %d times:\n%s", n, want, text)
				}
			}
			if b := s.bead("bd-1-1"); b.Status != "closed" || s.bead("bd-1-2").Status != "closed" {
				t.Errorf("it is %s", b.Status)
			}
			n := 0
			for _, line := range s.said {
				if strings.Contains(line, "no such words") && strings.Contains(line, " of bd-1-1,") {
					n++
				}
			}
			if n != 1 {
				t.Errorf("said %d times: %q", n, s.said)
			}
			unsent, err := s.m.Close(t.Context())
			if err != nil || len(unsent) != 0 {
				t.Errorf("unsent: %q, %v", unsent, err)
			}
			told := s.remembered()
			found := 0
			for _, r := range told.Refused {
				if r.ID == "bd-1-1" && r.Over && r.Seq > 0 && strings.Contains(r.What, "the comment \"[") && strings.Contains(r.Why, "no such words") {
					found++
				}
			}
			if found != 1 {
				t.Errorf("remembered: %+v", told.Refused)
			}
			s.fake.Forget()
			s.open()
			s.settled()
			for _, call := range s.fake.Calls() {
				if call.Command == "comments add" {
					t.Errorf("the next run says %q", call.Input)
				}
			}
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Where bd refuses everything, nothing is passed over: it is told later.
func TestNothingIsPassedOverWhileBdRefusesEverything(t *testing.T) { // comments never dropped
	s := newScene(t, []string{"1.1", "1.2"}, func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.Attempts = 9 })
	s.failing(2)
	s.fake.Faults(
		bdtest.Fault{On: "comments add", Do: bdtest.Refuse, Text: "Error: no space left on device"},
		bdtest.Fault{On: "update", Do: bdtest.Refuse, Text: "Error: no space left on device"},
		bdtest.Fault{On: "close", Do: bdtest.Refuse, Text: "Error: no space left on device"},
		bdtest.Fault{On: "set-state", Do: bdtest.Refuse, Text: "Error: no space left on device"},
	)
	s.open()
	s.begin()
	s.play(func() { s.settle(false); s.now = s.now.Add(5 * time.Second) })
	s.ended()
	s.settled()
	if !s.heard("bd refuses updates") {
		t.Errorf("nothing is said: %q", s.said)
	}
	unsent, err := s.m.Close(t.Context())
	if err != nil || len(unsent) != 3 {
		t.Errorf("unsent: %q, %v", unsent, err)
	}
	for _, r := range s.remembered().Refused {
		if r.Over {
			t.Errorf("passed over: %+v", r)
		}
	}
	s.fake.Faults()
	s.open()
	s.settled()
	text := s.texts("bd-1-1")
	if strings.Count(text, "trouble 1") != 1 || strings.Count(text, "trouble 2") != 1 || s.bead("bd-epic").Status != "closed" {
		t.Errorf("the epic is %s, and it says\n%s", s.bead("bd-epic").Status, text)
	}
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 0 {
		t.Errorf("unsent in the end: %q, %v", unsent, err)
	}
}

// Fields that bd refuses hold back neither the others nor the comments.
func TestFieldsThatBdRefusesHoldNothingBack(t *testing.T) {
	s := newScene(t, []string{"1.1", "1.2"})
	s.open()
	s.fake.Faults(bdtest.Fault{On: "update", With: "phase:", Do: bdtest.Refuse, Text: "Error: no labels today"})
	s.begin()
	s.play(func() { s.settle(false); s.now = s.now.Add(2 * time.Second) })
	s.ended()
	s.settled()
	b := s.bead("bd-1-1")
	if b.Status != "closed" || len(b.Comments) != 1 || !strings.Contains(string(b.Metadata), `"attempts":1`) || s.labels("bd-1-1", "phase:") != "" {
		t.Errorf("it is %s with %d comments, %s; %q", b.Status, len(b.Comments), b.Metadata, s.said)
	}
	if !s.heard("bd refuses its labels of bd-1-1") {
		t.Errorf("it says %q", s.said)
	}
	if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 0 {
		t.Errorf("unsent: %q, %v", unsent, err)
	}
	if told := s.remembered(); len(told.Refused) == 0 || told.Refused[0].Seq != 0 || !strings.Contains(told.Refused[0].Why, "no labels today") {
		t.Errorf("remembered: %+v", told.Refused)
	}
}
