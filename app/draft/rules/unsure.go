package rules

import (
	"slices"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// unsure is what compiler errors leave unknown about a plan. Errors about dependencies
// leave nothing unknown: the sprint's own text was read.
type unsure struct {
	items   map[ir.Key]bool // they have an error
	outside bool            // something else has: the policy, front matter, a text above the items
}

func unsureOf(c *Compiled) unsure {
	out := unsure{items: map[ir.Key]bool{}}
	if len(c.Errors) == 0 {
		return out
	}
	starts, keys := make([]int, 0, len(c.Places)), make(map[int]ir.Key, len(c.Places))
	for key, r := range c.Places {
		starts, keys[r.Start] = append(starts, r.Start), key
	}
	slices.Sort(starts)
	for _, d := range c.Errors {
		if e, _ := diag.Lookup(d.Code); e.About == "dependency" {
			continue
		}
		i, at := slices.BinarySearch(starts, d.Range.Start)
		if !at {
			i--
		}
		if i < 0 || d.Range.IsZero() || d.Range.File != c.File.Name {
			out.outside = true
			continue
		}
		out.items[keys[starts[i]]] = true
		if d.More > 0 { // the place is unknown
			for _, key := range keys {
				out.items[key] = true
			}
		}
	}
	return out
}
