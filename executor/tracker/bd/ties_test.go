package bd

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd/bdtest"
	"github.com/ralph-compiler/ralph/ir"
)

// imported writes a row of bd's import format, as a person.
func (s *scene) imported(row string) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "row.jsonl")
	if err := os.WriteFile(file, []byte(row+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.person("bob", "import", file)
}

// bd's times have a second, and what is of one second comes in any order: nothing that
// a person says then may be lost, or be taken for ralph's.
func TestWhatIsOfOneSecondComesInAnyOrder(t *testing.T) { // beads: trap 14
	t.Run("feedback in the second of the question counts", func(t *testing.T) {
		s := newScene(t, []string{"1.1"}, gated)
		s.fake.Faults(bdtest.Fault{On: "comments", Do: bdtest.Ties})
		s.open()
		s.begin()
		s.play(nil)
		s.settle(false)
		s.person("bob", "comments", "add", "bd-1-1", "name the units")
		s.person("bob", "label", "add", "bd-1-1", "human:changes_requested")
		s.later(time.Minute)
		v, _ := s.run.View("bd-1-1")
		if n := len(v.Decisions); n == 0 || v.Decisions[n-1].Message != "name the units" {
			t.Errorf("decided: %+v", v.Decisions)
		}
	})
	t.Run("a status that a person set in the second of ralph's is the person's", func(t *testing.T) {
		s := newScene(t, []string{"1.1"})
		s.fake.Faults(bdtest.Fault{On: "history", Do: bdtest.Ties})
		s.hold = func(e executor.Effect) bool { return e.Kind == executor.EffectAgent }
		s.open()
		s.begin()
		s.play(nil)
		s.settle(false)
		s.person("bob", "update", "bd-1-1", "--status", "blocked")
		s.later(time.Minute)
		if v, _ := s.run.View("bd-1-1"); v.Paused != "bob (bd)" {
			t.Errorf("paused by %q; %q", v.Paused, s.said)
		}
	})
	t.Run("a label that was given again in the second in which it had decided decides", func(t *testing.T) {
		s := newScene(t, []string{"1.1"}, gated)
		s.fake.Faults(bdtest.Fault{On: "history", Do: bdtest.Ties})
		s.open()
		s.begin()
		for _, who := range []string{"ann", "bob"} {
			s.play(nil)
			s.settle(false)
			s.person(who, "label", "add", "bd-1-1", "human:changes_requested")
			s.later(time.Minute)
		}
		var by []string
		v, _ := s.run.View(ir.NodeID("bd-1-1"))
		for _, d := range v.Decisions {
			by = append(by, d.By)
		}
		if len(by) != 2 || by[0] != "ann (bd)" || by[1] != "bob (bd)" {
			t.Errorf("decided by %q; %q", by, s.said)
		}
	})
}
