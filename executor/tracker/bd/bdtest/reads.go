package bdtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func version(c *call) (any, error) {
	v := "1.3.0"
	if c.fault.Do == Version {
		v = c.fault.Text
	}
	return map[string]string{"branch": "main", "build": "dev", "version": v}, nil
}

func where(c *call) (any, error) {
	return map[string]any{"beads_dir": c.beads, "repo_root": filepath.Dir(c.beads), "backend": "dolt", "bd_version": "1.3.0"}, nil
}

func initialise(c *call) (any, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	beads := filepath.Join(cwd, ".beads")
	if _, err := os.Stat(filepath.Join(beads, storeFile)); err == nil {
		return nil, plainly("Error: already initialized")
	}
	if err := os.MkdirAll(beads, 0o755); err != nil {
		return nil, err
	}
	s := &store{Config: map[string]string{"issue_prefix": cmp.Or(c.flag("prefix"), "bd")}}
	return nil, s.write(beads)
}

func configGet(c *call) (any, error) {
	if len(c.args) != 1 {
		return nil, plainly("Error: accepts 1 arg(s)")
	}
	return map[string]string{"key": c.args[0], "value": c.db.Config[c.args[0]]}, nil
}

func configSet(c *call) (any, error) {
	pairs := c.args
	if c.command == "config set" && len(pairs) == 2 {
		pairs = []string{pairs[0] + "=" + pairs[1]}
	}
	for _, p := range pairs {
		k, v, ok := strings.Cut(p, "=")
		if !ok {
			return nil, plainly("Error: expected key=value, got %q", p)
		}
		c.db.Config[k] = v
		fmt.Fprintf(c.out, "Set %s = %s\n", k, v)
	}
	c.wrote = true
	return nil, nil
}

// shown is an issue as list and ready print it.
type shown struct {
	issue
	Comments     []comment `json:"comments,omitempty"`
	Parent       string    `json:"parent,omitempty"`
	Dependents   int       `json:"dependent_count"`
	CommentCount int       `json:"comment_count"`
}

func (s *store) show(i *issue, comments bool) shown {
	v := shown{issue: *i, Parent: i.parent(), CommentCount: len(i.Comments)}
	if comments {
		v.Comments = i.Comments
	}
	for _, o := range s.Issues {
		for _, d := range o.Dependencies {
			if d.To == i.ID && d.Type == "blocks" {
				v.Dependents++
			}
		}
	}
	return v
}

// matches applies the filters that list and ready share.
func (c *call) matches(i *issue) bool {
	label := func(l string) bool { return slices.Contains(i.Labels, l) }
	if ids := c.flags["id"]; len(ids) > 0 && !slices.Contains(ids, i.ID) {
		return false
	}
	for _, l := range c.flags["label"] {
		if !label(l) {
			return false
		}
	}
	if any := c.flags["label-any"]; len(any) > 0 && !slices.ContainsFunc(any, label) || slices.ContainsFunc(c.flags["exclude-label"], label) {
		return false
	}
	if t := c.flag("type"); t != "" && t != i.Type || slices.Contains(c.flags["exclude-type"], i.Type) {
		return false
	}
	if a := c.flag("assignee"); a != "" && a != i.Assignee {
		return false
	}
	if c.flag("parent") != "" && c.flag("parent") != i.parent() {
		return false
	}
	return true
}

func (c *call) view(list []*issue) []shown {
	out := []shown{}
	limit := 50
	if c.command == "ready" {
		limit = 100
	}
	if c.has("limit") {
		fmt.Sscan(c.flag("limit"), &limit)
	}
	for _, i := range list {
		if limit > 0 && len(out) == limit {
			break
		}
		out = append(out, c.db.show(i, false))
	}
	if c.fault.Do == WrongID && len(out) > 0 {
		out[0].ID += "x"
	}
	return out
}

