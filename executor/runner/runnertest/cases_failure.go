package runnertest

import (
	"fmt"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// failures: what goes wrong around the agent.
func failures(a Agent) []Case {
	classed := func(name string, class executor.FailureClass, need executor.Capability, f modeltest.Fault) Case {
		return Case{Name: name, Needs: needs(need), turns: broken(f), play: func(t *testing.T, s *stage) {
			s.fails(t, turn{}, class)
			if len(s.requests()) == 0 {
				t.Errorf("the model was not asked")
			}
			s.gone(t, nil)
			s.holds(t)
		}}
	}
	return []Case{
		{
			Name: "a temporary rate limit is waited for", Needs: needs(needRetry),
			turns: [][]modeltest.Step{well(modeltest.Step{
				Do:    []modeltest.Action{modeltest.Write("made.txt", "made\n")},
				Fault: &modeltest.Fault{Status: 429, Headers: map[string]string{"Retry-After": "1"}, Times: 1},
			})},
			play: func(t *testing.T, s *stage) {
				s.success(t, turn{})
				s.holds(t, "made.txt")
			},
		},
		classed("a lasting rate limit is reported", executor.FailLimit, executor.CanLimits, modeltest.Fault{Status: 429, Headers: map[string]string{"Retry-After": "1"}}),
		classed("a model that always fails is reported", executor.FailTransient, needGivesUp, modeltest.Fault{Status: 500}),
		classed("a request that the model refuses is reported", executor.FailConfig, needFailures, modeltest.Fault{Status: 400}),
		classed("a login that the model refuses is reported", executor.FailConfig, needFailures, modeltest.Fault{Status: 401}),
		classed("a stream that is always cut is reported", executor.FailTransient, needGivesUp, modeltest.Fault{Kind: modeltest.Truncate}),
		classed("a stream that is never JSON is reported", executor.FailTransient, needGivesUp, modeltest.Fault{Kind: modeltest.Malformed}),
		{
			Name: "an unknown model is reported", Needs: needs(needGivesUp),
			play: func(t *testing.T, s *stage) {
				s.fails(t, turn{config: &s.refused}, executor.FailTransient)
				s.gone(t, nil)
			},
		},
		{
			Name: "a missing program is reported",
			play: func(t *testing.T, s *stage) {
				config := s.config
				config.Run = append([]string{"/nowhere/" + s.agent.Kind}, config.Run[min(1, len(config.Run)):]...)
				s.fails(t, turn{config: &config}, executor.FailConfig)
				if err := s.runner.Check(t.Context(), s.ask(turn{config: &config})); !isClass(err, executor.FailConfig) {
					t.Errorf("Check says %v", err)
				}
				if err := s.runner.Check(t.Context(), s.ask(turn{})); err != nil {
					t.Errorf("Check of the right program says %v", err)
				}
			},
		},
		{
			Name:  "a model that is silent is a stall",
			turns: broken(modeltest.Fault{Kind: modeltest.Hang}),
			play: func(t *testing.T, s *stage) {
				p := s.run(t.Context(), turn{quiet: 2 * s.agent.Quiet}) // before the program gives the model up itself
				if p.err != nil || p.ended.End != executor.EndStalled {
					t.Fatalf("got end %q, error %v\n%s", p.ended.End, p.err, p.evidence())
				}
				if len(s.requests()) == 0 {
					t.Errorf("the model was not asked")
				}
				s.gone(t, nil)
			},
		},
		{
			Name: "a running tool is a sign of life", Needs: needs(needTools),
			turns: [][]modeltest.Step{well(do(modeltest.Bash(fmt.Sprintf("sleep %d", int(a.Quiet.Seconds())+3))))},
			play:  func(t *testing.T, s *stage) { s.success(t, turn{quiet: s.agent.Quiet}) },
		},
	}
}
