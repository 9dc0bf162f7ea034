package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// budget is the account of the run, and of what turns in flight have reserved.
type budget struct {
	*rules
	*clock
	halt        *halt
	added       ir.Budget // by people
	cost        cost
	fresh       bool                    // the last run ended by itself: the next one's budget is its own
	booked      purse                   // what turns in flight have reserved of the run's budget
	costs       map[turn]executor.Usage // the most that a finished turn cost
	wallLimited bool                    // some node's working time is
	limited     bool                    // the run's cost or tokens, or some node's, are limited
}

func negative(b ir.Budget) bool { return b.Tokens < 0 || b.USDMicro < 0 || b.WallMS < 0 }

func addBudget(a, b ir.Budget) ir.Budget {
	return ir.Budget{Tokens: sumCap(a.Tokens, b.Tokens), USDMicro: sumCap(a.USDMicro, b.USDMicro), WallMS: sumCap(a.WallMS, b.WallMS)}
}

func sumCap(a, b int64) int64 {
	if a > 1<<62-b {
		return 1 << 62
	}
	return a + b
}

// allowed is a budget with what people added; a limit of 0 stays unlimited.
func allowed(limit, added ir.Budget) ir.Budget {
	part := func(limit, added int64) int64 {
		if limit <= 0 {
			return 0
		}
		return sumCap(limit, added)
	}
	return ir.Budget{Tokens: part(limit.Tokens, added.Tokens), USDMicro: part(limit.USDMicro, added.USDMicro), WallMS: part(limit.WallMS, added.WallMS)}
}

// meter counts what was reported. Unreported usage is counted as unknown, never as zero.
type meter struct {
	tokens, usd, ms int64
	noTokens, noUSD int // turns that said nothing about it
}

func (m *meter) add(u executor.Usage, ms int64) {
	m.ms = sumCap(m.ms, max(ms, 0))
	if u.Tokens != nil {
		m.tokens = sumCap(m.tokens, max(*u.Tokens, 0))
	} else {
		m.noTokens++
	}
	if u.USDMicro != nil {
		m.usd = sumCap(m.usd, max(*u.USDMicro, 0))
	} else {
		m.noUSD++
	}
}

func (m meter) spent() Spent {
	return Spent{Tokens: m.tokens, USDMicro: m.usd, Millis: m.ms, TokensKnown: m.noTokens == 0, USDKnown: m.noUSD == 0}
}

// cost is what something used: in its present allowance, and in all. Its clock
// runs while it works; waiting and parked time does not count.
type cost struct {
	now, all meter
	past     time.Duration // of allowances that are over
	why      string        // what began the present allowance: "its text changed"
	ran      time.Duration // of the allowance, before since
	since    time.Time     // zero: it does not work now
}

func (c *cost) start(at time.Time) {
	if c.since.IsZero() {
		c.since = at
	}
}

func (c *cost) stop(at time.Time) {
	c.ran, c.since = c.wall(at), time.Time{}
}

// wall is how long it worked in this allowance. A clock that was set back adds nothing.
func (c *cost) wall(at time.Time) time.Duration {
	if c.since.IsZero() {
		return c.ran
	}
	return c.ran + max(at.Sub(c.since), 0)
}

// worked is the same of all its allowances.
func (c *cost) worked(at time.Time) time.Duration { return c.past + c.wall(at) }

// counted says since when the present allowance is counted, where it is not all.
func (c *cost) counted() string {
	if c.why == "" || c.now == c.all {
		return ""
	}
	return " since " + c.why
}

// renew begins a new allowance.
func (c *cost) renew(at time.Time, why string) {
	c.past, c.why = c.worked(at), why
	c.now, c.ran = meter{}, 0
	if !c.since.IsZero() {
		c.since = at
	}
}

// spend records what a turn of an agent, or a gate, reported. A gate that asks
// no model has no tokens that could be unknown.
func (bg *budget) spend(n *node, u executor.Usage, ms int64, model bool) {
	if !model && u.IsZero() {
		zero := int64(0)
		u = executor.Usage{Tokens: &zero, USDMicro: &zero}
	}
	for _, m := range []*meter{&n.cost.now, &n.cost.all, &bg.cost.now, &bg.cost.all} {
		m.add(u, ms)
	}
}

