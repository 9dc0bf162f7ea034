package main

import (
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

// judge says what has come of a run, from its journal.
func (w *issueWorker) judge(ctx context.Context, r *issueRun) *issueEnd {
	rec, err := openRecord(ctx, r.file, nil)
	if err != nil {
		return &issueEnd{kind: issueBlocked, why: err.Error()}
	}
	if !begunAfter(rec.events, r.claim.After) {
		switch {
		case r.code == exitWaiting:
			return &issueEnd{kind: issueWaiting, why: "its plan waits for approval:\n  ralph approve" + rec.about(), rec: rec}
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
		return &issueEnd{kind: issueWaiting, why: fmt.Sprintf("nothing new starts (%s): %s\n  %s%s", o.Held.For, first(o.Held.Detail), resumeCommand(o.Held.For), rec.about())}
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

// ask says what a node wants from a person, and what to type.
func (w *issueWorker) ask(rec *record, v executor.NodeView) string {
	var b strings.Builder
	text := asks(v)
	for _, said := range []string{"waiting: ", "blocked: "} {
		text = strings.TrimPrefix(text, said)
	}
	b.WriteString(text)
	if steps := nextSteps(v, rec.space.Dir(v.ID), rec.about()); len(steps) > 0 {
		b.WriteString("\nWhat you can type:\n")
		writeSteps(&b, steps)
	}
	if w.tracker.Approvals && v.Status == executor.Waiting && v.Cause == executor.CauseApproval {
		fmt.Fprintf(&b, "Or here, as one of those who may: bd label add %s %s; to have it changed, comment it and add %s.", v.ID, w.labels.Approved, w.labels.Changes)
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
