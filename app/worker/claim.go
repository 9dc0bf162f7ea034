package worker

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

	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/internal/regular"
	bdcodec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// lookUp reads what is known of an issue; nil if it was never claimed here.
func (w *Worker) lookUp(id string) *record.Claim {
	return record.ReadClaim(filepath.Join(w.claims, id))
}

// lock keeps other workers of this repository away from an issue; false if one has
// it. The kernel frees it when this process dies.
func (w *Worker) lock(id string) (*journal.Lock, bool, error) {
	dir := filepath.Join(w.claims, id)
	if err := regular.MkdirOwn(dir); err != nil {
		return nil, false, &issueFault{err}
	}
	l, err := journal.Acquire(dir, run.WhoAmI())
	if _, held := errors.AsType[*journal.Held](err); held {
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
func (w *Worker) aside(id string, err error) error {
	var f *issueFault
	if !errors.As(err, &f) {
		return err
	}
	w.tell(id, "left alone: "+f.Error())
	return nil
}

// internalTypes are those of beads that bd makes for itself.
var internalTypes = []string{"epic", "gate", "event", "molecule", "milestone", "message"}

// eligible reports whether an issue is one that a worker may take.
func (w *Worker) eligible(i bd.Issue) bool {
	if w.Runs[i.ID] != nil || w.unfit(i) != "" {
		return false
	}
	if who := w.assigned(i); who != "" {
		w.tell(i.ID, "left alone: it is assigned to "+who)
		return false
	}
	return true
}

// assigned is another assignee of an issue, "" for none.
func (w *Worker) assigned(i bd.Issue) string {
	if i.Assignee == w.Actor {
		return ""
	}
	return i.Assignee
}

// unfit says why an issue is not one for workers, "" if it is.
func (w *Worker) unfit(i bd.Issue) string {
	for _, l := range i.Labels {
		switch {
		case strings.HasPrefix(l, "ralph-epic:"):
			return "it belongs to a plan (label " + l + "), which ralph apply runs"
		case l == w.labels.Exclude || l == bdcodec.ExcludedLabel:
			return "it has the label " + l
		}
	}
	switch {
	case i.Status != "open":
		return "its status is " + i.Status + "; to have ralph work on it: bd update " + words.QuoteArg(i.ID) + " --status open"
	case slices.Contains(internalTypes, i.Type):
		return "its type is " + i.Type
	}
	return ""
}

// tell says something about an issue, once as long as it stays the same.
func (w *Worker) tell(id, text string) bool {
	if w.Told[id] == text {
		return false
	}
	w.Told[id] = text
	w.Say.linef(id, "%s", text)
	return true
}

// printOf is a fingerprint of what an issue says; start is the step that it names.
func (w *Worker) printOf(i bd.Issue, start string) string {
	var more struct{ Design, Notes string }
	_ = json.Unmarshal(i.Raw, &more) // what bd showed
	labels := slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool { return isStanding(l, w.labels) })
	slices.Sort(labels)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %d %q %q %q", i.Title, i.Description, i.Acceptance, i.Type, i.Priority, labels, start, more))
	return hex.EncodeToString(sum[:8])
}

// SaidSince returns what people wrote about an issue since a time. bd keeps seconds:
// what was written in that very second counts, once too often rather than never.
func (w *Worker) SaidSince(ctx context.Context, id string, since time.Time) (string, error) {
	list, err := w.Bd.Comments(ctx, id)
	if err != nil {
		return "", err
	}
	return bd.SaidByOthers(list, w.Actor, since.Truncate(time.Second)), nil
}
