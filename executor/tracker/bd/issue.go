package bd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/regular"
	codec "github.com/ralph-compiler/ralph/ir/codec/bd"
)

// Issue is a bead as bd shows it. Keys unknown to ralph are only in Raw.
type Issue struct {
	ID           string          `json:"id"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Acceptance   string          `json:"acceptance_criteria"`
	Status       string          `json:"status"` // open, in_progress, blocked, closed, deferred, …
	Priority     int             `json:"priority"`
	Type         string          `json:"issue_type"`
	Assignee     string          `json:"assignee"`
	Owner        string          `json:"owner"`
	Labels       []string        `json:"labels"`
	Metadata     json.RawMessage `json:"metadata"`
	ExternalRef  string          `json:"external_ref"`
	CloseReason  string          `json:"close_reason"`
	Parent       string          `json:"parent"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
	ClosedAt     *time.Time      `json:"closed_at"`
	CreatedBy    string          `json:"created_by"`
	Dependencies []Dependency    `json:"dependencies"`
	Comments     []Comment       `json:"comments"` // only where they were asked for
	Raw          json.RawMessage `json:"-"`        // the whole of it; nil where it was not asked for
}

// Dependency is an edge of a bead, in the shape of list and ready.
type Dependency struct {
	From string `json:"issue_id"`
	To   string `json:"depends_on_id"`
	Type string `json:"type"` // blocks, parent-child, related, discovered-from, …
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
	Status      string
	If          string // the status that it must have; Guarded tells that it had another
	Assignee    string
	Unassign    bool     // takes the assignee away
	Add, Remove []string // labels
	Metadata    any      // merged by its top-level keys
	ExternalRef string
	Title       string
	Description string
	Text        *string  // the description, which may become empty
	Acceptance  *string  // the acceptance criteria
	Type        string   // of the issue
	Priority    *int     // 0 to 4
	Unset       []string // keys of the metadata that are taken away
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
	out := map[string]Issue{}
	for _, i := range list {
		out[i.ID] = i
	}
	return out, nil
}

// Show returns the one bead that has exactly this id, with its Raw; false if there is
// none.
func (c *Client) Show(ctx context.Context, id string) (Issue, bool, error) {
	list, err := c.whole(ctx, "list", "--all", "--limit", "0", "--include-gates", "--id", id)
	if at := slices.IndexFunc(list, func(i Issue) bool { return i.ID == id }); at >= 0 {
		return list[at], true, err
	}
	return Issue{}, false, err
}

// Ready returns the beads that could be worked on, with their Raw: nothing that blocks
// them is open.
func (c *Client) Ready(ctx context.Context, filter ...string) ([]Issue, error) {
	return c.whole(ctx, append([]string{"ready", "--limit", "0", "--exclude-type", "epic"}, filter...)...)
}

