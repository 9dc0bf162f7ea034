package words

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/egress"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Event describes an event in one line for people. keys translates node ids.
func Event(e executor.Event, keys func(ir.NodeID) string) string {
	at := ""
	if e.Step != "" {
		at = fmt.Sprintf("%s #%d: ", e.Step, e.Attempt)
	}
	if ended, ok := e.Body.(executor.AttemptEnded); ok && ended.Next == e.Step {
		ended.Next = "" // repeating the step is the expected case
		return at + Body(ended, keys)
	}
	return at + Body(e.Body, keys)
}

// Body describes the body of an event in one line for people, without its step and
// attempt. keys translates node ids.
func Body(body executor.Body, keys func(ir.NodeID) string) string {
	switch b := body.(type) {
	case executor.RunStarted:
		return fmt.Sprintf("apply started by %s, %d at a time, base %.12s%s", b.By, b.Slots, b.Base.Commit, startWords(b, keys))
	case executor.RunDraining:
		return cmp.Or(b.Reason, "interrupted") + ": nothing new starts"
	case executor.RunHeld:
		return fmt.Sprintf("nothing new starts (%s): %s", b.For, First(b.Detail))
	case executor.RunnerParked:
		return fmt.Sprintf("runner %s is on hold until %s: %s", b.Runner, b.Until.Local().Format("15:04:05"), First(b.Detail))
	case executor.TailLost:
		if b.After == 0 && len(b.Found) == 0 {
			return "the journal was lost; the state is taken from its commits on branches"
		}
		return fmt.Sprintf("the journal's end was missing after event %d; %s found on branches", b.After, text.Count(len(b.Found), "commit"))
	case executor.RunRecovered:
		return fmt.Sprintf("recovered from %s by %s, base %.12s", b.From, b.By, b.Base.Commit)
	case executor.NodeRecovered:
		return recoveredWords(b)
	case executor.PreflightStarted:
		return "preflight: " + Trying(b)
	case executor.BaselineJudged:
		return "preflight: " + Base(b, b.Log)
	case executor.PreflightEnded:
		if b.Detail != "" {
			return "preflight ended: not all gates were tried on the base: " + First(b.Detail)
		}
		return "preflight ended"
	case executor.RunEnded:
		if b.Interrupted {
			return "apply was interrupted: " + Tally(b.Counts, b.GoesOn, true)
		}
		return "apply ended: " + Tally(b.Counts, b.GoesOn, true)
	case executor.TamperSeen:
		return tamperWords(b, keys)
	case executor.TamperUndone:
		return "put back: " + b.What + " is as it was (" + b.ID + ")"
	case executor.NodeStarted:
		if b.Listed > 0 {
			return "started from these " + text.Count(b.Listed, "result")
		}
		return "started" + fromWords(b.Inputs, keys)
	case executor.InputsListed:
		return listedWords(b, keys)
	case executor.NodeResumed:
		return "goes on"
	case executor.NodeWaiting:
		return waitWords(b)
	case executor.NodeBlocked:
		return "blocked: " + First(b.Reason)
	case executor.Decided:
		return Decision(b.Decision)
	case executor.NodeDone:
		return fmt.Sprintf("done: %.12s", b.Result.Commit)
	}
	return attemptWords(body)
}

func startWords(b executor.RunStarted, keys func(ir.NodeID) string) string {
	var out string
	name := func(what string, ids []ir.NodeID) {
		if len(ids) == 0 {
			return
		}
		out += ", " + what + " " + ListOf(lists.Map(ids, keys))
	}
	name("only", b.Only)
	name("again:", b.Rerun)
	name("done by the base:", b.Merged)
	if b.Sandbox != "" {
		out += ", with --sandbox " + b.Sandbox
	}
	if b.Listed > 0 {
		out += ", with the " + text.Count(b.Listed, "name") + " listed before"
	}
	return out
}

// listedWords describe a part of a list that precedes its event.
func listedWords(b executor.InputsListed, keys func(ir.NodeID) string) string {
	if b.What == "" && len(b.Inputs) > 0 && b.Inputs[0].Node != "" {
		return "is about to start" + fromWords(b.Inputs, keys)
	}
	var list []string
	for _, in := range b.Inputs {
		switch {
		case in.Node == "":
			list = append(list, fmt.Sprintf("%.12s", in.Commit))
		case b.What == "bases":
			list = append(list, fmt.Sprintf("%s (%.12s)", in.Node, in.Commit))
		default:
			list = append(list, keys(in.Node))
		}
	}
	return strings.TrimSpace("about to be recorded: "+b.What) + " " + ListOf(list)
}

