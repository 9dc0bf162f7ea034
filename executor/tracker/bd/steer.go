package bd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
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

// Look reads the beads once, before the run begins, and sends what people decided in
// bd meanwhile. It is called before Start.
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
	var list []Issue
	err := m.do(ctx, func(ctx context.Context) (err error) {
		filter := []string{"--label", Label(m.epic.Epic.ID)}
		if m.Claim != nil {
			filter = []string{"--id", string(m.epic.Nodes[0].ID)}
		}
		list, err = m.c.List(ctx, filter...)
		return err
	})
	if err != nil {
		return err
	}
	m.look = m.Now().Add(m.Poll)
	there := map[string]*Issue{}
	for i := range list {
		there[list[i].ID] = &list[i]
	}
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

// first looks at a bead for the first time: it stands as ralph left it, or as a
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

// AgentActor is the name that agents and gates have in bd. What it says decides
// nothing: bd's actor is only a claim, but an agent has to take another's name to
// pass its own gate.
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
	d := executor.Decision{ID: "bd:" + e.ID, By: e.Actor + machine.InTracker, User: e.Actor + machine.InTracker, At: e.At.UTC()}
	ended := v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Cancelled
	switch now.Status {
	case "closed":
		if ended {
			return nil
		}
		d.Verb, d.Message = executor.Skip, "closed in bd"
		if now.CloseReason != "" {
			d.Message += ": " + now.CloseReason
		}
		if v.Status == executor.Running {
			d.How = executor.Forced
		}
	case "blocked", "deferred":
		if ended || v.Paused != "" || v.Status == executor.Blocked {
			return nil
		}
		d.Verb, d.Message = executor.Pause, now.Status+" in bd"
	default:
		switch {
		case v.Status == executor.Done:
			if b.released != "" {
				m.report("%s is no longer claimed in bd by %s: ralph closes it", b.id, b.released)
				b.released = ""
				return nil
			}
			b.theirs, b.by = now.Status, e.Actor
			m.report("%s was reopened in bd by %s, and is done: ralph apply --rerun %s runs it again. It stays as it is there", b.id, e.Actor, shellword.Quote(string(v.Key)))
			return nil
		case v.Status == executor.Skipped || v.Status == executor.Cancelled:
			d.Verb, d.Message = executor.RetryNode, "reopened in bd"
		case v.Status == executor.Blocked:
			d.Verb, d.Message = executor.RetryNode, now.Status+" in bd"
		case v.Paused != "":
			d.Verb, d.Message = executor.Resume, now.Status+" in bd"
		default:
			if m.shouldStand(v).status != now.Status && was != now.Status {
				m.report("%s was set to %s in bd by %s; ralph says how it stands (%s)", b.id, now.Status, e.Actor, v.Status)
			}
			return nil
		}
	}
	return m.send(ctx, b, d, "", e.Actor)
}

// who returns the newest event of a bead that is meant, as Newest does; without one, the
// newest of those that are meant next.
func (m *Mirror) who(ctx context.Context, b *bead, meant ...func(HistoryEvent) bool) (e HistoryEvent, found bool, err error) {
	var events []HistoryEvent
	err = m.do(ctx, func(ctx context.Context) (err error) { events, err = m.c.Events(ctx, string(b.id)); return err })
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
	return e.Actor == m.c.actor || e.Actor == AgentActor || e.Actor == "" || b.judged["bd:"+e.ID] || m.run.Heard("bd:"+e.ID)
}

func changesStatus(e HistoryEvent) bool {
	return e.Type == "status_changed" || e.Type == "closed" || e.Type == "reopened"
}

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
	// Somebody may have said several things since the last look, and there may be
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
		return nil // the question comes first, and takes away what was there before
	}
	label := m.labels.approved
	if changes {
		label = m.labels.changes
	}
	if slices.Contains(b.drop, label) {
		return nil // it did not count, and is taken away
	}
	e, found, err := m.byLabel(ctx, b, label)
	if err != nil || !found || e.Actor == m.c.actor {
		return err
	}
	if e.Actor == AgentActor || e.Actor == "" {
		m.late(b, label, cmp.Or(e.Actor, "nobody"), "agents and gates decide nothing, and neither does nobody")
		b.drop = append(b.drop, label)
		return nil
	}
	if s.gate == nil {
		b.judged["bd:"+e.ID] = true
		if !b.took {
			m.late(b, label, e.Actor, "nothing waits for that here"+lastWord(v))
		}
		return nil // change takes it away
	}
	if m.run.Heard("bd:" + e.ID) {
		b.drop = append(b.drop, label) // it has decided about an earlier question
		return nil
	}
	d := executor.Decision{
		ID: "bd:" + e.ID, Verb: executor.Approve, By: e.Actor + machine.InTracker, User: e.Actor + machine.InTracker, At: e.At.UTC(),
		Gate: s.gate.gate, Digest: s.gate.digest, Result: s.gate.result,
	}
	var since time.Time
	if d.Message, since, err = m.feedback(ctx, b, s.gate); err != nil {
		return err
	}
	if e.At.Before(since) {
		b.judged["bd:"+e.ID] = true
		b.drop = append(b.drop, label) // it was about another one
		return nil
	}
	if changes {
		d.Verb = executor.Reject
		if d.Message == "" {
			d.Message = e.Actor + " asks for changes and says no more"
		}
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
	var said []string
	for _, c := range list { // those of the question's second stand before or behind it by chance
		if c.Author != m.c.actor && !c.At.Before(at) {
			said = append(said, strings.TrimSpace(c.Text))
		}
	}
	return text.Head(strings.Join(said, "\n\n"), executor.MaxNote), since, nil
}

