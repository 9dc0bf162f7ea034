package view

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// followTick is how often journal and files are looked at.
const followTick = 300 * time.Millisecond

// Follow prints the present content, and then what is added, until the node is settled or
// no run is active.
func (l *Log) Follow(ctx context.Context) error {
	state := l.R.Space.State()
	events := l.R.Events
	if l.Raw {
		l.enterLast(events)
	} else if err := l.tell(events, l.lastOutput); err != nil {
		return err
	}
	if err := l.lastOutput(ofAny, false); err != nil {
		return err
	}
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	mark := record.JournalMark(state)
	for !l.ended(events) {
		_, held, err := journal.Holder(state)
		if err != nil {
			return err
		}
		if now := record.JournalMark(state); now != mark || !held {
			mark = now
			if events, err = record.ReadEvents(ctx, state, l.R.Epic.Epic.ID); err != nil && ctx.Err() == nil {
				return err
			}
			if err := l.tell(events, l.output); err != nil {
				return err
			}
		}
		if err := l.output(ofAny, false); err != nil {
			return err
		}
		if !held {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return l.output(ofAny, false)
}

// endedBy tells which files of an attempt are complete when an event has come, nil
// if it ends nothing.
func endedBy(body executor.Body) func(turn string) bool {
	ofGate := func(gate string) func(string) bool {
		return func(turn string) bool {
			name, ok := strings.CutPrefix(turn, "gate-")
			if !ok {
				name, ok = strings.CutPrefix(turn, "red-")
			}
			return ok && strings.TrimSuffix(name, "-again") == text.FileName(gate)
		}
	}
	switch b := body.(type) {
	case executor.AgentEnded:
		return func(turn string) bool { return strings.HasPrefix(turn, "agent-") }
	case executor.Diagnosed:
		return func(turn string) bool { return strings.HasPrefix(turn, "diagnose-") }
	case executor.GateJudged:
		return ofGate(b.Gate)
	case executor.EffectFailed:
		if b.Gate != "" {
			return ofGate(b.Gate)
		}
		return func(turn string) bool { return !strings.HasPrefix(turn, "gate-") }
	case executor.AttemptEnded, executor.AttemptStarted:
		return ofAny
	}
	return nil
}

// enter notes in which attempt a node is by now, and who works there.
func (l *Log) enter(e executor.Event) {
	if e.Step == "" {
		return
	}
	if dir := effects.Files(l.R.Space.State(), e.Node, e.Step, e.Attempt); dir != l.dir {
		l.dir, l.begun = dir, map[string]bool{}
	}
	l.at = fmt.Sprintf("%s #%d", e.Step, e.Attempt)
	switch b := e.Body.(type) {
	case executor.EffectStarted:
		switch b.Kind {
		case executor.EffectAgent:
			l.begun[fmt.Sprintf("agent-%d", max(b.Iteration, 1))] = true
		case executor.EffectGate:
			l.begun["gate-"+text.FileName(b.Gate)] = true
		case executor.EffectRed:
			l.begun["red-"+text.FileName(b.Gate)] = true
		}
	case executor.AttemptStarted:
		n := l.R.Node(e.Node)
		i := slices.IndexFunc(n.Steps, func(s ir.Step) bool { return s.Name == e.Step })
		if l.who = b.Agent; l.who == "" && i >= 0 {
			l.who = n.Steps[i].Agent
		}
	case executor.AgentSession:
		if b.Gate == "" && strings.HasPrefix(b.Turn, "agent-") {
			l.who = b.Agent
		}
	}
}

// enterLast goes to the attempt that the node is in.
func (l *Log) enterLast(events []executor.Event) {
	for _, e := range events {
		if l.Node == "" || e.Node == l.Node {
			l.enter(e)
		}
		l.Last = e.Seq
	}
}

// ended reports whether nothing more will happen to the node.
func (l *Log) ended(events []executor.Event) bool {
	if l.Node == "" {
		return false
	}
	for _, e := range slices.Backward(events) {
		if e.Node == l.Node {
			switch e.Body.(type) {
			case executor.NodeDone, executor.NodeBlocked:
				return true
			}
			return false
		}
	}
	return false
}
