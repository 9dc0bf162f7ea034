package bd

import (
	"cmp"
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

// EpicMetadata is what the bead of an epic keeps of its run: where the run began, and what
// the integration branch holds.
func EpicMetadata(run *machine.Run) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if k, ok := run.Summary().Kept(); ok {
		out[keptKey] = plainJSON(k)
	}
	return out
}

// NodeMetadata is what the bead of a node keeps so that another clone can go on with it.
func NodeMetadata(run *machine.Run, id ir.NodeID) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if k, ok := run.Node(id).Kept(); ok {
		out[keptKey] = plainJSON(k)
	}
	return out
}

// IssueMetadata is what the bead of a claimed issue keeps of its run: what Recall needs.
// The author's own keys are not touched.
func IssueMetadata(epic *ir.Epic, run *machine.Run) (map[string]json.RawMessage, error) {
	text, err := ir.Encode(epic)
	if err != nil {
		return nil, err
	}
	out := NodeMetadata(run, epic.Nodes[0].ID)
	out[codec.DigestKey] = plainJSON(epic.Digest)
	if len(text) <= codec.MaxEpicText {
		out[codec.EpicKey] = plainJSON(string(text))
	}
	if k, ok := run.Summary().Kept(); ok {
		out[keptRunKey] = plainJSON(k)
	}
	return out, nil
}

// plainJSON is a value of a bead's metadata as JSON.
func plainJSON[V string | *marker | executor.Kept | machine.KeptRun](v V) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("bd: " + err.Error()) // it is plain
	}
	return b
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

// Unknown says that a beads database has no such epic, and what it has instead.
type Unknown struct{ Why, Type string }

func (u *Unknown) Error() string {
	if u.Type == "" {
		return u.Why
	}
	return u.Why + "\n  " + u.Type
}

// Recall reads an epic back, in two calls of bd. It returns *Unknown if the id is not that
// of an epic pushed by ralph. Unreadable kept data of a node is an error: it was modified.
func Recall(ctx context.Context, c *Client, id ir.NodeID) (*Recalled, error) {
	there, err := c.ByID(ctx, string(id))
	if err != nil {
		return nil, err
	}
	bead, ok := there[string(id)]
	if !ok {
		return nil, &Unknown{fmt.Sprintf("there is no bead %s in %s", id, c.Database.Dir), "bd list -t epic -l ralph --all lists the epics that ralph pushed"}
	}
	out, err := recallEpic(bead)
	if err != nil {
		return nil, err
	}
	if out.Issue {
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
		out.Plan = cmp.Or(out.Plan, n.Plan)
	}
	return out, nil
}

// recallEpic is what the bead of an epic says of it and its run, without the nodes.
func recallEpic(bead Issue) (*Recalled, error) {
	m, err := recalledMetadata(bead)
	switch {
	case err != nil:
		return nil, err
	case m.Digest == "" && m.Epic == "":
		return nil, notPushed(bead)
	}
	out := &Recalled{Bead: bead, Digest: m.Digest, Nodes: map[ir.NodeID]RecalledNode{}}
	if m.Epic != "" {
		epic, err := ir.Decode([]byte(m.Epic))
		switch {
		case err != nil:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s cannot be read: %v", codec.EpicKey, bead.ID, err)}
		case m.Digest != "" && epic.Digest != m.Digest:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s was changed: its digest is %s, and %s says %s", codec.EpicKey, bead.ID, epic.Digest, codec.DigestKey, m.Digest)}
		case bead.Token() != "" && len(epic.Nodes) == 1 && string(epic.Nodes[0].ID) == bead.ID:
			out.Issue = true
		case string(epic.Epic.ID) != bead.ID:
			return nil, &Unknown{Why: fmt.Sprintf("%s of bead %s is that of another epic: %s", codec.EpicKey, bead.ID, epic.Epic.ID)}
		default:
			out.Plan = epic.Epic.Plan
		}
		out.JSON, out.Epic, out.Digest = []byte(m.Epic), epic, epic.Digest
	}
	if out.Issue {
		out.Run, err = readKept[machine.KeptRun](m.Run, keptRunKey, bead)
	} else {
		out.Run, err = readKept[machine.KeptRun](m.Kept, keptKey, bead)
	}
	return out, err
}

// notPushed says what a bead is that is no epic of ralph's.
func notPushed(bead Issue) error {
	epic := bead.EpicOf()
	switch {
	case bead.Token() != "":
		return &Unknown{fmt.Sprintf("a worker claimed %s (%s), and bd knows of no run of it: nothing is lost", bead.ID, bead.Title), "to have it worked on, when that worker has ended: bd update " + bead.ID + " --status open"}
	case epic != "" && string(epic) != bead.ID:
		return &Unknown{fmt.Sprintf("bead %s (%s) is not an epic, but part of %s", bead.ID, bead.Title, epic), "ralph recover " + string(epic)}
	}
	return &Unknown{fmt.Sprintf("ralph did not push bead %s (%s): its metadata has no %s", bead.ID, bead.Title, codec.DigestKey), "ralph compile PLAN --push pushes a plan"}
}

// metadata is what ralph writes into the metadata of an epic's bead, or a node's.
type metadata struct {
	Epic    string          `json:"ralph_epic"`
	Digest  string          `json:"ralph_digest"`
	Kept    json.RawMessage `json:"ralph"`
	Run     json.RawMessage `json:"ralph_run"`
	Plan    string          `json:"plan_file"`
	Section string          `json:"plan_section"`
	Sprint  string          `json:"plan_sprint_id"`
}

func recalledMetadata(b Issue) (m metadata, err error) {
	if len(b.Metadata) > 0 {
		if err := json.Unmarshal(b.Metadata, &m); err != nil {
			return m, &Unknown{Why: fmt.Sprintf("the metadata of bead %s is not what ralph wrote: %v", b.ID, err)}
		}
	}
	return m, nil
}

// readKept reads what is kept under a key of a bead; nil if nothing is.
func readKept[T any](raw json.RawMessage, key string, b Issue) (kept *T, err error) {
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &kept); err != nil {
			return nil, &Unknown{Why: fmt.Sprintf("the key %q in the metadata of bead %s cannot be read: %v", key, b.ID, err)}
		}
	}
	return kept, nil
}

func recallNode(b Issue) (RecalledNode, error) {
	m, err := recalledMetadata(b)
	if err != nil {
		return RecalledNode{Bead: b}, err
	}
	kept, err := readKept[executor.Kept](m.Kept, keptKey, b)
	return RecalledNode{Bead: b, Kept: kept, Plan: m.Plan, Section: m.Section, Sprint: m.Sprint}, err
}

// RecallNode reads one bead back; *Unknown if no bead has exactly this id.
func RecallNode(ctx context.Context, c *Client, id string) (RecalledNode, error) {
	there, err := c.ByID(ctx, id)
	if err != nil {
		return RecalledNode{}, err
	}
	b, ok := there[id]
	if !ok {
		return RecalledNode{}, &Unknown{Why: fmt.Sprintf("there is no bead %s in %s", id, c.Database.Dir)}
	}
	return recallNode(b)
}

// EpicOf is the epic named by a bead's label, "" if none.
func (i Issue) EpicOf() ir.NodeID {
	at := slices.IndexFunc(i.Labels, func(l string) bool { return strings.HasPrefix(l, codec.EpicLabel) })
	if at < 0 {
		return ""
	}
	return ir.NodeID(strings.TrimPrefix(i.Labels[at], codec.EpicLabel))
}