// excluded pauses a node whose bead has the label that leaves it to people, and lets
// it go on when the label is gone.
func (m *Mirror) excluded(ctx context.Context, b *bead, v machine.NodeView) error {
	has := slices.Contains(b.known.Labels, m.labels.exclude)
	ended := v.Status == executor.Done || v.Status == executor.Skipped || v.Status == executor.Cancelled || v.Status == executor.Blocked
	pause, found := lastPause(v)
	byLabel := found && strings.HasPrefix(pause.Message, m.labels.exclude)
	switch {
	case has && v.Paused == "" && !ended && !b.awaits(executor.Pause):
		e, found, err := m.byLabel(ctx, b, m.labels.exclude)
		if err != nil {
			return err
		}
		who := e.Actor
		if !found || who == "" || m.run.Heard("bd:"+e.ID) { // somebody has resumed it since: that counts
			return nil
		}
		if who == AgentActor {
			if m.agents(b, e, m.labels.exclude) {
				b.drop = append(b.drop, m.labels.exclude)
			}
			return nil
		}
		return m.send(ctx, b, executor.Decision{
			ID: "bd:" + e.ID, Verb: executor.Pause, By: who + machine.InTracker, User: who + machine.InTracker,
			At: e.At.UTC(), Message: m.labels.exclude + " in bd",
		}, m.labels.exclude, who)
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
		return m.send(ctx, b, executor.Decision{
			ID: "bd:" + e.ID, Verb: executor.Resume, By: e.Actor + machine.InTracker, User: e.Actor + machine.InTracker,
			At: e.At.UTC(), Message: m.labels.exclude + " was taken away in bd",
		}, "", e.Actor)
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
	for i := len(v.Decisions) - 1; i >= 0; i-- {
		if v.Decisions[i].Verb == executor.Pause {
			return v.Decisions[i], true
		}
	}
	return executor.Decision{}, false
}

// send gives a decision to the run. Until it is answered the bead stays as it is.
func (m *Mirror) send(ctx context.Context, b *bead, d executor.Decision, label, who string) error {
	if m.Send == nil || m.run.Heard(d.ID) || slices.ContainsFunc(b.holds, func(h hold) bool { return h.letter.Decision.ID == d.ID }) {
		return nil
	}
	d, _ = m.run.Bind(b.id, d) // where it does not apply it is the run that says why not
	if !m.began {              // it is for the run that is about to begin
		d.Seen.Run, d.Seen.Began = 0, time.Time{}
	}
	l := executor.Letter{Node: b.id, Decision: d}
	if err := m.Send(ctx, l); err != nil {
		m.report("what %s decided in bd about %s cannot be given on: %v", who, b.id, err)
		return nil
	}
	b.holds = append(b.holds, hold{l, label, who})
	m.report("%s in bd by %s: %s %s", says(d, label), who, d.Verb, b.node.Key)
	return nil
}

// says is what a person did in bd.
func says(d executor.Decision, label string) string {
	switch {
	case label != "":
		return "labelled " + label
	case d.Verb == executor.Skip:
		return "closed"
	}
	what, _, _ := strings.Cut(d.Message, " in bd")
	return what
}

// answered looks what came of decisions that are on their way. A refused one is told
// to whoever gave it; then ralph says again how the node stands.
func (m *Mirror) answered(ctx context.Context, b *bead) {
	for _, h := range slices.Clone(b.holds) {
		if m.run.Heard(h.letter.Decision.ID) {
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

// late tells somebody in bd that what they decided does not count.
func (m *Mirror) late(b *bead, what, who, why string) {
	text := fmt.Sprintf("[not taken] [task:%s] %s by %s: %s", b.id, what, who, why)
	m.report("%s: %s by %s in bd does not count: %s", b.id, what, who, why)
	b.took = true
	b.notes = append(b.notes, note{text: text})
}
