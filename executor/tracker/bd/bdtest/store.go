package bdtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	storeFile = "fake-bd.json"
	lockFile  = "fake-bd.lock"
)

// store is a database.
type store struct {
	Config map[string]string
	Issues map[string]*issue
	Next   int // number of the next made-up id
}

// issue is a bead in bd's own spelling.
type issue struct {
	ID           string                     `json:"id"`
	Title        string                     `json:"title"`
	Description  string                     `json:"description,omitempty"`
	Acceptance   string                     `json:"acceptance_criteria,omitempty"`
	Status       string                     `json:"status"`
	Priority     int                        `json:"priority"`
	Type         string                     `json:"issue_type"`
	Assignee     string                     `json:"assignee,omitempty"`
	Owner        string                     `json:"owner,omitempty"`
	CreatedAt    time.Time                  `json:"created_at"`
	CreatedBy    string                     `json:"created_by,omitempty"`
	UpdatedAt    time.Time                  `json:"updated_at"`
	ClosedAt     *time.Time                 `json:"closed_at,omitempty"`
	CloseReason  string                     `json:"close_reason,omitempty"`
	ExternalRef  string                     `json:"external_ref,omitempty"`
	Metadata     map[string]json.RawMessage `json:"metadata,omitempty"`
	Labels       []string                   `json:"labels,omitempty"`
	Dependencies []dependency               `json:"dependencies,omitempty"`
	Comments     []comment                  `json:"comments,omitempty"`
	Events       []event                    `json:"-"`
}

// kept is an issue as the file holds it.
type kept struct {
	Issue  *issue
	Events []event
}

type dependency struct {
	From string `json:"issue_id"`
	To   string `json:"depends_on_id"`
	Type string `json:"type"`
}

type comment struct {
	ID     string    `json:"id"`
	Issue  string    `json:"issue_id"`
	Author string    `json:"author"`
	Text   string    `json:"text"`
	At     time.Time `json:"created_at"`
}

type event struct {
	ID      string    `json:"id"`
	Issue   string    `json:"issue_id"`
	Type    string    `json:"event_type"`
	Actor   string    `json:"actor"`
	Old     string    `json:"old_value,omitempty"`
	New     string    `json:"new_value,omitempty"`
	Comment string    `json:"comment,omitempty"`
	At      time.Time `json:"created_at"`
}

// clock is the time that Fake.Clock set; zero: it is that of the machine.
var clock time.Time

// now is the time as bd keeps it.
func now() time.Time {
	if !clock.IsZero() {
		return clock
	}
	return time.Now().UTC().Truncate(time.Second)
}

