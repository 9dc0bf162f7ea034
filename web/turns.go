package web

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// turn is a program of an attempt: an agent's turn, or a gate. Its files are called name.
type turn struct {
	name string
	over bool
}

// attemptNow is what is known of an attempt.
type attemptNow struct {
	turns []turn // in the order in which they began; it only grows
	over  bool   // nothing more is written
	next  *TailOf
}

// is reports whether nothing else is known.
func (a attemptNow) is(b attemptNow) bool {
	return a.over == b.over && (a.next == nil) == (b.next == nil) && (a.next == nil || *a.next == *b.next) && slices.Equal(a.turns, b.turns)
}

// now is how far an attempt is; the caller holds the mutex.
func (l *live) now(v machine.NodeView, step string, number int) attemptNow {
	out := attemptNow{over: !l.rec.Held}
	i := v.AttemptIndex(step, number)
	if i < 0 {
		out.over = true
		return out
	}
	out.turns = turnsOf(l.rec.Events, v.ID, step, number)
	switch k := len(v.Attempts); {
	case i+1 < k:
		a := v.Attempts[i+1]
		out.over, out.next = true, &TailOf{Step: a.Step, Attempt: a.Number}
	case v.Attempts[i].Status != executor.AttemptRunning: // the next one may be about to begin
		out.over = out.over || v.Status != executor.Running
	}
	return out
}

// turnsOf are the programs of an attempt that have begun.
func turnsOf(events []executor.Event, node ir.NodeID, step string, number int) (turns []turn) {
	first := len(events)
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		if e.Node != node || e.Step != step || e.Attempt != number {
			continue
		}
		first = i
		if _, begins := e.Body.(executor.AttemptStarted); begins {
			break
		}
	}
	end := func(is func(name string) bool) {
		for i := range turns {
			turns[i].over = turns[i].over || is(turns[i].name)
		}
	}
	for _, e := range events[first:] {
		if e.Node != node || e.Step != step || e.Attempt != number {
			continue
		}
		switch b := e.Body.(type) {
		case executor.EffectStarted:
			if name := turnName(b); name != "" {
				end(func(old string) bool { return old == name }) // it began before, and ralph ended meanwhile
				turns = append(turns, turn{name: name})
			}
		case executor.AgentEnded:
			end(func(name string) bool { return strings.HasPrefix(name, "agent-") })
		case executor.Diagnosed:
			end(func(name string) bool { return strings.HasPrefix(name, "diagnose-") })
		case executor.GateJudged:
			end(ofGate(b.Gate))
		case executor.EffectFailed:
			if b.Gate != "" {
				end(ofGate(b.Gate))
			} else {
				end(func(name string) bool { return !strings.HasPrefix(name, "gate-") })
			}
		case executor.AttemptEnded:
			end(func(string) bool { return true })
		}
	}
	return turns
}

// turnName is the base name of the files that an effect writes; "" if it writes none.
func turnName(b executor.EffectStarted) string {
	switch b.Kind {
	case executor.EffectAgent:
		return fmt.Sprintf("agent-%d", max(b.Iteration, 1))
	case executor.EffectDiagnose:
		return fmt.Sprintf("diagnose-%d", max(b.Iteration, 1))
	case executor.EffectGate:
		return "gate-" + text.FileName(b.Gate)
	case executor.EffectRed:
		return "red-" + text.FileName(b.Gate)
	}
	return ""
}

// ofGate tells which programs are those of a gate.
func ofGate(gate string) func(name string) bool {
	file := text.FileName(gate)
	return func(name string) bool { return name == "gate-"+file || name == "red-"+file }
}

// again is behind the name of a gate's agent that is asked a second time.
const again = "-again"

// turnOfFile is the turn that a file is of.
func turnOfFile(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(strings.TrimSuffix(base, path.Ext(base)), again)
}

// filesOfTurn are those files of a turn that people read, and that hold something, in the
// order in which they are written.
func filesOfTurn(files []record.AttemptFile, name string) (out []string) {
	for _, base := range []string{name, name + again} {
		for _, ext := range []string{".log", runner.OutExt, runner.ErrExt} {
			for _, f := range files {
				if path.Base(f.Name) == base+ext && f.Size > 0 {
					out = append(out, f.Name)
				}
			}
		}
	}
	return out
}

// current is the index of the turn to look at: the first that is not over, else the last; -1
// if none has begun.
func current(turns []turn) int {
	if i := slices.IndexFunc(turns, func(t turn) bool { return !t.over }); i >= 0 {
		return i
	}
	return len(turns) - 1
}
