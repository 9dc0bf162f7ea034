//go:build unix

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/ir"
)

// TestALetterCountsForWhatItsSenderSaw: a decision is written, another one comes
// first, and when it is read the sprint waits again, for something else.
func TestALetterCountsForWhatItsSenderSaw(t *testing.T) { // execution §5
	t.Parallel()
	for name, c := range map[string]struct {
		work string
		verb executor.Verb
	}{
		"an approval of the attempt before":              {siteWork, executor.Approve},
		"an approval of an attempt that made the same":   {`echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`, executor.Approve},
		"a rejection of the attempt before":              {siteWork, executor.Reject},
		"a rejection of an attempt that made the same":   {`echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"`, executor.Reject},
		"to have the gates judge what somebody had done": {siteWork, executor.RetryNode},
		"to go on without what waited then":              {siteWork, executor.Skip},
		"to give up what waited then":                    {siteWork, executor.Cancel},
		"to hold what waited then":                       {siteWork, executor.Pause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.work, executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
				e.Gates["ana"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ana"}, OnTimeout: "fail", OnFailure: "retry"}
				e.Nodes[0].Steps[0].Gates = []string{"ana"}
			}))
			a := s.start("apply", "--wait")
			waits := func(n int) {
				s.until("the gate", func() bool {
					have := 0
					for _, e := range s.events() {
						if e.Kind() == "node.waiting" {
							have++
						}
					}
					return have >= n
				})
			}
			waits(1)
			d := executor.Decision{ID: "late", Verb: c.verb, By: "ana", User: "ana", At: time.Now().UTC(), Message: "as it is"}
			if c.verb == executor.RetryNode {
				d.How = executor.GatesOnly
			}
			table, err := run.OpenDesk(t.Context(), s.file("epic.json"), nil, false)
			if err != nil {
				t.Fatal(err)
			}
			if d, err = table.Bind(t.Context(), "bd-1-1", d); err != nil {
				t.Fatal(err)
			}
			if out := s.ralph("reject", "1.1", "-m", "once more", "--as", "ana"); out.code != exit.Done {
				t.Fatal(out.all())
			}
			waits(2)
			if err := journal.Send(t.Context(), s.state(), s.epic.Epic.ID, executor.Letter{Node: "bd-1-1", Decision: d}); err != nil {
				t.Fatal(err)
			}
			refused, err := journal.Await(t.Context(), s.state(), s.epic.Epic.ID, d.ID)
			if err != nil || !strings.Contains(refused, "implement #1") || !strings.Contains(refused, "implement #2") {
				t.Fatalf("the sender is told %q (%v), want both attempts", refused, err)
			}
			if out := s.ralph("approve", "1.1", "--as", "ana"); out.code != exit.Done {
				t.Error(out.all())
			}
			a.wait()
			for _, e := range s.events() {
				if b, ok := e.Body.(executor.Decided); ok && b.Decision.ID == "late" {
					t.Errorf("it is on record: %+v", b.Decision)
				}
			}
			s.sound()
		})
	}
}
