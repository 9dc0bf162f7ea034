package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// issueEnd is what has come of a run.
type issueEnd struct {
	kind string
	why  string // of the close, or in a comment
	hold bool   // open: not taken again before it was changed
	pull string
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

// judge says what has come of a run.
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
	o := rec.run.Overview()
	end := w.teller().verdict(rec)
	switch {
	case end != nil:
	case r.moved != "":
		end = &issueEnd{kind: issueOpen, hold: r.moved == "excluded", why: "it was " + r.moved}
	case w.drain > 0:
		end = &issueEnd{kind: issueOpen, why: "interrupted; what was done is kept, the next worker goes on with it"}
	case !o.Open && o.Held.For != "":
		end = &issueEnd{kind: issueWaiting, why: fmt.Sprintf("nothing new starts (%s): %s\n  %s%s", o.Held.For, first(o.Held.Detail), resumeCommand(o.Held.For, o.More), rec.about())}
	case r.tries < mostEndedSilly:
		end = &issueEnd{kind: issueAgain}
	default:
		end = &issueEnd{kind: issueBlocked, why: fmt.Sprintf("ralph apply ended without a word %d times:\n%s", mostEndedSilly, r.tailOf())}
	}
	end.rec = rec
	return end
}

// issueTeller says what has come of the run of an issue, and what is wanted of people.
type issueTeller struct {
	dir    string // where people type
	labels bool   // decide
	words  bdcodec.Labels
}

func (w *issueWorker) teller() issueTeller {
	return issueTeller{w.project.dir, w.tracker.Approvals, w.labels}
}

// verdict is what has come of a run by its journal alone; nil if that does not say.
func (t issueTeller) verdict(rec *record) *issueEnd {
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
		return &issueEnd{kind: issueBlocked, why: "it is done, and does not pass on the integration branch: " + t.ask(rec, sum)}
	case settled && joined && waits(sum):
		return &issueEnd{kind: issueWaiting, why: t.ask(rec, sum)}
	case settled && rec.run.Tampered():
		return &issueEnd{kind: issueWaiting, why: tamperedWords(rec)}
	case settled:
		return &issueEnd{kind: issueClosed, why: closeReason(v, n), pull: v.Pull.URL}
	case waits(v):
		return &issueEnd{kind: issueWaiting, why: t.ask(rec, v)}
	case v.Status == executor.Blocked && partial(v):
		return &issueEnd{kind: issueOpen, hold: true, why: "partly done, and given up: " + first(v.Reason)}
	case v.Status == executor.Blocked:
		return &issueEnd{kind: issueBlocked, why: t.ask(rec, v)}
	}
	return nil
}

// stand is how the mirror has to make the issue stand; false where the worker releases it.
func (e *issueEnd) stand() (bd.Stand, bool) {
	switch e.kind {
	case issueClosed:
		return bd.Stand{Status: "closed", Why: e.why}, true
	case issueWaiting:
		return bd.Stand{Status: "blocked", Asks: true, Says: e.says()}, true
	case issueBlocked:
		return bd.Stand{Status: "blocked", Says: e.says()}, true
	}
	return bd.Stand{}, false
}

// says is what a comment says of the end.
func (e *issueEnd) says() string { return e.kind + ": " + e.why }

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
func (t issueTeller) ask(rec *record, v executor.NodeView) string {
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
		fmt.Fprintf(&b, "\n\nWhat you can type in %s:\n", t.dir)
		for _, s := range steps {
			fmt.Fprintf(&b, "- `%s`: %s\n", s.Command, s.What)
		}
	}
	switch {
	case !own:
	case approval && t.labels:
		fmt.Fprintf(&b, "\nOr here, as one of those who may: `bd label add %s %s`; to have it changed, comment it, then `bd label add %s %s`", v.ID, t.words.Approved, v.ID, t.words.Changes)
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
