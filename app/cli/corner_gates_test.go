//go:build unix

package cli

import (
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

var cornerGates = []cornerCase{
	{
		group: "qa", name: "a tester says stop",
		want:  "stop blocks the sprint at once, without another attempt; independent ones go on",
		plan:  twoSprints,
		agent: `echo x > "out-$RALPH_NODE"`,
		qa:    `if [ "$RALPH_NODE" = 1.1a ]; then ` + says("stop", "a password is in the code") + `; else ` + says("pass", "fine") + `; fi`,
		gates: "gate.unit, gate.qa",
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.NotDone)
			r.has(out, "1.1a  blocked", "1 of 2 sprints done")
			r.hasNot(out, "1.1a  ↻")
		},
	},
	{
		group: "qa", name: "a tester never ends",
		want:   "no verdict in time is an error, never a pass: asked again, then a person; the coder's attempt is not charged",
		qa:     `sleep 60`,
		qaTime: "2s",
		gates:  "gate.qa",
		retry:  `runner_retries = 1`,
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.Waiting)
			r.has(out, "waits for a person")
			r.hasNot(out, "implement #2")
		},
	},
	{
		group: "qa", name: "a tester answers with garbage",
		want: "an invalid verdict is asked for once more, then it is an error and waits for a person; retry asks again",
		qa: `if test -e "$TOP/sober"; then ` + says("pass", "fine") + `; else echo "looks good to me!"; fi
echo asked >> "$TOP/asked"`,
		gates: "gate.qa",
		check: func(t *testing.T, r *cornerRepo) {
			out := r.apply(exit.Waiting)
			r.has(out, "waits for a person")
			r.hasNot(out, "implement #2")
			if n := strings.Count(r.read("../asked"), "asked"); n < 2 {
				t.Errorf("it was asked %d times", n)
			}
			r.write("../sober", "")
			r.ralph(exit.Done, "retry", "1.1")
			r.has(r.apply(exit.Done), "1 of 1 sprint done")
		},
	},
	{
		group: "qa", name: "testers disagree",
		want:   "all must pass; what the one who says no found is feedback",
		agent:  `if grep -q 'no tests' "$RALPH_FEEDBACK"; then echo x > test; fi; echo x > out`,
		second: `if test -e test; then ` + says("pass", "fine") + `; else ` + says("fail", "no tests") + `; fi`,
		gates:  "gate.qa, gate.second",
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "gate qa: pass", "gate second: fail", "1.1  ↻ implement #2", "1 of 1 sprint done")
		},
	},
	{
		group: "qa", name: "a test is flaky",
		want: "every verdict is kept: a pass behind a fail on the same tree costs an attempt and can be seen", // it names its sprint: not tried on the base
		unit: `: $RALPH_NODE; test -e $TOP/twice || { touch $TOP/twice; echo 'timing'; exit 1; }`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "1.1  ✗ implement #1", "1 of 1 sprint done")
			r.has(r.ralph(exit.Done, "log", "1.1"), "implement #1: gate unit: fail", "implement #2: gate unit: pass")
		},
	},
}
