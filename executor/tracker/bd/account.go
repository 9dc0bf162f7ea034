package bd

import (
	"fmt"
	"strings"

	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/internal/text"
)

// unsent lists what bd does not have yet, a line for each bead. What stays otherwise
// because people want it so, and what was passed over, is not among it.
func (m *Mirror) unsent() []Unsent {
	if m.c == nil {
		return []Unsent{{What: "everything: there was no database to write to"}}
	}
	var out []Unsent
	missing := 0
	for _, id := range m.order() {
		b := m.beads[id]
		if b.known == nil && m.listed && b.node != nil {
			missing++
			continue
		}
		var parts []string
		if what := m.untold(b); what != "" {
			parts = append(parts, what)
		}
		if m.says(MirrorComments) {
			if n := len(m.told.Owed(id, m.run.Node(id).Comments())) + len(b.notes); n > 0 {
				parts = append(parts, text.Count(n, "comment"))
			}
		}
		why := ""
		for _, r := range b.refused {
			if r.aside && !r.over {
				why = " (bd: " + r.why + ")"
			}
		}
		if len(parts) > 0 {
			out = append(out, Unsent{b.name(m.epic), strings.Join(parts, " and ") + why})
		}
	}
	if n := len(m.proposed()); m.found && n > 0 {
		out = append(out, Unsent{What: "what agents propose (" + text.Counted(n, "piece of work", "pieces of work") + ")"})
	}
	if missing > 0 {
		out = append(out, Unsent{What: text.Counted(missing, "node is", "nodes are") + " not in bd: ralph compile --push"})
	}
	return out
}

// untold says what bd does not know of a bead's state.
func (m *Mirror) untold(b *bead) string {
	v, ok := m.run.View(b.id)
	if !ok || b.node == nil {
		if mode, _ := m.run.Summary().Mode(); b.node == nil && m.says(MirrorMode) && mode != m.mode && !m.passedOver(b, "mode "+mode) {
			return "that the epic is " + mode
		}
		return ""
	}
	if b.known == nil {
		return "how it stands (" + m.shouldStand(v).status + ")"
	}
	s := m.stand(b, v)
	switch {
	case !m.says(MirrorStatus), b.known.Status == s.status, b.theirs != "", b.lost, b.foreign, !m.writes(b), s.status == "closed" && m.passedOver(b, "close"):
		return ""
	}
	what := fmt.Sprintf("that it is %s (bd has %s)", s.status, b.known.Status)
	if s.status == "closed" && !m.closable(b) {
		what += ", because what blocks it is open"
	}
	return what
}

func (m *Mirror) passedOver(b *bead, key string) bool { r := b.refused[key]; return r != nil && r.over }

// left lists the beads that stay as people set them, unlike their nodes, and
// the epic if it stays open because of them.
func (m *Mirror) left() (out []Left) {
	if !m.says(MirrorStatus) {
		return nil
	}
	for i := range m.epic.Nodes {
		b := m.beads[m.epic.Nodes[i].ID]
		v, ok := m.run.View(b.id)
		if !ok || b.known == nil || !b.lost && b.theirs == "" || m.stand(b, v).status == b.known.Status {
			continue
		}
		out = append(out, Left{string(b.id), m.whose(b), m.stays(b, v)})
	}
	epic := m.beads[""]
	if mode, _ := m.run.Summary().Mode(); len(out) > 0 && m.over(mode) && epic.known != nil && epic.known.Status != "closed" {
		out = append(out, Left{epic.name(m.epic), "", "stays open in bd because of " + text.Form(len(out), "that", fmt.Sprint("those ", len(out))) + "; when that is over, the next ralph apply closes it"})
	}
	return out
}

// whose is who keeps a bead from standing as its node does.
func (m *Mirror) whose(b *bead) string {
	if b.lost {
		return b.known.Assignee
	}
	return b.by
}

// stays is the state of a bead that is left as a person set it.
func (m *Mirror) stays(b *bead, v machine.NodeView) string {
	if b.lost {
		return fmt.Sprintf("is %s, and stays %s in bd: %s has claimed it there (bd --actor %s close %s)", v.Status, b.known.Status, b.known.Assignee, shellword.Quote(b.known.Assignee), b.id)
	}
	return fmt.Sprintf("is %s, and stays %s in bd: %s has opened it again (bd close %s, or ralph apply --rerun %s)", v.Status, b.known.Status, b.by, b.id, shellword.Quote(string(v.Key)))
}