func list(c *call) (any, error) {
	statuses := c.flags["status"]
	var out []*issue
	for _, i := range c.db.sorted() {
		switch {
		case !c.matches(i), i.Type == "gate" && !c.has("include-gates"):
		case len(statuses) > 0 && !slices.Contains(statuses, i.Status):
		case len(statuses) == 0 && i.Status == "closed" && !c.has("all"):
		default:
			out = append(out, i)
		}
	}
	return c.view(out), nil
}

func ready(c *call) (any, error) {
	var out []*issue
	for _, i := range c.db.sorted() {
		parent := c.db.Issues[i.parent()]
		if c.matches(i) && i.Status == "open" && i.Type != "gate" && i.Type != "event" && len(c.db.blockers(i)) == 0 &&
			(parent == nil || len(c.db.blockers(parent)) == 0) {
			out = append(out, i)
		}
	}
	return c.view(out), nil
}

func children(c *call) (any, error) {
	var out []*issue
	for _, i := range c.db.sorted() {
		if len(c.args) == 1 && i.parent() == c.args[0] {
			out = append(out, i)
		}
	}
	c.flags["limit"] = []string{"0"}
	return c.view(out), nil
}

func show(c *call) (any, error) {
	out := []map[string]any{}
	for _, id := range c.args {
		i, err := c.db.resolve(id)
		if err != nil {
			fmt.Fprintf(c.err, "Issue %s not found\n", id)
			continue
		}
		b, err := json.Marshal(c.db.show(i, c.has("include-comments")))
		if err != nil {
			return nil, err
		}
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, err
		}
		delete(v, "dependencies")
		var deps []map[string]any
		for _, d := range i.Dependencies {
			if to := c.db.Issues[d.To]; to != nil {
				deps = append(deps, map[string]any{"id": to.ID, "title": to.Title, "status": to.Status, "issue_type": to.Type, "priority": to.Priority, "dependency_type": d.Type})
			}
		}
		if deps != nil {
			v["dependencies"] = deps
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, refuse("no issues found matching the provided IDs")
	}
	return out, nil
}

// export writes one object a line, whatever --json says.
func export(c *call) (any, error) {
	for _, i := range c.db.sorted() {
		b, err := json.Marshal(struct {
			Type string `json:"_type"`
			*issue
		}{"issue", i})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(c.out, "%s\n", b)
	}
	return nil, nil
}

func history(c *call) (any, error) {
	if len(c.args) != 1 || !c.has("events") {
		return nil, plainly("Error: the stand-in knows only history ID --events")
	}
	i, err := c.db.resolve(c.args[0])
	if err != nil {
		return nil, refuse("%v", err)
	}
	out := append([]event{}, i.Events...)
	if c.fault.Do != Ties {
		slices.Reverse(out)
	}
	slices.SortStableFunc(out, func(a, b event) int { return b.At.Compare(a.At) })
	return out, nil
}

func comments(c *call) (any, error) {
	if len(c.args) != 1 {
		return nil, plainly("Error: accepts 1 arg(s)")
	}
	i, err := c.db.resolve(c.args[0])
	if err != nil {
		return nil, refuse("resolving %s: %v", c.args[0], err)
	}
	out := append([]comment{}, i.Comments...)
	if c.fault.Do == Ties {
		slices.Reverse(out)
	}
	slices.SortStableFunc(out, func(a, b comment) int { return a.At.Compare(b.At) })
	return out, nil
}

func state(c *call) (any, error) {
	if len(c.args) != 2 {
		return nil, plainly("Error: accepts 2 arg(s)")
	}
	i, err := c.db.resolve(c.args[0])
	if err != nil {
		return nil, refuse("%v", err)
	}
	for _, l := range i.Labels {
		if v, ok := strings.CutPrefix(l, c.args[1]+":"); ok {
			return map[string]any{"issue_id": i.ID, "dimension": c.args[1], "value": v}, nil
		}
	}
	return map[string]any{"issue_id": i.ID, "dimension": c.args[1], "value": nil}, nil
}

func listLabels(c *call) (any, error) {
	i, err := c.db.resolve(strings.Join(c.args, ""))
	if err != nil {
		return nil, refuse("%v", err)
	}
	return append([]string{}, i.Labels...), nil
}
