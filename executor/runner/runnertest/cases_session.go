package runnertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/ir"
)

// sessions: what goes on from turn to turn, and what it costs.
func sessions() []Case {
	return []Case{
		{
			Name: "the session is on record before the model is asked", Needs: needs(needHandle, executor.CanResume),
			turns: [][]modeltest.Step{well()},
			play: func(t *testing.T, s *stage) {
				asked := -1
				p := s.success(t, turn{record: func(b executor.Body) {
					if _, ok := b.(executor.AgentSession); ok && asked < 0 {
						asked = len(s.requests())
					}
				}})
				if asked != 0 {
					t.Errorf("the model had been asked %d times", asked)
				}
				if a := p.session(); a.Session == "" || a.Session != p.ended.Session || !a.Fresh || a.Agent != "builder" || a.Turn != p.run.Turn() {
					t.Errorf("on record is %+v; the turn ended in session %q", a, p.ended.Session)
				}
			},
		},
		{
			Name: "a session continues in a second turn", Needs: needs(executor.CanResume),
			turns: [][]modeltest.Step{
				append(steps{{Text: "The word is bcrypt.", Do: []modeltest.Action{modeltest.Write("one.txt", "1\n")}}}, well()...),
				well(do(modeltest.Write("two.txt", "2\n"))),
			},
			play: func(t *testing.T, s *stage) {
				first := s.success(t, turn{})
				if first.session().Session == "" || first.session().Session != first.ended.Session {
					t.Fatalf("on record is %+v; the turn ended in session %q", first.session(), first.ended.Session)
				}
				second := s.success(t, turn{of: 2, session: first.ended.Session})
				if a := second.session(); a.Session != first.ended.Session || a.Fresh {
					t.Errorf("on record is %+v", a)
				}
				if second.ended.Session != first.ended.Session {
					t.Errorf("it ended in session %q, want %q", second.ended.Session, first.ended.Session)
				}
				r := s.last(t, 2)
				if !strings.Contains(strings.Join(r.Said, "\n"), "The word is bcrypt.") || !strings.Contains(strings.Join(r.Humans, "\n"), s.c.mark(1)) {
					t.Errorf("the model does not see the first turn: it said %q", r.Said)
				}
				s.oneChannel(t, r)
				s.holds(t, "one.txt", "two.txt")
			},
		},
		{
			Name: "a missing session is reported", Needs: needs(executor.CanResume),
			turns: [][]modeltest.Step{well()},
			play: func(t *testing.T, s *stage) {
				if s.agent.Gone == "" {
					t.Fatal("the test of the runner names no session that is gone")
				}
				s.fails(t, turn{session: s.agent.Gone}, executor.FailSession)
				if n := len(s.requests()); n > 0 {
					t.Errorf("the model was asked %d times", n)
				}
			},
		},
		{
			Name: "a copy of a session leaves it as it was", Needs: needs(executor.CanFork, executor.CanResume),
			turns: [][]modeltest.Step{{{Text: "The word is bcrypt."}}, {{Text: "Only the copy hears this."}}, {{Text: "Still bcrypt."}}},
			play: func(t *testing.T, s *stage) {
				first := s.must(t, turn{raw: true})
				copied := s.must(t, turn{of: 2, session: first.ended.Session, fork: true, raw: true})
				if copied.ended.Session == first.ended.Session {
					t.Errorf("the copy is the original, %q", copied.ended.Session)
				}
				if r := s.last(t, 2); !strings.Contains(strings.Join(r.Said, "\n"), "bcrypt") {
					t.Errorf("the copy does not know the first turn: %q", r.Said)
				}
				third := s.must(t, turn{of: 3, session: first.ended.Session, raw: true})
				r := s.last(t, 3)
				if said := strings.Join(r.Said, "\n"); !strings.Contains(said, "bcrypt") || strings.Contains(said, "Only the copy") || strings.Contains(strings.Join(r.Humans, "\n"), s.c.mark(2)) {
					t.Errorf("the original holds %q", said)
				}
				if third.ended.Session != first.ended.Session {
					t.Errorf("the original went on in session %q, want %q", third.ended.Session, first.ended.Session)
				}
			},
		},
		{
			Name: "tokens are those of the turn, also when a session continues", Needs: needs(executor.CanTokens),
			turns: [][]modeltest.Step{
				{{Text: "a", Do: []modeltest.Action{modeltest.Bash("true")}, Usage: modeltest.Usage{Input: 1100, Output: 70}}, {Text: "b", Usage: modeltest.Usage{Input: 1300, Output: 30}}},
				{{Text: "c", Usage: modeltest.Usage{Input: 1700, Output: 90}}},
			},
			play: func(t *testing.T, s *stage) {
				first := s.must(t, turn{raw: true})
				tokens(t, first, 2500)
				if reason(s.agent.Kind, s.inner, needs(executor.CanResume)) != "" {
					return
				}
				second := s.must(t, turn{of: 2, session: first.ended.Session, raw: true})
				tokens(t, second, 1790)
				if a, b := first.ended.Usage.USDMicro, second.ended.Usage.USDMicro; a != nil && b != nil && *b >= *a {
					t.Errorf("the second turn used less and cost %d, the first cost %d: it is counted twice", *b, *a)
				}
			},
		},
		{
			Name: "a person's words in the session hold it", Needs: needs(executor.CanTakeover),
			turns: [][]modeltest.Step{well(do(modeltest.Bash(holding)))},
			play:  func(t *testing.T, s *stage) { s.takenOver(t, "pause") },
		},
		{
			Name: "a person's words in the session are reviewed when it is idle", Needs: needs(executor.CanTakeover),
			turns: [][]modeltest.Step{well(do(modeltest.Bash(holding)))},
			play:  func(t *testing.T, s *stage) { s.takenOver(t, "review") },
		},
		{
			Name: "a person's words in the session are waited out", Needs: needs(executor.CanTakeover),
			turns: [][]modeltest.Step{well(do(modeltest.Bash(holding)))},
			play:  func(t *testing.T, s *stage) { s.takenOver(t, "cooldown") },
		},
	}
}

