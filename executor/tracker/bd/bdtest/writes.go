package bdtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// named is the bead that a command names first.
func (c *call) named() (*issue, error) {
	if len(c.args) == 0 {
		return nil, plainly("Error: requires at least 1 arg(s)")
	}
	i, err := c.db.resolve(c.args[0])
	if err != nil {
		return nil, refuse("resolving ID %s: %v", c.args[0], err)
	}
	c.wrote = true
	return i, nil
}

// written is what update and close answer: the bead without its edges.
func (c *call) written(i *issue) any {
	v := *i
	v.Dependencies, v.Comments = nil, nil
	if c.fault.Do == WrongID {
		v.ID += "x"
	}
	return []issue{v}
}

func create(c *call) (any, error) {
	kind := cmp.Or(c.flag("type"), "task")
	if !c.db.knows(kind) {
		return nil, refuse("validation failed: invalid issue type: %s", kind)
	}
	c.db.Next++
	i := &issue{
		ID: c.flag("id"), Title: cmp.Or(strings.Join(c.args, " "), c.flag("title")), Description: c.flag("description"), Acceptance: c.flag("acceptance"), Status: "open", Priority: 2,
		Type: kind, Assignee: c.flag("assignee"), CreatedAt: now(), CreatedBy: c.actor, UpdatedAt: now(), ExternalRef: c.flag("external-ref"),
	}
	if i.ID == "" {
		i.ID = fmt.Sprintf("%s-%03x", c.db.Config["issue_prefix"], 0xa00+c.db.Next)
	}
	if c.db.Issues[i.ID] != nil {
		return nil, refuse("issue %s already exists", i.ID)
	}
	if p := c.flag("priority"); p != "" {
		i.Priority, _ = strconv.Atoi(strings.TrimPrefix(p, "P"))
	}
	if err := c.merge(i); err != nil {
		return nil, err
	}
	c.db.Issues[i.ID] = i
	i.happened("created", c.actor, "", i.Title, "")
	for _, l := range slices.Concat(c.flags["label"], c.flags["labels"]) {
		i.label(c.actor, l)
	}
	if p := c.flag("parent"); p != "" {
		if err := c.db.addDep(dependency{i.ID, p, "parent-child"}); err != nil {
			return nil, refuse("%v", err)
		}
	}
	for _, d := range c.flags["deps"] {
		kind, to, ok := strings.Cut(d, ":")
		if !ok {
			kind, to = "blocks", d
		}
		if err := c.db.addDep(dependency{i.ID, to, kind}); err != nil {
			return nil, refuse("%v", err)
		}
	}
	c.wrote = true
	return i, nil
}

// merge writes --metadata, key by key, and --unset-metadata.
func (c *call) merge(i *issue) error {
	text := c.flag("metadata")
	if file, ok := strings.CutPrefix(text, "@"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			return refuse("%v", err)
		}
		text = string(b)
	}
	if text != "" {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return refuse("invalid JSON in --metadata: %v", err)
		}
		if i.Metadata == nil {
			i.Metadata = map[string]json.RawMessage{}
		}
		maps.Copy(i.Metadata, m)
	}
	for _, k := range c.flags["unset-metadata"] {
		delete(i.Metadata, k)
	}
	return nil
}

// broken is how update says that it failed.
func (c *call) broken(code int, id, text string, guard bool) error {
	inner := "updating issue: " + text
	if what, ok := strings.CutPrefix(text, "resolving ID "+id+": "); ok {
		inner = "resolving issue: " + what
	}
	f := map[string]any{"id": id, "error": inner}
	if guard {
		f["guard_mismatch"] = true
	}
	return &refusal{code, false, "Error updating " + id + ": " + text, map[string]any{"error": "1 of 1 issues failed to update", "failed": []any{f}}}
}

