package words

import (
	"testing"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
)

func TestAnAnswerIsNoRetry(t *testing.T) {
	retry := machine.Way{Verb: executor.RetryNode, Key: "1.1", Message: true}
	for _, c := range []struct {
		cause      executor.Cause
		name, text string
	}{
		{executor.CauseQuestion, "answer", "your answer"},
		{executor.CauseDiagnosis, "answer", "your answer"},
		{executor.CauseTakeover, "retry", "what to do"},
		{"", "retry", "a hint for the next attempt"},
	} {
		if got := Offer(retry, c.cause); got != c.name {
			t.Errorf("%s: it is called %q, want %q", c.cause, got, c.name)
		}
		if got := OfferText(retry, c.cause); got != c.text {
			t.Errorf("%s: its text is %q, want %q", c.cause, got, c.text)
		}
	}
	judge := machine.Way{Verb: executor.RetryNode, How: executor.GatesOnly, Key: "1.1"}
	if got := Offer(judge, executor.CauseQuestion); got != "run its gates" {
		t.Errorf("%q", got)
	}
	if got := Offer(machine.Way{Verb: executor.Approve}, ""); got != "approve the plan" {
		t.Errorf("%q", got)
	}
}

// What is asked for before it is sent is what the machine would refuse.
func TestWhatADecisionNeedsIsSaid(t *testing.T) {
	v := machine.NodeView{Status: executor.Waiting, For: executor.ForHuman, Cause: executor.CauseQuestion}
	for want, w := range map[string]machine.Way{
		"write an answer: the agent goes on with it":                   {Verb: executor.RetryNode, Message: true},
		"say what has to change: the next attempt gets it as feedback": {Verb: executor.Reject, Message: true},
		"say why: it stays on record":                                  {Verb: executor.Approve, How: executor.Override, Message: true},
	} {
		if got := OfferNeeds(w, v.Cause); !v.Must(w) || got != want {
			t.Errorf("%+v needs a text: %v, %q", w, v.Must(w), got)
		}
	}
	for _, w := range []machine.Way{{Verb: executor.RetryNode, How: executor.GatesOnly}, {Verb: executor.Approve}, {Verb: executor.Skip}} {
		if v.Must(w) {
			t.Errorf("%+v needs no text", w)
		}
	}
}
