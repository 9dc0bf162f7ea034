package words

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Trying says which gates are about to be tried.
func Trying(b executor.PreflightStarted) string {
	all := b.All()
	return fmt.Sprintf("trying %s on the base: %s", text.Count(len(all), "gate"), ListOf(all))
}

// Base describes a gate's verdict on a base; log is the path of its output.
func Base(b executor.BaselineJudged, log string) string {
	gates := "gate " + strings.Join(append([]string{b.Gate}, b.Also...), ", ")
	on := fmt.Sprintf("the base %.12s", b.Base.Commit)
	if b.Of != "" {
		on = fmt.Sprintf("the base %s (%.12s)", b.Of, b.Base.Commit)
	}
	took := Brief(time.Duration(b.Millis) * time.Millisecond)
	switch {
	case b.Verdict == executor.Pass:
		return fmt.Sprintf("%s: green on %s (%s)", gates, on, took)
	case !b.Red():
		return fmt.Sprintf("%s: no verdict on %s: %s", gates, on, First(b.Message))
	}
	return fmt.Sprintf("%s: red on %s before any work: %s%s%s", gates, on, First(b.Message), With("; in sandbox ", Walled(b.Sandbox), ""), With("; its output: ", log, ""))
}

// TallyOf is Tally of a run's current state.
func TallyOf(run *machine.Run) string {
	return Tally(run.Summary().Counts(), run.Summary().GoOn(), run.Summary().Idle())
}

