package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Comment is something that happened to a node or to the epic, for readers of its
// bead. It never changes, and no two comments of a node have the same text.
type Comment struct {
	Seq    int64 // of the event that it tells of; several may have one
	At     time.Time
	Author string // who decided; else "ralph"
	Text   string // its first line has the fields, the others say more
	Passed bool   // a step passed: while the node continues no one has to read it at once
}

// Comments returns what happened to a node, in the order of the journal:
//
//	[iter:2] [task:bd-1-2] [tests:11/1/0] [commits:1] implement #2 failed: gate check: …
//	[VALIDATION REJECTED] [task:bd-1-2] implement #2, gate review: …
//	[decided] [task:bd-1-2] ann approved gate qa (tree 0123456789ab) at 2026-11-21T23:40:00Z: …
//
// iter counts the node's attempts over all its steps. tests are the numbers of
// tests that passed, failed and were skipped, or, where no gate printed numbers,
// pass, fail or skip. commits is 1 if ralph collected a new commit. With id "" it is
// the epic as a whole: its runs, the decisions about them, and the first line of every
// attempt of all its nodes.
func (o Node) Comments() []Comment {
	if o.id == "" {
		return slices.Clip(o.r.says)
	}
	if n := o.r.byID[o.id]; n != nil {
		return slices.Clip(n.says)
	}
	return nil
}

// comment puts what an event says about itself where people read it. It is called
// after the event was applied.
func (r *Run) comment(e executor.Event) {
	switch b := e.Body.(type) {
	case executor.RunStarted:
		r.say(e.Seq, "ralph", fmt.Sprintf("[run] started by %s at %s: plan %s, digest %s", b.By, stamp(e.At), b.Plan, b.Digest))
	case executor.RunEnded:
		word := "ended"
		if b.Interrupted {
			word = "was interrupted"
		}
		r.say(e.Seq, "ralph", fmt.Sprintf("[run] %s at %s: %s", word, stamp(e.At), countWords(b.Counts, b.GoesOn, true)))
	case executor.RunHeld:
		r.say(e.Seq, "ralph", fmt.Sprintf("[run] held at %s: %s", stamp(e.At), b.Detail))
	case executor.RunDraining:
		if b.Reason != "" {
			r.say(e.Seq, "ralph", fmt.Sprintf("[run] ends at %s: %s", stamp(e.At), b.Reason))
		}
	case executor.TamperSeen:
		if b.Grade == Tampered {
			r.say(e.Seq, "ralph", fmt.Sprintf("[tampered] %s at %s: %s", b.ID, stamp(e.At), b.Drift))
		}
	case executor.Decided:
		text := decisionText(e.Node, b.Decision)
		n := r.byID[e.Node]
		if n == nil {
			r.say(e.Seq, b.By, text)
			return
		}
		n.says = append(n.says, Comment{Seq: e.Seq, At: e.At, Author: b.By, Text: text})
	case executor.AttemptEnded:
		n := r.byID[e.Node]
		if n == nil || len(n.logs) == 0 {
			return
		}
		log := &n.logs[len(n.logs)-1]
		said := attemptText(n.id, len(n.logs), log)
		n.says = append(n.says, Comment{Seq: e.Seq, At: e.At, Author: "ralph", Text: said, Passed: log.Status == executor.AttemptPassed})
		r.say(e.Seq, "ralph", text.FirstLine(said))
		for _, g := range log.Gates {
			kind := r.epic.Gates[g.Gate].Kind
			if (kind == "agent" || kind == "review") && (g.Verdict == executor.Fail || g.Verdict == executor.Stop) {
				n.says = append(n.says, Comment{Seq: e.Seq, At: e.At, Author: "ralph", Text: fmt.Sprintf("[VALIDATION REJECTED] [task:%s] %s #%d, gate %s: %s",
					n.id, log.Step, log.Number, g.Gate, strings.TrimSpace(g.Message))})
			}
		}
	}
}

func (r *Run) say(seq int64, author, text string) {
	r.says = append(r.says, Comment{Seq: seq, At: r.at, Author: author, Text: text})
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// attemptText is the structured line of an attempt that has ended.
func attemptText(id ir.NodeID, iter int, l *AttemptLog) string {
	commits := 0
	if l.Commit != "" && l.Commit != l.From {
		commits = 1
	}
	how, why := pastTense(l.Status), executor.Because(l.Reason)
	switch l.Status {
	case executor.AttemptPassed:
		how, why = "passed", ""
	case executor.AttemptStopped:
		how = "was stopped"
	}
	out := "[iter:" + strconv.Itoa(iter) + "] [task:" + string(id) + "] [tests:" + executor.TestsOf(l.Gates) + "] [commits:" + strconv.Itoa(commits) + "] " +
		l.Step + " #" + strconv.Itoa(l.Number) + " " + how + why
	if l.Outcome.Summary != "" {
		out += "\n" + strings.TrimSpace(l.Outcome.Summary)
	}
	for _, p := range l.Problems {
		out += "\n- " + text.FirstLine(p)
	}
	return out
}

var verbWords = map[executor.Verb]string{
	executor.Approve: "approved", executor.Reject: "rejected", executor.RetryNode: "asked for another try", executor.Skip: "skipped it",
	executor.Pause: "paused it", executor.Resume: "resumed it", executor.Cancel: "cancelled it",
}

// decisionText is what a person decided.
func decisionText(id ir.NodeID, d executor.Decision) string {
	out := "[decided] "
	if id != "" {
		out += "[task:" + string(id) + "] "
	}
	out += d.By + " " + verbWords[d.Verb]
	if d.How != executor.HowPlain {
		out += " (" + string(d.How) + ")"
	}
	if d.Gate != "" {
		out += " gate " + d.Gate
	}
	switch {
	case d.Tamper != "":
		out += " the change " + d.Tamper
	case id == "" && d.Verb == executor.Approve:
		out += " the plan, digest " + d.Digest
	}
	if d.Result != "" {
		out += fmt.Sprintf(" (tree %.12s)", d.Result)
	}
	out += " at " + stamp(d.At)
	if d.Message != "" {
		out += ": " + strings.TrimSpace(d.Message)
	}
	return out
}

// countWords lists how many nodes have each status: "2 done, 1 blocked". Of those that
// wait goesOn need no person; where nothing is at work none runs.
func countWords(counts map[string]int, goesOn int, idle bool) string {
	var parts []string
	for s := executor.Done; ; s = (s + 1) % executor.NodeStatuses { // what is done is first
		c, word := counts[s.String()], s.String()
		switch {
		case s == executor.Running && idle:
			word = "interrupted"
		case s == executor.Waiting && goesOn > 0:
			parts = append(parts, fmt.Sprintf("%d to go on", goesOn))
			c -= goesOn
		}
		if c > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c, word))
		}
		if s == executor.Done-1 {
			break
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}