func readStore(beads string) (*store, error) {
	b, err := os.ReadFile(filepath.Join(beads, storeFile))
	if err != nil {
		return nil, err
	}
	var f struct {
		Config map[string]string
		Issues []kept
		Next   int
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	s := &store{Config: f.Config, Issues: map[string]*issue{}, Next: f.Next}
	for _, k := range f.Issues {
		k.Issue.Events = k.Events
		s.Issues[k.Issue.ID] = k.Issue
	}
	return s, nil
}

// write replaces the file; its rename is the commit.
func (s *store) write(beads string) error {
	f := struct {
		Config map[string]string
		Issues []kept
		Next   int
	}{s.Config, nil, s.Next}
	for _, i := range s.sorted() {
		f.Issues = append(f.Issues, kept{i, i.Events})
	}
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(beads, storeFile+".new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(beads, storeFile))
}

// sorted lists the beads as bd does: by creation and id.
func (s *store) sorted() []*issue {
	return slices.SortedFunc(maps.Values(s.Issues), func(a, b *issue) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
}

// resolve finds a bead by its id or, as bd does, by a part of it.
func (s *store) resolve(id string) (*issue, error) {
	if i := s.Issues[id]; i != nil {
		return i, nil
	}
	var found []string
	for other := range s.Issues {
		if _, tail, ok := strings.Cut(other, "-"); strings.HasPrefix(other, id) || ok && strings.HasPrefix(tail, id) {
			found = append(found, other)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no issue found matching %q", id)
	case 1:
		return s.Issues[found[0]], nil
	}
	return nil, fmt.Errorf("ambiguous issue ID: %q matches %d issues: %v", id, len(found), found)
}

// custom reports whether an issue type may be used.
func (s *store) knows(kind string) bool {
	core := []string{"task", "bug", "feature", "chore", "epic", "decision", "spike", "story", "milestone", "gate", "event", "molecule"}
	return slices.Contains(core, kind) || slices.Contains(strings.Split(s.Config["types.custom"], ","), kind)
}

// blockers are the beads that a bead waits for.
func (s *store) blockers(i *issue) []string {
	var out []string
	for _, d := range i.Dependencies {
		if b := s.Issues[d.To]; (d.Type == "blocks" || d.Type == "conditional-blocks") && b != nil && b.Status != "closed" {
			out = append(out, d.To)
		}
	}
	return out
}

func (i *issue) parent() string {
	for _, d := range i.Dependencies {
		if d.Type == "parent-child" {
			return d.To
		}
	}
	return ""
}

// openChildren are the children of a bead that are not closed.
func (s *store) openChildren(id string) int {
	n := 0
	for _, i := range s.Issues {
		if i.parent() == id && i.Status != "closed" {
			n++
		}
	}
	return n
}

// reaches reports whether a bead waits, at length, for another.
func (s *store) reaches(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] || s.Issues[from] == nil {
		return false
	}
	seen[from] = true
	for _, d := range s.Issues[from].Dependencies {
		if d.Type == "blocks" && s.reaches(d.To, to, seen) {
			return true
		}
	}
	return false
}

func (s *store) addDep(d dependency) error {
	i := s.Issues[d.From]
	switch {
	case i == nil:
		return fmt.Errorf("issue %s not found", d.From)
	case s.Issues[d.To] == nil:
		return fmt.Errorf("issue %s not found", d.To)
	case d.From == d.To:
		return fmt.Errorf("cannot add self-dependency: %s cannot depend on itself", d.From)
	case d.Type == "blocks" && s.reaches(d.To, d.From, map[string]bool{}):
		return fmt.Errorf("adding dependency would create a cycle")
	}
	for k, x := range i.Dependencies {
		if x.To == d.To {
			i.Dependencies[k] = d
			return nil
		}
	}
	i.Dependencies = append(i.Dependencies, d)
	return nil
}

func (s *store) removeDep(from, to string) {
	if i := s.Issues[from]; i != nil {
		i.Dependencies = slices.DeleteFunc(i.Dependencies, func(d dependency) bool { return d.To == to })
	}
}

// happened adds to the history of a bead.
func (i *issue) happened(kind, actor, old, value, text string) {
	i.Events = append(i.Events, event{fmt.Sprintf("%s-event-%d", i.ID, len(i.Events)+1), i.ID, kind, actor, old, value, text, now()})
}

func (i *issue) label(actor, l string) {
	if !slices.Contains(i.Labels, l) {
		i.Labels = append(i.Labels, l)
		slices.Sort(i.Labels)
		i.happened("label_added", actor, "", "", "Added label: "+l)
	}
}

func (i *issue) unlabel(actor, l string) {
	if k := slices.Index(i.Labels, l); k >= 0 {
		i.Labels = slices.Delete(i.Labels, k, k+1)
		i.happened("label_removed", actor, "", "", "Removed label: "+l)
	}
}

// touch is written whenever a column of a bead changes; labels are none.
func (i *issue) touch(actor string, before issue) {
	i.UpdatedAt = now()
	if before.Status == i.Status {
		i.happened("updated", actor, "", "", "")
		return
	}
	kind := "status_changed"
	switch {
	case i.Status == "closed":
		kind = "closed"
	case before.Status == "closed":
		kind = "reopened"
	}
	i.happened(kind, actor, fmt.Sprintf(`{"status":%q}`, before.Status), fmt.Sprintf(`{"status":%q}`, i.Status), "")
}

func (i *issue) close(actor, reason string) {
	if i.Status == "closed" {
		return
	}
	at := now()
	i.Status, i.ClosedAt, i.CloseReason, i.UpdatedAt = "closed", &at, reason, at
	i.happened("closed", actor, "", reason, reason)
}
