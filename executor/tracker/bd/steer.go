package bd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// Label is the label that all beads of an epic carry.
func Label(epic ir.NodeID) string { return "ralph-epic:" + string(epic) }

// hold is a decision of a person in bd that is on its way.
type hold struct {
	letter executor.Letter
	label  string // that said it; "" if the status did
	who    string
}

// Look reads the beads once, before the run begins, and sends the decisions that people
// made in bd meanwhile. It is called before Start.
func (m *Mirror) Look(ctx context.Context) error {
	err := m.connect(ctx)
	if err == nil {
		err = m.poll(ctx)
	}
	var missing *Missing
	if m.settle(err); errors.As(err, &missing) {
		return nil // said already
	}
	return err
}

// poll reads all beads of the epic in one call, and finds what people changed.
func (m *Mirror) poll(ctx context.Context) error {
	filter := []string{"--label", Label(m.epic.Epic.ID)}
	if m.Claim != nil {
		filter = []string{"--id", string(m.epic.Nodes[0].ID)}
	}
	list, err := ask(ctx, m, func(ctx context.Context) ([]Issue, error) { return m.c.List(ctx, filter...) })
	if err != nil {
		return err
	}
	m.look = m.Now().Add(m.Poll)
	there := lists.Pointers(list, func(i *Issue) string { return i.ID })
	for _, id := range m.order() {
		b := m.beads[id]
		now := there[b.name(m.epic)]
		switch {
		case now == nil && b.known != nil:
			m.report("%s is no longer among the beads of the epic: it was deleted, or lost its label %s", b.name(m.epic), Label(m.epic.Epic.ID))
			fallthrough
		case now == nil:
			b.known = nil
			continue
		case m.Claim != nil:
			err = m.seen(ctx, b, *now)
		case b.known == nil && m.claimed(b, *now):
			b.known = now
		case b.known == nil:
			err = m.first(ctx, b, *now)
		case m.claimed(b, *now):
			b.known = now
		case now.Status != b.known.Status:
			err = m.changed(ctx, b, *now)
		default:
			b.known = now
		}
		if err == nil && b.node != nil && b.known != nil && !b.foreign {
			err = m.labelled(ctx, b)
		}
		if err != nil {
			return err
		}
		b.released = "" // what others do later is their own
		m.dirty(id)
	}
	m.listed = true
	return nil
}

// first looks at a bead for the first time: it is as ralph left it, or as a
// person did meanwhile.
func (m *Mirror) first(ctx context.Context, b *bead, now Issue) error {
	b.known = &now
	if b.node == nil {
		m.mode = now.Mode()
		return nil
	}
	v, ok := m.run.View(b.id)
	if !ok {
		return nil
	}
	if s := m.shouldStand(v); s.status == now.Status || now.Status == "open" && s.status != "closed" && v.Paused == "" || now.Status == "in_progress" && s.status != "closed" {
		return nil // as it should be, or not told yet
	}
	return m.changed(ctx, b, now)
}

// AgentActor is the name of agents and gates in bd. Its changes decide nothing: bd's
// actor is only a claim, but an agent has to use another name to pass its own gate.
const AgentActor = "ralph-agent"

// changed finds out who gave a bead another status than ralph did, and makes a
// decision of it.
func (m *Mirror) changed(ctx context.Context, b *bead, now Issue) error {
	was := b.known.Status
	b.known = &now
	if b.node == nil {
		return nil // the epic's own status follows its nodes
	}
	e, found, err := m.who(ctx, b, func(e HistoryEvent) bool { return e.Status() == now.Status }, changesStatus)
	if err != nil {
		b.known = nil // the next look begins anew
		return err
	}
	if !found || e.Actor == m.c.actor || e.Actor == AgentActor {
		return nil // ralph's own, from before it ended or from a call whose end was not seen
	}
	v, ok := m.run.View(b.id)
	if !ok {
		return nil
	}
	d := decisionOf(e)
	if d.Verb, d.Act = m.meaning(b, v, was, e); d.Verb == "" {
		return nil
	}
	d.Message = d.Act + " in bd"
	if now.Status == "closed" && now.CloseReason != "" {
		d.Message += ": " + now.CloseReason
	}
	if d.Verb == executor.Skip && v.Status == executor.Running {
		d.How = executor.Forced
	}
	return m.send(ctx, b, d, "", e.Actor)
}

// decisionOf is an event of bd as a decision of its author, without its verb.
func decisionOf(e HistoryEvent) executor.Decision {
	who := e.Actor + " (bd)"
	return executor.Decision{ID: "bd:" + e.ID, By: who, User: who, Via: executor.ViaBd, At: e.At.UTC()}
}

// ended reports whether nothing more happens at a node by itself, blocked nodes aside.
func ended(v machine.NodeView) bool {
	return v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Cancelled
}