// untold counts a turn that was cut and did not say what it used: its cost is
// unknown, whatever a later turn in its session, or of its gate, says of itself.
func (bg *budget) untold(n *node, e executor.Effect) {
	_, known := bg.epic.Gates[e.Gate]
	gone := e.Gate != "" && !known // its judge is unknown
	if e.Kind != executor.EffectAgent && e.Kind != executor.EffectDiagnose && !gone && !bg.byModel(e.Gate, e.Agent) {
		return
	}
	bg.spend(n, executor.Usage{}.OrStated(bg.epic.Agents[e.Agent].Expect), 0, true)
	if len(n.logs) <= n.life.first {
		return
	}
	switch log := &n.logs[len(n.logs)-1]; {
	case e.Kind == executor.EffectAgent:
		log.Untold++
	case e.Gate != "":
		if log.UntoldOf == nil {
			log.UntoldOf = map[string]int{}
		}
		log.UntoldOf[e.Gate]++
	}
}

// Cost is the total cost of the turns of the attempt's agent, as far as it is known:
// with a cut turn it is not.
func (a *AttemptLog) Cost() executor.Usage {
	if a.Untold > 0 {
		return executor.Usage{}
	}
	return a.Usage
}

// CostOf is the same for the turns that judged a gate of the attempt.
func (a *AttemptLog) CostOf(g executor.GateJudged) executor.Usage {
	if a.UntoldOf[g.Gate] > 0 {
		return executor.Usage{}
	}
	return g.Usage
}

// byModel reports whether a gate asks a model, also a gate that the epic no longer has.
func (r *rules) byModel(gate, agent string) bool {
	g, known := r.epic.Gates[gate]
	return g.Kind == "agent" || g.Kind == "review" || !known && agent != ""
}

// over says which part of a budget is used up, "" if none is.
func over(b ir.Budget, c *cost, at time.Time) string {
	m := &c.now
	switch {
	case b.Tokens > 0 && m.tokens >= b.Tokens:
		return fmt.Sprintf("%d of %d tokens are used", m.tokens, b.Tokens) + c.counted() + unknown(m.noTokens)
	case b.USDMicro > 0 && m.usd >= b.USDMicro:
		return fmt.Sprintf("%s of %s are spent", dollars(m.usd), dollars(b.USDMicro)) + c.counted() + unknown(m.noUSD)
	case b.WallMS > 0 && c.wall(at) >= time.Duration(b.WallMS)*time.Millisecond:
		return fmt.Sprintf("the working time of %s is used up", time.Duration(b.WallMS)*time.Millisecond) + c.counted()
	}
	return ""
}

// overshoot says by what an account exceeds a budget, "" if it does not.
func overshoot(b ir.Budget, c *cost) string {
	m := &c.now
	var parts []string
	if b.USDMicro > 0 && m.usd > b.USDMicro {
		parts = append(parts, fmt.Sprintf("%s of %s are spent", dollars(m.usd), dollars(b.USDMicro))+c.counted()+unknown(m.noUSD))
	}
	if b.Tokens > 0 && m.tokens > b.Tokens {
		parts = append(parts, fmt.Sprintf("%d of %d tokens are used", m.tokens, b.Tokens)+c.counted()+unknown(m.noTokens))
	}
	return strings.Join(parts, "; ")
}

func unknown(turns int) string {
	switch turns {
	case 0:
		return ""
	case 1:
		return ", and one turn did not report its usage"
	}
	return fmt.Sprintf(", and %d turns did not report their usage", turns)
}

func dollars(micro int64) string {
	part := strings.TrimRight(fmt.Sprintf("%06d", micro%1e6), "0")
	for len(part) < 2 {
		part += "0"
	}
	return fmt.Sprintf("$%d.%s", micro/1_000_000, part)
}

func (n *node) nodeBudget() ir.Budget { return allowed(n.ir.Limits.Budget, n.people.budget) }

func (bg *budget) limits() ir.Budget { return allowed(bg.epic.Run.Budget, bg.added) }

// nodeOver says what of a node's budget is used up at a time, after more was added.
func (n *node) nodeOver(more ir.Budget, now time.Time) string {
	return over(allowed(n.nodeBudget(), more), &n.cost, now)
}

// over says what of the run's budget is used up at a time, after more was added.
func (bg *budget) over(more ir.Budget, now time.Time) string {
	return over(allowed(bg.limits(), more), &bg.cost, now)
}

