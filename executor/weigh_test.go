package executor

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Between the two halves of a decision the run may go on: what it says then counts.
func TestADecisionIsConsideredOnceMoreAfterTheWorktreeWasLookedAt(t *testing.T) { // S0-43, execution §5
	run, _, _, _ := losing(t, func(e Effect, _ int) bool { return e.Kind == EffectPrepare })
	now := time.UnixMilli(0).Add(time.Hour)
	retry := Decision{ID: "one", Verb: RetryNode, Message: "go on", By: "ann", At: now}
	look, err := run.Weigh("bd-3", retry, now)
	if err != nil || !look {
		t.Fatalf("a retry is weighed: look %v, %v", look, err)
	}
	var no *Refused
	if _, err := run.Decide("bd-3", retry, "host:/tree", now); !errors.As(err, &no) || !strings.Contains(no.Why, "host:/tree") {
		t.Errorf("somebody worked there, and Decide says %v", err)
	}
	e, err := run.Decide("bd-3", retry, "", now)
	if err != nil {
		t.Fatal(err)
	}
	e.Seq, e.At = run.Seq()+1, now
	if err := run.Apply(e); err != nil {
		t.Fatal(err)
	}
	if look, err := run.Weigh("bd-3", retry, now); err != nil || look {
		t.Errorf("the same once more: look %v, %v", look, err)
	}
	retry.ID = "two" // somebody else was quicker
	if _, err := run.Decide("bd-3", retry, "", now); !errors.As(err, &no) {
		t.Errorf("the node goes on already, and Decide says %v", err)
	}
	discard := Decision{ID: "three", Verb: RetryNode, How: Discard, By: "ann", At: now}
	other, _, _, _ := losing(t, func(e Effect, _ int) bool { return e.Kind == EffectPrepare })
	if look, err := other.Weigh("bd-3", discard, now); err != nil || look {
		t.Errorf("one that discards what is there: look %v, %v", look, err)
	}
}
