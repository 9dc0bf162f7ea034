package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// budgeted gives a run 100 micro-dollars, and its first sprint 60; a turn of bot costs 40, one
// of rest 10.
func budgeted(e *ir.Epic) {
	e.Run.OnExceed, e.Run.Budget.USDMicro, e.Nodes[0].Limits.Budget.USDMicro = "pause", 100, 60
	e.Runners = nil // they take as many as come
	e.Agents = map[string]ir.Agent{
		"bot":  {Runner: "r", Expect: &ir.Cost{USDMicro: told(40)}},
		"rest": {Runner: "other", Expect: &ir.Cost{USDMicro: told(10)}},
	}
}

func TestWhatTheBudgetsHaveRoomFor(t *testing.T) { // execution §5, budgets
	bot := turn{agent: "bot", step: "s"}
	for name, c := range map[string]struct {
		change func(*Run, *wallet)
		first  bool // a turn of bot in 1.1 may begin
		other  bool // a turn of bot in the second sprint, whose own budget is unlimited
		fresh  bool // one of a sprint that has not begun
		why    string
	}{
		"nothing goes on":           {nil, true, true, true, ""},
		"one is planned beside":     {func(r *Run, w *wallet) { w.plan(r.nodes[1], bot) }, true, true, true, ""},
		"one is planned in it":      {func(r *Run, w *wallet) { w.plan(r.nodes[0], bot) }, false, true, true, "its budget has room for a turn of bot ($0.00004): $0.00 of $0.00006 are spent, $0.00004 reserved"},
		"one that costs nothing":    {func(r *Run, w *wallet) { w.plan(r.nodes[0], turn{}); w.plan(r.nodes[0], turn{}) }, true, true, true, ""},
		"one that is to begin":      {func(_ *Run, w *wallet) { w.plan(nil, bot) }, true, true, true, ""},
		"two, that are to begin":    {func(_ *Run, w *wallet) { w.plan(nil, bot); w.plan(nil, bot) }, false, false, false, "the budget has room for a turn of bot"},
		"a budget holds the run":    {func(r *Run, _ *wallet) { r.halt.held.For = executor.ForBudget }, false, false, false, ""},
		"a person holds it":         {func(r *Run, _ *wallet) { r.halt.held.For = executor.ForHuman }, true, true, true, ""},
		"all of it is spent":        {func(r *Run, _ *wallet) { r.budget.cost.now.usd = 100 }, false, false, false, ""},
		"the sprint's is spent":     {func(r *Run, _ *wallet) { r.nodes[0].cost.now.usd = 60 }, false, true, true, ""},
		"its working time is over":  {func(r *Run, _ *wallet) { r.nodes[0].ir.Limits.Budget.WallMS, r.nodes[0].cost.ran = 1, time.Second }, false, true, true, ""},
		"that of the run":           {func(r *Run, _ *wallet) { r.epic.Run.Budget.WallMS, r.budget.cost.ran = 1, time.Second }, false, false, false, ""},
		"it fits beside what is in": {func(r *Run, _ *wallet) { r.nodes[0].cost.now.usd, r.budget.cost.now.usd = 20, 20 }, true, true, true, ""},
	} {
		r := running(t, 2, 2, budgeted)
		w := r.budget.wallet(time.UnixMilli(0))
		if c.change != nil {
			c.change(r, w)
		}
		if got := w.lets(r.nodes[0], bot); got != c.first {
			t.Errorf("%s: 1.1: %v", name, got)
		}
		if got := w.lets(r.nodes[1], bot); got != c.other {
			t.Errorf("%s: the other: %v", name, got)
		}
		if got := w.lets(nil, bot); got != c.fresh {
			t.Errorf("%s: one that is to begin: %v", name, got)
		}
		if got := w.noRoom(r.nodes[0], bot); (got == "") != (c.why == "") || !strings.Contains(got, c.why) {
			t.Errorf("%s: %q, want %q", name, got, c.why)
		}
		if !w.lets(r.nodes[0], turn{}) || w.noRoom(r.nodes[0], turn{}) != "" {
			t.Errorf("%s: there is no room for what costs nothing", name)
		}
	}
}

// The next turns of running sprints are reserved when others are to begin.
func TestWhatIsReservedForThoseThatRun(t *testing.T) { // execution §5, budgets
	at := func(n *node, s stage) { n.life.stage, n.life.attempt.agent, n.life.starts = s, "bot", []string{"b"} }
	flying := func(r *Run, kind executor.EffectKind) {
		r.nodes[0].life.flight = []executor.Effect{{Node: r.nodes[0].id, Kind: kind}}
		r.queues.touch(r.nodes[0])
	}
	for name, c := range map[string]struct {
		change func(*Run)
		but    int // the sprint that would give its slot up; -1: none
		want   int
	}{
		"two run":                       {func(*Run) {}, -1, 2},
		"but one of them":               {func(*Run) {}, 0, 1},
		"one has its agent":             {func(r *Run) { flying(r, executor.EffectAgent) }, -1, 1},
		"one has git":                   {func(r *Run) { flying(r, executor.EffectPrepare) }, -1, 2},
		"one waits, with git in flight": {func(r *Run) { flying(r, executor.EffectPrepare); r.nodes[0].status = executor.Waiting }, -1, 1},
		"one has its gates next":        {func(r *Run) { at(r.nodes[0], stageCollect) }, -1, 1},
	} {
		r := running(t, 2, 2, budgeted)
		for _, n := range r.nodes[:2] {
			at(n, stageAgent)
		}
		c.change(r)
		var but *node
		if c.but >= 0 {
			but = r.nodes[c.but]
		}
		if w := r.admission(time.UnixMilli(0), but); w.run.turns != c.want || w.run.usd != int64(40*c.want) {
			t.Errorf("%s: %d turns, %d", name, w.run.turns, w.run.usd)
		}
	}
	r := running(t, 2, 2, func(e *ir.Epic) { e.Runners = nil })
	at(r.nodes[0], stageAgent)
	if w := r.admission(time.UnixMilli(0), nil); w.run.turns != 0 {
		t.Errorf("%d turns are reserved without a budget", w.run.turns)
	}
}

func TestTheHigherOfTwoFigures(t *testing.T) {
	for _, c := range [][3]*int64{{nil, nil, nil}, {told(1), nil, told(1)}, {nil, told(2), told(2)}, {told(1), told(2), told(2)}, {told(3), told(2), told(3)}} {
		if got := higher(c[0], c[1]); value(got) != value(c[2]) {
			t.Errorf("%d of %d and %d", value(got), value(c[0]), value(c[1]))
		}
	}
	costs := map[turn]executor.Usage{{agent: "a", step: "1"}: {Tokens: told(1)}, {agent: "a", step: "2"}: {USDMicro: told(1)}, {agent: "a", step: "3"}: {}}
	if usd, tokens := (Summary{r: &Run{budget: budget{costs: costs}}}).Tells("a"); !usd || !tokens {
		t.Errorf("it tells dollars: %v, tokens: %v", usd, tokens)
	}
}