func costLimited(b ir.Budget) bool { return b.USDMicro > 0 || b.Tokens > 0 }

// restrained says why a running node may not begin an agent's turn now: the run
// is held, a budget is used up, or the node's deadline is past. Effects in flight
// go on, their work is collected, and gates that cost nothing judge it.
func (r *Run) restrained(n *node, now time.Time) (executor.Event, bool) {
	l := &n.life
	if n.busy() || l.trouble != nil {
		return executor.Event{}, false
	}
	switch l.stage {
	case stageOpen, stageAgent:
		return r.budget.restraint(n, now)
	case stageGate, stageRed, stageDiagnose:
		if e, ok := r.budget.exhausted(n, now); ok && r.nextTurn(n).agent != "" {
			return e, true
		}
	}
	return executor.Event{}, false
}

// exhausted decides about a node that an agent works on next when the run's budget, or
// its own, is used up.
func (bg *budget) exhausted(n *node, now time.Time) (executor.Event, bool) {
	if bg.halt.held.For == executor.ForBudget {
		why := bg.heldWhy(now)
		if bg.epic.Run.OnExceed == "stop" {
			return n.event(executor.NodeBlocked{Reason: executor.RunBudgetReason + why, By: executor.ByBudget}), true
		}
		return n.event(executor.NodeWaiting{For: executor.ForBudget, Cause: executor.CauseHeld, Detail: "the run is held: " + why}), true
	}
	if why := n.nodeOver(ir.Budget{}, now); why != "" {
		if bg.epic.Run.OnExceed == "stop" {
			return n.event(executor.NodeBlocked{Reason: executor.BudgetReason + why, By: executor.ByBudget}), true
		}
		return n.event(executor.NodeWaiting{For: executor.ForBudget, Detail: why}), true
	}
	return executor.Event{}, false
}

// heldWhy says why the run is held; for a budget, with the present amounts.
func (bg *budget) heldWhy(now time.Time) string {
	if bg.halt.held.For == executor.ForBudget {
		if why := bg.over(ir.Budget{}, now); why != "" {
			return why
		}
	}
	return bg.halt.held.Detail
}

// restraint is restrained for a node whose next attempt or turn is about to begin.
func (bg *budget) restraint(n *node, now time.Time) (executor.Event, bool) {
	if !bg.startsWork(n) {
		return executor.Event{}, false
	}
	if bg.halt.held.For == executor.ForHuman && !n.sum {
		return n.awaitHuman(executor.CauseHeld, "the run is held: "+bg.halt.held.Detail), true
	}
	if e, ok := bg.exhausted(n, now); ok {
		return e, true
	}
	if end, ok := ir.Deadline(n.ir.Limits.Deadline); ok && !n.people.late && !now.Before(end) {
		return n.event(executor.NodeWaiting{
			For: executor.ForHuman, Cause: executor.CauseDeadline,
			Detail: "its deadline (" + n.ir.Limits.Deadline + ") is past",
		}), true
	}
	return executor.Event{}, false
}

// startsWork reports whether an agent's work comes next. Gates alone, and a person's
// work, are not held back for a budget.
func (r *rules) startsWork(n *node) bool {
	s := n.stepNow()
	return s != nil && n.hasAgent(s) && !r.byPerson(n) && !n.life.onlyJudges() && n.life.word.How != executor.GatesOnly
}

// lateFlights lists the agents in flight whose working time is used up, their
// node's or the run's, where a budget stops; and says when the next one's will be.
func (r *Run) lateFlights(now time.Time) (stop []executor.Effect, next time.Time) {
	whole := r.budget.limits().WallMS
	if r.epic.Run.OnExceed != "stop" || !r.budget.wallLimited && whole <= 0 {
		return nil, time.Time{}
	}
	for _, i := range r.queues.flying {
		n := r.nodes[i]
		if n.status != executor.Running {
			continue
		}
		for _, b := range [2]struct {
			limit int64
			used  *cost
		}{{n.nodeBudget().WallMS, &n.cost}, {whole, &r.budget.cost}} {
			if b.limit <= 0 {
				continue
			}
			left := time.Duration(b.limit)*time.Millisecond - b.used.wall(now)
			if left <= 0 {
				stop = append(stop, n.agentsInFlight()...)
				break
			}
			sooner(&next, now.Add(left))
		}
	}
	return stop, next
}
