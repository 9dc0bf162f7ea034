package worker

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
)

// judge says the run's outcome.
func (w *Worker) judge(ctx context.Context, r *Run) *record.IssueEnd {
	rec, err := record.Open(ctx, r.file, nil)
	if err != nil {
		return &record.IssueEnd{Kind: record.IssueBlocked, Why: err.Error()}
	}
	rec.File = cmp.Or(record.IssueOf(r.state, rec.Epic), rec.File) // for people to type
	if !r.theirs && !begunAfter(rec.Events, r.claim.After) {
		switch {
		case r.code == exit.Waiting:
			return &record.IssueEnd{Kind: record.IssueWaiting, Why: fmt.Sprintf("its plan waits for approval.\nWhat you can type in %s:\n- `ralph plan %s`: look at it\n- `ralph approve%s`: let it begin", w.Project.Dir, words.QuotePath(rec.File), rec.About()), Rec: rec}
		case w.drain > 0:
			return &record.IssueEnd{Kind: record.IssueOpen, Why: "the worker ended before it started", Rec: rec}
		}
		w.failed++
		return &record.IssueEnd{Kind: record.IssueBlocked, Why: "ralph apply could not start:\n" + r.tailOf(), Rec: rec}
	}
	w.failed = 0
	o := rec.Run.Overview()
	end := w.teller().Verdict(rec)
	switch {
	case end != nil:
	case r.moved != "":
		end = &record.IssueEnd{Kind: record.IssueOpen, Hold: r.moved == "excluded", Why: "it was " + r.moved}
	case w.drain > 0:
		end = &record.IssueEnd{Kind: record.IssueOpen, Why: "interrupted; its work is kept, the next worker continues it"}
	case !o.Open && o.Held.For != "":
		end = &record.IssueEnd{Kind: record.IssueWaiting, Why: fmt.Sprintf("nothing new starts (%s): %s\n  %s%s", o.Held.For, words.First(o.Held.Detail), words.ResumeCommand(o.Held.For, o.More), rec.About())}
	case r.tries < mostEndedSilly:
		end = &record.IssueEnd{Kind: record.IssueAgain}
	default:
		end = &record.IssueEnd{Kind: record.IssueBlocked, Why: fmt.Sprintf("ralph apply was killed %d times:\n%s", mostEndedSilly, r.tailOf())}
	}
	end.Rec = rec
	return end
}

func (w *Worker) teller() record.IssueTeller {
	return record.IssueTeller{Dir: w.Project.Dir, Labels: w.tracker.Approvals, Words: w.labels}
}
