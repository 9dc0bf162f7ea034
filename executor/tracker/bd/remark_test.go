package bd

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// A bead that somebody else has claimed stays theirs, whenever that was. What ralph did
// is said there, why the epic is open is said at the epic, both once, and the account
// of the run has it. When the bead is closed the next run closes the epic.
func TestALostClaimIsToldToEverybody(t *testing.T) { // a lost claim is reported and the node goes on
	for _, c := range []struct {
		name  string
		early bool // claimed before ralph begins to mirror
	}{{"claimed before", true}, {"claimed meanwhile", false}} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, []string{"1.1", "1.2"})
			claim := func() { s.person("zoe", "update", "bd-1-1", "--status", "in_progress", "--assignee", "zoe") }
			if c.early {
				claim()
			}
			s.open()
			s.settle(false)
			if !c.early {
				claim()
			}
			s.later(time.Minute)
			if b := s.bead("bd-1-1"); b.Status != "in_progress" || b.Assignee != "zoe" {
				t.Fatalf("before it runs, it is %s of %q", b.Status, b.Assignee)
			}
			s.begin()
			s.play(func() { s.settle(false) })
			s.ended()
			s.settle(true)
			left := "bd-1-1 is done, and stays in_progress in bd: zoe has claimed it there"
			if text := s.texts("bd-epic"); !strings.Contains(text, "[not closed] [task:bd-epic] everything is done, and 1 bead is open in bd:\n"+left) {
				t.Errorf("the epic says\n%s", text)
			}
			if text := s.texts("bd-1-1"); strings.Count(text, "[not closed] [task:bd-1-1] zoe has claimed it") != 1 || !strings.Contains(text, "bd --actor zoe close bd-1-1") {
				t.Errorf("the bead says\n%s", text)
			}
			if unsent, err := s.m.Close(t.Context()); err != nil || len(unsent) != 0 {
				t.Errorf("unsent: %v, %v", unsent, err)
			}
			told := s.remembered()
			if len(told.Left) != 2 || told.Left[0].Bead != "bd-1-1" || told.Left[0].By != "zoe" || told.Left[1].Bead != "bd-epic" || told.Lost["bd-1-1"] != "zoe" {
				t.Errorf("left %+v, lost %v", told.Left, told.Lost)
			}
			said := len(s.said)
			s.open() // the next apply: nothing is done or said again
			s.settle(true)
			if b := s.bead("bd-1-1"); b.Status != "in_progress" || b.Assignee != "zoe" || strings.Count(s.texts("bd-1-1"), "[not closed]")+strings.Count(s.texts("bd-epic"), "[not closed]") != 2 || len(s.said) != said {
				t.Errorf("later it is %s of %s, %q\n%s", b.Status, b.Assignee, s.said, s.texts("bd-epic"))
			}
			if _, err := s.m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.person("zoe", "close", "bd-1-1")
			s.open()
			s.settle(true)
			if b := s.bead("bd-epic"); b.Status != "closed" {
				t.Errorf("the epic is %s when everything is closed; %q", b.Status, s.said)
			}
		})
	}
}

// A claim that is given up is ralph's again.
func TestAClaimThatIsGivenUpIsRalphs(t *testing.T) {
	s := newScene(t, []string{"1.1"})
	s.person("zoe", "update", "bd-1-1", "--status", "in_progress", "--assignee", "zoe")
	s.open()
	s.begin()
	s.play(func() { s.settle(false) })
	s.ended()
	s.settle(true)
	if _, err := s.m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.person("zoe", "unclaim", "bd-1-1")
	s.open()
	s.settle(true)
	if b := s.bead("bd-1-1"); b.Status != "closed" || s.bead("bd-epic").Status != "closed" || s.heard("reopened") {
		t.Errorf("it is %s of %q; %q", b.Status, b.Assignee, s.said)
	}
}

// pulled is an epic whose nodes have pull requests.
func pulled(e *ir.Epic) { e.Epic.Integration.Mode, e.Epic.Integration.PR = "dag", "node" }

// The external reference of a bead is ralph's only if it is empty, or what ralph wrote.
func TestAnExternalReferenceOfAPersonStays(t *testing.T) { // PR URL as external reference
	const theirs = "gh-17"
	for _, c := range []struct {
		name, there, want string
	}{{"none", "", executortest.PullURL}, {"a person's", theirs, theirs}} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, []string{"1.1"}, pulled)
			if c.there != "" {
				s.person("ann", "update", "bd-1-1", "--external-ref", c.there)
			}
			s.open()
			s.begin()
			s.play(func() { s.settle(false) })
			s.ended()
			s.settle(true)
			if _, err := s.m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.open() // once is enough
			s.settle(true)
			b := s.bead("bd-1-1")
			comment := strings.Count(s.texts("bd-1-1"), "[pull request] [task:bd-1-1] "+executortest.PullURL)
			if b.ExternalRef != c.want || comment != b2i(c.there != "") || s.heard("which ralph did not write") != (c.there != "") || b.Status != "closed" {
				t.Errorf("it is %s with %q and %d comments; %q", b.Status, b.ExternalRef, comment, s.said)
			}
		})
	}
}

// What ralph wrote itself it writes anew, also when its memory is gone.
func TestAnExternalReferenceOfRalphsIsKeptUp(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(s *scene)
	}{
		{"remembered", func(s *scene) {
			if err := s.m.told.refer("bd-1-1", "https://forge.invalid/3"); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"recovered", func(s *scene) {
			s.person("ralph", "update", "bd-1-1", "--metadata", `{"pr_url":"https://forge.invalid/3"}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, []string{"1.1"}, pulled)
			s.person("ralph", "update", "bd-1-1", "--external-ref", "https://forge.invalid/3")
			s.open()
			c.make(s)
			s.later(time.Minute)
			s.begin()
			s.play(func() { s.settle(false) })
			s.ended()
			s.settle(true)
			if b := s.bead("bd-1-1"); b.ExternalRef != executortest.PullURL {
				t.Errorf("it is %q; %q", b.ExternalRef, s.said)
			}
		})
	}
}

// A claim that has ended says nothing about what others do later: a bead that was closed
// by whoever had it, and that somebody else opens again, stays open.
func TestABeadThatIsOpenedAgainAfterAClaimStaysOpen(t *testing.T) {
	for _, how := range [][]string{{"close", "bd-1-1"}, {"update", "bd-1-1", "--assignee", ""}} {
		t.Run(how[0], func(t *testing.T) {
			s := newScene(t, []string{"1.1"})
			s.open()
			s.begin()
			s.settle(false)
			s.person("zoe", "update", "bd-1-1", "--status", "in_progress", "--assignee", "zoe")
			s.later(time.Minute)
			s.play(nil)
			s.later(time.Minute)
			s.person("zoe", how...)
			s.later(time.Minute)
			if b := s.bead("bd-1-1"); b.Status != "closed" {
				t.Fatalf("it is %s of %q", b.Status, b.Assignee)
			}
			s.person("bob", "reopen", "bd-1-1")
			s.later(time.Minute)
			if b := s.bead("bd-1-1"); b.Status != "open" || !s.heard("was reopened in bd by bob") {
				t.Errorf("it is %s; %q", b.Status, s.said)
			}
		})
	}
}
