package draft

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/draft/judge"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Bounds of the report of the last run in a planner's prompt.
const (
	mostLast     = 12 << 10 // bytes of it
	mostReason   = 600      // bytes of why something ended
	mostTries    = 4        // last attempts of a sprint
	mostProposed = 20
)

// lastRun reports the last run of a plan to a planner: the outcome and cost of each sprint,
// why attempts failed, decisions of people, proposals of agents. Sprints that are not done
// come first. It is nil if there was no run in this repository.
func lastRun(ctx context.Context, id ir.NodeID) ([]string, error) {
	if id == "" {
		return nil, nil
	}
	epic, err := judge.AppliedBefore(ctx, id)
	if err != nil || epic == nil {
		return nil, err
	}
	r, err := record.OpenAbout(ctx, ".", string(id), epic)
	if err != nil {
		return nil, err
	}
	o := r.Run.Overview()
	if !o.Begun {
		return nil, nil
	}
	t := &lastTold{Record: r}
	state, _ := r.State()
	t.say("The run is %s. %s.", state, words.TallyOf(r.Run))
	if s := words.SpentOfRun(o); s != "" {
		t.say("In total: %s.", s)
	}
	if o.Held.For != "" {
		t.say("Nothing new starts (%s): %s", o.Held.For, words.First(o.Held.Detail))
	}
	if o.Over != "" {
		t.say("More than the budget: %s", o.Over)
	}
	var done []machine.NodeView
	for _, v := range r.Run.Views() {
		if v.Status == executor.Done {
			done = append(done, v)
			continue
		}
		t.sprint(v)
	}
	t.proposals(o.Proposals)
	if len(done) > 0 {
		t.say("")
		t.say("Done:")
	}
	for _, v := range done {
		t.sprint(v)
	}
	if t.left > 0 {
		t.lines = append(t.lines, fmt.Sprintf("And %d lines more.", t.left))
	}
	return t.lines, nil
}

// lastTold collects the report of a run.
type lastTold struct {
	*record.Record
	lines []string
	size  int
	left  int // lines beyond the bound
}

func (t *lastTold) say(format string, args ...any) {
	line := strings.TrimRight(reveal.Words(fmt.Sprintf(format, args...)), " ")
	if t.size += len(line) + 1; t.size > mostLast {
		t.left++
		return
	}
	t.lines = append(t.lines, line)
}

// quote adds the beginning of a text that ralph did not write.
func (t *lastTold) quote(indent, said string) {
	for line := range strings.Lines(text.Head(strings.TrimSpace(said), mostReason)) {
		t.say("%s%s", indent, strings.TrimRight(line, "\r\n"))
	}
}

// proposals adds the work that agents proposed.
func (t *lastTold) proposals(list []machine.Proposed) {
	if len(list) > 0 {
		t.say("")
		t.say("Agents proposed:")
	}
	for i, x := range list {
		if i == mostProposed {
			t.say("- and %d more", len(list)-i)
			break
		}
		t.say("- %s", words.Proposal(x))
		if text := strings.TrimSpace(x.Text); text != "" {
			t.quote("  ", text)
		}
	}
}

func (t *lastTold) sprint(v machine.NodeView) {
	if v.ID == executor.Integration && v.Status != executor.Blocked && v.Status != executor.Waiting {
		return
	}
	name := fmt.Sprintf("%s %s", v.Key, v.Title)
	if v.ID == executor.Integration {
		name = "Integration of all results"
	}
	line := fmt.Sprintf("- %s: %s", name, words.Status(v))
	var took []string
	if k := v.Tries(); k > 0 {
		took = append(took, text.Count(k, "attempt"))
	}
	if v.Worked >= time.Second {
		took = append(took, words.Brief(v.Worked))
	}
	switch s := words.SpentShort(v.Spent); s {
	case "":
	case "unknown":
		took = append(took, "cost unknown")
	default:
		took = append(took, s)
	}
	if len(took) > 0 {
		line += "; " + strings.Join(took, ", ")
	}
	t.say("%s", line)
	if v.Status == executor.Done || v.Status == executor.Skipped {
		return
	}
	switch {
	case v.Reason != "" && v.Cause != executor.CauseApproval:
		t.quote("  ", v.Reason)
	case v.Status == executor.Waiting:
		t.quote("  ", words.Asks(v))
	}
	for i := max(0, len(v.Attempts)-mostTries); i < len(v.Attempts); i++ {
		t.attempt(v.Attempts[i])
	}
	for _, d := range v.Decisions {
		if d.Message != "" {
			t.say("  - %s", words.Decision(d))
		}
	}
}

func (t *lastTold) attempt(a machine.AttemptLog) {
	if a.Status == executor.AttemptPassed || a.ByHand {
		return
	}
	t.say("  - %s #%d: %s", a.Step, a.Number, a.Status)
	if a.Reason != "" {
		t.quote("    ", a.Reason)
	}
	if s := a.Outcome.Summary; s != "" {
		t.quote("    ", "its agent said: "+s)
	}
	if d := a.Diagnosed; d != nil {
		t.quote("    ", "diagnosis: "+d.Note)
	}
	for _, p := range a.Problems {
		if !strings.Contains(a.Reason, p) { // it was said
			t.quote("    ", p)
		}
	}
}
