package machine

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

func TestAWayIsTypedInOneForm(t *testing.T) {
	for want, w := range map[string]Way{
		"ralph retry 1.1":                      {Verb: executor.RetryNode, Key: "1.1"},
		"ralph retry 1.1 --gates-only":         {Verb: executor.RetryNode, How: executor.GatesOnly, Key: "1.1"},
		"ralph retry 'a b' -m TEXT":            {Verb: executor.RetryNode, Key: "a b", Message: true},
		"ralph approve 1.1 --override -m TEXT": {Verb: executor.Approve, How: executor.Override, Key: "1.1", Message: true},
		"ralph resume 1.1 --budget usd=+1":     {Verb: executor.Resume, Key: "1.1", Budget: "usd=+1"},
		"ralph skip 1.1 --force":               {Verb: executor.Skip, How: executor.Forced, Key: "1.1"},
		"ralph apply":                          {Verb: Apply},
		"ralph apply --rerun 1.1":              {Verb: Apply, How: Rerun, Key: "1.1"},
		"ralph approve --baseline":             HeldWay(executor.ForBase, ""),
		"ralph resume --budget tokens=+5":      HeldWay(executor.ForBudget, "tokens=+5"),
		"ralph resume":                         HeldWay(executor.ForHuman, ""),
	} {
		if got := w.Command(); got != want {
			t.Errorf("%+v: %s, want %s", w, got, want)
		}
	}
	w := Way{Verb: executor.Reject, Key: "1.1", Message: true}
	if got := w.Line("'1.1'", " --as ann", `"why"`); got != `ralph reject '1.1' --as ann -m "why"` {
		t.Error(got)
	}
	if _, is := (Way{Verb: Apply}).Decision(); is {
		t.Error("to begin a run is a decision")
	}
}
