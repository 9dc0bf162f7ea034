package machine

import (
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// A runner takes one more agent within its limits; one that is parked none until its time, and
// then, if nobody knows that it works again, one alone.
func TestWhenARunnerTakesOneMoreAgent(t *testing.T) { // execution §4 limits, S4-60
	now := time.UnixMilli(1_000_000_000).UTC()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		runner           ir.Runner
		park             *park
		flight, planned  int
		want, shut, none bool // none: of no runner
		again            time.Time
	}{
		"nothing is known":           {want: true},
		"no runner":                  {none: true, park: &park{RunnerParked: executor.RunnerParked{Until: now.Add(time.Hour)}}, want: true},
		"a place is left":            {runner: ir.Runner{Concurrent: 3}, flight: 1, planned: 1, want: true},
		"no place beside the plans":  {runner: ir.Runner{Concurrent: 3}, flight: 1, planned: 2},
		"parked":                     {park: &park{RunnerParked: executor.RunnerParked{Until: now.Add(time.Hour)}}, shut: true, again: now.Add(time.Hour)},
		"its time has come":          {park: &park{RunnerParked: executor.RunnerParked{Until: now}}, flight: 2, want: true},
		"its time has come, a probe": {park: &park{RunnerParked: executor.RunnerParked{Until: now, Probe: true}}, want: true},
		"a probe is in flight":       {park: &park{RunnerParked: executor.RunnerParked{Until: now, Probe: true}}, flight: 1, shut: true},
		"a probe is planned":         {park: &park{RunnerParked: executor.RunnerParked{Until: now, Probe: true}}, planned: 1},
		"a minute's number is left":  {runner: ir.Runner{RPM: 3}, park: &park{recent: []time.Time{ago(2 * time.Minute), ago(50 * time.Second)}}, planned: 1, want: true},
		"a minute's number is used":  {runner: ir.Runner{RPM: 3}, park: &park{recent: []time.Time{ago(2 * time.Minute), ago(50 * time.Second), ago(time.Second)}}, planned: 1, again: now.Add(10 * time.Second)},
		"the minute is over":         {runner: ir.Runner{RPM: 1}, park: &park{recent: []time.Time{ago(time.Minute)}}, want: true},
		"all of it is planned":       {runner: ir.Runner{RPM: 2}, park: &park{}, planned: 2},
	} {
		pk := parks{rules: &rules{epic: &ir.Epic{Runners: map[string]ir.Runner{"sh": c.runner}}}, runners: map[string]*park{}, agents: map[string]int{"sh": c.flight}}
		of := "sh"
		if c.none {
			of = ""
		}
		if c.park != nil {
			pk.runners[of] = c.park
		}
		if ok, again := pk.mayAsk(of, c.planned, now); ok != c.want || !again.Equal(c.again) {
			t.Errorf("%s: %v, again at %s", name, ok, again)
		}
		if got := pk.shut(of, now); got != c.shut {
			t.Errorf("%s: it is shut: %v", name, got)
		}
	}
}

// An answer ends a pause that was a guess, and not one that the runner asked for.
func TestAnAnswerEndsAPauseThatWasAGuess(t *testing.T) { // execution §4 limits
	until := time.UnixMilli(1_000_000_000).UTC()
	for _, probe := range []bool{true, false} {
		p := &park{RunnerParked: executor.RunnerParked{Runner: "sh", Until: until, Probe: probe}, down: until}
		pk := parks{runners: map[string]*park{"sh": p}}
		pk.answered("sh")
		pk.answered("other")
		if !p.down.IsZero() || p.Until.IsZero() != probe {
			t.Errorf("a guess: %v; then parked until %s, down since %s", probe, p.Until, p.down)
		}
	}
}