// whole reads beads together with what ralph does not know of them.
func (c *Client) whole(ctx context.Context, args ...string) ([]Issue, error) {
	var rows []json.RawMessage
	if err := c.ask(ctx, quick, &rows, args...); err != nil {
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

// Update writes a change of one bead. Whoever calls it has seen this very id in the
// database: bd takes a part of an id for the one bead that it fits.
func (c *Client) Update(ctx context.Context, id string, ch Change) (Issue, error) {
	args := []string{"update", id}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	add("--status", ch.Status)
	add("--if-status", ch.If)
	add("--assignee", ch.Assignee)
	if ch.Unassign {
		args = append(args, "--assignee", "")
	}
	add("--external-ref", ch.ExternalRef)
	add("--title", ch.Title)
	add("--description", ch.Description)
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
		if _, err := c.Update(ctx, id, Change{If: ch.If, Unset: ch.Unset}); err != nil {
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
		file, done, err := stage(ch.Metadata)
		if err != nil {
			return Issue{}, err
		}
		defer done()
		add("--metadata", "@"+file)
	}
	return c.one(ctx, id, args...)
}

// PhasePrefix is that of the label that says at which step of its policy a bead is.
const PhasePrefix = codec.PhaseLabel

// Phase is the step that a bead's label names, "" if none does; many tells that
// several do.
func (i Issue) Phase() (step string, many bool) {
	for _, l := range i.Labels {
		if s, ok := strings.CutPrefix(l, PhasePrefix); ok && s != "" {
			step, many = s, step != ""
		}
	}
	return step, many
}

// UpdatePhase gives a bead the one label phase:<step> and takes every other one away,
// together with another change; step "" only takes them away. Where there is nothing to
// change it is not written. It returns the bead as it is then.
func (c *Client) UpdatePhase(ctx context.Context, i Issue, step string, ch Change) (Issue, error) {
	ch.Add, ch.Remove = slices.Clone(ch.Add), slices.Clone(ch.Remove)
	has := false
	for _, l := range i.Labels {
		switch {
		case !strings.HasPrefix(l, PhasePrefix):
		case step != "" && l == PhasePrefix+step:
			has = true
		default:
			ch.Remove = append(ch.Remove, l)
		}
	}
	if step != "" && !has {
		ch.Add = append(ch.Add, PhasePrefix+step)
	}
	if ch.empty() {
		return i, nil
	}
	return c.Update(ctx, i.ID, ch)
}

func (ch Change) empty() bool {
	return ch.Status == "" && ch.Assignee == "" && !ch.Unassign && len(ch.Add)+len(ch.Remove) == 0 && ch.Metadata == nil &&
		ch.ExternalRef == "" && ch.Title == "" && ch.Description == "" &&
		ch.Text == nil && ch.Acceptance == nil && ch.Type == "" && ch.Priority == nil && len(ch.Unset) == 0
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

// Foreign says that bd wrote another bead than the one that it was asked to.
type Foreign struct {
	Asked string
	Got   []string
}

func (f *Foreign) Error() string {
	return fmt.Sprintf("bd took %s for %s; look at it: bd history %s --events", f.Asked, strings.Join(f.Got, ", "), strings.Join(f.Got, " "))
}

func ids(list []Issue) []string {
	out := make([]string, 0, len(list))
	for _, i := range list {
		out = append(out, i.ID)
	}
	return out
}

// Comments returns a bead's comments, oldest first.
func (c *Client) Comments(ctx context.Context, id string) ([]Comment, error) {
	var out []Comment
	err := c.ask(ctx, quick, &out, "comments", id)
	return out, err
}

// Comment adds a comment to a bead.
func (c *Client) Comment(ctx context.Context, id, text string) error {
	file, done, err := stage(text)
	if err != nil {
		return err
	}
	defer done()
	return c.ask(ctx, quick, nil, "comments", "add", id, "--file", file)
}

// SetState sets a dimension of a bead's state: a label dimension:value, and an event
// that says why. bd makes the event a bead whose id begins with the bead's, and refuses
// that where the ids of its database begin otherwise ("bd init" takes the name of the
// directory): then the label is set, and the reason is a comment.
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
	ch := Change{}
	for _, l := range found[id].Labels {
		switch {
		case l == dimension+":"+value:
			return nil // by this way, before
		case strings.HasPrefix(l, dimension+":"):
			ch.Remove = append(ch.Remove, l)
		}
	}
	// The comment comes first: after a crash in between it is said twice, not never.
	if err := c.Comment(ctx, id, fmt.Sprintf("[%s] %s: %s", dimension, value, reason)); err != nil {
		return err
	}
	ch.Add = []string{dimension + ":" + value}
	_, err = c.Update(ctx, id, ch)
	return err
}

// HistoryEvent is one change of a bead, as bd recorded it.
type HistoryEvent struct {
	ID      string    `json:"id"`
	Type    string    `json:"event_type"`
	Actor   string    `json:"actor"`
	Old     string    `json:"old_value"`
	New     string    `json:"new_value"`
	Comment string    `json:"comment"`
	At      time.Time `json:"created_at"`
}

// Newest returns the newest event that is meant. bd keeps whole seconds, and lists what
// happened within one in no order: of several in the newest second it is one that is
// not passed over, if there is one. found tells whether any is meant.
func Newest(events []HistoryEvent, meant, passOver func(HistoryEvent) bool) (newest HistoryEvent, found bool) {
	over := false
	for _, e := range events {
		switch {
		case !meant(e):
		case !found || e.At.After(newest.At):
			newest, found, over = e, true, passOver(e)
		case over && e.At.Equal(newest.At) && !passOver(e):
			newest, over = e, false
		}
	}
	return newest, found
}

// Gave tells whether an event is that a bead was given a label.
func (e HistoryEvent) Gave(label string) bool {
	return e.Type == "label_added" && strings.HasSuffix(e.Comment, ": "+label)
}

// Status is the status that a bead had behind an event; "" if it is not known, or the
// event is none of the status.
func (e HistoryEvent) Status() string {
	var to struct{ Status string }
	if json.Unmarshal([]byte(e.New), &to) == nil && to.Status != "" {
		return to.Status
	}
	switch e.Type { // "bd close" and "bd reopen" say why instead
	case "closed":
		return "closed"
	case "reopened":
		return "open"
	}
	return ""
}

// Events returns who changed a bead, newest second first.
func (c *Client) Events(ctx context.Context, id string) ([]HistoryEvent, error) {
	var out []HistoryEvent
	err := c.ask(ctx, quick, &out, "history", id, "--events")
	return out, err
}

// Imported is bd's answer to an import.
type Imported struct {
	Created   int      `json:"created"`
	IDs       []string `json:"ids"`
	Updated   int      `json:"updated"`
	Stale     []string `json:"stale_skipped_ids"`
	Tie       []string `json:"tie_kept_local_ids"`
	SkippedBy []string `json:"skipped_dependencies"`
}

// Import writes beads in bulk: lines of JSON in bd's import format. Rows without an
// updated_at, a priority, or the type of an edge must not be among them: bd takes
// them for now, for 0 and for none. Dependencies that bd skips are an error.
func (c *Client) Import(ctx context.Context, lines []byte, limit time.Duration) (Imported, error) {
	file, done, err := stage(lines)
	if err != nil {
		return Imported{}, err
	}
	defer done()
	var out Imported
	if err := c.ask(ctx, limit, &out, "import", file); err != nil {
		return out, err
	}
	if len(out.SkippedBy) > 0 {
		return out, &Refused{[]string{"import"}, 0, "it left out dependencies: " + strings.Join(out.SkippedBy[:min(len(out.SkippedBy), 5)], "; ")}
	}
	return out, nil
}

// Batch carries out lines of bd's batch language (create, update, close, dep add,
// dep remove) in one transaction.
func (c *Client) Batch(ctx context.Context, lines []string, limit time.Duration) error {
	file, done, err := stage(strings.Join(lines, "\n") + "\n")
	if err != nil {
		return err
	}
	defer done()
	return c.ask(ctx, limit, nil, "batch", "-f", file)
}

// Config returns a setting of the database, "" if it is not set.
func (c *Client) Config(ctx context.Context, key string) (string, error) {
	var out struct{ Value string }
	err := c.ask(ctx, quick, &out, "config", "get", key)
	return out.Value, err
}

// SetConfig writes a setting of the database.
func (c *Client) SetConfig(ctx context.Context, key, value string) error {
	_, err := c.run(ctx, quick, "config", "set-many", key+"="+value)
	return err
}

// stage writes what is too long for a command line into a file of its own: bytes and
// texts as they are, everything else as JSON.
func stage(what any) (file string, done func(), err error) {
	var b []byte
	switch w := what.(type) {
	case []byte:
		b = w
	case string:
		b = []byte(w)
	default:
		if b, err = json.Marshal(w); err != nil {
			return "", nil, err
		}
	}
	dir, err := os.MkdirTemp("", "ralph-bd-")
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	file = filepath.Join(dir, "input")
	if err := regular.WriteFile(file, b, 0o600); err != nil {
		done()
		return "", nil, err
	}
	return file, done, nil
}