// holding is a command that runs until a person has spoken.
const holding = `echo > held; while ! test -e spoken; do sleep 0.1; done`

// oneChannel checks that the model is offered the tools of this turn alone.
func (s *stage) oneChannel(t testing.TB, r modeltest.Request) {
	t.Helper()
	if reason(s.agent.Kind, s.inner, needs(executor.CanTools)) != "" {
		return
	}
	names := slices.DeleteFunc(r.ToolNames(), func(n string) bool { return !strings.HasSuffix(n, "report_outcome") })
	if len(names) != 1 {
		t.Errorf("the model is offered %q, want the report of this turn alone", names)
	}
}

// tokens checks what a turn is said to have used, and that its cost is known.
func tokens(t testing.TB, p played, want int64) {
	t.Helper()
	u := p.ended.Usage
	if u.Tokens == nil || *u.Tokens != want {
		t.Errorf("turn %s used %v tokens, want %d", p.run.Turn(), deref(u.Tokens), want)
	}
	if u.USDMicro == nil || *u.USDMicro <= 0 {
		t.Errorf("the cost is %v: it is neither said nor priced", deref(u.USDMicro))
	}
}

func deref(n *int64) any {
	if n == nil {
		return "no"
	}
	return *n
}

// takenOver lets a person speak in the middle of a turn.
func (s *stage) takenOver(t *testing.T, on string) {
	t.Helper()
	if s.agent.Person == nil {
		t.Fatal("the test of the runner has no person")
	}
	session := make(chan string, 10)
	k := turn{human: ir.HITL{OnHumanMessage: on, IdleCooldownMS: 1000}, record: func(b executor.Body) {
		if a, ok := b.(executor.AgentSession); ok {
			session <- a.Session
		}
	}}
	first := s.start(t.Context(), k)
	eventually(t, "the tool runs", func() (bool, string) {
		first.still(t)
		return s.has("held") && len(session) > 0, ""
	})
	handle := <-session
	s.agent.Person(t, s.ask(k), handle, "I take it from here. "+s.c.mark(1))
	if on != "pause" {
		s.put(t, "spoken", "")
	}
	p := first.wait()
	s.put(t, "spoken", "")
	if p.err != nil || p.ended.End != executor.EndTakenOver {
		t.Fatalf("got end %q, error %v; want %q\n%s", p.ended.End, p.err, executor.EndTakenOver, p.evidence())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range *p.records {
		if h, ok := b.(executor.HumanSpoke); ok {
			if h.Session != handle || !strings.Contains(h.Text, "I take it from here.") || h.Said.IsZero() {
				t.Errorf("on record is %+v", h)
			}
			return
		}
	}
	t.Errorf("no person is on record: %+v", *p.records)
}