// Tally counts sprints by status, in life cycle order. goOn of the waiting sprints need no
// person. If idle, nothing is at work and running sprints count as interrupted.
func Tally(counts map[string]int, goOn int, idle bool) string {
	total := 0
	for _, n := range counts {
		total += n
	}
	parts := []string{fmt.Sprintf("%d of %s done", counts[executor.Done.String()], text.Count(total, "sprint"))}
	for _, s := range []executor.NodeStatus{executor.Running, executor.Waiting, executor.Blocked, executor.Skipped, executor.Cancelled, executor.Ready, executor.Pending} {
		n, word := counts[s.String()], s.String()
		switch {
		case s == executor.Running && idle:
			word = Interrupted
		case s == executor.Waiting && goOn > 0:
			parts = append(parts, fmt.Sprintf("%d %s", goOn, text.Form(goOn, "goes on", "go on")))
			n -= goOn
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", ")
}

func ofBudget(o machine.RunView) string {
	var parts []string
	if o.Budget.Tokens > 0 {
		parts = append(parts, Counted(o.Budget.Tokens)+" tokens")
	}
	if o.Budget.USDMicro > 0 {
		parts = append(parts, Dollars(o.Budget.USDMicro))
	}
	if o.Budget.WallMS > 0 {
		parts = append(parts, Millis(o.Budget.WallMS))
	}
	return With(" (budget: ", strings.Join(parts, ", "), ")")
}

// Usage formats the cost of an attempt's turns for a table column; "" if no agent was
// asked.
func Usage(a machine.AttemptLog) string {
	u := a.Usage
	switch {
	case u.IsZero() && a.Turns+a.Untold == 0:
		return ""
	case u.USDMicro != nil:
		return Money(*u.USDMicro, a.Untold == 0)
	case u.Tokens != nil:
		return Figure(*u.Tokens, a.Untold == 0, Counted(*u.Tokens)+" tok", "unknown")
	}
	return "unknown"
}

// AttemptFacts counts an attempt's changed files and its tests.
func AttemptFacts(a machine.AttemptLog) string {
	parts := []string{text.Count(a.Collected.Files, "file")}
	if c := TestCounts(a); c != nil {
		parts = append(parts, fmt.Sprintf("%s passed, %d failed", text.Count(c.Passed, "test"), c.Failed))
	}
	if a.Status != executor.AttemptPassed && a.Reason != "" {
		parts = append(parts, First(a.Reason))
	}
	return strings.Join(parts, "; ")
}

// TestCounts sums the test counts of an attempt's gates; nil if no gate counted tests.
func TestCounts(a machine.AttemptLog) *executor.TestCounts {
	var sum *executor.TestCounts
	for _, g := range a.Gates {
		if g.Counts == nil || g.Red {
			continue
		}
		if sum == nil {
			sum = &executor.TestCounts{}
		}
		sum.Passed += g.Counts.Passed
		sum.Failed += g.Counts.Failed
		sum.Skipped += g.Counts.Skipped
	}
	return sum
}

// Statuses for people that the machine does not have.
const (
	Interrupted = "interrupted" // running, while nothing is at work
	GoesOn      = "goes on"     // waiting, but decided: there is no timer
)

// Shown is the status that a node is shown under: its own, Interrupted or GoesOn.
func Shown(v machine.NodeView) string {
	switch {
	case v.Interrupted:
		return Interrupted
	case v.Status == executor.Waiting && v.For == executor.ForTimer && v.Until.IsZero():
		return GoesOn
	}
	return v.Status.String()
}

// Status is Shown in words: of a waiting node also the cause or what it waits for.
func Status(v machine.NodeView) string {
	shown := Shown(v)
	if shown == executor.Waiting.String() {
		shown += ": " + cmp.Or(string(v.Cause), string(v.For))
	}
	return shown
}

// Attempt says how an attempt ended; for the open one, its node's present stage.
func Attempt(v machine.NodeView, a machine.AttemptLog) string {
	if open(v, a) {
		return Status(v)
	}
	return Ended(a.Status, a.Replaced)
}

// ShownAttempt is the status that an attempt is shown under: Attempt without what it waits for.
func ShownAttempt(v machine.NodeView, a machine.AttemptLog) string {
	if open(v, a) {
		return Shown(v)
	}
	return Ended(a.Status, a.Replaced)
}

// open reports whether an attempt is where its node stands.
func open(v machine.NodeView, a machine.AttemptLog) bool {
	return a.Status == executor.AttemptRunning && v.Status != executor.Pending && v.Status != executor.Ready
}

// Ended is how an attempt ended; one that another has replaced was not cancelled by anybody.
func Ended(status executor.AttemptStatus, replaced bool) string {
	if replaced {
		return "replaced"
	}
	return status.String()
}

// Asks says in one line what a node needs from a person.
func Asks(v machine.NodeView) string { return asks(v, Status(v)) }

// asks begins with what.
func asks(v machine.NodeView, what string) string {
	if v.For == executor.ForTimer && v.Status == executor.Waiting {
		what = GoesOn
		if !v.Until.IsZero() {
			what += " at " + v.Until.Local().Format(time.TimeOnly)
		}
		return what + With(" (", First(v.Reason), ")")
	}
	if v.Status.InReason() && v.Reason != "" {
		return First(v.Reason)
	}
	if v.Gate != "" {
		what += " (gate " + v.Gate + With(", ", strings.Join(v.Approvers, " or "), " decides") + ")"
	}
	if v.Reason != "" && v.Cause != executor.CauseApproval { // there the reason is the gate
		what += ": " + First(v.Reason)
	}
	return what
}

// Asked is Asks beside a text that says that the node waits or is blocked.
func Asked(v machine.NodeView) string {
	switch {
	case v.Status == executor.Blocked && v.Reason != "":
		return First(v.Reason)
	case v.Status == executor.Waiting && v.For != executor.ForTimer:
		return asks(v, cmp.Or(string(v.Cause), string(v.For)))
	}
	return Asks(v)
}

// During formats a list of attempts.
func During(list []executor.During, key func(ir.NodeID) string) []string {
	out := []string{}
	for _, d := range list {
		name := key(d.Node)
		switch {
		case d.Node == "":
			name = d.Step // the gates before the first attempt
		case d.Step != "":
			name += fmt.Sprintf(" %s #%d", d.Step, d.Attempt)
		}
		out = append(out, name)
	}
	return out
}

// tamperWords describe an event about changes by others.
func tamperWords(b executor.TamperSeen, key func(ir.NodeID) string) string {
	out := string(b.Grade)
	if b.Grade == machine.Tampered {
		out += " with (" + b.ID + ")"
	}
	out += ": " + b.Drift.String()
	out += With("; at work: ", ListOf(During(b.During, key)), "") + With("; put it back: ", b.Back, "")
	return strings.ReplaceAll(out, "\n", " ")
}

// WhyNot is the one reason why a node is not done, and whether a person has paused it.
func WhyNot(v machine.NodeView) string {
	why := Asks(v)
	if v.Status == executor.Pending && v.Reason != "" {
		why = First(v.Reason)
	}
	if v.Paused != "" && v.Cause != executor.CausePaused && v.Status != executor.Running && v.Status != executor.Blocked && v.Status != executor.Skipped && v.Status != executor.Cancelled {
		if paused := "paused by " + v.Paused; why != paused { // a sprint that has not begun may wait for nothing else
			why += "; " + paused
		}
	}
	return why
}
