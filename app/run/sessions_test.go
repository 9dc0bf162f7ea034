package run

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// A judge's session that was confined is asked in its sandbox, also where a person overrode it.
func TestWhatAPersonSaysDoesNotMoveAJudgeOutside(t *testing.T) {
	t.Parallel()
	in := &executor.Sandboxed{Name: "default", Kind: "namespaces"}
	person := executor.GateJudged{Gate: "qa", Verdict: executor.Pass, By: "ann"}
	for name, c := range map[string]struct {
		all     []executor.GateJudged
		outside bool
	}{
		"confined":                {[]executor.GateJudged{{Gate: "qa", Session: "s", Verdict: executor.Fail, Sandbox: in}}, false},
		"confined and overridden": {[]executor.GateJudged{{Gate: "qa", Session: "s", Verdict: executor.Fail, Sandbox: in}, person}, false},
		"outside and overridden":  {[]executor.GateJudged{{Gate: "qa", Session: "s", Verdict: executor.Fail}, person}, true},
		"a person alone":          {[]executor.GateJudged{person}, false},
	} {
		s := Session{Session: "s", Gate: "qa"}
		if s.judged(c.all); s.outside != c.outside || s.Status == "" {
			t.Errorf("%s: outside = %v, %q", name, s.outside, s.Status)
		}
	}
}
