package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/local"
	"github.com/ralph-compiler/ralph/internal/term"
	"github.com/ralph-compiler/ralph/ir"
)

// applyView shows a run: a line per event that people care about, and, on a
// terminal, one line below that says what is going on. With --events jsonl every
// event goes to standard output, and the account to standard error.
type applyView struct {
	out, err io.Writer
	epic     *ir.Epic
	run      *executor.Run
	jsonl    bool
	live     bool // a line that is overwritten
	shown    bool // it stands there now
	paint    term.Style
	begun    time.Time
	attempts int
	drains   int
	waits    map[ir.NodeID]bool // waits that began in this run
	wide     int                // of the keys
	keys     map[ir.NodeID]*ir.Node
	working  map[ir.NodeID]string
}

func newApplyView(out, errOut io.Writer, epic *ir.Epic, run *executor.Run, jsonl bool) *applyView {
	v := &applyView{
		out: out, err: errOut, epic: epic, run: run, jsonl: jsonl, live: !jsonl && term.IsTerminal(out),
		paint: term.For(out), begun: time.Now(), keys: map[ir.NodeID]*ir.Node{}, working: map[ir.NodeID]string{}, waits: map[ir.NodeID]bool{},
	}
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		v.keys[n.ID] = n
		v.wide = max(v.wide, term.Width(string(n.Key)))
	}
	v.wide = min(v.wide, 24)
	return v
}

func (v *applyView) note(format string, args ...any) {
	v.clear()
	fmt.Fprintln(v.err, "ralph: "+term.Clean(fmt.Sprintf(format, args...)))
}

// events is told what has become durable.
func (v *applyView) events(list []executor.Event) {
	v.clear()
	for _, e := range list {
		if _, ok := e.Body.(executor.AttemptStarted); ok {
			v.attempts++
		}
		if v.jsonl {
			b, err := json.Marshal(e)
			if err == nil {
				_, _ = v.out.Write(append(b, '\n')) // a reader that went away does not end the run
			}
			continue
		}
		v.follow(e)
		if line := v.line(e); line != "" {
			fmt.Fprintln(v.out, line)
		}
	}
	v.status()
}

// line is what an event says to people, "" if nothing.
func (v *applyView) line(e executor.Event) string {
	attempt := fmt.Sprintf("%s #%d", e.Step, e.Attempt)
	say := func(colour term.Colour, mark, format string, args ...any) string {
		text := term.Clean(fmt.Sprintf(format, args...))
		return fmt.Sprintf("%s  %s %s", v.pad(e.Node), v.paint.Paint(colour, mark), text)
	}
	switch b := e.Body.(type) {
	case executor.RunStarted:
		return fmt.Sprintf("%s: %d sprints, %d at a time", term.Clean(v.epic.Epic.Title), len(v.epic.Nodes), b.Slots)
	case executor.RunDraining:
		v.drains++
		if v.drains > 1 {
			return "interrupted again: stopping what runs"
		}
		return fmt.Sprintf("interrupted: nothing new starts; running attempts may go on until %s\n(Ctrl-C again stops them now)", b.Until.Local().Format(time.TimeOnly))
	case executor.NodeStarted:
		if n := v.keys[e.Node]; n != nil {
			return say(term.Bold, "▶", "%s", n.Title)
		}
		return say(term.Bold, "▶", "joining %s", results(len(b.Inputs)-1))
	case executor.NodeResumed:
		if !v.waits[e.Node] {
			return say(term.Bold, "▷", "goes on")
		}
	case executor.AttemptStarted:
		switch {
		case e.Attempt > 1 && b.Rejudge:
			return say(term.Plain, "↻", "%s: only its gates again", attempt)
		case e.Attempt > 1 && len(v.run.Feedback(e.Node)) > 0:
			return say(term.Plain, "↻", "%s: again, with feedback", attempt)
		case e.Attempt > 1:
			return say(term.Plain, "↻", "%s: again", attempt)
		}
	case executor.Prepared:
		if b.Saved != "" {
			return say(term.Plain, "·", "what was left in its worktree is kept as %s", b.Saved)
		}
	case executor.GateJudged:
		mark, colour := "✓", term.Good
		if b.Verdict != executor.Pass {
			mark, colour = "✗", term.Bad
		}
		return say(colour, mark, "%s: gate %s: %s [tests:%s]", attempt, b.Gate, b.Verdict, b.Tests)
	case executor.AttemptEnded:
		if b.Status != executor.AttemptPassed {
			return say(term.Bad, "✗", "%s: %s: %s", attempt, b.Status, first(b.Reason))
		}
	case executor.EffectFailed:
		switch b.Class {
		case executor.FailInterrupted:
		case executor.FailConfig, executor.FailConflict: // the wait that follows says it
		default:
			return say(term.Bad, "!", "%s: %s", b.Class, first(b.Detail))
		}
	case executor.NodeWaiting:
		if b.For == executor.ForHuman {
			return say(term.Bad, "?", "waits for a person (%s): %s", b.Cause, first(b.Detail))
		}
		if !b.Until.IsZero() {
			return say(term.Plain, "…", "tries again at %s", b.Until.Local().Format(time.TimeOnly))
		}
	case executor.NodeBlocked:
		return say(term.Bad, "■", "blocked: %s", first(b.Reason))
	case executor.NodeDone:
		return say(term.Good, "✔", "done (%.12s)", b.Result.Commit)
	}
	return ""
}

