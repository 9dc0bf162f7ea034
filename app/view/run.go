package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/columns"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Run shows a run: a line per event that people care about, and, on a terminal, a live
// block below. With --events jsonl every event goes to standard output, and the account
// to standard error; with --events beadsmith in another program's words.
type Run struct {
	Out, err io.Writer
	epic     *ir.Epic
	run      *machine.Run
	State    string // directory in which outputs are kept
	Applies  string // what follows the words ralph apply
	Jsonl    bool
	Beads    *beadEvents  // --events beadsmith: they go out in place of the run's own
	live     *live        // nil: not a terminal
	Who      record.Asker // looks at it
	paint    term.Style
	begun    time.Time
	drains   int
	saved    []savedWork        // what was put aside in this run
	waits    map[ir.NodeID]bool // waits that began in this run
	was      map[ir.NodeID]bool // done before this run
	done     map[ir.NodeID]bool // done in this run, by work, gates or a person's word
	untold   map[string]bool    // agents already reported as having unknown cost
	wide     int                // of the keys
	keys     map[ir.NodeID]*ir.Node
}

// NewRun returns a view of a run that is about to continue. Only where out is a terminal,
// TERM is not dumb and jsonl is false does it draw a live block.
func NewRun(out, errOut io.Writer, epic *ir.Epic, run *machine.Run, jsonl bool) *Run {
	v := &Run{
		Out: out, err: errOut, epic: epic, run: run, Jsonl: jsonl,
		paint: term.For(out), begun: time.Now(), keys: map[ir.NodeID]*ir.Node{}, waits: map[ir.NodeID]bool{}, untold: map[string]bool{},
		was: map[ir.NodeID]bool{}, done: map[ir.NodeID]bool{},
	}
	for _, n := range run.Views() {
		v.was[n.ID] = n.Status == executor.Done
	}
	for n := range lists.Refs(epic.Nodes) {
		v.keys[n.ID] = n
		v.wide = max(v.wide, columns.Of(string(n.Key)))
	}
	v.wide = min(v.wide, 24)
	if !jsonl && term.IsTerminal(out) && os.Getenv("TERM") != "dumb" {
		v.live = newLive(v)
	}
	return v
}

// Say prints a line for people, on standard error or above the live block.
func (v *Run) Say(text string) {
	line := "ralph: " + reveal.Words(text) + "\n"
	if v.live != nil {
		v.live.above(line)
		return
	}
	_, _ = io.WriteString(v.err, line)
}

// Events takes events that have become durable.
func (v *Run) Events(list []executor.Event) {
	for _, e := range list {
		if _, ok := e.Body.(executor.NodeDone); ok {
			v.done[e.Node] = true
		}
	}
	if v.Beads != nil {
		v.Beads.events(list)
		return
	}
	var lines strings.Builder
	for _, e := range list {
		if v.Jsonl {
			if b, err := json.Marshal(e); err == nil {
				_, _ = v.Out.Write(append(reveal.JSON(b), '\n')) // a reader that went away does not end the run
			}
			continue
		}
		if _, ok := e.Body.(executor.NodeWaiting); ok {
			v.waits[e.Node] = true
		}
		if line := v.Line(e); line != "" {
			lines.WriteString(line + "\n")
		}
	}
	v.tells(list)
	if v.live != nil {
		v.live.events(list, lines.String())
		return
	}
	_, _ = io.WriteString(v.Out, lines.String())
}

// Finish ends the live block.
func (v *Run) Finish() {
	if v.live != nil {
		v.live.finish()
	}
}

