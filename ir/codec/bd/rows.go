package bd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "bd"

// Words of ralph in a beads database.
const (
	Label          = "ralph"       // every bead of ralph has it
	EpicLabel      = "ralph-epic:" // with the id of the epic behind it: every bead of that epic
	ComplexLabel   = "complexity:" // with a level: on the epic
	PhaseLabel     = "phase:"      // with a step behind it: where the work of an issue is
	ExcludedLabel  = ir.ExcludedLabel
	TypeEpic       = "epic"
	EpicKey        = "ralph_epic"   // metadata of the epic: the canonical epic.json, as a text
	DigestKey      = "ralph_digest" // metadata of the epic: the digest of its epic.json
	MaxEpicText    = 400_000        // in bytes; of a longer epic.json there is only the digest
	maxTitle       = 500            // of an issue, in bytes
	maxLabel       = 255
	defaultEpicPri = 2
)

// Fixed is the updated_at of rows without a run on record. Of two rows with the same id bd
// keeps its own if that was updated later, so a constant date before every real change
// makes a repeated import harmless. A row without a date would count as newer than
// everything.
var Fixed = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Types are the issue types of rows that bd does not know by itself: they must be in its
// setting types.custom.
var Types = []string{bead.TypeWork, bead.TypeMerge}

// Row is a line of bd import. Columns that bd would otherwise fill with another value are
// always written.
type Row struct {
	ID           string                     `json:"id"`
	Title        string                     `json:"title"`
	Description  string                     `json:"description,omitempty"`
	Acceptance   string                     `json:"acceptance_criteria,omitempty"`
	Status       string                     `json:"status"`
	Priority     int                        `json:"priority"`
	Type         string                     `json:"issue_type"`
	Assignee     string                     `json:"assignee,omitempty"`
	Owner        string                     `json:"owner,omitempty"`
	ExternalRef  string                     `json:"external_ref,omitempty"`
	Labels       []string                   `json:"labels,omitempty"`
	Metadata     map[string]json.RawMessage `json:"metadata,omitempty"`
	Dependencies []Dependency               `json:"dependencies,omitempty"`
	Comments     []Comment                  `json:"comments,omitempty"`
	CreatedAt    *time.Time                 `json:"created_at,omitempty"` // nil: when it is imported
	UpdatedAt    time.Time                  `json:"updated_at"`
	ClosedAt     *time.Time                 `json:"closed_at,omitempty"`
	CloseReason  string                     `json:"close_reason,omitempty"`
}

// Dependency says that From waits for, or belongs to, To.
type Dependency struct {
	From string `json:"issue_id"`
	To   string `json:"depends_on_id"`
	Type string `json:"type"` // blocks, parent-child, related, discovered-from
}

// Comment is a line of a bead's history.
type Comment struct {
	Author string    `json:"author"`
	Text   string    `json:"text"`
	At     time.Time `json:"created_at"`
}

// Rows returns the beads of an epic: first that of the epic, then its nodes in their
// order. Nodes are children of the epic and have their blocks edges without those
// that others imply. With a history each bead has its node's state. An error means
// that the epic cannot be written, or that kept foreign keys are broken.
func Rows(e *ir.Epic, h *ir.History) ([]Row, error) {
	first, err := epicRow(e, h)
	if err != nil {
		return nil, err
	}
	out := make([]Row, 0, len(e.Nodes)+1)
	out = append(out, first)
	edges := reduced(e)
	for i := range e.Nodes {
		r, err := nodeRow(e, &e.Nodes[i], h)
		if err != nil {
			return nil, err
		}
		r.Dependencies = append(r.Dependencies, edges[i]...)
		out = append(out, r)
	}
	return out, nil
}

func epicRow(e *ir.Epic, h *ir.History) (Row, error) {
	canonical, err := ir.Encode(e)
	if err != nil {
		return Row{}, err
	}
	sealed, err := ir.Decode(canonical)
	if err != nil {
		return Row{}, fmt.Errorf("read back epic %s: %w", e.Epic.ID, err)
	}
	r := Row{
		ID: string(e.Epic.ID), Title: title(e.Epic.Title, string(e.Epic.ID)), Description: strings.Join(e.Epic.Description, "\n"),
		Status: "open", Priority: defaultEpicPri, Type: TypeEpic, Owner: e.Epic.Owner, UpdatedAt: Fixed,
		Labels:   labels(slices.Concat(e.Epic.Labels, []string{Label, ComplexLabel + e.Epic.Complexity, EpicLabel + string(e.Epic.ID)})),
		Metadata: map[string]json.RawMessage{DigestKey: foreign.Raw(sealed.Digest), "plan_file": foreign.Raw(e.Epic.Plan)},
	}
	if len(canonical) <= MaxEpicText {
		r.Metadata[EpicKey] = foreign.Raw(string(canonical))
	}
	if h != nil && h.Status == "complete" {
		r.close(h.Ended, "every child is closed")
	}
	return r, nil
}