func results(n int) string {
	if n == 1 {
		return "one result"
	}
	return fmt.Sprintf("%d results", n)
}

func first(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return term.Truncate(line, 200)
}

func (v *applyView) pad(id ir.NodeID) string {
	name := string(id)
	if n := v.keys[id]; n != nil {
		name = string(n.Key)
	}
	name = term.Clean(name)
	return name + strings.Repeat(" ", max(v.wide-term.Width(name), 0))
}

// follow keeps what is in flight, for the live line.
func (v *applyView) follow(e executor.Event) {
	switch b := e.Body.(type) {
	case executor.NodeWaiting:
		v.waits[e.Node] = true
		delete(v.working, e.Node)
	case executor.EffectStarted:
		v.working[e.Node] = string(b.Kind)
		if b.Gate != "" {
			v.working[e.Node] = b.Gate
		}
	case executor.NodeDone, executor.NodeBlocked:
		delete(v.working, e.Node)
	}
}

// status writes the live line.
func (v *applyView) status() {
	if !v.live || len(v.working) == 0 {
		return
	}
	var parts []string
	for i := range v.epic.Nodes {
		n := &v.epic.Nodes[i]
		if what, ok := v.working[n.ID]; ok {
			parts = append(parts, fmt.Sprintf("%s %s", n.Key, what))
		}
	}
	done := v.run.Counts()["done"]
	line := fmt.Sprintf("[%d/%d %s] %s", done, len(v.epic.Nodes), time.Since(v.begun).Round(time.Second), strings.Join(parts, " · "))
	fmt.Fprint(v.out, term.Truncate(term.Clean(line), 79))
	v.shown = true
}

func (v *applyView) clear() {
	if v.shown {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.shown = false
	}
}

func (v *applyView) finish() { v.clear() }