// Line describes an event for people; "" if it is not shown.
func (v *Run) Line(e executor.Event) string {
	switch b := e.Body.(type) {
	case executor.RunStarted:
		return fmt.Sprintf("%s: %s, %d at a time%s, from %.12s", reveal.Words(v.epic.Epic.Title), text.Count(len(v.epic.Nodes), "sprint"), b.Slots, reveal.Words(run.OneAtATime(b.Slots, run.UnknownCosts(v.epic, v.run))), b.Base.Commit)
	case executor.RunDraining:
		if b.Reason != "" {
			return reveal.Words(fmt.Sprintf("nothing new starts: %s; running attempts may continue until %s", b.Reason, b.Until.Local().Format(time.TimeOnly)))
		}
		v.drains++
		if v.drains > 1 {
			return "interrupted again: stopping what runs"
		}
		return fmt.Sprintf("interrupted: nothing new starts; running attempts may continue until %s\n(Ctrl-C again stops them now)", b.Until.Local().Format(time.TimeOnly))
	case executor.RunHeld, executor.RunnerParked, executor.TailLost:
		return reveal.Words(words.Body(b, v.Key))
	case executor.PreflightStarted, executor.BaselineJudged, executor.PreflightEnded:
		return v.preflightLine(b)
	case executor.Decided:
		if e.Node == "" {
			return "the run  " + v.paint.Paint(term.Info, "☛") + " " + reveal.Words(words.Decision(b.Decision))
		}
		return v.say(e.Node, term.Info, "☛", "%s", words.Decision(b.Decision))
	case executor.NodeStarted, executor.NodeResumed, executor.NodeWaiting, executor.NodeBlocked, executor.NodeDone:
		return v.nodeLine(e)
	}
	return v.attemptLine(e)
}

// say is a line about a node.
func (v *Run) say(of ir.NodeID, colour term.Colour, mark, format string, args ...any) string {
	return fmt.Sprintf("%s  %s %s", v.pad(of), v.paint.Paint(colour, mark), reveal.Words(fmt.Sprintf(format, args...)))
}

// nodeLine describes an event about a node as a whole.
func (v *Run) nodeLine(e executor.Event) string {
	switch b := e.Body.(type) {
	case executor.NodeStarted:
		if n := v.keys[e.Node]; n != nil {
			return v.say(e.Node, term.Bold, "▶", "%s", n.Title)
		}
		if b.Listed > 0 {
			return v.say(e.Node, term.Bold, "▶", "joining %s", resultsOf(b.Listed-1))
		}
		return v.say(e.Node, term.Bold, "▶", "%s", joining(b.Inputs))
	case executor.NodeResumed:
		if !v.waits[e.Node] {
			return v.say(e.Node, term.Bold, "▷", "goes on")
		}
	case executor.NodeWaiting:
		if b.For == executor.ForHuman {
			return v.say(e.Node, term.Bad, "?", "waits for a person (%s): %s", b.Cause, words.First(b.Detail))
		}
		if !b.Until.IsZero() {
			return v.say(e.Node, term.Plain, "…", "tries again at %s", b.Until.Local().Format(time.TimeOnly))
		}
	case executor.NodeBlocked:
		return v.say(e.Node, term.Bad, "■", "blocked: %s", words.First(b.Reason))
	case executor.NodeDone:
		return v.say(e.Node, term.Good, "✔", "done (%.12s)", b.Result.Commit)
	}
	return ""
}

// attemptLine describes an event of an attempt.
func (v *Run) attemptLine(e executor.Event) string {
	attempt := fmt.Sprintf("%s #%d", e.Step, e.Attempt)
	log, _ := v.run.Node(e.Node).Attempt(e.Step, e.Attempt)
	switch b := e.Body.(type) {
	case executor.AttemptStarted:
		switch {
		case b.ByHand: // what is to be resolved follows
		case b.Person != "":
			return v.say(e.Node, term.Plain, "↻", "%s: what %s left in its worktree", attempt, b.Person)
		case e.Attempt > 1 && b.Rejudge:
			return v.say(e.Node, term.Plain, "↻", "%s: only its gates again", attempt)
		case e.Attempt > 1 && len(log.Feedback) > 0:
			return v.say(e.Node, term.Plain, "↻", "%s: again, with feedback", attempt)
		case e.Attempt > 1:
			return v.say(e.Node, term.Plain, "↻", "%s: again", attempt)
		}
	case executor.Prepared:
		return v.preparedLine(e, b)
	case executor.GateJudged:
		return v.judgedLine(e, b)
	case executor.AttemptEnded:
		switch {
		case b.Status == executor.AttemptCancelled:
			return v.say(e.Node, term.Plain, "·", "%s: %s", attempt, words.First(cmp.Or(b.Reason, b.Status.String())))
		case (b.Status == executor.AttemptFailed || b.Status == executor.AttemptStopped) && slices.ContainsFunc(log.Gates, failedGate): // their lines have said why
			return ""
		case b.Status == executor.AttemptFailed && b.Reason != "":
			return v.say(e.Node, term.Bad, "✗", "%s: %s", attempt, words.First(b.Reason))
		case b.Status != executor.AttemptPassed:
			return v.say(e.Node, term.Bad, "✗", "%s: %s: %s", attempt, b.Status, words.First(b.Reason))
		}
		if e.Step == executor.MergeStep {
			return v.say(e.Node, term.Good, "✓", "%s: the conflict is resolved", attempt)
		}
	case executor.Diagnosed, executor.Landed, executor.Pulled, executor.PullSeen, executor.WorkProposed, executor.HumanSpoke:
		return v.say(e.Node, term.Plain, "·", "%s", words.Body(b, v.Key))
	case executor.EffectFailed:
		switch b.Class {
		case executor.FailInterrupted:
		case executor.FailConfig, executor.FailConflict: // the wait that follows says it
		default:
			return v.say(e.Node, term.Bad, "!", "%s: %s", b.Class, words.First(b.Detail))
		}
	}
	return ""
}

