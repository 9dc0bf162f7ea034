package machine

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// turn identifies turns of similar cost: of an agent in a step, of the agent of a gate,
// of the agent that diagnoses a stalled one. Its agent is "" for what spends nothing.
type turn struct{ agent, step, what string }

func (t turn) compare(o turn) int {
	return cmp.Or(cmp.Compare(t.agent, o.agent), cmp.Compare(t.step, o.step), cmp.Compare(t.what, o.what))
}

func turnOf(e *executor.Effect) turn {
	t := turn{e.Agent, e.Step, e.Gate}
	if e.Kind == executor.EffectDiagnose {
		t.what = diagnosing
	}
	return t
}

// diagnosing takes the place of a gate's name; no gate has this name.
const diagnosing = "\x00diagnosis"

// learn keeps the highest cost of the finished turns of a kind.
func (bg *budget) learn(e executor.Event, done executor.Effect) {
	t := turn{agent: done.Agent, step: e.Step}
	var u executor.Usage
	agent := ""
	switch b := e.Body.(type) {
	case executor.AgentEnded:
		u, agent = b.Usage, b.Agent
	case executor.GateJudged:
		u, agent, t.what = b.Usage, b.Agent, b.Gate
	case executor.Diagnosed:
		u, agent, t.what = b.Usage, b.Agent, diagnosing
	}
	if agent != "" {
		t.agent = agent
	}
	if t.agent == "" {
		return
	}
	known := bg.costs[t]
	bg.costs[t] = executor.Usage{Tokens: higher(known.Tokens, u.Tokens), USDMicro: higher(known.USDMicro, u.USDMicro)}
}