// meaning is the decision that a person made by setting a bead's present status, and what
// it is called; "" for nothing, which is reported where they may expect otherwise.
func (m *Mirror) meaning(b *bead, v machine.NodeView, was string, e HistoryEvent) (verb executor.Verb, act string) {
	now := b.known.Status
	switch {
	case now == "closed" && !ended(v):
		return executor.Skip, now
	case now == "blocked" || now == "deferred":
		if !ended(v) && v.Paused == "" && v.Status != executor.Blocked {
			return executor.Pause, now
		}
	case now == "closed":
	case v.Status == executor.Done && b.released != "":
		m.report("%s is no longer claimed in bd by %s: ralph closes it", b.id, b.released)
		b.released = ""
	case v.Status == executor.Done:
		b.theirs, b.by = now, e.Actor
		m.report("%s was reopened in bd by %s, and is done: ralph apply --rerun %s runs it again. It stays as it is there", b.id, e.Actor, shellword.Quote(string(v.Key)))
	case ended(v):
		return executor.RetryNode, "reopened"
	case v.Status == executor.Blocked:
		return executor.RetryNode, now
	case v.Paused != "":
		return executor.Resume, now
	case m.shouldStand(v).status != now && was != now:
		m.report("%s was set to %s in bd by %s; ralph restores its status (%s)", b.id, now, e.Actor, v.Status)
	}
	return "", ""
}

// who returns the newest event of a bead that is meant, as Newest does; without one, the
// newest of those that are meant next.
func (m *Mirror) who(ctx context.Context, b *bead, meant ...func(HistoryEvent) bool) (e HistoryEvent, found bool, err error) {
	events, err := ask(ctx, m, func(ctx context.Context) ([]HistoryEvent, error) { return m.c.Events(ctx, string(b.id)) })
	for _, means := range meant {
		if err == nil && !found {
			e, found = Newest(events, means, func(e HistoryEvent) bool { return m.judged(b, e) })
		}
	}
	return e, found, err
}

// judged reports whether an event has decided, was refused, or is of a name that
// decides nothing: of one second, others count.
func (m *Mirror) judged(b *bead, e HistoryEvent) bool {
	return e.Actor == m.c.actor || e.Actor == AgentActor || e.Actor == "" || b.judged["bd:"+e.ID] || m.run.Decisions().Heard("bd:"+e.ID)
}

func changesStatus(e HistoryEvent) bool {
	return e.Type == "status_changed" || e.Type == "closed" || e.Type == "reopened"
}

// send gives a decision to the run. Until it is answered the bead stays as it is.
func (m *Mirror) send(ctx context.Context, b *bead, d executor.Decision, label, who string) error {
	if m.Send == nil || m.run.Decisions().Heard(d.ID) || slices.ContainsFunc(b.holds, func(h hold) bool { return h.letter.Decision.ID == d.ID }) {
		return nil
	}
	d, _ = m.run.Decisions().Bind(b.id, d) // where it does not apply it is the run that says why not
	if !m.began {                          // it is for the run that is about to begin
		d.Seen.Run, d.Seen.Began = 0, time.Time{}
	}
	l := executor.Letter{Node: b.id, Decision: d}
	if err := m.Send(ctx, l); err != nil {
		m.report("%s's decision in bd about %s cannot be forwarded: %v", who, b.id, err)
		return nil
	}
	b.holds = append(b.holds, hold{l, label, who})
	m.report("%s in bd by %s: %s %s", says(d, label), who, d.Verb, b.node.Key)
	return nil
}

// says is what a person did in bd.
func says(d executor.Decision, label string) string {
	if label != "" {
		return "labelled " + label
	}
	return d.Act
}

// answered looks what came of decisions that are on their way. A refused one is told
// to its author; then ralph writes the node's state again.
func (m *Mirror) answered(ctx context.Context, b *bead) {
	for _, h := range slices.Clone(b.holds) {
		if m.run.Decisions().Heard(h.letter.Decision.ID) {
			b.heard(h.letter.Decision.ID)
			continue
		}
		answered, refused, err := m.Answer(ctx, h.letter.Decision.ID)
		if err != nil || !answered {
			continue // it is in the inbox, and the next look asks again
		}
		if refused == "" { // its event is on the way to the mirror
			continue
		}
		b.heard(h.letter.Decision.ID)
		b.judged[h.letter.Decision.ID] = true
		why := strings.ReplaceAll(refused, "\n  ", "; ") // and who may
		what := h.label
		if what == "" {
			what = says(h.letter.Decision, "")
		} else {
			b.drop = append(b.drop, what)
		}
		m.late(b, what, h.who, why)
	}
}

// awaits reports whether a decision with one of these verbs is on its way.
func (b *bead) awaits(verbs ...executor.Verb) bool {
	return slices.ContainsFunc(b.holds, func(h hold) bool { return slices.Contains(verbs, h.letter.Decision.Verb) })
}

// heard notes that a decision is no longer on its way.
func (b *bead) heard(id string) {
	had := len(b.holds)
	b.holds = slices.DeleteFunc(b.holds, func(h hold) bool { return h.letter.Decision.ID == id })
	b.took = b.took || len(b.holds) < had
}

// late reports to a person in bd that their decision does not count.
func (m *Mirror) late(b *bead, what, who, why string) {
	text := fmt.Sprintf("[not taken] [task:%s] %s by %s: %s", b.id, what, who, why)
	m.report("%s: %s by %s in bd does not count: %s", b.id, what, who, why)
	b.took = true
	b.notes = append(b.notes, note{text: text})
}
