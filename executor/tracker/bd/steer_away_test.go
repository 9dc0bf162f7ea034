package bd

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// decided is the inbox, a word for each letter.
func (s *scene) decided() string {
	var out []string
	for _, l := range s.inbox {
		out = append(out, string(l.Decision.Verb)+" by "+l.Decision.By)
	}
	return strings.Join(out, ", ")
}

// gone ends ralph as it stands.
func (s *scene) gone() {
	s.t.Helper()
	s.ended()
	s.settle(true)
	if _, err := s.m.Close(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.m = nil
}

// answers lets the run take what the mirror has sent, as apply does before its end.
func (s *scene) answers() {
	s.t.Helper()
	s.later(0)
	s.play(nil)
}

// Everything that people did to one bead while ralph was away is decided before the
// run comes to its end: what lets a sprint go on does not hide what was said about it.
func TestAllThatWasSaidWhileRalphWasAwayIsDecidedAtOnce(t *testing.T) {
	exclude := func(s *scene) {
		s.person("bob", "label", "add", "bd-1-1", "ashep:excluded")
		s.later(time.Minute)
		s.play(nil)
		if v, _ := s.run.View("bd-1-1"); v.Paused != "bob (bd)" {
			s.t.Fatalf("excluded, it is %s, paused by %q; %q", v.Status, v.Paused, s.said)
		}
	}
	for _, c := range []struct {
		name    string
		did     func(s *scene)
		decided string
		end     string
	}{
		{"given back and approved", func(s *scene) {
			s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
			s.person("ann", "label", "add", "bd-1-1", "human:approved")
		}, "resume by bob (bd), approve by ann (bd)", "done"},
		{"approved and given back", func(s *scene) {
			s.person("ann", "label", "add", "bd-1-1", "human:approved")
			s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
		}, "resume by bob (bd), approve by ann (bd)", "done"},
		{"given back, opened and approved", func(s *scene) {
			s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
			s.person("bob", "update", "bd-1-1", "--status", "open")
			s.person("ann", "label", "add", "bd-1-1", "human:approved")
		}, "resume by bob (bd), approve by ann (bd)", "done"},
		{"given back and sent back", func(s *scene) {
			s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
			s.person("ann", "comments", "add", "bd-1-1", "name the units")
			s.person("ann", "label", "add", "bd-1-1", "human:changes_requested")
		}, "resume by bob (bd), reject by ann (bd)", "waiting"},
		{"given back and closed", func(s *scene) {
			s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
			s.person("ann", "close", "bd-1-1", "--force")
			s.person("ann", "label", "add", "bd-1-1", "human:approved")
		}, "skip by ann (bd)", "skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, []string{"1.1"}, gated)
			s.open()
			s.begin()
			s.play(nil)
			s.settle(false)
			exclude(s)
			s.gone()
			c.did(s)
			s.open()
			if got := s.decided(); got != c.decided {
				t.Errorf("decided: %s, want %s; it says %q", got, c.decided, s.said)
			}
			s.begin()
			s.answers()
			if got := s.status("bd-1-1"); got != c.end {
				t.Errorf("it is %s, want %s; it says %q", got, c.end, s.said)
			}
			s.gone()
			if text := s.texts("bd-1-1"); strings.Contains(text, "[not taken]") || s.labels("bd-1-1", "human:") != "" {
				t.Errorf("labels %q and comments\n%s", s.labels("bd-1-1", "human:"), text)
			}
		})
	}
}

// A sprint that was paused in the middle goes on by one of two words that say the
// same, and the other one is no complaint.
func TestABeadThatIsGivenBackAndOpenedGoesOnOnce(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	running := true
	s.hold = func(e executor.Effect) bool { return running && e.Kind == executor.EffectGate }
	s.open()
	s.begin()
	s.play(nil)
	s.settle(false)
	s.person("bob", "label", "add", "bd-1-1", "ashep:excluded")
	s.later(time.Minute)
	running = false
	s.play(nil)
	if v, _ := s.run.View("bd-1-1"); v.Paused == "" || v.Status != executor.Waiting {
		t.Fatalf("it is %s, paused by %q", v.Status, v.Paused)
	}
	s.gone()
	s.person("bob", "label", "remove", "bd-1-1", "ashep:excluded")
	s.person("ann", "update", "bd-1-1", "--status", "open")
	s.open()
	if got := s.decided(); got != "resume by ann (bd)" {
		t.Errorf("decided: %s", got)
	}
	s.begin()
	s.answers()
	s.gone()
	if got := s.status("bd-1-1"); got != "done" || strings.Contains(s.texts("bd-1-1"), "[not taken]") {
		t.Errorf("it is %s; %s", got, s.texts("bd-1-1"))
	}
}
