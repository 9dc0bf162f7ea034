package machine_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
)

// sight hands a sighting to the machine and puts on record what it says about it.
func (s *stage) sight(x executor.Sighting) string {
	s.t.Helper()
	body := s.run.Watch().Sighted(x, false)
	if body == nil {
		return ""
	}
	s.put(executor.Event{Body: body})
	s.replay()
	return executor.Event{Body: body}.Kind()
}

func setting(was, is string) executor.Sighting {
	return executor.Sighting{Thing: executor.ThingSetting, Drift: executor.Drift{What: "core.hooksPath in .git/config", Was: was, Is: is, Back: "git config …"}}
}

func open(r *machine.Run) string {
	var out []string
	for _, c := range r.Watch().OpenTampers() {
		out = append(out, c.String())
	}
	return strings.Join(out, "; ")
}

// execution §5, tampering: what counts, and what people do meanwhile.
func TestWhatOthersMayMove(t *testing.T) {
	ref := func(thing executor.Thing, node ir.NodeID, branch, forward bool, was, is string) executor.Sighting {
		return executor.Sighting{Thing: thing, Node: node, Branch: branch, Forward: forward, Drift: executor.Drift{What: "refs/heads/r", Was: was, Is: is}}
	}
	own := func(node ir.NodeID, forward bool, is string) executor.Sighting {
		return ref(executor.ThingOwn, node, true, forward, "a", is)
	}
	stage := func(t *testing.T) *stage {
		s := newStage(t, []string{"1.1", "1.2: 1.1", "1.3: 1.1", "1.4: 1.3"}, func(e *ir.Epic) {
			e.Nodes[2].Kind, e.Nodes[2].Steps = ir.Manual, nil
		})
		s.begin()
		s.until(func(e executor.Effect) bool { return e.Node == "bd-1-2" && e.Kind == executor.EffectAgent })
		return s
	}
	for name, c := range map[string]struct {
		s    executor.Sighting
		want executor.Grade
	}{
		"a setting":                               {setting("", "/evil"), machine.Tampered},
		"a commit on a branch of the user's":      {ref(executor.ThingForeign, "", false, true, "a", "b"), ""},
		"a new tag":                               {ref(executor.ThingForeign, "", false, true, "", "b"), ""},
		"a rewound branch":                        {ref(executor.ThingForeign, "", false, false, "b", "a"), machine.Tampered},
		"a deleted branch":                        {ref(executor.ThingForeign, "", false, false, "b", ""), machine.Tampered},
		"a branch that an attempt in flight made": {executor.Sighting{Thing: executor.ThingForeign, Young: true, Drift: executor.Drift{What: "refs/heads/r", Was: "b"}}, machine.Noticed},
		"a new remote":                            {executor.Sighting{Thing: executor.ThingRoute, Drift: executor.Drift{What: "remote.x.url", Is: "b"}}, machine.Noticed},
		"a new branch's remote":                   {executor.Sighting{Thing: executor.ThingRoute, Forward: true, Drift: executor.Drift{What: "branch.x.remote", Is: "b"}}, ""},
		"a stash, a fetch, another epic":          {ref(executor.ThingOther, "", false, true, "a", "b"), machine.Noticed},
		"the branch of a node during its attempt": {own("bd-1-2", false, "b"), ""},
		"the branch of a node whose first attempt has not begun": {ref(executor.ThingOwn, "bd-1-2", true, false, "", "b"), machine.Tampered},
		"a branch that leads to another":                         {own("bd-1-2", false, "ref: refs/heads/main"), machine.Tampered},
		"the branch of a node that is done":                      {own("bd-1-1", true, "b"), machine.Tampered},
		"the branch of a manual node":                            {own("bd-1-3", false, ""), ""},
		"the branch of a node that waits to be":                  {own("bd-1-4", true, "b"), machine.Tampered},
		"commits on the integration branch":                      {own(executor.Integration, true, "b"), ""},
		"a rewound integration branch":                           {own(executor.Integration, false, "b"), machine.Tampered},
		"a result that is pinned":                                {ref(executor.ThingOwn, "bd-1-1", false, true, "a", "b"), machine.Tampered},
		"the pinned base":                                        {ref(executor.ThingOwn, "", false, true, "a", "b"), machine.Tampered},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t)
			s.sight(c.s)
			var got executor.Grade
			for _, x := range s.run.Watch().Tampers() {
				got = x.Grade
			}
			if got != c.want {
				t.Errorf("graded %q, want %q", got, c.want)
			}
			if s.run.Watch().Tampered() != (c.want == machine.Tampered) {
				t.Errorf("the run is tampered with: %v", s.run.Watch().Tampered())
			}
		})
	}
}

// A person's own fix of what is blocked.
func TestAPersonMayWorkOnABlockedNodesBranch(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.ok("1.1", executor.Decision{Verb: executor.Cancel})
	fix := executor.Sighting{Thing: executor.ThingOwn, Node: "bd-1-1", Branch: true, Drift: executor.Drift{What: "refs/heads/ralph/x/1-1", Was: "a", Is: "b"}}
	if got := s.sight(fix); got != "" {
		t.Errorf("a person's fix is %s", got)
	}
	fix.Is = ""
	if got := s.sight(fix); got != "tamper.seen" {
		t.Errorf("a deleted branch is %q", got)
	}
}

