package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// asked is a run of one node with two steps: plan, done by eve, who is a person, and build, done
// by bot, whose gate must first fail, as an agent judges (in a policy, only commands can be so).
func asked(t *testing.T) (*Run, *node) {
	t.Helper()
	e := chain(1, func(int) bool { return false })
	e.Agents = map[string]ir.Agent{"eve": {Human: true}, "bot": {Runner: "r"}, "judge": {Runner: "j"}}
	e.Gates = map[string]ir.Gate{"red": {Kind: "agent", Agent: "judge", RedFirst: true}}
	e.Nodes[0].Steps = []ir.Step{
		{Name: "plan", Agent: "eve", Access: "write"},
		{Name: "build", Agent: "bot", Access: "write", Gates: []string{"red"}},
	}
	r, err := New(e)
	if err != nil {
		t.Fatal(err)
	}
	r.nodes[0].life.starts, r.nodes[0].life.base.Commit = []string{"base", "base"}, "base0"
	return r, r.nodes[0]
}

func TestAWorktreeWithAPersonsWorkStaysAsItIs(t *testing.T) { // execution §3, §5
	for name, c := range map[string]struct {
		manual, alone, aside, lands, touched bool
		step, logs, first                    int
		collected                            string
		want                                 bool
	}{
		"an agent's":                             {step: 1, logs: 2},
		"a person's step, the first of the life": {logs: 1},
		"a person's step, once more":             {logs: 2, want: true},
		"the first of another life":              {logs: 3, first: 2},
		"once more in another life":              {logs: 4, first: 2, want: true},
		"all of it a person's":                   {alone: true, logs: 1, want: true},
		"manual":                                 {manual: true, logs: 1, want: true},
		"a conflict that nobody has touched":     {aside: true, logs: 1},
		"a conflict that a person has touched":   {aside: true, touched: true, logs: 1, want: true},
		"what lands":                             {aside: true, lands: true, logs: 1},
		"gates are next":                         {alone: true, logs: 1, collected: "c1"},
	} {
		r, n := asked(t)
		if c.manual {
			n.ir.Kind = ir.Manual
		}
		if c.alone {
			n.ir.Steps = n.ir.Steps[:1]
		}
		l := &n.life
		l.stage, l.step, l.first, n.logs = stagePrepare, c.step, c.first, make([]AttemptLog, c.logs)
		l.aside = &aside{merge: !c.lands, touched: c.touched, paths: []string{"a.txt"}, inputs: []executor.Result{{Node: "x"}}}
		l.attempt.from, l.attempt.collected.Result.Commit = "base", c.collected
		if c.aside {
			l.step = asideStep
		}
		var e executor.Effect
		if !r.attemptEffect(n, &e) || e.Kind != executor.EffectPrepare || e.Person != c.want {
			t.Errorf("%s: %s, a person's: %v, want %v", name, e.Kind, e.Person, c.want)
		}
		if merges := c.aside && !c.lands; e.Merge != merges || len(e.Paths) > 0 != merges || len(e.Inputs) > 0 != merges {
			t.Errorf("%s: it merges: %v %v", name, e.Merge, e.Paths)
		}
		if want := map[bool]string{true: c.collected, false: "base"}[c.collected != ""]; e.Commit != want {
			t.Errorf("%s: it begins with %q, want %q", name, e.Commit, want)
		}
	}
}

func TestWhoIsAsked(t *testing.T) { // execution §3
	r, n := asked(t)
	l := &n.life
	l.stage, l.step = stageAgent, 0
	var e executor.Effect
	if r.attemptEffect(n, &e) {
		t.Errorf("an agent is asked to do a person's step: %+v", e)
	}
	l.step, l.attempt.agent = 1, "bot"
	if !r.attemptEffect(n, &e) || e.Agent != "bot" || e.Iteration != 1 {
		t.Errorf("asked is %q, turn %d", e.Agent, e.Iteration)
	}
	e = executor.Effect{}
	if l.stage = stageRed; !r.attemptEffect(n, &e) || e.Gate != "red" || e.Agent != "judge" {
		t.Errorf("gate %q is judged by %q", e.Gate, e.Agent)
	}
	if got := r.asks(&e); got != "j" {
		t.Errorf("it needs runner %q", got)
	}
	if e, ok := r.effect(n); !ok || e.Base != "base0" {
		t.Errorf("%v, base %q", ok, e.Base)
	}
	l.stage, l.inputs, l.step = stageBase, []executor.Result{{Node: "x"}}, 1
	if e, ok := r.effect(n); !ok || e.Kind != executor.EffectBase || len(e.Inputs) != 1 || e.Step != "" {
		t.Errorf("a base: %+v", e)
	}
	l.stage, l.made = stagePublish, []executor.Result{{Node: "y"}, {Node: "z"}}
	if e, ok := r.effect(n); !ok || e.Kind != executor.EffectPublish || len(e.Inputs) != 2 {
		t.Errorf("a result: %+v", e)
	}
	l.stage = stageFinish
	if e, ok := r.effect(n); ok {
		t.Errorf("an end needs %+v", e)
	}
}
