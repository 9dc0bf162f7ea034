package bd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lists"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// Issue is a bead as bd shows it. Keys unknown to ralph are only in Raw.
type Issue struct {
	ID           string             `json:"id"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	Acceptance   string             `json:"acceptance_criteria"`
	Status       string             `json:"status"` // open, in_progress, blocked, closed, deferred, …
	Priority     int                `json:"priority"`
	Type         string             `json:"issue_type"`
	Assignee     string             `json:"assignee"`
	Owner        string             `json:"owner"`
	Labels       []string           `json:"labels"`
	Metadata     json.RawMessage    `json:"metadata"`
	ExternalRef  string             `json:"external_ref"`
	CloseReason  string             `json:"close_reason"`
	Parent       string             `json:"parent"`
	CreatedAt    time.Time          `json:"created_at"`
	UpdatedAt    time.Time          `json:"updated_at"`
	ClosedAt     *time.Time         `json:"closed_at"`
	CreatedBy    string             `json:"created_by"`
	Dependencies []codec.Dependency `json:"dependencies"`
	Comments     []Comment          `json:"comments"` // only where they were asked for
	Raw          json.RawMessage    `json:"-"`        // the whole of it; nil where it was not asked for
}

// Comment is a comment of a bead.
type Comment struct {
	ID     string    `json:"id"`
	Author string    `json:"author"`
	Text   string    `json:"text"`
	At     time.Time `json:"created_at"`
}

// Change is what one update of a bead writes. Zero fields are left alone.
type Change struct {
	Status             string
	If                 string  // the status that it must have; Guarded tells that it had another
	IfAssignee         *string // the assignee that it must have, likewise; bd takes neither for labels alone
	Assignee           string
	Unassign           bool                       // takes the assignee away
	Add, Remove        []string                   // labels
	Metadata           map[string]json.RawMessage // merged by its keys
	ExternalRef, Title string
	Text               *string  // the description, which may become empty
	Acceptance         *string  // the acceptance criteria
	Type               string   // of the issue
	Priority           *int     // 0 to 4
	Unset              []string // keys of the metadata that are removed
}

// List returns beads by exact ids, labels or parents, including closed ones; ids that do
// not exist are skipped silently.
func (c *Client) List(ctx context.Context, filter ...string) ([]Issue, error) {
	var out []Issue
	err := c.ask(ctx, quick, &out, append([]string{"list", "--all", "--limit", "0", "--include-gates"}, filter...)...)
	return out, err
}

// ByID returns the beads that have exactly these ids, in one call.
func (c *Client) ByID(ctx context.Context, ids ...string) (map[string]Issue, error) {
	list, err := c.List(ctx, "--id", strings.Join(ids, ","))
	if err != nil {
		return nil, err
	}
	return byID(list), nil
}

func byID(list []Issue) map[string]Issue {
	return lists.Table(list, func(i Issue) (string, Issue) { return i.ID, i })
}

// Show returns the one bead with exactly this id, with its Raw; false if there is none.
func (c *Client) Show(ctx context.Context, id string) (Issue, bool, error) {
	list, err := c.whole(ctx, quick, "list", "--all", "--limit", "0", "--include-gates", "--id", id)
	if at := slices.IndexFunc(list, func(i Issue) bool { return i.ID == id }); at >= 0 {
		return list[at], true, err
	}
	return Issue{}, false, err
}

// Ready returns the beads without open blockers, with their Raw.
func (c *Client) Ready(ctx context.Context, filter ...string) ([]Issue, error) {
	return c.whole(ctx, quick, append([]string{"ready", "--limit", "0", "--exclude-type", "epic"}, filter...)...)
}

// whole reads beads together with what ralph does not know of them.
func (c *Client) whole(ctx context.Context, limit time.Duration, args ...string) ([]Issue, error) {
	var rows []json.RawMessage
	if err := c.ask(ctx, limit, &rows, args...); err != nil {
		return nil, err
	}
	out := make([]Issue, len(rows))
	for k, row := range rows {
		if err := json.Unmarshal(row, &out[k]); err != nil {
			return nil, &Refused{short(args), 0, fmt.Sprintf("its answer cannot be read: %v", err)}
		}
		out[k].Raw = row
	}
	return out, nil
}

// Update writes a change of one bead. The caller must have seen this exact id in the
// database: bd takes part of an id for the one bead that matches.
func (c *Client) Update(ctx context.Context, id string, ch Change) (Issue, error) {
	args := []string{"update", id}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--status", ch.Status)
	add("--if-status", ch.If)
	if ch.IfAssignee != nil {
		args = append(args, "--if-assignee", *ch.IfAssignee)
	}
	add("--assignee", ch.Assignee)
	if ch.Unassign {
		args = append(args, "--assignee", "")
	}
	add("--external-ref", ch.ExternalRef)
	add("--title", ch.Title)
	for flag, v := range map[string]*string{"--description": ch.Text, "--acceptance": ch.Acceptance} {
		if v != nil {
			args = append(args, flag, *v)
		}
	}
	add("--type", ch.Type)
	if ch.Priority != nil {
		add("--priority", strconv.Itoa(*ch.Priority))
	}
	if len(ch.Unset) > 0 && ch.Metadata != nil { // bd does not do both in one call
		if _, err := c.Update(ctx, id, Change{If: ch.If, IfAssignee: ch.IfAssignee, Unset: ch.Unset}); err != nil {
			return Issue{}, err
		}
		ch.Unset = nil
	}
	for _, k := range ch.Unset {
		add("--unset-metadata", k)
	}
	for _, l := range ch.Add {
		add("--add-label", l)
	}
	for _, l := range ch.Remove {
		add("--remove-label", l)
	}
	if ch.Metadata != nil {
		text, err := json.Marshal(ch.Metadata)
		if err != nil {
			return Issue{}, err
		}
		file, done, err := stage(text)
		if err != nil {
			return Issue{}, err
		}
		defer done()
		add("--metadata", "@"+file)
	}
	return c.one(ctx, id, args...)
}

// PhasePrefix is the prefix of the label that names a bead's step of its policy.
const PhasePrefix = codec.PhaseLabel

// Phase is the step that a bead's label names, "" if none does; many reports that several
// do.
func (i Issue) Phase() (step string, many bool) {
	for _, l := range i.Labels {
		if s, ok := strings.CutPrefix(l, PhasePrefix); ok && s != "" {
			step, many = s, step != ""
		}
	}
	return step, many
}

// UpdatePhase sets a bead's one label phase:<step> and removes every other phase label,
// together with another change; step "" only removes them. It writes nothing if nothing
// changes. It returns the resulting bead.
func UpdatePhase(ctx context.Context, c *Client, i Issue, step string, ch Change) (Issue, error) {
	add, remove := relabel(i.Labels, PhasePrefix, step)
	if ch.Add, ch.Remove = slices.Concat(ch.Add, add), slices.Concat(ch.Remove, remove); ch.empty() {
		return i, nil
	}
	return c.Update(ctx, i.ID, ch)
}

// relabel is what gives a bead one label that begins with prefix, and no other of these;
// with value "" none.
func relabel(labels []string, prefix, value string) (add, remove []string) {
	if value != "" && !slices.Contains(labels, prefix+value) {
		add = []string{prefix + value}
	}
	return add, lists.Keep(labels, func(l string) bool { return strings.HasPrefix(l, prefix) && (value == "" || l != prefix+value) })
}

func (ch Change) empty() bool { return ch.onlyLabels() && len(ch.Add)+len(ch.Remove) == 0 }

// onlyLabels reports whether a change has nothing that a guard of bd covers.
func (ch Change) onlyLabels() bool {
	return ch.Status+ch.Assignee+ch.ExternalRef+ch.Title+ch.Type == "" && !ch.Unassign && ch.Metadata == nil &&
		ch.Text == nil && ch.Acceptance == nil && ch.Priority == nil && len(ch.Unset) == 0
}

// Close closes a bead with a reason. A closed bead is left unchanged.
func (c *Client) Close(ctx context.Context, id, reason string) (Issue, error) {
	return c.one(ctx, id, "close", id, "--reason", reason)
}

// one calls what answers with the bead that it wrote.
func (c *Client) one(ctx context.Context, id string, args ...string) (Issue, error) {
	var out []Issue
	if err := c.ask(ctx, quick, &out, args...); err != nil {
		return Issue{}, err
	}
	if len(out) != 1 || out[0].ID != id {
		return Issue{}, &Foreign{Asked: id, Got: ids(out)}
	}
	return out[0], nil
}

// Foreign says that bd wrote another bead than the requested one.
type Foreign struct {
	Asked string
	Got   []string
}

func (f *Foreign) Error() string {
	return fmt.Sprintf("bd took %s for %s; look at it: bd history %s --events", f.Asked, strings.Join(f.Got, ", "), strings.Join(f.Got, " "))
}

func ids(list []Issue) []string { return lists.Map(list, func(i Issue) string { return i.ID }) }

// Comments returns a bead's comments, oldest first.
func (c *Client) Comments(ctx context.Context, id string) ([]Comment, error) {
	var out []Comment
	err := c.ask(ctx, quick, &out, "comments", id)
	return out, err
}

// Comment adds a comment to a bead.
func (c *Client) Comment(ctx context.Context, id, text string) error {
	file, done, err := stage([]byte(text))
	if err != nil {
		return err
	}
	defer done()
	return c.ask(ctx, quick, nil, "comments", "add", id, "--file", file)
}

// SetState sets a dimension of a bead's state: a label dimension:value, and an event
// with the reason. bd makes the event a bead whose id begins with the bead's, and refuses
// that if its database has another id prefix ("bd init" takes the directory's name):
// then the label is set, and the reason is a comment.
func (c *Client) SetState(ctx context.Context, id, dimension, value, reason string) error {
	err := c.ask(ctx, quick, nil, "set-state", id, dimension+"="+value, "--reason", reason)
	var r *Refused
	if !errors.As(err, &r) || !strings.Contains(r.Said, "prefix mismatch") {
		return err
	}
	found, err := c.ByID(ctx, id)
	if err != nil {
		return err
	}
	add, remove := relabel(found[id].Labels, dimension+":", value)
	if len(add) == 0 {
		return nil // by this way, before
	}
	// The comment comes first: after a crash in between it is said twice, not never.
	if err := c.Comment(ctx, id, fmt.Sprintf("[%s] %s: %s", dimension, value, reason)); err != nil {
		return err
	}
	_, err = c.Update(ctx, id, Change{Add: add, Remove: remove})
	return err
}
