package machine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/executor"
)

// Between the two halves of a decision the run may go on: what it says then counts.
func TestADecisionIsConsideredOnceMoreAfterTheWorktreeWasLookedAt(t *testing.T) { // S0-43, execution §5
	run, _, _, _ := losing(t, func(e executor.Effect, _ int) bool { return e.Kind == executor.EffectPrepare })
	now := time.UnixMilli(0).Add(time.Hour)
	retry := executor.Decision{ID: "one", Verb: executor.RetryNode, Message: "go on", By: "ann", At: now}
	look, err := run.Decisions().Weigh("bd-3", retry, now)
	if err != nil || !look {
		t.Fatalf("a retry is weighed: look %v, %v", look, err)
	}
	var no *executor.Refused
	if _, err := run.Decisions().Decide("bd-3", retry, "host:/tree", now); !errors.As(err, &no) || !strings.Contains(no.Why, "host:/tree") {
		t.Errorf("somebody worked there, and Decide says %v", err)
	}
	e, err := run.Decisions().Decide("bd-3", retry, "", now)
	if err != nil {
		t.Fatal(err)
	}
	e.Seq, e.At = run.Seq()+1, now
	if err := run.Apply(e); err != nil {
		t.Fatal(err)
	}
	if look, err := run.Decisions().Weigh("bd-3", retry, now); err != nil || look {
		t.Errorf("the same once more: look %v, %v", look, err)
	}
	retry.ID = "two" // somebody else was quicker
	if _, err := run.Decisions().Decide("bd-3", retry, "", now); !errors.As(err, &no) {
		t.Errorf("the node goes on already, and Decide says %v", err)
	}
	discard := executor.Decision{ID: "three", Verb: executor.RetryNode, How: executor.Discard, By: "ann", At: now}
	other, _, _, _ := losing(t, func(e executor.Effect, _ int) bool { return e.Kind == executor.EffectPrepare })
	if look, err := other.Decisions().Weigh("bd-3", discard, now); err != nil || look {
		t.Errorf("one that discards what is there: look %v, %v", look, err)
	}
}