func update(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, c.broken(1, strings.Join(c.args, " "), err.Error(), false)
	}
	if want := c.flag("if-status"); want != "" && want != i.Status {
		return nil, c.broken(13, i.ID, fmt.Sprintf("status mismatch: %s has status %q, expected %q", i.ID, i.Status, want), true)
	}
	if c.has("if-assignee") && c.flag("if-assignee") != i.Assignee {
		return nil, c.broken(13, i.ID, fmt.Sprintf("assignee mismatch: %s has %q, expected %q", i.ID, i.Assignee, c.flag("if-assignee")), true)
	}
	before, columns := *i, false
	text := func(flag string, to *string) {
		if c.has(flag) {
			*to, columns = c.flag(flag), true
		}
	}
	if s := c.flag("status"); s == "closed" && !c.has("force") {
		if err := c.mayClose(i); err != nil {
			return nil, c.broken(1, i.ID, err.Error(), false)
		}
	}
	if a := c.flag("assignee"); a != "" && i.Assignee != "" && a != i.Assignee && i.Status == "in_progress" && i.Assignee != c.actor && !c.has("force") {
		return nil, c.broken(1, i.ID, fmt.Sprintf("%s is claimed by %q", i.ID, i.Assignee), false)
	}
	if c.has("claim") {
		if i.Assignee != "" && i.Assignee != c.actor {
			return nil, c.broken(1, i.ID, "already claimed by "+i.Assignee, false)
		}
		i.Assignee, i.Status, columns = c.actor, "in_progress", true
	}
	text("status", &i.Status)
	text("assignee", &i.Assignee)
	text("title", &i.Title)
	text("description", &i.Description)
	text("acceptance", &i.Acceptance)
	text("external-ref", &i.ExternalRef)
	text("type", &i.Type)
	if p := c.flag("priority"); p != "" {
		i.Priority, _ = strconv.Atoi(strings.TrimPrefix(p, "P"))
		columns = true
	}
	if c.has("metadata") && c.has("unset-metadata") {
		return nil, c.broken(1, i.ID, "cannot combine --metadata with --set-metadata or --unset-metadata", false)
	}
	if c.has("metadata") || c.has("unset-metadata") {
		columns = true
		if err := c.merge(i); err != nil {
			return nil, err
		}
	}
	if i.Status == "closed" && i.ClosedAt == nil {
		at := now()
		i.ClosedAt = &at
	} else if i.Status != "closed" {
		i.ClosedAt, i.CloseReason = nil, ""
	}
	if columns {
		i.touch(c.actor, before)
	}
	if c.has("set-labels") {
		for _, l := range slices.Clone(i.Labels) {
			i.unlabel(c.actor, l)
		}
	}
	for _, l := range c.flags["remove-label"] {
		i.unlabel(c.actor, l)
	}
	for _, l := range slices.Concat(c.flags["add-label"], c.flags["set-labels"]) {
		i.label(c.actor, l)
	}
	return c.written(i), nil
}

// mayClose holds the rules of bd about blockers and children.
func (c *call) mayClose(i *issue) error {
	if b := c.db.blockers(i); len(b) > 0 {
		return plainly("cannot close blocked issue: %s is blocked by [%s] (use --force to override)", i.ID, strings.Join(b, " "))
	}
	if n := c.db.openChildren(i.ID); n > 0 {
		return plainly("cannot close %s: %d open child issue(s); close children first or use --force to override", i.ID, n)
	}
	return nil
}

func closeIssues(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	if i.Status != "closed" && !c.has("force") {
		if err := c.mayClose(i); err != nil {
			return nil, err
		}
		if i.Assignee != "" && i.Assignee != c.actor {
			return nil, plainly("cannot close %s: assignee is %q, actor is %q; reclaim or use --force to override", i.ID, i.Assignee, c.actor)
		}
	}
	i.close(c.actor, c.flag("reason"))
	return c.written(i), nil
}

func reopen(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	if i.Status == "closed" {
		i.Status, i.ClosedAt, i.CloseReason, i.UpdatedAt = "open", nil, "", now()
		i.happened("reopened", c.actor, "", c.flag("reason"), "")
	}
	return c.written(i), nil
}

func unclaim(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	before := *i
	i.Status, i.Assignee = "open", ""
	i.touch(c.actor, before)
	return c.written(i), nil
}

