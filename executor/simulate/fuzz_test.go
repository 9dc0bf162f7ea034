package simulate_test

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/simulate"
)

func FuzzScenario(f *testing.F) {
	f.Add("seed: 7\nagents:\n  - {node: \"1.*\", attempt: 1..2, takes: 5m..20m, result: failed}\n")
	f.Add("people: [{at: 1h, does: pause}, {cause: approval, does: approve}]\ncrashes: [1h, {at: 2d, down: 3m}]\n")
	f.Add("gates: [{gate: check, chance: 10%, verdict: error}]\n")
	f.Add("effects: [{effect: collect, problems: [x]}]\nslots: 1\nwait: false\n")
	epic := executortest.Epic([]string{"1.1", "1.2: 1.1"})
	f.Fuzz(func(t *testing.T, text string) {
		s, err := simulate.Parse("s.yaml", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "s.yaml:") {
				t.Errorf("%q: an error without a place: %v", text, err)
			}
			return
		}
		if len(s.Crashes) > 20 || len(s.People) > 20 {
			return
		}
		// Whatever a scenario says, the machine is never stuck.
		res, err := simulate.Run(epic, s, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if res.Ended.Before(res.Began) {
			t.Errorf("%q: it ends before it begins", text)
		}
	})
}