// preparedLine says what was found in a worktree that is to be worked in.
func (v *Run) preparedLine(e executor.Event, b executor.Prepared) string {
	if b.Saved != "" {
		v.saved = append(v.saved, savedWork{e.Node, b.Saved})
	}
	switch {
	case len(b.Moved) > 0:
		return v.say(e.Node, term.Warn, "!", "%s", words.Prepared(b))
	case b.Saved != "":
		return v.say(e.Node, term.Plain, "·", "what was left in its worktree is kept as %s", b.Saved)
	}
	if b.Merge != "" {
		return v.say(e.Node, term.Warn, "!", "%s", words.Prepared(b))
	}
	if len(b.Paths) > 0 && e.Step == executor.MergeStep {
		return v.say(e.Node, term.Plain, "⑂", "%s #%d: a conflict to resolve in %s", e.Step, e.Attempt, words.ListOf(b.Paths))
	}
	return ""
}

// judgedLine is the verdict of a gate.
func (v *Run) judgedLine(e executor.Event, b executor.GateJudged) string {
	attempt := fmt.Sprintf("%s #%d", e.Step, e.Attempt)
	mark, colour := "✓", term.Good
	if b.Verdict != executor.Pass {
		mark, colour = "✗", term.Bad
	}
	if b.Red {
		return v.say(e.Node, colour, mark, "%s: gate %s before the work: %s", attempt, b.Gate, b.Verdict)
	}
	tests := words.With(" [tests:", b.SaidOfTests(), "]")
	if doubt := v.run.Summary().Doubt(b); doubt != "" {
		return v.say(e.Node, term.Warn, "!", "%s: gate %s: %s%s%s", attempt, b.Gate, doubt, tests, words.With(" by ", b.By, ""))
	}
	why := ""
	if failedGate(b) {
		why = words.Because(b.Message)
	}
	return v.say(e.Node, colour, mark, "%s: gate %s: %s%s%s%s", attempt, b.Gate, b.Verdict, tests, words.With(" by ", b.By, ""), why)
}

// failedGate reports whether a verdict makes its attempt fail.
func failedGate(b executor.GateJudged) bool {
	return !b.Red && (b.Verdict == executor.Fail || b.Verdict == executor.Stop)
}

// Key is a node's key, also that of a node that is no longer in the epic.
func (v *Run) Key(id ir.NodeID) string {
	if n := v.keys[id]; n != nil {
		return string(n.Key)
	}
	return string(v.run.Node(id).Key())
}

func resultsOf(n int) string { return text.Form(n, "one result", text.Count(n, "result")) }

// joining says what the integration joins.
func joining(inputs []executor.Result) string {
	switch {
	case len(inputs) > 1:
		return "joining " + resultsOf(len(inputs)-1)
	case inputs[0].Node == "base":
		return "nothing is left to integrate: the branch moves to the base"
	}
	return "looking at the branch once more"
}

func (v *Run) pad(id ir.NodeID) string {
	name := reveal.Words(v.Key(id))
	return name + strings.Repeat(" ", max(v.wide-columns.Of(name), 0))
}