func fromWords(inputs []executor.Result, keys func(ir.NodeID) string) string {
	var list []string
	for _, in := range inputs {
		if in.Node == "base" {
			list = append(list, fmt.Sprintf("the base %.12s", in.Commit))
			continue
		}
		list = append(list, fmt.Sprintf("%s (%.12s)", keys(in.Node), in.Commit))
	}
	return With(" from ", ListOf(list), "")
}

func waitWords(b executor.NodeWaiting) string {
	if b.For == executor.ForTimer {
		out := "goes on"
		if !b.Until.IsZero() {
			out = "tries again at " + b.Until.Local().Format(time.TimeOnly)
		}
		return out + Because(b.Detail)
	}
	out := "waits"
	switch {
	case b.For == executor.ForHuman:
		out += fmt.Sprintf(" for a person (%s)", b.Cause)
	case b.For != "":
		out += fmt.Sprintf(" (%s)", b.For)
	}
	if !b.Until.IsZero() {
		out += " until " + b.Until.Local().Format("2006-01-02 15:04:05")
	}
	return out + With(": ", First(b.Detail), "")
}

// Decision says who decided what, as which system user if that name differs, and which
// program sent it to the page.
func Decision(d executor.Decision) string {
	out := d.By
	if d.User != "" && d.User != d.By && d.Via == "" {
		out += " (user " + d.User + ")"
	}
	out += With(" via ralph ui (", d.From, ")")
	out += ": " + string(d.Verb) + With(" --", string(d.How), "") + ofGate(d.Gate) + With(" --tamper ", d.Tamper, "")
	if d.Budget != (ir.Budget{}) {
		out += " with" + strings.TrimPrefix(ofBudget(machine.RunView{Budget: d.Budget}), " (budget:")
		out = strings.TrimSuffix(out, ")") + " more"
	}
	return out + Because(d.Message)
}

func attemptWords(body executor.Body) string {
	switch b := body.(type) {
	case executor.AttemptStarted:
		return startedWords(b)
	case executor.AttemptEnded:
		return Ended(b.Status, b.Replaced()) + Because(b.Reason) + With(" (goes to step ", b.Next, ")")
	case executor.EffectStarted:
		out := "begins: " + string(b.Kind) + With(" ", b.Gate, "")
		if b.Iteration > 1 {
			out += fmt.Sprintf(", turn %d", b.Iteration)
		}
		if b.Redo {
			out += " (again)"
		}
		return out
	case executor.EffectFailed:
		return fmt.Sprintf("did not happen (%s): %s", b.Class, First(b.Detail)) + sandboxed(b.Sandbox)
	case executor.BaseMade:
		return fmt.Sprintf("base: %.12s", b.Base.Commit)
	case executor.Prepared:
		return Prepared(b)
	case executor.AgentEnded:
		return agentWords(b)
	case executor.Diagnosed:
		return fmt.Sprintf("diagnosis: %s: %s", b.Action, First(b.Note))
	case executor.Collected:
		return collectedWords(b)
	case executor.GateJudged:
		return gateWords(b)
	case executor.Published:
		return fmt.Sprintf("branch %s is at %.12s", b.Branch, b.Result.Commit)
	case executor.Landed:
		return fmt.Sprintf("merged: the branch is at %.12s", b.Head.Commit)
	case executor.Pulled:
		return b.Pull.Name() + ": " + b.Pull.URL
	case executor.PullSeen:
		return "pull request " + b.State + Because(b.Comment)
	case executor.AgentSession:
		if b.Fresh {
			return "agent " + b.Agent + ofGate(b.Gate) + " works in session " + b.Session
		}
		return "agent " + b.Agent + ofGate(b.Gate) + " continues in session " + b.Session
	case executor.WorkProposed:
		return "agent " + b.Agent + ofGate(b.Gate) + " proposes work: " + First(b.Title)
	case executor.HumanSpoke:
		return "a person wrote in the agent's session" + ofGate(b.Gate) + Because(b.Text)
	}
	return executor.Event{Body: body}.Kind()
}

func startedWords(b executor.AttemptStarted) string {
	switch {
	case b.Person != "":
		return "attempt by " + b.Person + ", with the worktree as it is"
	case b.Rejudge:
		return fmt.Sprintf("only the gates again, on %.12s", b.From)
	case b.ByHand:
		return fmt.Sprintf("the conflict is prepared for a person, at %.12s", b.From)
	case b.Resumes:
		return fmt.Sprintf("attempt at %.12s, in the session of the one before", b.From)
	}
	return fmt.Sprintf("attempt at %.12s", b.From)
}

func ofGate(gate string) string { return With(" (gate ", gate, ")") }

// With is s with a prefix and a suffix; "" if s is "".
func With(before, s, behind string) string {
	if s == "" {
		return ""
	}
	return before + s + behind
}