// account ends a run: what is done, what is not and why, and what to type next.
func (v *applyView) account(r *openedRun, interrupted bool, only []ir.NodeID) {
	w := v.out
	if v.jsonl {
		w = v.err
	}
	views := r.run.Views()
	sum := executor.NodeView{}
	done := 0
	var open []executor.NodeView
	for _, n := range views {
		switch {
		case n.ID == executor.Integration:
			sum = n
			if n.Status != executor.Done && n.Status != executor.Pending {
				open = append(open, n)
			}
		case n.Status == executor.Done:
			done++
		default:
			open = append(open, n)
		}
	}
	fmt.Fprintf(w, "\n%d of %d sprints done in %s\n", done, len(v.epic.Nodes), time.Since(v.begun).Round(time.Millisecond))
	skippedByOnly := 0
	for _, n := range open {
		if n.Status == executor.Pending && strings.HasPrefix(n.Reason, "not selected") {
			skippedByOnly++
			continue
		}
		why, status := first(n.Reason), n.Status.String()
		if n.Status == executor.Running && interrupted {
			status = "interrupted"
			if k := len(n.Attempts); k > 0 {
				why = fmt.Sprintf("in %s #%d", n.Attempts[k-1].Step, n.Attempts[k-1].Number)
			}
		}
		if why != "" {
			why = ": " + why
		}
		fmt.Fprintln(w, term.Clean(fmt.Sprintf("  %s  %s%s", v.pad(n.ID), status, why)))
	}
	if skippedByOnly > 0 {
		fmt.Fprintf(w, "  %d not selected by --only\n", skippedByOnly)
	}
	if gone := r.run.Gone(); len(gone) > 0 {
		fmt.Fprintf(w, "  %d on record that the epic no longer has; kept in the journal, left out of the result\n", len(gone))
	}
	v.next(w, r, sum, open, interrupted, only)
}

// next says what to type.
func (v *applyView) next(w io.Writer, r *openedRun, sum executor.NodeView, open []executor.NodeView, interrupted bool, only []ir.NodeID) {
	if interrupted {
		fmt.Fprintln(w, "\nInterrupted. To go on: ralph apply")
		return
	}
	branch := v.epic.Epic.Integration.Branch
	if sum.Status == executor.Done && sum.Result.Commit != "" && len(only) == 0 {
		fmt.Fprintf(w, "\nThe result is on branch %s (%.12s).\n", term.Clean(branch), sum.Result.Commit)
		fmt.Fprintf(w, "  look:   git log --graph --oneline %s\n", quoteArg(branch))
		fmt.Fprintf(w, "          git diff HEAD...%s\n", quoteArg(branch))
		if len(open) == 0 {
			fmt.Fprintf(w, "  take:   git merge %s\n", quoteArg(branch))
		}
	}
	named := 0
	for _, n := range open {
		if n.ID != executor.Integration && (n.Status == executor.Blocked || n.Status == executor.Waiting && n.For == executor.ForHuman) {
			if named++; named > mostNamed {
				continue
			}
		}
		switch {
		case n.ID == executor.Integration && n.Cause == executor.CauseConflict:
			fmt.Fprintln(w, "\nTo join the results: let one of the sprints in conflict need the other in the plan,\nthen ralph compile and ralph apply: it is written again, on top of the other's result")
		case n.ID == executor.Integration:
			fmt.Fprintln(w, "\nTo join the results: mend what is named above, then ralph apply")
		case n.Status == executor.Blocked, n.Status == executor.Waiting && (n.Cause == executor.CauseGate || n.Cause == executor.CauseQuestion):
			fmt.Fprintf(w, "\nTo try %s again: ralph apply --rerun %s\n", term.Clean(string(n.Key)), quoteArg(string(n.Key)))
			v.places(w, r, n)
		case n.Status == executor.Waiting && n.For == executor.ForHuman:
			fmt.Fprintf(w, "\nTo go on with %s: mend what it waits for, then ralph apply\n", term.Clean(string(n.Key)))
			v.places(w, r, n)
		}
	}
	if named > mostNamed {
		fmt.Fprintf(w, "\nand %d more\n", named-mostNamed)
	}
}

// mostNamed bounds for how many sprints the account says what to type.
const mostNamed = 8

// places says where to look at a sprint that did not come to its end.
func (v *applyView) places(w io.Writer, r *openedRun, n executor.NodeView) {
	k := len(n.Attempts)
	if k == 0 {
		return
	}
	fmt.Fprintf(w, "  worktree: %s\n", term.Clean(r.space.Dir(n.ID)))
	fmt.Fprintf(w, "  output:   %s\n", term.Clean(local.Files(r.space.State(), n.ID, n.Attempts[k-1].Step, n.Attempts[k-1].Number)))
}

// quoteArg makes a word safe to paste into a shell.
func quoteArg(s string) string {
	s = term.Clean(s)
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./@%+=:,", r))
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
