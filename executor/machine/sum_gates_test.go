package machine_test

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// The sum is judged by the gates of what is joined, and by those that the policy
// lists; not by those of a node that is blocked, whose work is not in it.
func TestTheSumIsJudgedByTheGatesOfWhatIsJoined(t *testing.T) { // execution §5 (the sum)
	for _, c := range []struct {
		name   string
		stated []string
		want   int // gates that judged the sum
		change func(*ir.Epic)
	}{
		{"by default", nil, 1, nil},
		{"listed", []string{"own"}, 2, nil},
		{"the same command under another policy", nil, 1, func(e *ir.Epic) {
			slow := e.Gates["check"]
			slow.TimeoutMS = 3_600_000
			e.Gates["slow/check"] = slow
			e.Nodes[1].Steps[0].Gates = []string{"own", "slow/check"}
			e.Epic.Integration.Gates = []string{"own", "slow/check"}
		}},
	} {
		s := newScript(t, []string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) {
			own := e.Gates["check"]
			own.Run, own.From = "false", "policy"
			e.Gates["own"] = own
			e.Nodes[1].Steps[0].Gates = []string{"check", "own"}
			e.Epic.Integration.Gates, e.Epic.Integration.Stated = []string{"check", "own"}, c.stated
			if c.change != nil {
				c.change(e)
			}
		})
		s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}})
		s.begin()
		s.end()
		s.is("1.2", executor.Blocked, "", "")
		s.is(executor.Integration, executor.Done, "", "")
		if got := s.gatesOfSum(); got != c.want {
			t.Errorf("%s: %d gates judged the sum, want %d", c.name, got, c.want)
		}
		s.replay()
		s.is(executor.Integration, executor.Done, "", "")
	}
}
