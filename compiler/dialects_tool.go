package compiler

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/policies"
)

// tryTools tries the dialects that tools write in and that have no name of their own, such
// as task:Milestone: they are in the table where they find something.
func (c *compilation) tryTools(src Source, all []Reading, room int) []Reading {
	for _, t := range lists.Each(policies.Tools) {
		if !strings.Contains(t.Dialect, ":") || reads(all, t.Dialect) != nil {
			continue
		}
		if room -= len(src.Bytes) + trialCost; room < 0 {
			break
		}
		if r := c.try(src, t.Dialect, len(all)); r.Items > 0 {
			r.word = true
			all = append(all, r)
		}
	}
	return c.tryPlace(src, all)
}

// tryPlace marks the reading in the dialect of the tool that keeps its plans where this
// one is. It is tried if it was not.
func (c *compilation) tryPlace(src Source, all []Reading) []Reading {
	t := policies.ToolAt(path.Join(c.in.Dir, src.Path))
	if t == nil || t.Dialect == "" {
		return all
	}
	if reads(all, t.Dialect) == nil {
		all = append(all, c.try(src, t.Dialect, len(all)))
	}
	reads(all, t.Dialect).Tool = t
	return all
}

// placed returns the reading in the dialect of the tool that keeps its plans where this
// one is; nil if there is none, if it finds nothing but the title, or if both it and one
// that finds more outside of its items than it finds at all compile.
func placed(all []Reading) *Reading {
	own := lists.Find(all, func(r *Reading) bool { return r.Tool != nil && r.Items > 0 && !r.Title })
	if own != nil && own.Refused == nil && slices.ContainsFunc(all, func(r Reading) bool { return r.counts() && r.outside(own) > own.Items }) {
		return nil
	}
	return own
}

// counts reports whether a reading compiles and is neither one that any text has nor one
// of the plan's own words.
func (r *Reading) counts() bool { return r.Compiles() && !r.Weak && !r.Title && !r.word }

// outside counts the items that are in none of another reading.
func (r *Reading) outside(o *Reading) (n int) {
	k := 0
	for _, at := range r.at {
		for k < len(o.at) && o.at[k].End <= at.Start {
			k++
		}
		if k == len(o.at) || o.at[k].Start > at.Start {
			n++
		}
	}
	return n
}

// Placed returns the reading chosen for the plan's location; nil if that decides nothing.
func (t *DialectTable) Placed() *Reading { return placed(t.Readings) }

// fuller returns the reading that finds more than the one that is taken, and most of all,
// but is refused: a mistake in the plan may be why another one is taken. Of one that is
// taken because of the place it is one that compiles. nil if none does.
func fuller(all []Reading, taken *Reading) *Reading {
	if taken.Refused != nil {
		return nil
	}
	found := taken
	for _, r := range lists.Each(all) {
		if (taken.Tool == nil && r.Refused != nil || taken.Tool != nil && r.counts()) && r.Items > found.Items {
			found = r
		}
	}
	if found == taken {
		return nil
	}
	return found
}

// Fuller returns the reading that finds more than that in a dialect, but is refused, or
// not chosen because of the plan's location; nil if there is none.
func (t *DialectTable) Fuller(taken string) *Reading {
	r := t.Of(taken)
	if r == nil {
		return nil
	}
	return fuller(t.Readings, r)
}

// reads returns the reading in a dialect; nil if it was not tried.
func reads(all []Reading, dialect string) *Reading {
	return lists.Find(all, func(r *Reading) bool { return r.Dialect == dialect })
}

// inLine says where a plan is refused, if that is in the plan.
func (r *Reading) inLine(plan *diag.File) string {
	if at := r.Refused.Range; at.File == plan.Name && !at.IsZero() {
		return fmt.Sprintf(" in line %d", plan.Position(at.Start).Line)
	}
	return ""
}

// asArg quotes the name of a dialect for a shell, if it needs that.
func asArg(dialect string) string {
	if strings.Contains(dialect, " ") {
		return strconv.Quote(dialect)
	}
	return dialect
}
