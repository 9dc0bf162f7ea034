package machine

import (
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// ledger is what a simulation knows of costs by itself, from effects and reports.
type ledger struct {
	most   map[turn]executor.Usage // of finished turns
	flying map[string]booking
}

type booking struct {
	node     ir.NodeID
	agent    string
	expected executor.Usage
}

// usage makes up what a turn cost; about a third of the agents never tells.
func (s *sim) usage(e executor.Effect) executor.Usage {
	if e.Agent == "" || s.epic.Agents[e.Agent].Expect == nil && s.epic.Run.Budget.Tokens > 6000 {
		return executor.Usage{}
	}
	usd, tokens := int64(s.rng.IntN(1200)), int64(s.rng.IntN(1500))
	return []executor.Usage{{}, {USDMicro: &usd}, {USDMicro: &usd, Tokens: &tokens}}[s.rng.IntN(3)]
}

// reserves holds that a turn began only as the rule of execution.md §5 says: it
// fits beside what is spent and reserved, or nothing else goes on under that
// budget and something is left; of unknown cost is one turn of an agent at a time.
func (s *sim) reserves(e executor.Event) {
	s.t.Helper()
	if s.cost.most == nil {
		s.cost = ledger{most: map[turn]executor.Usage{}, flying: map[string]booking{}}
	}
	key := func(f executor.Effect) string { return f.Key("") }
	n := s.run.byID[e.Node]
	switch b := e.Body.(type) {
	case executor.RunStarted:
		clear(s.cost.flying)
		return
	case executor.EffectStarted:
		for _, f := range n.life.flight {
			if f.Kind == b.Kind && f.Gate == b.Gate && f.Agent != "" {
				s.began(n, f, key(f))
			}
		}
		return
	case executor.AgentEnded:
		s.finished(b.Usage)
	case executor.GateJudged:
		s.finished(b.Usage)
	case executor.Diagnosed:
		s.finished(b.Usage)
	}
	still := map[string]bool{}
	for _, n := range s.run.nodes {
		for _, f := range n.life.flight {
			still[key(f)] = true
		}
	}
	for k := range s.cost.flying {
		if !still[k] {
			delete(s.cost.flying, k)
		}
	}
}

// finished keeps the most that the turn which was just reported has cost.
func (s *sim) finished(u executor.Usage) {
	if s.done.Agent == "" {
		return
	}
	old := s.cost.most[turnOf(&s.done)]
	if u.USDMicro == nil || old.USDMicro != nil && *old.USDMicro > *u.USDMicro {
		u.USDMicro = old.USDMicro
	}
	if u.Tokens == nil || old.Tokens != nil && *old.Tokens > *u.Tokens {
		u.Tokens = old.Tokens
	}
	s.cost.most[turnOf(&s.done)] = u
}

func (s *sim) began(n *node, f executor.Effect, key string) {
	s.t.Helper()
	want := s.cost.most[turnOf(&f)]
	if x := s.epic.Agents[f.Agent].Expect; x != nil {
		if want.USDMicro == nil {
			want.USDMicro = x.USDMicro
		}
		if want.Tokens == nil {
			want.Tokens = x.Tokens
		}
	}
	worth := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, b := range []struct {
		of    string
		limit ir.Budget
		spent meter
		own   ir.NodeID // "" is all
	}{{"the run", s.run.budget.limits(), s.run.budget.cost.now, ""}, {"node " + string(n.ir.Key), n.nodeBudget(), n.cost.now, n.id}} {
		turns, usd, tokens := 0, worth(want.USDMicro), worth(want.Tokens)
		unknownUSD, unknownTokens := want.USDMicro == nil, want.Tokens == nil
		twice := ""
		for _, x := range s.cost.flying {
			if b.own != "" && x.node != b.own {
				continue
			}
			turns++
			usd += worth(x.expected.USDMicro)
			tokens += worth(x.expected.Tokens)
			if x.agent == f.Agent && (b.limit.USDMicro > 0 && unknownUSD && x.expected.USDMicro == nil || b.limit.Tokens > 0 && unknownTokens && x.expected.Tokens == nil) {
				twice = x.agent
			}
		}
		if twice != "" {
			s.t.Errorf("%s: two turns of unknown cost of agent %s at a time", b.of, twice)
		}
		left := (b.limit.USDMicro <= 0 || b.spent.usd < b.limit.USDMicro) && (b.limit.Tokens <= 0 || b.spent.tokens < b.limit.Tokens)
		fits := (b.limit.USDMicro <= 0 || b.spent.usd+usd <= b.limit.USDMicro) && (b.limit.Tokens <= 0 || b.spent.tokens+tokens <= b.limit.Tokens)
		if !left || !fits && turns > 0 {
			s.t.Errorf("%s: a turn of %s began with %+v spent of %+v, %d usd and %d tokens reserved with its own, %d others in flight", b.of, f.Agent, b.spent, b.limit, usd, tokens, turns)
		}
	}
	s.cost.flying[key] = booking{n.id, f.Agent, want}
}

// nothingStarves holds that a run does not end with nodes that could start while
// its budget has something left, nor joins results while one is kept back.
func (s *sim) nothingStarves() {
	s.t.Helper()
	r := s.run
	if r.halt.draining || r.halt.held.For == executor.ForHuman {
		return
	}
	b := r.budget.limits()
	b.WallMS = 0
	left := over(b, &r.budget.cost, r.at) == ""
	for _, n := range r.nodes {
		switch {
		case n.status == executor.Ready && left, n.status == executor.Running, n.status == executor.Waiting && n.wait.Timed():
			s.t.Errorf("the run ends, its budget has something left (%v), and node %s is %s: %+v", left, n.ir.Key, n.status, n.wait)
		case n.status == executor.Ready && n.class.first.agent == "":
			s.t.Errorf("the run ends, and node %s is ready, which costs nothing", n.ir.Key)
		}
	}
}
