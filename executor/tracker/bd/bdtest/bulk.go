package bdtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// importRows writes beads in chunks, each of which is a transaction, as bd does.
func importRows(c *call) (any, error) {
	if len(c.args) != 1 {
		return nil, plainly("Error: accepts 1 arg(s)")
	}
	rows, err := lines(c.args[0])
	if err != nil {
		return nil, err
	}
	var news []*issue
	for n, row := range rows {
		i := &issue{}
		if err := json.Unmarshal([]byte(row), i); err != nil {
			return nil, refuse("import failed: line %d: %v", n+1, err)
		}
		if !c.db.knows(i.Type) {
			return nil, refuse("import failed: validation failed for issue %s: invalid issue type: %s", i.ID, i.Type)
		}
		if i.Status == "closed" && i.ClosedAt == nil {
			return nil, refuse("import failed: validation failed for issue %s: closed issues must have closed_at timestamp", i.ID)
		}
		news = append(news, i)
	}
	var ids, tie, stale, skipped []string
	for n, i := range news {
		if c.fault.Do == Torn && n == len(news)/2 {
			_ = c.db.write(c.beads)
			die()
		}
		old, undated := c.db.Issues[i.ID], i.UpdatedAt.IsZero()
		if undated { // newer than everything
			i.UpdatedAt = now()
		}
		switch {
		case old != nil && i.UpdatedAt.Before(old.UpdatedAt):
			stale = append(stale, i.ID)
			i.Dependencies = nil
			continue
		case old != nil && !undated && i.UpdatedAt.Equal(old.UpdatedAt):
			tie = append(tie, i.ID)
			i.Dependencies = nil
		case old != nil: // every column is replaced; labels, edges and comments are merged
			i.Labels = slices.Compact(slices.Sorted(slices.Values(slices.Concat(old.Labels, i.Labels))))
			i.Dependencies, i.Comments, i.Events = slices.Concat(old.Dependencies, i.Dependencies), slices.Concat(old.Comments, i.Comments), old.Events
			c.db.Issues[i.ID] = i
		default:
			if i.CreatedAt.IsZero() {
				i.CreatedAt = now()
			}
			slices.Sort(i.Labels)
			c.db.Issues[i.ID] = i
			i.happened("created", c.actor, "", i.Title, "")
		}
		ids = append(ids, i.ID)
	}
	for _, i := range news {
		deps := i.Dependencies
		i.Dependencies = nil
		for _, d := range deps {
			if c.fault.Do == Skips && d.Type == "blocks" || c.db.Issues[d.To] == nil {
				skipped = append(skipped, fmt.Sprintf("%s -> %s: target not found", d.From, d.To))
				continue
			}
			if err := c.db.addDep(d); err != nil {
				skipped = append(skipped, fmt.Sprintf("%s -> %s: %v", d.From, d.To, err))
			}
		}
	}
	c.wrote = true
	out := map[string]any{"source": c.args[0], "created": len(ids), "skipped": len(stale), "ids": ids}
	for k, v := range map[string][]string{"tie_kept_local_ids": tie, "stale_skipped_ids": stale, "skipped_dependencies": skipped} {
		if v != nil {
			out[k] = v
		}
	}
	return out, nil
}

// batch carries out its lines in one transaction; ids in it are exact.
func batch(c *call) (any, error) {
	ops, err := lines(c.flag("file"))
	if err != nil {
		return nil, err
	}
	var results []map[string]any
	for n, op := range ops {
		if op[0] == '#' {
			continue
		}
		words := tokens(op)
		name, target, err := c.operation(words)
		if err != nil {
			text := fmt.Sprintf("line %d (%s): %v", n+1, op, err)
			return nil, &refusal{1, false, text, map[string]string{"code": "batch_error", "error": text}}
		}
		results = append(results, map[string]any{"line": n + 1, "op": name, "target": target})
	}
	c.wrote = true
	return map[string]any{"operations": len(results), "results": results, "status": "ok"}, nil
}

func (c *call) operation(w []string) (name, target string, err error) {
	exact := func(id string) (*issue, error) {
		if i := c.db.Issues[id]; i != nil {
			return i, nil
		}
		return nil, fmt.Errorf("not found: issue %s", id)
	}
	switch {
	case w[0] == "close" && len(w) > 1:
		i, err := exact(w[1])
		if err == nil {
			i.close(c.actor, strings.Join(w[2:], " "))
		}
		return "close", w[1], err
	case w[0] == "update" && len(w) > 2:
		i, err := exact(w[1])
		if err != nil {
			return "", "", err
		}
		before := *i
		for _, pair := range w[2:] {
			k, v, _ := strings.Cut(pair, "=")
			switch k {
			case "status":
				i.Status = v
				if v != "closed" {
					i.ClosedAt, i.CloseReason = nil, ""
				}
			case "title":
				i.Title = v
			case "assignee":
				i.Assignee = v
			case "priority":
				if i.Priority, err = strconv.Atoi(v); err != nil {
					return "", "", err
				}
			default:
				return "", "", fmt.Errorf("unsupported key %q", k)
			}
		}
		i.touch(c.actor, before)
		return "update", w[1], nil
	case w[0] == "dep" && len(w) > 3 && w[1] == "add":
		kind := "blocks"
		if len(w) > 4 {
			kind = w[4]
		}
		return "dep.add", w[2] + "->" + w[3], c.db.addDep(dependency{w[2], w[3], kind})
	case w[0] == "dep" && len(w) == 4 && w[1] == "remove":
		c.db.removeDep(w[2], w[3])
		return "dep.remove", w[2] + "->" + w[3], nil
	}
	return "", "", fmt.Errorf("unsupported command")
}

// tokens splits a line at blanks; double quotes keep them, backslash escapes.
func tokens(line string) []string {
	var out []string
	var cur strings.Builder
	quoted, some := false, false
	for k := 0; k < len(line); k++ {
		switch ch := line[k]; {
		case ch == '\\' && quoted && k+1 < len(line):
			k++
			cur.WriteByte(line[k])
		case ch == '"':
			quoted, some = !quoted, true
		case (ch == ' ' || ch == '\t') && !quoted:
			if some || cur.Len() > 0 {
				out = append(out, cur.String())
			}
			cur.Reset()
			some = false
		default:
			cur.WriteByte(ch)
		}
	}
	if some || cur.Len() > 0 {
		out = append(out, cur.String())
	}
	return out
}
