package bd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// byLabel returns who gave a bead a label last.
func (m *Mirror) byLabel(ctx context.Context, b *bead, label string) (HistoryEvent, bool, error) {
	return m.who(ctx, b, func(e HistoryEvent) bool { return e.Gave(label) })
}

// labelled makes decisions of the labels that people put on a bead.
func (m *Mirror) labelled(ctx context.Context, b *bead) error {
	m.answered(ctx, b)
	v, ok := m.run.View(b.id)
	if !ok || b.known == nil || b.awaits(executor.Skip) {
		return nil
	}
	// A person may have decided several things since the last look, and there may be
	// no other one in this run: all of them are sent, in the order in which they help.
	if m.Claim == nil {
		if err := m.excluded(ctx, b, v); err != nil {
			return err
		}
	}
	if !m.epic.Run.Tracker.Approvals || b.awaits(executor.Approve, executor.Reject, executor.RetryNode) {
		return nil
	}
	s := m.shouldStand(v)
	if err := m.recognise(ctx, b, s); err != nil {
		return err
	}
	approved, changes := slices.Contains(b.known.Labels, m.labels.approved), slices.Contains(b.known.Labels, m.labels.changes)
	switch {
	case !approved && !changes:
		b.took = false
		return nil
	case s.gate != nil && !b.asked.same(s.gate):
		return nil // the question comes first, and removes what was there before
	}
	label := m.labels.approved
	if changes {
		label = m.labels.changes
	}
	if slices.Contains(b.drop, label) {
		return nil // it did not count, and is removed
	}
	e, found, err := m.byLabel(ctx, b, label)
	if err != nil || !found || e.Actor == m.c.actor {
		return err
	}
	switch {
	case e.Actor == AgentActor || e.Actor == "":
		m.late(b, label, cmp.Or(e.Actor, "nobody"), "agents and gates decide nothing, nor do unknown actors")
		b.drop = append(b.drop, label)
		return nil
	case s.gate == nil:
		b.judged["bd:"+e.ID] = true
		if !b.took {
			m.late(b, label, e.Actor, "nothing waits for that here"+lastWord(v))
		}
		return nil // change takes it away
	case m.run.Decisions().Heard("bd:" + e.ID):
		b.drop = append(b.drop, label) // it has decided about an earlier question
		return nil
	}
	return m.decides(ctx, b, s.gate, e, label)
}

// decides sends the answer that a label gives to a question.
func (m *Mirror) decides(ctx context.Context, b *bead, q *asked, e HistoryEvent, label string) error {
	d := decisionOf(e)
	d.Verb, d.Gate, d.Digest, d.Result = executor.Approve, q.gate, q.digest, q.result
	said, since, err := m.feedback(ctx, b, q)
	if err != nil {
		return err
	}
	if e.At.Before(since) {
		b.judged["bd:"+e.ID] = true
		b.drop = append(b.drop, label) // it was about another one
		return nil
	}
	if d.Message = said; label == m.labels.changes {
		d.Verb, d.Message = executor.Reject, cmp.Or(said, e.Actor+" asks for changes without a comment")
	}
	return m.send(ctx, b, d, label, e.Actor)
}

// recognise finds the question of a gate that a ralph has put which has ended since:
// then the labels that ask are there, and the comment.
func (m *Mirror) recognise(ctx context.Context, b *bead, s should) error {
	if s.gate == nil || b.question != "" || !slices.Contains(b.known.Labels, m.labels.needs) {
		return nil
	}
	list, err := m.read(ctx, b)
	if err == nil && contains(list, s.gate.text) {
		b.asked, b.question = s.gate, s.gate.text
	}
	return err
}

// lastWord is what was decided last about a node.
func lastWord(v machine.NodeView) string {
	if n := len(v.Decisions); n > 0 {
		d := v.Decisions[n-1]
		return fmt.Sprintf(" any more: %s said %s at %s", d.By, d.Verb, d.At.Format("15:04:05"))
	}
	return ""
}

// feedback is what others than ralph commented since the question was put, and the
// earliest that this can have been: bd gives each comment a later second than the one
// before, so that the times of a burst run ahead of the clock that events have.
func (m *Mirror) feedback(ctx context.Context, b *bead, q *asked) (words string, since time.Time, err error) {
	list, err := m.read(ctx, b)
	if err != nil {
		return "", since, err
	}
	var at time.Time
	for i, c := range list {
		if !contains([]Comment{c}, q.text) {
			continue
		}
		at = c.At.Truncate(time.Second)
		since = at
		for i--; i >= 0 && !list[i].At.Before(since.Add(-time.Second)); i-- {
			since = list[i].At.Truncate(time.Second)
		}
	}
	// Those of the question's second are before or after it by chance.
	return text.Head(SaidByOthers(list, m.c.actor, at), executor.MaxNote), since, nil
}

// SaidByOthers is what others than the actor have written since a time.
func SaidByOthers(list []Comment, actor string, since time.Time) string {
	others := lists.Keep(list, func(c Comment) bool { return c.Author != actor && !c.At.Before(since) })
	return strings.Join(lists.Map(others, func(c Comment) string { return strings.TrimSpace(c.Text) }), "\n\n")
}

// excluded pauses a node whose bead has the label that leaves it to people, and lets
// it go on when the label is gone.
func (m *Mirror) excluded(ctx context.Context, b *bead, v machine.NodeView) error {
	has := slices.Contains(b.known.Labels, m.labels.exclude)
	pause, found := lastPause(v)
	byLabel := found && pause.Via == executor.ViaBd && pause.Act == m.labels.exclude
	switch {
	case has && v.Paused == "" && !ended(v) && v.Status != executor.Blocked && !b.awaits(executor.Pause):
		e, found, err := m.byLabel(ctx, b, m.labels.exclude)
		if err != nil {
			return err
		}
		who := e.Actor
		if !found || who == "" || m.run.Decisions().Heard("bd:"+e.ID) { // it was resumed since: that counts
			return nil
		}
		if who == AgentActor {
			if m.agents(b, e, m.labels.exclude) {
				b.drop = append(b.drop, m.labels.exclude)
			}
			return nil
		}
		d := decisionOf(e)
		d.Verb, d.Act, d.Message = executor.Pause, m.labels.exclude, m.labels.exclude+" in bd"
		return m.send(ctx, b, d, m.labels.exclude, who)
	case !has && v.Paused != "" && byLabel && !b.awaits(executor.Resume):
		e, found, err := m.who(ctx, b, func(e HistoryEvent) bool {
			return e.Type == "label_removed" && strings.HasSuffix(e.Comment, ": "+m.labels.exclude)
		})
		if err != nil || !found {
			return err
		}
		if e.Actor == AgentActor {
			m.agents(b, e, "taking "+m.labels.exclude+" away")
			return nil
		}
		d := decisionOf(e)
		d.Verb, d.Act = executor.Resume, m.labels.exclude+" was removed"
		d.Message = d.Act + " in bd"
		return m.send(ctx, b, d, "", e.Actor)
	}
	return nil
}

// agents tells, once, that what an agent or a gate did in bd does not count. It reports
// whether it did.
func (m *Mirror) agents(b *bead, e HistoryEvent, what string) bool {
	if b.judged["bd:"+e.ID] {
		return false
	}
	b.judged["bd:"+e.ID] = true
	m.late(b, what, e.Actor, "agents and gates decide nothing")
	return true
}

func lastPause(v machine.NodeView) (executor.Decision, bool) {
	for _, d := range slices.Backward(v.Decisions) {
		if d.Verb == executor.Pause {
			return d, true
		}
	}
	return executor.Decision{}, false
}
