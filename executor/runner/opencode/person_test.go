package opencode

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// human puts a person's message on the list.
func (p *play) human(id, text string) {
	p.says("user", message{Info: info{ID: id, Time: span{Created: 1795292735559}}, Parts: []part{{Type: "text", Text: text}}})
}

func spoken(facts []executor.Body) []executor.HumanSpoke {
	var out []executor.HumanSpoke
	for _, b := range facts {
		if h, ok := b.(executor.HumanSpoke); ok {
			out = append(out, h)
		}
	}
	return out
}

func TestAPersonTakesASessionOver(t *testing.T) { // S4-64, S4-68, S4-69, S4-70, S4-106, execution §6
	takes := func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		p.human("msg_p1", "stop that, use argon2")
		p.await(1, "PAUSED")
		p.answers(outcome("success")) // of what they asked: not judged
		p.status(status{Type: "idle"})
	}
	for on, idle := range map[string]bool{"pause": false, "": false, "review": true, "cooldown": true} {
		t.Run("on_human_message = "+on, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, takes)
			r, facts := f.record(t)
			r.Human = ir.HITL{OnHumanMessage: on, IdleCooldownMS: 700}
			if idle {
				f.calls = append(f.calls, "PAUSED")
			}
			begun := time.Now()
			got, err := f.c.Run(t.Context(), r)
			if err != nil || got.End != executor.EndTakenOver || got.Outcome.Result != "" {
				t.Errorf("got %+v, %v", got, err)
			}
			h := spoken(*facts)
			if len(h) != 1 || h[0].Text != "stop that, use argon2" || h[0].Session != "ses_1" || h[0].Said.UnixMilli() != 1795292735559 && time.Since(h[0].Said) > time.Minute {
				t.Errorf("on record: %+v", h)
			}
			if n := f.called("POST /session/ses_1/abort"); n > 0 {
				t.Errorf("%d aborts of what is theirs", n)
			}
			f.mu.Lock()
			_, busy := f.statuses["ses_1"]
			f.calls = append(f.calls, "PAUSED")
			f.changed.Broadcast()
			f.mu.Unlock()
			if busy == idle {
				t.Errorf("it returned while busy = %v", busy)
			}
			if on == "cooldown" && time.Since(begun) < 700*time.Millisecond {
				t.Errorf("it cooled down in %v", time.Since(begun))
			}
		})
	}
}

// record is a turn whose facts are kept.
func (f *fake) record(t *testing.T) (executor.AgentRun, *[]executor.Body) {
	r := f.ask(t)
	var facts []executor.Body
	r.Record = recorder(&f.mu, &facts)
	return r, &facts
}

func TestANewMessageProlongsTheCooldown(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.hears()
		p.human("msg_p1", "one")
		p.answers("yes")
		p.status(status{Type: "idle"})
		p.await(2, "GET /session/"+p.session+"/message")
		p.status(status{Type: "busy"})
		p.human("msg_p2", "two")
		p.status(status{Type: "idle"})
	})
	r, facts := f.record(t)
	r.Human = ir.HITL{OnHumanMessage: "cooldown", IdleCooldownMS: 2500}
	if got, err := f.c.Run(t.Context(), r); err != nil || got.End != executor.EndTakenOver {
		t.Fatalf("got %+v, %v", got, err)
	}
	if h := spoken(*facts); len(h) != 2 || h[1].Text != "two" {
		t.Errorf("on record: %+v", h)
	}
}

func TestTheClocksStandStillForAPerson(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		p.human("msg_p1", "let me think")
		<-time.After(2500 * time.Millisecond)
		p.answers("thought")
		p.status(status{Type: "idle"})
	})
	r := f.ask(t)
	r.Human.OnHumanMessage = "review"
	r.Step.Stall.AfterMS, r.Step.Stall.Action = 1500, "fail"
	if got, err := f.c.Run(t.Context(), r); err != nil || got.End != executor.EndTakenOver {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAPersonWhoStopsTheAgentTookItOver(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.status(status{Type: "busy"})
		p.hears()
		p.says("assistant", message{Info: info{ID: "msg_a", Error: &fault{Name: "MessageAbortedError"}, Time: span{Created: 1, Completed: 2}}})
		p.status(status{Type: "idle"})
	})
	r, facts := f.record(t)
	if got, err := f.c.Run(t.Context(), r); err != nil || got.End != executor.EndTakenOver || len(spoken(*facts)) != 1 {
		t.Errorf("got %+v, %v; on record %+v", got, err, *facts)
	}
}

func TestWhatIsNoPersons(t *testing.T) {
	for name, c := range map[string]struct {
		part part
		want string
	}{
		"a marked text":        {part{Type: "text", Text: "x", Metadata: json.RawMessage(`{"ralph":"a"}`)}, ""},
		"the program's own":    {part{Type: "text", Text: "Continue if you have next steps", Synthetic: true}, ""},
		"no text":              {part{Type: "compaction"}, ""},
		"nothing":              {part{Type: "text", Text: "  "}, ""},
		"a person's":           {part{Type: "text", Text: "x"}, "x"},
		"one with other marks": {part{Type: "text", Text: "x", Metadata: json.RawMessage(`{"editor":1}`)}, "x"},
		"a person's command":   {part{Type: "text", Text: ranShell, Synthetic: true}, "(ran a command in the session)"},
	} {
		if got, ok := persons(c.part); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, %v; want %q", name, got, ok, c.want)
		}
	}
}

func TestAMessageIsNeverSentToABusySession(t *testing.T) {
	f := newFake(t, func(p *play) {
		p.lock(func() {
			if _, busy := p.statuses[p.session]; busy {
				p.t.Error("it was sent to a busy session")
			}
		})
		fine(p)
	})
	r := f.ask(t)
	r.Effect.Session = "ses_old"
	f.sessions["ses_old"] = &session{ID: "ses_old", Directory: r.Dir}
	f.statuses["ses_old"] = status{Type: "busy"}
	f.messages["ses_old"] = []message{{Info: info{ID: "msg_before", Role: "user"}, Parts: []part{{Type: "text", Text: "what a person wrote before"}}}}
	f.wg.Go(func() {
		f.await(3, "GET /session/status")
		f.lock(func() { delete(f.statuses, "ses_old") })
	})
	got, err := f.c.Run(t.Context(), r)
	if err != nil || got.Outcome.Result != "success" || got.Session != "ses_old" {
		t.Errorf("got %+v, %v", got, err)
	}
	f.lock(func() {
		if !strings.Contains(marshal(f.rules["ses_old"]), `"external_directory"`) {
			t.Errorf("the session's rules are %v", f.rules["ses_old"])
		}
	})
}
