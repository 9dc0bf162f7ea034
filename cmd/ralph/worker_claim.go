package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// States of a claim.
const (
	claimTaken    = "claimed"  // a run is under way, or about to be, or over and not written back
	claimWaiting  = "waiting"  // for a person
	claimReleased = "released" // open again, and not taken again before it is changed
	claimOver     = "over"
)

// claim is what this repository knows of an issue that a worker took. It is written
// before bd is told, so that whatever a crash leaves can be told apart: the claim is
// this repository's if the token in the bead is the one here.
type claim struct {
	Issue  string    `json:"issue"`
	Epic   ir.NodeID `json:"epic"`
	Token  string    `json:"token"`
	State  string    `json:"state"`
	At     time.Time `json:"at"`
	After  int64     `json:"after"`           // last event of the journal when it was claimed
	Args   []string  `json:"args,omitempty"`  // of the first apply
	Start  string    `json:"start,omitempty"` // step that a person's label named when it was claimed
	Wrote  string    `json:"wrote,omitempty"` // phase that ralph wrote last
	Print  string    `json:"print"`           // of what the issue said
	Mark   string    `json:"mark,omitempty"`  // of the journal when the wait began
	dir    string
	locked *journal.Lock
}

// named reports whether an id can be that of an issue that is run.
func named(id string) bool { return bdcodec.ValidID(id) }

// lookUp reads what is known of an issue; nil if it was never claimed here.
func (w *issueWorker) lookUp(id string) *claim { return readClaim(filepath.Join(w.claims, id)) }

func readClaim(dir string) *claim {
	b, err := regular.ReadOwn(filepath.Join(dir, "claim.json"))
	if err != nil {
		return nil
	}
	c := &claim{}
	if json.Unmarshal(b, c) != nil || c.Issue != filepath.Base(dir) {
		return nil
	}
	c.dir = dir
	return c
}

// claimOf is the claim of the issue whose epic a worker ran in a state directory; nil if
// no worker did.
func claimOf(state string, epic *ir.Epic) *claim {
	if len(epic.Nodes) != 1 {
		return nil
	}
	c := readClaim(filepath.Join(filepath.Dir(state), "worker", string(epic.Nodes[0].ID)))
	if c == nil || c.Epic != epic.Epic.ID {
		return nil
	}
	return c
}

// issueOf is that issue, if commands take it in the place of the file; "" otherwise.
func issueOf(state string, epic *ir.Epic) string {
	if c := claimOf(state, epic); c != nil && beadID.MatchString(c.Issue) {
		return c.Issue
	}
	return ""
}

func (c *claim) save() error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.WriteOwn(filepath.Join(c.dir, "claim.json"), append(b, '\n'), 0o600)
}

// lock keeps other workers of this repository away from an issue; false if one has
// it. The kernel frees it when this process dies.
func (w *issueWorker) lock(id string) (*journal.Lock, bool, error) {
	dir := filepath.Join(w.claims, id)
	if err := regular.MkdirOwn(dir); err != nil {
		return nil, false, &issueFault{err}
	}
	l, err := journal.Acquire(dir, whoAmI())
	var held *journal.Held
	if errors.As(err, &held) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, &issueFault{err}
	}
	return l, true, nil
}

// issueFault is what is wrong with what is kept here of one issue: others are worked on
// all the same.
type issueFault struct{ err error }

func (f *issueFault) Error() string { return f.err.Error() }
func (f *issueFault) Unwrap() error { return f.err }

// faulty makes an error one of the issue.
func faulty(err error) error {
	if err == nil {
		return nil
	}
	return &issueFault{err}
}

// aside says what is wrong with one issue, once; other errors are handed on.
func (w *issueWorker) aside(id string, err error) error {
	var f *issueFault
	if !errors.As(err, &f) {
		return err
	}
	w.tell(id, "left alone: "+f.Error())
	return nil
}

// owns reports whether a bead carries the claim's token.
func (c *claim) owns(i bd.Issue) bool { return c.Token != "" && i.Token() == c.Token }

// internalTypes are those of beads that bd makes for itself.
var internalTypes = []string{"epic", "gate", "event", "molecule", "milestone", "message"}

// eligible reports whether an issue is one that a worker may take.
func (w *issueWorker) eligible(i bd.Issue) bool {
	if w.runs[i.ID] != nil || w.unfit(i) != "" {
		return false
	}
	if who := w.assigned(i); who != "" {
		w.tell(i.ID, "left alone: it is assigned to "+who)
		return false
	}
	return true
}

// assigned is the other one who has an issue, "" for nobody.
func (w *issueWorker) assigned(i bd.Issue) string {
	if i.Assignee == w.actor {
		return ""
	}
	return i.Assignee
}

// unfit says why an issue is not one for workers, "" if it is.
func (w *issueWorker) unfit(i bd.Issue) string {
	for _, l := range i.Labels {
		switch {
		case strings.HasPrefix(l, "ralph-epic:"):
			return "it is of a plan (label " + l + "), which ralph apply runs"
		case l == w.labels.Exclude || l == bdcodec.ExcludedLabel:
			return "it has the label " + l
		}
	}
	switch {
	case i.Status != "open":
		return "its status is " + i.Status + "; to have it worked on: bd update " + quoteArg(i.ID) + " --status open"
	case slices.Contains(internalTypes, i.Type):
		return "its type is " + i.Type
	}
	return ""
}

// tell says something about an issue, once as long as it stays the same.
func (w *issueWorker) tell(id, text string) bool {
	if w.told[id] == text {
		return false
	}
	w.told[id] = text
	w.say.linef(id, "%s", text)
	return true
}

// printOf is a fingerprint of what an issue says; start is the step that it names.
func (w *issueWorker) printOf(i bd.Issue, start string) string {
	var more struct{ Design, Notes string }
	_ = json.Unmarshal(i.Raw, &more) // what bd showed
	labels := slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool { return isStanding(l, w.labels) })
	slices.Sort(labels)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d %q %q %q", i.Title, i.Description, i.Acceptance, i.Type, i.Priority, labels, start, more))
	return hex.EncodeToString(sum[:8])
}

// commentOnce comments an issue, unless the same was said since a time.
func (w *issueWorker) commentOnce(ctx context.Context, id, text string, since time.Time) error {
	list, err := w.bd.Comments(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range list {
		if !c.At.Before(since.Truncate(time.Second)) && strings.TrimSpace(c.Text) == strings.TrimSpace(text) {
			return nil
		}
	}
	return w.bd.Comment(ctx, id, text)
}

// saidSince returns what people wrote about an issue since a time. bd keeps seconds:
// what was written in that very second counts, once too often rather than never.
func (w *issueWorker) saidSince(ctx context.Context, id string, since time.Time) (string, error) {
	list, err := w.bd.Comments(ctx, id)
	if err != nil {
		return "", err
	}
	var out []string
	for _, c := range list {
		if c.Author != w.actor && !c.At.Before(since.Truncate(time.Second)) {
			out = append(out, strings.TrimSpace(c.Text))
		}
	}
	return strings.Join(out, "\n\n"), nil
}
