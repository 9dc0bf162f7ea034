package bd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/machine"
	"github.com/ralph-compiler/ralph/ir"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// keptKey is the key of metadata under which the mirror writes what is needed to go
// on elsewhere: an executor.KeptRun on the epic's bead, an executor.Kept on a node's. The
// bead of an issue is both: it keeps the first one under another key.
const (
	keptKey    = "ralph"
	keptRunKey = "ralph_run"
)

// IssueMetadata is what the bead of an issue that a worker claimed keeps of its run: what
// Recall needs. The author's own keys are none of ralph's business.
func IssueMetadata(epic *ir.Epic, run *machine.Run) (map[string]any, error) {
	text, err := ir.Encode(epic)
	if err != nil {
		return nil, err
	}
	out := map[string]any{codec.DigestKey: epic.Digest}
	if len(text) <= codec.MaxEpicText {
		out[codec.EpicKey] = string(text)
	}
	if k, ok := run.Node(epic.Nodes[0].ID).Kept(); ok {
		out[keptKey] = k
	}
	if k, ok := run.Summary().Kept(); ok {
		out[keptRunKey] = k
	}
	return out, nil
}

// IssueKeys are all keys that ralph writes into an issue's metadata.
var IssueKeys = []string{TokenKey, keptKey, keptRunKey, codec.EpicKey, codec.DigestKey}

// Recalled is what a beads database knows of an epic and its run.
type Recalled struct {
	Bead   Issue
	Issue  bool             // the bead is an issue that a worker ran, the epic's one node
	Digest string           // of the canonical epic.json
	JSON   []byte           // that; nil if it was too long to be kept
	Epic   *ir.Epic         // nil with it
	Plan   string           // path of the plan, relative to the project; "" if no bead says it
	Run    *machine.KeptRun // nil: it was never applied
	Nodes  map[ir.NodeID]RecalledNode
}

// RecalledNode is what a node's bead says.
type RecalledNode struct {
	Bead    Issue
	Kept    *executor.Kept // nil: nothing has happened to it
	Plan    string         // plan_file
	Section string         // plan_section
	Sprint  string         // plan_sprint_id
}

// Unknown says that a beads database does not have such an epic, and what it does have.
type Unknown struct{ Why, Type string }

func (u *Unknown) Error() string {
	if u.Type == "" {
		return u.Why
	}
	return u.Why + "\n  " + u.Type
}