func nodeRow(e *ir.Epic, n *ir.Node, h *ir.History) (Row, error) {
	m, err := bead.Metadata(e, n, h)
	if err != nil {
		return Row{}, err
	}
	nh := h.Node(n.ID)
	r := Row{
		ID: string(n.ID), Title: title(n.Title, string(n.Key)), Description: description(n), Acceptance: list(n.Acceptance),
		Status: "open", Priority: n.Priority, Type: bead.IssueType(n), Owner: e.Epic.Owner, ExternalRef: nh.PRURL,
		Labels: nodeLabels(e, n), Metadata: m, UpdatedAt: Fixed,
		Dependencies: []Dependency{{string(n.ID), string(e.Epic.ID), string(ir.ParentChild)}},
	}
	if !nh.Started.IsZero() {
		at := nh.Started.UTC().Truncate(time.Second)
		r.CreatedAt = &at
	}
	if !nh.Updated.IsZero() {
		r.UpdatedAt = nh.Updated.UTC().Truncate(time.Second)
	}
	r.Comments = lists.Map(nh.Comments, func(c ir.Comment) Comment { return Comment{c.Author, c.Text, c.At.UTC()} })
	if word := nh.Words["issue"]; word != "" {
		r.Status = word
	}
	switch {
	case r.Status == "closed":
		r.close(nh.Ended, cmp.Or(nh.Reason, nh.Status))
	case n.Done:
		r.close(time.Time{}, "done, says the plan")
	case r.Status != "open":
		r.Assignee = Assignee(e)
	}
	return r, nil
}

// Assignee is who works on the beads of an epic: the actor that the policy names,
// else the one that scrum agents' beads have. bd lets no one else close a bead.
func Assignee(e *ir.Epic) string {
	if t := e.Run.Tracker; t != nil && t.Actor != "" && t.Actor != "ralph" {
		return t.Actor
	}
	return bead.Assignee
}

// close closes a row: bd wants the time.
func (r *Row) close(at time.Time, reason string) {
	if at.IsZero() {
		at = r.UpdatedAt
	}
	at = at.UTC().Truncate(time.Second)
	r.Status, r.ClosedAt, r.CloseReason = "closed", &at, reason
}

// title is a title that bd takes.
func title(s, otherwise string) string {
	s = text.OneLine(s)
	s = cmp.Or(s, otherwise)
	return text.Clip(s, maxTitle)
}

// description is what people read first: the goal, then the tasks.
func description(n *ir.Node) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(n.Goal))
	if len(n.Tasks) > 0 && b.Len() > 0 {
		b.WriteString("\n\n")
	}
	for i, t := range n.Tasks {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- " + strings.Join(append([]string{t.Text}, t.Detail...), "\n  "))
	}
	return b.String()
}

func list(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "- " + strings.Join(items, "\n- ")
}

// nodeLabels are those of the plan, then the format's: phase-01, sprint-1-2, merge.
func nodeLabels(e *ir.Epic, n *ir.Node) []string {
	out := slices.Clone(n.Labels)
	if n.Phase != "" {
		digits := len(n.Phase) - len(strings.TrimLeft(n.Phase, "0123456789"))
		out = append(out, "phase-"+strings.Repeat("0", max(2-digits, 0))+n.Phase)
	}
	if k := string(n.Key); k != string(n.ID) {
		out = append(out, "sprint-"+strings.ReplaceAll(k, ".", "-"))
	}
	if n.Kind == ir.Merge || len(n.Merges) > 1 {
		out = append(out, "merge")
	}
	if n.Kind == ir.Manual {
		out = append(out, LabelsOf(e.Run).Exclude)
	}
	return labels(append(out, Label, EpicLabel+string(e.Epic.ID)))
}

// labels are labels as bd keeps them: sorted, each once, not too long, and without
// commas, at which bd would split them.
func labels(list []string) []string {
	var out []string
	for _, l := range list {
		if l = text.Clip(strings.TrimSpace(strings.ReplaceAll(l, ",", " ")), maxLabel); l != "" {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reduced returns the edges of each node: soft ones, and the blocks edges that no
// others imply.
func reduced(e *ir.Epic) [][]Dependency {
	nodes := slices.Clone(e.Nodes)
	for { // at most 1000 at a time are found
		gone := ir.RedundantEdges(nodes)
		byNode := map[ir.Key][]int{}
		for _, g := range gone {
			byNode[g.Node] = append(byNode[g.Node], g.Index)
		}
		for i := range nodes {
			var kept []ir.Edge
			for k, edge := range nodes[i].After {
				if !slices.Contains(byNode[nodes[i].Key], k) {
					kept = append(kept, edge)
				}
			}
			nodes[i].After = kept
		}
		if len(gone) == 0 {
			break
		}
	}
	ids := idsOf(nodes)
	out := make([][]Dependency, len(nodes))
	for i := range nodes {
		from := string(nodes[i].ID)
		for _, edge := range nodes[i].After {
			d := Dependency{from, string(ids[edge.Key]), string(edge.Type)}
			if edge.Type == ir.ParentChild { // the epic is the parent
				d.Type = string(ir.Related)
			}
			if k := slices.IndexFunc(out[i], func(o Dependency) bool { return o.To == d.To }); k < 0 {
				out[i] = append(out[i], d)
			} else if d.Type == string(ir.Blocks) { // bd has one edge between two beads
				out[i][k] = d
			}
		}
	}
	return out
}

// Lines writes rows as bd import reads them.
func Lines(rows []Row) ([]byte, error) {
	var b bytes.Buffer
	err := foreign.WriteLines(&b, rows)
	return b.Bytes(), err
}

// idsOf are the ids of nodes by their keys.
func idsOf(nodes []ir.Node) map[ir.Key]ir.NodeID {
	ids := make(map[ir.Key]ir.NodeID, len(nodes))
	for _, n := range lists.Each(nodes) {
		ids[n.Key] = n.ID
	}
	return ids
}
