package run

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-compiler/ralph/executor/journal"
)

func TestOnlyWhoIsDoneAtOnceIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		by    journal.Owner
		waits bool
	}{
		"a decision":                    {journal.Owner{PID: 1, Command: "ralph approve 1.1"}, true},
		"a decision about an apply":     {journal.Owner{PID: 1, Command: "ralph reject 1.1 -m stop apply now"}, true},
		"an apply":                      {journal.Owner{PID: 1, Command: "ralph apply", Applies: true}, false},
		"a draft, which is one as well": {journal.Owner{PID: 1, Command: "ralph draft goal", Applies: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				lock, err := journal.Acquire(state, c.by)
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Release()
				begun := time.Now()
				_, err = Acquire(t.Context(), state)
				var held *journal.Held
				if !errors.As(err, &held) || (time.Since(begun) > time.Second) != c.waits {
					t.Errorf("after %s: %v", time.Since(begun), err)
				}
			})
		})
	}
}
