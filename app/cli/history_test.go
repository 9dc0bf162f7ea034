//go:build unix

package cli

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
)

// What codecs write is what happened: every attempt, verdict and time, and no file
// or diff that nobody asked for.
//
// S0-53..82 (executions), S1-01..13, S1-20..24 (a bead), S1-55..61 (what it came to),
// S3-16..21 (tracking), S4-53..57 (runs)
func TestHistoryHoldsWhatHappened(t *testing.T) {
	t.Parallel()
	r := newApplyRepo(t, recordEpic())
	file := filepath.Join(r.dir, "epic.json")
	rec, err := record.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := rec.History(t.Context(), project.Detail{}); !h.Started.IsZero() || h.Node("bd-1-1").Status != "pending" || h.Node("bd-1-1").Words["issue"] != "open" || h.Node("bd-none").Status != "pending" {
		t.Errorf("before the first run: %+v", h)
	}
	r.run(exit.Done)
	if rec, err = record.Open(t.Context(), file, nil); err != nil {
		t.Fatal(err)
	}
	bare, full := rec.History(t.Context(), project.Detail{}), rec.History(t.Context(), project.Detail{Files: true, Diffs: true})
	if full.Started.IsZero() || full.Ended.Before(full.Started) || full.Status != "complete" || len(full.Runs) != 1 || full.Top == "" {
		t.Errorf("the whole: %+v", full)
	}
	n := full.Node("bd-1-1")
	if n.Status != "done" || n.Words["ralph-bead"] != "completed" || n.Words["issue"] != "closed" || n.Worktree == "" || !filepath.IsAbs(n.Worktree) ||
		n.Started.IsZero() || n.Ended.Before(n.Started) || n.Updated.Before(n.Ended) || n.Tokens != nil || len(n.Comments) < 2 || !strings.Contains(string(n.Scrum), `"attempt_count":2`) {
		t.Errorf("the node: %+v", n)
	}
	if len(n.Attempts) != 2 {
		t.Fatalf("%d attempts, want 2", len(n.Attempts))
	}
	for i, a := range n.Attempts {
		if a.Words["execution"] != "completed" || a.Number != i+1 || a.Started.IsZero() || a.Ended.Before(a.Started) || a.Summary != "wrote new.txt" ||
			!strings.Contains(string(a.Outcome), `"created_issues"`) || !strings.Contains(a.Prompt, "Do 1.1.") || a.Response != "the transcript" {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
		own := a.Files[len(a.Files)-1] // the second attempt changed nothing else
		if len(a.Files) != 2-i || own.Path != "new.txt" || own.Type != []string{"created", "modified"}[i] || strings.Count(own.Diff, "+by 1.1, attempt") != 1 || strings.Contains(own.Diff, "agent.sh") {
			t.Errorf("attempt %d changed %+v", i+1, a.Files)
		}
		qa := a.Gates[len(a.Gates)-1]
		if qa.Gate != "qa" || qa.Kind != "agent" || qa.Started.IsZero() || qa.Ended.Before(qa.Started) || qa.Started.Before(a.Started) || !strings.Contains(string(qa.Details), `"seen"`) {
			t.Errorf("attempt %d was judged %+v", i+1, qa)
		}
	}
	if fed := n.Attempts[1].Feedback; len(fed) == 0 || !strings.Contains(strings.Join(fed, "\n"), "attempt 2 is missing") {
		t.Errorf("attempt 2 was told %q", fed)
	}

	// Without files and diffs the rest is the same.
	for id := range full.Nodes {
		for i := range full.Nodes[id].Attempts {
			f, b := &full.Nodes[id].Attempts[i], &bare.Nodes[id].Attempts[i]
			if b.Prompt != "" || b.Response != "the transcript" || len(b.Files) != len(f.Files) || b.Files[0].Diff != "" || b.Gates[len(b.Gates)-1].Details != nil {
				t.Errorf("what nobody asked for: %+v", b)
			}
			f.Prompt, f.Outcome, f.Response, b.Outcome, b.Response = "", nil, "", nil, ""
			f.Files, b.Files = nil, nil
			for k := range f.Gates {
				if b.Gates[k].Results != nil || (f.Gates[k].Results == nil) != (f.Gates[k].Counts == nil) {
					t.Errorf("test results of %+v, %+v", f.Gates[k], b.Gates[k])
				}
				f.Gates[k].Details, f.Gates[k].Results = nil, nil
			}
		}
	}
	if !reflect.DeepEqual(full, bare) {
		t.Errorf("they differ:\n%+v\n%+v", full, bare)
	}
}