func addComment(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	text := strings.Join(c.args[1:], " ")
	if file := c.flag("file"); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, refuse("%v", err)
		}
		text = strings.TrimSpace(string(b))
	}
	if strings.TrimSpace(text) == "" {
		return nil, refuse("comment text cannot be empty")
	}
	at := now()
	for _, other := range i.Comments { // bd keeps their order so: the times of a burst run ahead
		if !at.After(other.At) {
			at = other.At.Add(time.Second)
		}
	}
	cm := comment{fmt.Sprintf("%s-comment-%d", i.ID, len(i.Comments)+1), i.ID, cmp.Or(c.flag("author"), c.actor), text, at}
	i.Comments = append(i.Comments, cm)
	if c.fault.Do == WrongID {
		cm.Issue += "x"
	}
	return cm, nil
}

func addLabel(c *call) (any, error)    { return c.labels("added", (*issue).label) }
func removeLabel(c *call) (any, error) { return c.labels("removed", (*issue).unlabel) }

func (c *call) labels(word string, do func(i *issue, actor, l string)) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	l := c.args[len(c.args)-1]
	do(i, c.actor, l)
	return []map[string]string{{"issue_id": i.ID, "label": l, "status": word}}, nil
}

func setState(c *call) (any, error) {
	i, err := c.named()
	if err != nil {
		return nil, err
	}
	dim, value, ok := strings.Cut(strings.Join(c.args[1:], ""), "=")
	if !ok {
		return nil, plainly("Error: expected dimension=value")
	}
	var old any
	for _, l := range slices.Clone(i.Labels) {
		if v, ok := strings.CutPrefix(l, dim+":"); ok {
			if v == value {
				return map[string]any{"changed": false, "dimension": dim, "issue_id": i.ID, "value": value}, nil
			}
			old = v
			i.unlabel(c.actor, l)
		}
	}
	n := 1
	for c.db.Issues[fmt.Sprintf("%s.%d", i.ID, n)] != nil {
		n++
	}
	if prefix := c.db.Config["issue_prefix"]; !strings.HasPrefix(i.ID, prefix+"-") { // before anything is written
		return nil, plainly("creating event: validation failed: prefix validation failed for %s.%d: prefix mismatch: issue ID %[1]s.%[2]d does not match configured prefix %[3]s", i.ID, n, prefix)
	}
	i.label(c.actor, dim+":"+value)
	at := now()
	e := &issue{
		ID: fmt.Sprintf("%s.%d", i.ID, n), Title: fmt.Sprintf("State change: %s → %s", dim, value), Description: fmt.Sprintf("Set %s to %s\n\nReason: %s", dim, value, c.flag("reason")),
		Status: "closed", Priority: 4, Type: "event", CreatedAt: at, CreatedBy: c.actor, UpdatedAt: at, ClosedAt: &at,
		Dependencies: []dependency{{fmt.Sprintf("%s.%d", i.ID, n), i.ID, "parent-child"}},
	}
	c.db.Issues[e.ID] = e
	return map[string]any{"changed": true, "dimension": dim, "event_id": e.ID, "issue_id": i.ID, "new_value": value, "old_value": old}, nil
}

func depAdd(c *call) (any, error) {
	if len(c.args) != 2 {
		return nil, plainly("Error: accepts 2 arg(s)")
	}
	from, err := c.named()
	if err != nil {
		return nil, err
	}
	to, err := c.db.resolve(c.args[1])
	if err != nil {
		return nil, refuse("resolving dependency ID %s: %v", c.args[1], err)
	}
	d := dependency{from.ID, to.ID, cmp.Or(c.flag("type"), "blocks")}
	if err := c.db.addDep(d); err != nil {
		return nil, refuse("%v", err)
	}
	return map[string]string{"issue_id": d.From, "depends_on_id": d.To, "type": d.Type, "status": "added"}, nil
}

func depRemove(c *call) (any, error) {
	if len(c.args) != 2 {
		return nil, plainly("Error: accepts 2 arg(s)")
	}
	from, err := c.named()
	if err != nil {
		return nil, err
	}
	c.db.removeDep(from.ID, c.args[1])
	return map[string]string{"issue_id": from.ID, "depends_on_id": c.args[1], "status": "removed"}, nil
}

func collect(*call) (any, error) {
	return map[string]any{"dry_run": false, "elapsed_ms": 1}, nil
}

// lines are the lines of a file that say something.
func lines(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, refuse("%v", err)
	}
	var out []string
	for _, l := range bytes.Split(b, []byte("\n")) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			out = append(out, string(l))
		}
	}
	return out, nil
}
