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

// So it is when it is made again in the same run: by what was left out then, too, it is not
// judged.
func TestTheSumIsJudgedAgainByTheGatesOfWhatIsJoined(t *testing.T) { // execution §5 (the sum)
	s := newStage(t, []string{"1.1", "1.2", "1.3"}, func(e *ir.Epic) {
		own := e.Gates["check"]
		own.Run, own.From = "false", "policy"
		e.Gates["own"] = own
		e.Nodes[1].Steps[0].Gates = []string{"check", "own"}
		e.Epic.Integration.Gates = []string{"check", "own"}
	})
	s.answer = agents(map[ir.NodeID][]executor.AgentEnded{"bd-1-2": {failed(), failed(), failed()}, "bd-1-3": {asks("which?")}})
	s.begin()
	s.until(nil)
	s.is(executor.Integration, executor.Done, "", "")
	s.ok("1.3", executor.Decision{Verb: executor.RetryNode, Message: "this"})
	s.end()
	s.is("1.2", executor.Blocked, "", "")
	s.is("1.3", executor.Done, "", "")
	s.is(executor.Integration, executor.Done, "", "")
	if got := s.judgings(executor.Integration, "own"); got != 0 {
		t.Errorf("it was judged by what is left out, %d times", got)
	}
	if got := s.judgings(executor.Integration, "check"); got != 2 {
		t.Errorf("%d verdicts on it, want 2", got)
	}
}