// What ralph has set since is settled: to put it back would undo ralph's work.
func TestWhatRalphHasSetSinceIsSettled(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	s.begin()
	pin := executor.Sighting{Thing: executor.ThingOwn, Node: "bd-1-1", Drift: executor.Drift{What: "refs/ralph/bd-epic/nodes/bd-1-1/result", Is: "evil"}}
	over := pin
	over.Over, over.Was, over.Is = true, "good", "good"
	for _, c := range []struct {
		s    executor.Sighting
		want string
	}{{over, ""}, {pin, "tamper.seen"}, {over, "tamper.undone"}, {over, ""}} {
		if got := s.sight(c.s); got != c.want {
			t.Errorf("%+v is %q, want %q", c.s, got, c.want)
		}
	}
	if s.run.Watch().Tampered() {
		t.Error("it counts")
	}
}

// execution §5: each change is said once, until it is accepted or put back; it is
// compared with what is trusted.
func TestAChangeStaysUntilItIsPutBackOrAccepted(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	s.begin()
	if got := s.sight(setting("", "/evil")); got != "tamper.seen" {
		t.Fatalf("it is %q", got)
	}
	if got := s.sight(setting("/evil", "/worse")); got != "tamper.seen" {
		t.Fatalf("another value: %q", got)
	}
	if got, want := open(s.run), "core.hooksPath in .git/config is new: /worse"; got != want {
		t.Errorf("open: %q, want %q: one of each thing, against what is trusted", got, want)
	}
	if got := s.sight(setting("/worse", "")); got != "tamper.undone" {
		t.Errorf("put back: %q", got)
	}
	if s.run.Watch().Tampered() {
		t.Error("what was put back counts")
	}

	s.sight(setting("", "/evil"))
	id := s.run.Watch().OpenTampers()[0].ID()
	s.end()
	s.begin() // the next apply
	if !s.run.Watch().Tampered() {
		t.Error("the next run has forgotten it")
	}
	s.no("", executor.Decision{Verb: executor.Approve, Tamper: "ffffffff"}, "there is no open change ffffffff")
	s.no("1.1", executor.Decision{Verb: executor.Approve, Tamper: id}, "belongs to the run")
	s.no("", executor.Decision{Verb: executor.Resume, Tamper: id}, "belongs to the run")
	s.ok("", executor.Decision{Verb: executor.Approve, Tamper: id})
	s.replay()
	if s.run.Watch().Tampered() {
		t.Error("what was accepted counts")
	}
	s.no("", executor.Decision{Verb: executor.Approve, Tamper: id}, "accepted by")
	s.put(executor.Event{Body: executor.RunEnded{}})
	s.begin()
	s.sight(setting("", "/evil")) // it was put back meanwhile, and comes again
	if !s.run.Watch().Tampered() {
		t.Error("to accept a change once is not to accept it for ever")
	}
}

// A crash between the record and what is trusted after it: said once.
func TestAChangeIsNotSaidTwiceAfterACrash(t *testing.T) {
	for _, x := range []executor.Sighting{
		setting("", "/evil"),
		{Thing: executor.ThingOther, Drift: executor.Drift{What: "refs/stash", Was: "a", Is: "b"}},
	} {
		s := newStage(t, []string{"1.1"})
		s.begin()
		s.sight(x)
		s.begin() // the run was cut
		if body := s.run.Watch().Sighted(x, true); body != nil {
			t.Errorf("%s is said once more: %+v", x.What, body)
		}
		s.begin() // and cut once more
		if body := s.run.Watch().Sighted(x, true); body != nil {
			t.Errorf("%s is said at the third start: %+v", x.What, body)
		}
		x.Is = "something else"
		if body := s.run.Watch().Sighted(x, true); body == nil {
			t.Errorf("%s changed meanwhile, and nothing is said", x.What)
		}
	}
}

func TestANotedChangeDoesNotFailTheRun(t *testing.T) { // policy-language: on_tamper
	s := newStage(t, []string{"1.1"}, func(e *ir.Epic) { e.Run.Git.OnTamper = "note" })
	s.begin()
	s.sight(setting("", "/evil"))
	if s.run.Watch().Tampered() || len(s.run.Watch().OpenTampers()) != 1 {
		t.Errorf("tampered %v with %q open", s.run.Watch().Tampered(), open(s.run))
	}
}

// What is not settled stays, and is said to be of an earlier run; a run that goes on after
// it was cut is the same one.
func TestAChangeIsSaidToBeOfAnEarlierRun(t *testing.T) {
	s := newStage(t, []string{"1.1"})
	s.begin()
	s.sight(setting("", "/evil"))
	for _, c := range []struct {
		next func()
		want int
	}{{func() {}, 0}, {func() { s.begin() }, 0}, {func() { s.end(); s.begin() }, 1}} {
		c.next()
		if list := s.run.Watch().Tampers(); len(list) != 1 || list[0].Earlier != c.want {
			t.Errorf("got %+v, want one of %d runs before", list, c.want)
		}
	}
}
