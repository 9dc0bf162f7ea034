package record

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// How a worker leaves an issue.
const (
	IssueClosed  = "closed"
	IssueOpen    = "open again"
	IssueBlocked = "blocked"
	IssueWaiting = "waiting for a person"
	IssueAgain   = "again" // the process ended without a result: another one continues
	IssueLeft    = "left"  // somebody else changed it meanwhile
)

// IssueEnd is a run's outcome.
type IssueEnd struct {
	Kind string
	Why  string // of the close, or in a comment
	Hold bool   // open: not taken again until it is changed
	Pull string
	Rec  *Record // nil: it was never run
}

// ClaimState is the state in which an end leaves the claim.
func (e *IssueEnd) ClaimState() string {
	switch {
	case e.Kind == IssueWaiting:
		return ClaimWaiting
	case e.Kind == IssueOpen && e.Hold:
		return ClaimReleased
	}
	return ClaimOver
}

// IssueTeller describes the outcome of an issue's run, and what people must do.
type IssueTeller struct {
	Dir    string // where people type
	Labels bool   // decide
	Words  bdcodec.Labels
}

// Verdict is a run's outcome according to its journal; nil if the journal does not say.
func (t IssueTeller) Verdict(rec *Record) *IssueEnd {
	n := &rec.Epic.Nodes[0]
	v, _ := rec.Run.View(n.ID)
	sum, joined := rec.Run.View(executor.Integration)
	o := rec.Run.Overview()
	waits := func(v machine.NodeView) bool {
		return v.Status == executor.Waiting && (v.For == executor.ForHuman || v.For == executor.ForBudget)
	}
	settled := v.Status == executor.Done || v.Status == executor.Skipped
	switch {
	case v.Status == executor.Cancelled || o.Cancelled != "" && !settled:
		return &IssueEnd{Kind: IssueOpen, Hold: true, Why: strings.TrimSuffix("cancelled by "+o.Cancelled, " by ")}
	case settled && joined && sum.Status == executor.Blocked:
		return &IssueEnd{Kind: IssueBlocked, Why: "it is done, but does not pass on the integration branch: " + t.ask(rec, sum)}
	case settled && joined && waits(sum):
		return &IssueEnd{Kind: IssueWaiting, Why: t.ask(rec, sum)}
	case settled && rec.Run.Watch().Tampered():
		return &IssueEnd{Kind: IssueWaiting, Why: tamperedWords(rec)}
	case settled:
		return &IssueEnd{Kind: IssueClosed, Why: closeReason(v, n), Pull: v.Pull.URL}
	case waits(v):
		return &IssueEnd{Kind: IssueWaiting, Why: t.ask(rec, v)}
	case v.Status == executor.Blocked && partial(v):
		return &IssueEnd{Kind: IssueOpen, Hold: true, Why: "partly done, then cancelled: " + words.First(v.Reason)}
	case v.Status == executor.Blocked:
		return &IssueEnd{Kind: IssueBlocked, Why: t.ask(rec, v)}
	}
	return nil
}

// Stand is the state that the mirror must give the issue; false if the worker releases it.
func (e *IssueEnd) Stand() (bd.Stand, bool) {
	switch e.Kind {
	case IssueClosed:
		return bd.Stand{Status: "closed", Why: e.Why}, true
	case IssueWaiting:
		return bd.Stand{Status: "blocked", Asks: true, Says: e.Says()}, true
	case IssueBlocked:
		return bd.Stand{Status: "blocked", Says: e.Says()}, true
	}
	return bd.Stand{}, false
}

// Says is the text of a comment about the end.
func (e *IssueEnd) Says() string { return e.Kind + ": " + e.Why }

// partial reports whether the last agent said that it did a part.
func partial(v machine.NodeView) bool {
	return len(v.Attempts) > 0 && v.Attempts[len(v.Attempts)-1].Outcome.Result == "partial"
}

// ask says what a node wants from a person, and what to type, as the text of a comment.
func (t IssueTeller) ask(rec *Record, v machine.NodeView) string {
	var b strings.Builder
	b.WriteString(words.Asked(v))
	n := &rec.Epic.Nodes[0]
	own := v.ID == n.ID // not the sum of the run
	approval := v.Status == executor.Waiting && v.Cause == executor.CauseApproval
	if own && approval && len(v.Attempts) > 0 {
		if c := v.Attempts[len(v.Attempts)-1].Collected.Result.Commit; c != "" {
			fmt.Fprintf(&b, "\nIts work: commit %.12s on %s", c, n.Git.Branch)
		}
	}
	if steps := rec.NextSteps(v); len(steps) > 0 {
		fmt.Fprintf(&b, "\n\nWhat you can type in %s:\n", t.Dir)
		for _, s := range steps {
			fmt.Fprintf(&b, "- `%s`: %s\n", s.Command, s.What)
		}
	}
	switch {
	case !own:
	case approval && t.Labels:
		fmt.Fprintf(&b, "\nOr here, as one of those who may: `bd label add %s %s`; to have it changed, comment it, then `bd label add %s %s`", v.ID, t.Words.Approved, v.ID, t.Words.Changes)
	case v.Status == executor.Waiting && v.Cause == executor.CauseQuestion:
		fmt.Fprintf(&b, "\nOr here: answer in a comment, then `bd update %s -s open`", v.ID)
	case v.Status == executor.Blocked:
		fmt.Fprintf(&b, "\nOr here: say in a comment what to do instead, then `bd update %s -s open`", v.ID)
	}
	return strings.TrimRight(b.String(), "\n")
}

func closeReason(v machine.NodeView, n *ir.Node) string {
	if v.Status == executor.Skipped {
		return "skipped: " + words.First(v.Reason)
	}
	out := "done by ralph"
	if v.Result.Commit != "" {
		out += fmt.Sprintf(": commit %.12s on %s", v.Result.Commit, n.Git.Branch)
	}
	if v.Pull.URL != "" {
		out += ", " + v.Pull.Word() + " " + v.Pull.URL
	}
	return out
}
