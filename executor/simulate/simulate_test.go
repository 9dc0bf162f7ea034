package simulate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/simulate"
	"github.com/ralph-compiler/ralph/ir"
)

func parse(t testing.TB, text string) *simulate.Scenario {
	t.Helper()
	s, err := simulate.Parse("s.yaml", []byte(strings.ReplaceAll(text, "\t", "  ")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func play(t testing.TB, epic *ir.Epic, s *simulate.Scenario) (simulate.Result, []executor.Event) {
	t.Helper()
	var all []executor.Event
	res, err := simulate.Run(epic, s, func(list []executor.Event) { all = append(all, list...) })
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(all)) != res.Events {
		t.Errorf("%d events were told, %d written", len(all), res.Events)
	}
	return res, all
}

func statuses(run *machine.Run) string {
	var out []string
	for _, v := range run.Views() {
		line := fmt.Sprintf("%s %s", v.Key, v.Status)
		if v.Reason != "" {
			line += " (" + v.Reason + ")"
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// patient gives every agent two hours.
func patient(e *ir.Epic) {
	for i := range e.Nodes {
		e.Nodes[i].Steps[0].Limits.TimeoutMS = 2 * 60 * 60 * 1000
	}
}

func TestScenarios(t *testing.T) { // S4: a scheduler that can be tried without agents
	for name, c := range map[string]struct {
		epic     []string
		change   func(*ir.Epic)
		scenario string
		want     string
		took     time.Duration // to the minute; 0: not looked at
		starts   int
	}{
		"what no rule matches goes well": {
			epic: []string{"1.1", "1.2: 1.1"}, scenario: "{}",
			want: "1.1 done\n1.2 done\nintegration done",
			took: 2 * (10*time.Minute + 30*time.Second),
		},
		"nothing is joined in mode none": {
			epic: []string{"1.1", "1.2: 1.1"}, scenario: "{}",
			change: func(e *ir.Epic) { e.Epic.Integration = ir.Integration{Mode: "none", PR: "none"} },
			want:   "1.1 done\n1.2 done",
			took:   2 * (10*time.Minute + 30*time.Second),
		},
		"an agent is told by key and attempt": {
			epic: []string{"1.1", "2.1"},
			scenario: `
agents:
	- {node: "1.*", attempt: 1..2, result: failed, takes: 1h}
	- {takes: 5m}`,
			want: "1.1 done\n2.1 done\nintegration done",
		},
		"a gate that says stop blocks": {
			epic:     []string{"1.1", "1.2: 1.1"},
			scenario: `gates: [{gate: check, node: "1.1", verdict: stop, message: no way}]`,
			want:     "1.1 blocked (gate check said stop: no way)\n1.2 pending (needs 1.1 (blocked))",
		},
		"a rule may count": {
			epic:     []string{"1.1"},
			scenario: `gates: [{verdict: fail, times: 2}]`,
			want:     "1.1 done\nintegration done",
		},
		"an agent whose time is up": {
			epic:     []string{"1.1"},
			scenario: `agents: [{takes: 5h, times: 1}]`,
			change:   func(e *ir.Epic) { e.Nodes[0].Steps[0].Limits.TimeoutMS = 60 * 60 * 1000 },
			want:     "1.1 done\nintegration done",
		},
		"results that do not merge are merged by an agent": {
			epic:     []string{"1.1", "1.2", "1.3: 1.1 1.2"},
			scenario: `effects: [{effect: base, node: "1.3", fails: conflict, paths: [go.mod]}]`,
			want:     "1.1 done\n1.2 done\n1.3 done\nintegration done",
		},
		"a limit parks the runner until it is over": {
			epic:     []string{"1.1", "1.2: 1.1"},
			scenario: `agents: [{fails: limit, until: 5h, takes: 1m, times: 1}]`,
			want:     "1.1 done\n1.2 done\nintegration done",
			took:     5*time.Hour + 22*time.Minute,
		},
		"mode branch lands one node after the other": {
			epic:     []string{"1.1", "1.2", "1.3: 1.1 1.2"},
			change:   func(e *ir.Epic) { e.Epic.Integration.Mode = "branch" },
			scenario: `{}`,
			want:     "1.1 done\n1.2 done\n1.3 done",
		},
		"mode wait: people merge, or close with a reason": {
			epic: []string{"1.1", "1.2: 1.1"},
			change: func(e *ir.Epic) {
				e.Epic.Integration.Mode, e.Epic.Integration.PR, e.Epic.Target = "wait", "node", "main"
			},
			scenario: `pulls: [{node: "1.2", state: closed, comment: "shorter", after: 3h, times: 1}]`,
			want:     "1.1 done\n1.2 done",
		},
		"a human gate is approved, a day later": {
			epic: []string{"1.1"},
			change: func(e *ir.Epic) {
				e.Gates["ok"] = ir.Gate{Kind: "human", From: "policy", OnFailure: "retry", OnTimeout: "fail", ProtectNew: true}
				e.Nodes[0].Steps[0].Gates = []string{"check", "ok"}
			},
			scenario: `people: [{cause: approval, does: approve, after: 1d, by: ann}]`,
			want:     "1.1 done\nintegration done",
			took:     24*time.Hour + 10*time.Minute,
		},
		"ralph is killed and started again": {
			epic: []string{"1.1", "1.2: 1.1", "1.3: 1.2"},
			scenario: `
crashes:
	- 5m
	- {at: 12m, down: 1h}
	- 30h`,
			want:   "1.1 done\n1.2 done\n1.3 done\nintegration done",
			starts: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*ir.Epic)
			change = append(change, patient)
			if c.change != nil {
				change = append(change, c.change)
			}
			res, _ := play(t, executortest.Epic(c.epic, change...), parse(t, c.scenario))
			if got := statuses(res.Run); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if res.Open != "" || len(res.Refused) > 0 {
				t.Errorf("open %q, refused %v", res.Open, res.Refused)
			}
			if took := res.Ended.Sub(res.Began); c.took != 0 && took.Truncate(time.Minute) != c.took {
				t.Errorf("it took %s, want %s", took, c.took)
			}
			if c.starts != 0 && res.Starts != c.starts {
				t.Errorf("apply was started %d times, want %d", res.Starts, c.starts)
			}
		})
	}
}

func TestPeopleOfAScenarioDecide(t *testing.T) { // execution §5
	epic := executortest.Epic([]string{"1.1", "1.2: 1.1"}, patient)
	res, all := play(t, epic, parse(t, `
gates: [{node: "1.1", verdict: error, message: cannot tell, times: 3}]
people:
	- {cause: gate, after: 30m, does: retry, by: ann}
	- {at: 1m, node: "1.2", does: approve, by: bob}`))
	if got := statuses(res.Run); got != "1.1 done\n1.2 done\nintegration done" {
		t.Errorf("got\n%s", got)
	}
	decided := ""
	for _, e := range all {
		if d, ok := e.Body.(executor.Decided); ok {
			decided += fmt.Sprintf("%s %s %s;", d.By, d.Verb, e.Node)
		}
	}
	if decided != "ann retry bd-1-1;" {
		t.Errorf("decided: %s", decided)
	}
	if len(res.Refused) != 1 || !strings.Contains(res.Refused[0], "bob after 1m0s: approve 1.2: ") {
		t.Errorf("refused: %q", res.Refused)
	}
}

func TestSessionsOfAScenario(t *testing.T) { // S4-68, K25
	for name, c := range map[string]struct {
		change   func(*ir.Epic)
		scenario string
		want     string // what is told of sessions, in order
	}{
		"a crash in a session": {
			scenario: `{agents: [{session: true, takes: 1h}], crashes: [10m]}`,
			want:     "agent begins, session-1 fresh, agent begins in session-1, session-1, success",
		},
		"a session that is lost": {
			scenario: `{agents: [{fails: session}, {session: true, takes: 1h}], crashes: [10m]}`,
			want:     "agent begins, session-1 fresh, agent begins in session-1, session-1, session, agent begins, session-2 fresh, success",
		},
		"a person takes a session over": {
			scenario: `{agents: [{end: taken_over, message: use bcrypt, times: 1}], people: [{cause: takeover, does: resume, after: 1h}]}`,
			want:     "agent begins, session-1 fresh, use bcrypt, taken_over, agent begins in session-1, session-1, success",
		},
	} {
		t.Run(name, func(t *testing.T) {
			epic := executortest.Epic([]string{"1.1"}, patient)
			res, all := play(t, epic, parse(t, c.scenario))
			if got := statuses(res.Run); got != "1.1 done\nintegration done" || res.Open != "" {
				t.Errorf("it ends %s (%s)", got, res.Open)
			}
			var told []string
			run, err := machine.New(epic)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all {
				in := ""
				for _, s := range run.Todo(e.At).Start {
					if s.Kind == executor.EffectAgent && s.Session != "" {
						in = " in " + s.Session
					}
				}
				if err := run.Apply(e); err != nil {
					t.Fatal(err)
				}
				switch b := e.Body.(type) {
				case executor.EffectStarted:
					if b.Kind == executor.EffectAgent {
						told = append(told, "agent begins"+in)
					}
				case executor.AgentSession:
					told = append(told, b.Session+map[bool]string{true: " fresh"}[b.Fresh])
				case executor.HumanSpoke:
					told = append(told, b.Text)
				case executor.EffectFailed:
					told = append(told, string(b.Class))
				case executor.AgentEnded:
					told = append(told, map[bool]string{true: b.Outcome.Result, false: string(b.End)}[b.End == executor.EndExited])
				}
			}
			if got := strings.Join(told, ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestASimulationWithoutAnEndIsEnded(t *testing.T) {
	res, _ := play(t, executortest.Epic([]string{"1.1"}, patient), parse(t, `
gates: [{verdict: error}]
people: [{does: retry, after: 0s}]`))
	if !strings.Contains(res.Open, "would go on") {
		t.Errorf("it ended: %q\n%s", res.Open, statuses(res.Run))
	}
}

func TestMistakesOfAScenarioAreNamedWithTheirLines(t *testing.T) {
	_, err := simulate.Parse("s.yaml", []byte(`agents:
  - takes: soon
    resultt: success
  - chance: 120%
    attempt: 0
gates:
  verdict: pass
people:
  - at: 5m
    after: 1h
    does: shout
crashes: [{down: 5m}]
`))
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{
		`s.yaml:2: "soon" is not a time`, `s.yaml:3: "resultt" has no effect here; write one of action, agent, `,
		`s.yaml:4: "120%" is not a chance`, `s.yaml:5: "0" is not a number from 1`, "s.yaml:7: write a list here",
		`s.yaml:11: "shout" is none of approve`, "s.yaml:9: \"at\" is a time of the run", "s.yaml:12: say when",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
	if _, err := simulate.Parse("s.yaml", []byte("a: [")); err == nil || !strings.Contains(err.Error(), "s.yaml: line 1") {
		t.Errorf("broken YAML: %v", err)
	}
}

// busy is a long epic with a bit of everything going wrong.
func busy(n int) (*ir.Epic, string) {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d.%d:", i/50+1, i%50+1)
		if i >= 50 {
			lines[i] += fmt.Sprintf(" %d.%d %d.%d", i/50, i%50+1, i/50, (i+7)%50+1)
		}
	}
	epic := executortest.Epic(lines, patient, func(e *ir.Epic) {
		e.Run.Concurrency.Nodes = 50
		for i := range e.Nodes {
			e.Nodes[i].Steps[0].Retry = ir.Retry{Backoff: "exponential", InitialMS: 5000, MaxMS: 300_000, JitterPercent: 20}
		}
	})
	return epic, `
seed: 7
agents:
	- {chance: 2%, fails: transient, takes: 1m}
	- {chance: 3%, result: failed, takes: 2m..9m}
	- {takes: 4m..16m, tokens: 20000, usd: 0.31}
gates:
	- {chance: 1%, attempt: 1..2, verdict: error}
	- {chance: 10%, attempt: 1, verdict: fail}
	- {takes: 10s..3m}
people:
	- {does: retry, after: 5m..2h, by: ann}
crashes: [3h, 20h, 33h]`
}

func TestTheSameSeedGivesTheSameEvents(t *testing.T) {
	render := func(seed uint64) []byte {
		epic, text := busy(150)
		s := parse(t, text)
		s.Seed = seed
		var b bytes.Buffer
		_, all := play(t, epic, s)
		for _, e := range all {
			line, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		return b.Bytes()
	}
	if !bytes.Equal(render(1), render(1)) {
		t.Error("two simulations with the same seed differ")
	}
	if bytes.Equal(render(1), render(2)) {
		t.Error("another seed changes nothing")
	}
}

func TestALongEpicEndsDoneInSpiteOfEverything(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	epic, text := busy(n)
	res, _ := play(t, epic, parse(t, text))
	if res.Open != "" {
		t.Fatal(res.Open)
	}
	counts := res.Run.Summary().Counts()
	if counts["done"]+counts["blocked"]+counts["pending"] != n || counts["done"] < n/2 {
		t.Errorf("after %s: %v", res.Ended.Sub(res.Began), counts)
	}
	if days := res.Ended.Sub(res.Began).Hours() / 24; n == 10_000 && days < 1 {
		t.Errorf("it took %.1f days", days)
	}
}
