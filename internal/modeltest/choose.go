package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// turn is the step that answers a request.
type turn struct {
	step  Step
	fault *Fault // nil: it works
	id    string
}

// keep logs a request that is no turn; missed says what is wrong with it, if
// anything is. It reports whether the scenario is there.
func (s *Server) keep(key string, r Request, missed string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plays[key]
	if p == nil {
		return false
	}
	if missed != "" {
		p.missed = append(p.missed, missed)
	}
	s.log(p, r)
	return true
}

// log keeps a request and wakes those who wait for one. The lock is held.
func (s *Server) log(p *play, r Request) {
	p.log = append(p.log, r)
	close(s.news)
	s.news = make(chan struct{})
}

// choose finds the step for a request, logs the request with it and fills in the
// calls.
func (s *Server) choose(key string, r *Request) (turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plays[key]
	if p == nil {
		return turn{}, false
	}
	step, name := p.scenario.step(*r)
	s.ids++
	t := turn{step: step, id: fmt.Sprintf("r%d", s.ids)}
	if f := step.Fault; f != nil {
		n := p.faults[name]
		p.faults[name]++
		if f.Times == 0 || n < f.Times {
			t.fault = f
		}
	}
	r.Played = name
	if name == nothing {
		p.missed = append(p.missed, fmt.Sprintf("after %d rounds of %q", r.Rounds, short(r.Human())))
	}
	if t.fault != nil {
		r.Played += ", " + t.fault.String()
	} else {
		for i, a := range step.Do {
			r.Calls = append(r.Calls, r.call(a, fmt.Sprintf("%s_%d", t.id, i)))
		}
	}
	s.log(p, *r)
	return t, true
}

// nothing is played where the scenario has no step.
const nothing = "nothing"

func (sc Scenario) step(r Request) (Step, string) {
	if r.Side() && !sc.Bare {
		return Step{Text: sc.side(r)}, "side"
	}
	for i, rule := range sc.Rules {
		if !strings.Contains(r.Human(), rule.Match) {
			continue
		}
		if r.Rounds < len(rule.Steps) {
			return rule.Steps[r.Rounds], fmt.Sprintf("rule %d, step %d", i, r.Rounds)
		}
		break
	}
	return Step{Text: "The script has nothing for this turn."}, nothing
}

// side answers a request that does not belong to a turn.
func (sc Scenario) side(r Request) string {
	text := sc.Side
	if text == "" {
		text = "Scripted"
	}
	if r.JSON && !json.Valid([]byte(text)) {
		return string(object(fields{"title": text}))
	}
	return text
}

func (f Fault) String() string {
	if f.Kind == Refuse {
		return fmt.Sprintf("status %d", f.Status)
	}
	return string(f.Kind)
}

// short is the beginning and the end of a long text.
func short(s string) string {
	if len(s) <= 200 {
		return s
	}
	return s[:120] + " … " + s[len(s)-80:]
}
