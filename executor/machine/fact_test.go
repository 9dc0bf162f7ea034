package machine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
)

// tell puts facts on record while an effect of a kind goes on; the effect stays in flight.
func (s *stage) tell(k executor.EffectKind, facts ...executor.Body) executor.Effect {
	s.t.Helper()
	var at executor.Effect
	s.until(func(e executor.Effect) bool {
		if e.Kind != k || e.Node == executor.Integration {
			return false
		}
		if at.Kind == "" {
			at = e
		}
		return true
	})
	if at.Kind == "" {
		s.t.Fatalf("no %s begins", k)
	}
	for _, b := range facts {
		s.put(executor.Event{Node: at.Node, Step: at.Step, Attempt: at.Attempt, Body: b})
	}
	return at
}

func inSession(session, turn string) executor.AgentSession {
	return executor.AgentSession{Session: session, Agent: "dev", Turn: turn, Fresh: true}
}

func TestASessionIsKnownAsSoonAsItIsTold(t *testing.T) { // S0-61, S4-38, S4-61, S4-63
	s := newStage(t, []string{"1.1"}, withGates("ordered", qa("qa")))
	s.begin()
	s.tell(executor.EffectAgent, inSession("one", "agent-1"))
	if a := s.view("1.1").Attempts[0]; a.Session != "one" || a.Status != executor.AttemptRunning {
		t.Errorf("while it works: %+v", a)
	}
	s.tell(executor.EffectGate, executor.AgentSession{Session: "judge", Agent: "qa", Turn: "gate-qa", Gate: "qa", Fresh: true})
	s.end()
	s.replay()
	a := s.view("1.1").Attempts[0]
	if a.Session != "one" || len(a.Sessions) != 2 || a.Sessions[1].Gate != "qa" || a.Sessions[1].Session != "judge" || a.Sessions[0].At.IsZero() {
		t.Errorf("session %q of %+v; want that of the agent, and both kept", a.Session, a.Sessions)
	}
}

func TestEveryTurnsSessionIsKeptOnce(t *testing.T) { // S0-65, S0-73, L0-03
	s := newStage(t, []string{"1.1"})
	turn := func(result, session string) executor.AgentEnded {
		return ended(result, func(a *executor.AgentEnded) { a.Session, a.Agent = session, "dev" })
	}
	s.answer = onKind(executor.EffectAgent, turn("partial", "one"), turn("success", "two"))
	s.begin()
	s.tell(executor.EffectAgent, inSession("one", "agent-1"), inSession("one", "agent-1"))
	s.end()
	a := s.view("1.1").Attempts[0]
	var got []string
	for _, k := range a.Sessions {
		got = append(got, k.Agent+" "+k.Session+" "+k.Turn)
	}
	if want := []string{"dev one agent-1", "dev two "}; !slices.Equal(got, want) || a.Session != "two" {
		t.Errorf("sessions %q, last %q; want %q", got, a.Session, want)
	}
}

func TestWhatIsToldTooLateCountsNothing(t *testing.T) { // events come while a turn is in flight, or late
	s := newStage(t, []string{"1.1", "1.2: 1.1"})
	s.begin()
	at := s.tell(executor.EffectAgent)
	s.end()
	before := executortest.Statuses(s.run)
	for _, b := range []executor.Body{
		inSession("late", "agent-1"),
		executor.WorkProposed{Proposal: executor.Proposal{Title: "more"}, Agent: "dev"},
		executor.HumanSpoke{Session: "late", Said: s.now, Text: "hello"},
	} {
		s.put(executor.Event{Node: at.Node, Step: at.Step, Attempt: at.Attempt, Body: b})
		s.put(executor.Event{Node: "bd-1-2", Step: "nowhere", Attempt: 9, Body: b})
	}
	if got := executortest.Statuses(s.run); got != before {
		t.Errorf("it became\n%s\nwas\n%s", got, before)
	}
	if a := s.view("1.1").Attempts[0]; a.Session == "late" {
		t.Error("a session that was told late became that of the attempt")
	}
	s.replay()
}

func TestProposedWorkIsListedOnceWithWhoProposedIt(t *testing.T) { // S4-46
	s := newStage(t, []string{"1.1", "1.2"})
	s.answer = func(e executor.Effect) executor.Body {
		if e.Kind != executor.EffectAgent || e.Node != "bd-1-1" {
			return nil
		}
		return ended("success", func(a *executor.AgentEnded) {
			a.Outcome.Proposals = []executor.Proposal{{Title: "Rotate  keys", Text: "they never are"}, {Title: "one more"}}
		})
	}
	s.begin()
	s.tell(executor.EffectAgent, executor.WorkProposed{Proposal: executor.Proposal{Title: "rotate keys"}, Agent: "dev"})
	s.end()
	s.replay()
	want := []machine.Proposed{
		{Proposal: executor.Proposal{Title: "rotate keys", Text: "they never are"}, Node: "1.1", Agent: "dev"},
		{Proposal: executor.Proposal{Title: "one more"}, Node: "1.1", Agent: "dev"},
	}
	if got := s.run.Overview().Proposals; !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestTheLastWordOfAPersonIsKnown(t *testing.T) { // S4-64
	s := newStage(t, []string{"1.1"})
	s.begin()
	said := s.now.Add(-time.Minute)
	s.tell(executor.EffectAgent, executor.HumanSpoke{Session: "one", Said: said, Text: "use bcrypt"}, executor.HumanSpoke{Session: "one", Said: said.Add(-time.Hour)})
	v := s.view("1.1")
	if !v.Human.Equal(said) || len(v.Attempts[0].Spoken) != 2 || v.Attempts[0].Spoken[0].Text != "use bcrypt" {
		t.Errorf("last word at %s, %+v; want %s", v.Human, v.Attempts[0].Spoken, said)
	}
}

func TestWhatACutTurnCostIsCounted(t *testing.T) { // execution §4; S0-62
	num := func(n int64) *int64 { return &n }
	s := newStage(t, []string{"1.1"})
	cut := fails(executor.FailTransient)
	cut.Usage = executor.Usage{Tokens: num(10), USDMicro: num(3)}
	s.answer = onKind(executor.EffectAgent, cut, fails(executor.FailTransient), ended("success", func(a *executor.AgentEnded) {
		a.Usage = executor.Usage{Tokens: num(7), USDMicro: num(1)}
	}))
	s.begin()
	s.end()
	s.replay()
	v := s.view("1.1")
	if u := v.Attempts[0].Usage; u.Tokens == nil || *u.Tokens != 17 || u.USDMicro == nil || *u.USDMicro != 4 {
		t.Errorf("the attempt cost %+v, want 17 tokens and 4", u)
	}
	if v.Spent.Tokens != 17 || v.Spent.USDMicro != 4 || !v.Spent.TokensKnown {
		t.Errorf("the sprint cost %+v", v.Spent)
	}
}
