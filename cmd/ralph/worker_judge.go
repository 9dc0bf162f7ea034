package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// issueEnd is what has come of a run.
type issueEnd struct {
	kind string
	why  string // of the close, or in a comment
	hold bool   // open: not taken again before it was changed
	pull executor.Pull
	rec  *record // nil: it was never run
}

// claim is the state in which an end leaves the claim.
func (e *issueEnd) claim() string {
	switch {
	case e.kind == issueWaiting:
		return claimWaiting
	case e.kind == issueOpen && e.hold:
		return claimReleased
	}
	return claimOver
}

// judge says what has come of a run, from its journal.
func (w *issueWorker) judge(ctx context.Context, r *issueRun) *issueEnd {
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return &issueEnd{kind: issueBlocked, why: err.Error()}
	}
	rec.file = cmp.Or(issueOf(r.state, rec.epic), rec.file) // for people to type
	if !r.theirs && !begunAfter(rec.events, r.claim.After) {
		switch {
		case r.code == exitWaiting:
			return &issueEnd{kind: issueWaiting, why: fmt.Sprintf("its plan waits for approval.\nWhat you can type in %s:\n- `ralph plan %s`: look at it\n- `ralph approve%s`: let it begin", w.project.dir, quotePath(rec.file), rec.about()), rec: rec}
		case w.drain > 0:
			return &issueEnd{kind: issueOpen, why: "the worker ended before it began", rec: rec}
		}
		w.failed++
		return &issueEnd{kind: issueBlocked, why: "ralph apply could not begin:\n" + r.tailOf(), rec: rec}
	}
	w.failed = 0
	end := w.judgeNode(rec, r)
	end.rec = rec
	return end
}

func (w *issueWorker) judgeNode(rec *record, r *issueRun) *issueEnd {
	n := &rec.epic.Nodes[0]
	v, _ := rec.run.View(n.ID)
	sum, joined := rec.run.View(executor.Integration)
	o := rec.run.Overview()
	waits := func(v executor.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	settled := v.Status == executor.Done || v.Status == executor.Skipped
	switch {
	case v.Status == executor.Cancelled || o.Cancelled != "" && !settled:
		return &issueEnd{kind: issueOpen, hold: true, why: "cancelled" + doneBy(o.Cancelled)}
	case settled && joined && sum.Status == executor.Blocked:
		return &issueEnd{kind: issueBlocked, why: "it is done, and does not pass on the integration branch: " + w.ask(rec, sum)}
	case settled && joined && waits(sum):
		return &issueEnd{kind: issueWaiting, why: w.ask(rec, sum)}
	case settled && rec.run.Tampered():
		return &issueEnd{kind: issueWaiting, why: tamperedWords(rec)}
	case settled:
		return &issueEnd{kind: issueClosed, why: closeReason(v, n), pull: v.Pull}
	case waits(v):
		return &issueEnd{kind: issueWaiting, why: w.ask(rec, v)}
	case v.Status == executor.Blocked && partial(v):
		return &issueEnd{kind: issueOpen, hold: true, why: "partly done, and given up: " + first(v.Reason)}
	case v.Status == executor.Blocked:
		return &issueEnd{kind: issueBlocked, why: w.ask(rec, v)}
	case r.moved != "":
		return &issueEnd{kind: issueOpen, hold: r.moved == "excluded", why: "it was " + r.moved}
	case w.drain > 0:
		return &issueEnd{kind: issueOpen, why: "interrupted; what was done is kept, the next worker goes on with it"}
	case !o.Open && o.Held.For != "":
		return &issueEnd{kind: issueWaiting, why: fmt.Sprintf("nothing new starts (%s): %s\n  %s%s", o.Held.For, first(o.Held.Detail), resumeCommand(o.Held.For, o.More), rec.about())}
	case r.tries < mostEndedSilly:
		return &issueEnd{kind: issueAgain}
	}
	return &issueEnd{kind: issueBlocked, why: fmt.Sprintf("ralph apply ended without a word %d times:\n%s", mostEndedSilly, r.tailOf())}
}

func doneBy(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}

// partial reports whether the last agent said that it did a part.
func partial(v executor.NodeView) bool {
	return len(v.Attempts) > 0 && v.Attempts[len(v.Attempts)-1].Outcome.Result == "partial"
}

// ask says what a node wants from a person, and what to type, as the text of a comment.
func (w *issueWorker) ask(rec *record, v executor.NodeView) string {
	var b strings.Builder
	text := asks(v)
	for _, said := range []string{"waiting: ", "blocked: "} {
		text = strings.TrimPrefix(text, said)
	}
	b.WriteString(text)
	n := &rec.epic.Nodes[0]
	own := v.ID == n.ID // not the sum of the run
	approval := v.Status == executor.Waiting && v.Cause == executor.CauseApproval
	if own && approval && len(v.Attempts) > 0 {
		if c := v.Attempts[len(v.Attempts)-1].Collected.Result.Commit; c != "" {
			fmt.Fprintf(&b, "\nIts work: commit %.12s on %s", c, n.Git.Branch)
		}
	}
	if steps := rec.nextSteps(v); len(steps) > 0 {
		fmt.Fprintf(&b, "\n\nWhat you can type in %s:\n", w.project.dir)
		for _, s := range steps {
			fmt.Fprintf(&b, "- `%s`: %s\n", s.Command, s.What)
		}
	}
	switch {
	case !own:
	case approval && w.tracker.Approvals:
		fmt.Fprintf(&b, "\nOr here, as one of those who may: `bd label add %s %s`; to have it changed, comment it, then `bd label add %s %s`", v.ID, w.labels.Approved, v.ID, w.labels.Changes)
	case v.Status == executor.Waiting && v.Cause == executor.CauseQuestion:
		fmt.Fprintf(&b, "\nOr here: answer in a comment, then `bd update %s -s open`", v.ID)
	case v.Status == executor.Blocked:
		fmt.Fprintf(&b, "\nOr here: say in a comment what to do otherwise, then `bd update %s -s open`", v.ID)
	}
	return strings.TrimRight(b.String(), "\n")
}

func closeReason(v executor.NodeView, n *ir.Node) string {
	if v.Status == executor.Skipped {
		return "skipped: " + first(v.Reason)
	}
	out := "done by ralph"
	if v.Result.Commit != "" {
		out += fmt.Sprintf(": commit %.12s on %s", v.Result.Commit, n.Git.Branch)
	}
	if v.Pull.URL != "" {
		out += ", pull request " + v.Pull.URL
	}
	return out
}