// Recall reads an epic back, in two calls of bd. It returns *Unknown if the id is not that
// of an epic that ralph pushed. Unreadable kept data of a node is an error: somebody
// changed it.
func (c *Client) Recall(ctx context.Context, id ir.NodeID) (*Recalled, error) {
	there, err := c.ByID(ctx, string(id))
	if err != nil {
		return nil, err
	}
	bead, ok := there[string(id)]
	if !ok {
		return nil, &Unknown{fmt.Sprintf("there is no bead %s in %s", id, c.beads), "bd list -t epic -l ralph --all lists the epics that ralph pushed"}
	}
	var m struct {
		Epic   string           `json:"ralph_epic"`
		Digest string           `json:"ralph_digest"`
		Kept   *json.RawMessage `json:"ralph"`
		Run    *json.RawMessage `json:"ralph_run"`
	}
	if len(bead.Metadata) > 0 {
		if err := json.Unmarshal(bead.Metadata, &m); err != nil {
			return nil, &Unknown{Why: fmt.Sprintf("the metadata of bead %s is not what ralph wrote: %v", id, err)}
		}
	}
	if m.Digest == "" && m.Epic == "" {
		if bead.Token() != "" {
			return nil, &Unknown{fmt.Sprintf("a worker claimed %s (%s), and bd knows of no run of it: nothing is lost", id, bead.Title), "to have it worked on, when that worker has ended: bd update " + string(id) + " --status open"}
		}
		if epic := bead.EpicOf(); epic != "" && epic != id {
			return nil, &Unknown{fmt.Sprintf("bead %s (%s) is not an epic, but part of %s", id, bead.Title, epic), "ralph recover " + string(epic)}
		}
		return nil, &Unknown{fmt.Sprintf("ralph did not push bead %s (%s): its metadata has no %s", id, bead.Title, codec.DigestKey), "ralph compile PLAN --push pushes a plan"}
	}
	out := &Recalled{Bead: bead, Digest: m.Digest, Nodes: map[ir.NodeID]RecalledNode{}}
	if m.Epic != "" {
		epic, err := ir.Decode([]byte(m.Epic))
		switch {
		case err != nil:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s cannot be read: %v", codec.EpicKey, id, err)}
		case m.Digest != "" && epic.Digest != m.Digest:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s was changed: its digest is %s, and %s says %s", codec.EpicKey, id, epic.Digest, codec.DigestKey, m.Digest)}
		case bead.Token() != "" && len(epic.Nodes) == 1 && epic.Nodes[0].ID == id:
			out.Issue = true
		case epic.Epic.ID != id:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s is that of another epic: %s", codec.EpicKey, id, epic.Epic.ID)}
		}
		out.JSON, out.Epic, out.Digest, out.Plan = []byte(m.Epic), epic, epic.Digest, epic.Epic.Plan
	}
	kept, key := m.Kept, keptKey
	if out.Issue {
		kept, key = m.Run, keptRunKey
	}
	if kept != nil {
		out.Run = &machine.KeptRun{}
		if err := json.Unmarshal(*kept, out.Run); err != nil {
			return nil, &Unknown{Why: fmt.Sprintf("the key %q in the metadata of bead %s cannot be read: %v", key, id, err)}
		}
	}
	if out.Issue {
		out.Plan = ""
		out.Nodes[id], err = recallNode(bead)
		return out, err
	}
	beads, err := c.List(ctx, "--label", Label(id))
	if err != nil {
		return nil, err
	}
	for _, b := range beads {
		if b.ID == string(id) || b.Type == "event" { // of set-state
			continue
		}
		n, err := recallNode(b)
		if err != nil {
			return nil, err
		}
		out.Nodes[ir.NodeID(b.ID)] = n
		if out.Plan == "" {
			out.Plan = n.Plan
		}
	}
	return out, nil
}

func recallNode(b Issue) (RecalledNode, error) {
	n := RecalledNode{Bead: b}
	var m struct {
		Plan    string           `json:"plan_file"`
		Section string           `json:"plan_section"`
		Sprint  string           `json:"plan_sprint_id"`
		Kept    *json.RawMessage `json:"ralph"`
	}
	if len(b.Metadata) == 0 {
		return n, nil
	}
	if err := json.Unmarshal(b.Metadata, &m); err != nil {
		return n, &Unknown{Why: fmt.Sprintf("the metadata of bead %s is not what ralph wrote: %v", b.ID, err)}
	}
	n.Plan, n.Section, n.Sprint = m.Plan, m.Section, m.Sprint
	if m.Kept != nil {
		n.Kept = &executor.Kept{}
		if err := json.Unmarshal(*m.Kept, n.Kept); err != nil {
			return n, &Unknown{Why: fmt.Sprintf("the key %q in the metadata of bead %s cannot be read: %v", keptKey, b.ID, err)}
		}
	}
	return n, nil
}

// RecallNode reads one bead back; *Unknown if no bead has exactly this id.
func (c *Client) RecallNode(ctx context.Context, id string) (RecalledNode, error) {
	there, err := c.ByID(ctx, id)
	if err != nil {
		return RecalledNode{}, err
	}
	b, ok := there[id]
	if !ok {
		return RecalledNode{}, &Unknown{Why: fmt.Sprintf("there is no bead %s in %s", id, c.beads)}
	}
	return recallNode(b)
}

// EpicOf is the epic that a bead belongs to by its label, "" if none.
func (i Issue) EpicOf() ir.NodeID {
	at := slices.IndexFunc(i.Labels, func(l string) bool { return strings.HasPrefix(l, codec.EpicLabel) })
	if at < 0 {
		return ""
	}
	return ir.NodeID(strings.TrimPrefix(i.Labels[at], codec.EpicLabel))
}