// Prepared describes a prepared worktree in one line: what was saved, moved, kept or left
// out, and what is to be merged.
func Prepared(b executor.Prepared) string {
	out := "worktree is ready" + With("; what was left there is kept as ", b.Saved, "")
	for _, m := range b.Moved {
		out += "; " + m
	}
	out += With("; a person's work is kept there, at ", fmt.Sprintf("%.7s", b.Work), "") + With("; they have to merge ", b.Merge, "")
	out += With("; in conflict: ", ListOf(b.Paths), "") + With("; left out: ", ListOf(b.Skipped), "")
	if b.Anew {
		out += "; the agent's session cannot continue there; a new one starts"
	}
	return out
}

func agentWords(b executor.AgentEnded) string {
	out := "agent" + With(" ", b.Agent, "")
	end := string(b.End)
	if b.End == executor.EndTakenOver {
		end = "left its session to a person"
	}
	out += fmt.Sprintf(" %s after %s", end, Millis(b.Millis))
	if b.End == executor.EndExited {
		out += fmt.Sprintf(", exit code %d", b.ExitCode)
	}
	out += With(", says ", b.Outcome.Result, "") + Because(b.Outcome.Summary)
	return out + With("; its outcome is not valid: ", First(b.Outcome.Invalid), "") + With("; ", First(b.Note), "") + sandboxed(b.Sandbox)
}

// sandboxed ends a line with the sandbox that something ran in.
func sandboxed(s *executor.Sandboxed) string {
	if s != nil && !s.Confined() {
		return "; without a sandbox (--sandbox none)"
	}
	return With("; in sandbox ", Sandboxed(s), "")
}

// Sandboxed says in what sandbox something ran, and what that refused; "" where the policy
// names none.
func Sandboxed(s *executor.Sandboxed) string {
	switch {
	case s == nil:
		return ""
	case !s.Confined():
		return "none (--sandbox none)"
	}
	kind := s.Kind
	if s.Closed {
		kind += ", no network"
	}
	out := fmt.Sprintf("%s (%s)", s.Name, kind) + With(", which ran out of memory (limit ", s.Memory, "; raise limits.memory, or let it start less at once)")
	if len(s.Refused) > 0 {
		out += ", which refused " + executor.RefusedHosts(s.Refused, s.Others) + With(" (to allow it, add to network in the sandbox or gate: ", entries(s.Refused), ")")
	}
	return out
}

// entries are what a network list would have to name for hosts that were refused.
func entries(refused []executor.Refusal) string {
	var out []string
	for _, r := range refused {
		if e := egress.Entry(r.Host); e != "" {
			out = append(out, strconv.Quote(e))
		}
	}
	return strings.Join(out, ", ")
}

// Walled is Sandboxed where the sandbox may be why something failed; "" otherwise.
func Walled(s *executor.Sandboxed) string {
	if s == nil || !s.Closed && len(s.Refused) == 0 && s.Memory == "" {
		return ""
	}
	return Sandboxed(s)
}

func collectedWords(b executor.Collected) string {
	out := fmt.Sprintf("collected %.12s: %s, +%d −%d", b.Result.Commit, text.Count(b.Files, "file"), b.Added, b.Removed)
	for _, p := range b.Problems {
		out += "; " + First(p)
	}
	for _, p := range b.Listed {
		out += "; noted: " + First(p)
	}
	return out
}

func gateWords(b executor.GateJudged) string {
	out := fmt.Sprintf("gate %s: %s", b.Gate, b.Verdict)
	if b.Red {
		out = fmt.Sprintf("gate %s before the work: %s", b.Gate, b.Verdict)
	}
	if c := b.Counts; c != nil {
		out += fmt.Sprintf(" (%s passed, %d failed, %d skipped)", text.Count(c.Passed, "test"), c.Failed, c.Skipped)
	}
	out += With(" by ", b.By, "")
	if b.Verdict != executor.Pass {
		out += Because(b.Message)
	}
	return out + With("; run again in a fresh directory, because ", b.Again, "") + With("; removed what it left: ", ListOf(b.Removed), "") + sandboxed(b.Sandbox)
}

// Because is ": " and the first line of s; "" if that is empty.
func Because(s string) string { return With(": ", First(s), "") }

// recoveredWords describe what was recovered of a node.
func recoveredWords(b executor.NodeRecovered) string {
	said := "recovered: " + b.Status
	if s := b.Success; s != nil {
		said += fmt.Sprintf(", result %.12s", s.Result.Commit)
	}
	if len(b.Attempts) > 0 {
		said += ", " + text.Count(len(b.Attempts), "attempt")
	}
	return said + Because(b.Note)
}