func higher(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// expected is what a turn is expected to cost: the most that a finished one did,
// else what the policy says; a figure that is nil is unknown.
func (bg *budget) expected(t turn) executor.Usage {
	u := bg.costs[t]
	if x := bg.epic.Agents[t.agent].Expect; x != nil {
		if u.Tokens == nil {
			u.Tokens = x.Tokens
		}
		if u.USDMicro == nil {
			u.USDMicro = x.USDMicro
		}
	}
	return u
}

// Tells reports whether any finished turn of an agent in this epic has reported its
// cost: in US dollars, and in tokens.
func (x Summary) Tells(agent string) (usd, tokens bool) {
	for t, u := range inOrderOf(x.r.budget.costs, turn.compare) {
		if t.agent == agent {
			usd, tokens = usd || u.USDMicro != nil, tokens || u.Tokens != nil
		}
	}
	return usd, tokens
}

// purse is what turns have reserved of a budget. Reservations follow from the
// events: a turn that has begun and was not reported has one.
type purse struct {
	turns           int
	usd, tokens     int64
	noUSD, noTokens map[string]int // turns of unknown cost, by agent
}

// book adds a turn, or with -1 takes it out again.
func (p *purse) book(agent string, u executor.Usage, by int) {
	p.turns += by
	part := func(sum *int64, unknown *map[string]int, n *int64) {
		if n != nil {
			*sum += int64(by) * *n
			return
		}
		if *unknown == nil {
			*unknown = map[string]int{}
		}
		if (*unknown)[agent] += by; (*unknown)[agent] == 0 {
			delete(*unknown, agent)
		}
	}
	part(&p.usd, &p.noUSD, u.USDMicro)
	part(&p.tokens, &p.noTokens, u.Tokens)
}

func (p purse) clone() purse {
	p.noUSD, p.noTokens = maps.Clone(p.noUSD), maps.Clone(p.noTokens)
	return p
}

// lets reports whether a budget lets a turn begin: what is spent and reserved, and
// its own cost, fit in; or nothing else is going on and something is left. Of the
// turns of an agent with unknown cost one runs at a time.
func (p *purse) lets(b ir.Budget, m meter, agent string, u executor.Usage) bool {
	fits := true
	for _, x := range [2]struct {
		limit, spent, booked int64
		own                  *int64
		unknown              map[string]int
	}{
		{b.USDMicro, m.usd, p.usd, u.USDMicro, p.noUSD},
		{b.Tokens, m.tokens, p.tokens, u.Tokens, p.noTokens},
	} {
		own := int64(0)
		if x.own != nil {
			own = *x.own
		}
		switch {
		case x.limit <= 0:
		case x.spent >= x.limit, x.own == nil && x.unknown[agent] > 0:
			return false
		default:
			fits = fits && own <= x.limit-x.spent-x.booked
		}
	}
	return fits || p.turns == 0
}

// wallet is what the budgets have left while a Todo is made, beside what is in flight
// and what is planned.
type wallet struct {
	*budget
	now time.Time
	run purse
	own map[*node]*purse
}

func (bg *budget) wallet(now time.Time) *wallet {
	return &wallet{budget: bg, now: now, run: bg.booked.clone()}
}

// admission is the wallet for nodes that are to begin or go on: the next turns of
// running nodes are already reserved in it, but for that of one that would give up its slot.
func (r *Run) admission(now time.Time, but *node) *wallet {
	w := r.budget.wallet(now)
	if r.budget.limited {
		for _, i := range r.queues.active {
			if n := r.nodes[i]; !n.busy() && n != but {
				w.plan(n, r.nextTurn(n))
			}
		}
		for _, i := range r.queues.flying {
			if n := r.nodes[i]; n.status == executor.Running && len(n.agentsInFlight()) == 0 {
				w.plan(n, r.nextTurn(n))
			}
		}
	}
	return w
}

func (w *wallet) of(n *node) *purse {
	if p := w.own[n]; p != nil {
		return p
	}
	if w.own == nil {
		w.own = map[*node]*purse{}
	}
	p := n.booked.clone()
	w.own[n] = &p
	return &p
}

// lets reports whether a turn may begin now, by the run's budget and by its
// node's; n is nil for a node that has not begun: its own budget is whole.
func (w *wallet) lets(n *node, t turn) bool {
	switch {
	case t.agent == "":
		return true
	case w.halt.held.For == executor.ForBudget, w.over(ir.Budget{}, w.now) != "":
		return false
	case n != nil && n.nodeOver(ir.Budget{}, w.now) != "":
		return false
	case !w.limited:
		return true
	}
	u := w.expected(t)
	return w.run.lets(w.limits(), w.cost.now, t.agent, u) && (n == nil || w.of(n).lets(n.nodeBudget(), n.cost.now, t.agent, u))
}

// plan reserves what a turn is expected to cost.
func (w *wallet) plan(n *node, t turn) {
	if t.agent == "" || !w.budget.limited {
		return
	}
	u := w.budget.expected(t)
	w.run.book(t.agent, u, 1)
	if n != nil {
		w.of(n).book(t.agent, u, 1)
	}
}

// reserve and unreserve keep what is reserved in step with the turns in flight.
func (bg *budget) reserve(n *node, e *executor.Effect) {
	if e.Agent == "" {
		return
	}
	e.Cost = bg.expected(turnOf(e))
	bg.booked.book(e.Agent, e.Cost, 1)
	n.booked.book(e.Agent, e.Cost, 1)
}

func (bg *budget) unreserve(n *node, e *executor.Effect) {
	if e.Agent == "" {
		return
	}
	bg.booked.book(e.Agent, e.Cost, -1)
	n.booked.book(e.Agent, e.Cost, -1)
}

// noRoom says why the budgets do not let a turn begin beside what is in flight; "" if
// they do, or if waiting would not help.
func (w *wallet) noRoom(n *node, t turn) string {
	if t.agent == "" || !w.limited || w.lets(n, t) {
		return ""
	}
	u := w.expected(t)
	whose, b, c, p := "the budget", w.limits(), &w.cost, &w.run
	if n != nil && p.lets(b, c.now, t.agent, u) {
		whose, b, c, p = "its budget", n.nodeBudget(), &n.cost, w.of(n)
	}
	if b.WallMS = 0; over(b, c, w.now) != "" || p.turns == 0 {
		return ""
	}
	m := &c.now
	cost := "a turn of " + t.agent
	var of []string
	if b.USDMicro > 0 {
		cost += " (" + known(u.USDMicro, dollars) + ")"
		of = append(of, fmt.Sprintf("%s of %s are spent%s, %s reserved", dollars(m.usd), dollars(b.USDMicro), c.counted(), dollars(p.usd)))
	}
	if b.Tokens > 0 {
		cost += " (" + known(u.Tokens, func(n int64) string { return fmt.Sprintf("%d tokens", n) }) + ")"
		of = append(of, fmt.Sprintf("%d of %d tokens are used%s, %d reserved", m.tokens, b.Tokens, c.counted(), p.tokens))
	}
	return fmt.Sprintf("waits until %s has room for %s: %s", whose, cost, strings.Join(of, "; "))
}

func known(n *int64, words func(int64) string) string {
	if n == nil {
		return "of unknown cost"
	}
	return words(*n)
}
