package record

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// States of a claim.
const (
	ClaimTaken     = "claimed"   // a run is about to start, in progress, or over and not written back
	ClaimWaiting   = "waiting"   // for a person
	ClaimReleased  = "released"  // open again; not taken again until it is changed
	ClaimRecovered = "recovered" // by ralph recover: the next worker takes the issue over
	ClaimOver      = "over"
)

// Claim is this repository's record of an issue that a worker took. It is written before
// bd is updated, so that it is unambiguous after a crash: the claim belongs to this
// repository if its token equals the one in the bead.
type Claim struct {
	Issue  string    `json:"issue"`
	Epic   ir.NodeID `json:"epic"`
	Token  string    `json:"token"`
	Takes  string    `json:"takes,omitempty"` // recovered: the token of the claim that it replaces
	State  string    `json:"state"`
	At     time.Time `json:"at"`
	After  int64     `json:"after"`           // last event of the journal when it was claimed
	Args   []string  `json:"args,omitempty"`  // of the first apply
	Start  string    `json:"start,omitempty"` // step that a person's label named when it was claimed
	Wrote  string    `json:"wrote,omitempty"` // phase that ralph wrote last
	Print  string    `json:"print"`           // of what the issue said
	Notes  []string  `json:"notes,omitempty"` // what its base lacks: the mirror of the run comments it
	Mark   string    `json:"mark,omitempty"`  // of the journal (JournalMark) when the wait began
	Dir    string
	Locked *journal.Lock
}

// ReadClaim reads claim.json in the state directory dir; nil if it is missing, unreadable,
// invalid, or about another issue.
func ReadClaim(dir string) *Claim {
	b, err := regular.ReadOwn(filepath.Join(dir, "claim.json"))
	if err != nil {
		return nil
	}
	c := &Claim{}
	if json.Unmarshal(b, c) != nil || c.Issue != filepath.Base(dir) {
		return nil
	}
	c.Dir = dir
	return c
}

// ClaimOf is the claim of the issue whose epic a worker ran in a state directory; nil if
// no worker did.
func ClaimOf(state string, epic *ir.Epic) *Claim {
	if len(epic.Nodes) != 1 {
		return nil
	}
	c := ReadClaim(filepath.Join(filepath.Dir(state), "worker", string(epic.Nodes[0].ID)))
	if c == nil || c.Epic != epic.Epic.ID {
		return nil
	}
	return c
}

// IssueOf is that issue, if commands take it in the place of the file; "" otherwise.
func IssueOf(state string, epic *ir.Epic) string {
	if c := ClaimOf(state, epic); c != nil && project.BeadID.MatchString(c.Issue) {
		return c.Issue
	}
	return ""
}

// Save writes the claim to claim.json in its state directory.
func (c *Claim) Save() error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(filepath.Join(c.Dir, "claim.json"), append(b, '\n'), 0o600)
}

// Owns reports whether a bead carries the claim's token.
func (c *Claim) Owns(i bd.Issue) bool { return c.Token != "" && i.Token() == c.Token }
