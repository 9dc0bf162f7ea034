package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-compiler/ralph/executor/tracker/bd"
	"github.com/ralph-compiler/ralph/ir"
)

// examineTracker looks at the beads database of a project whose policy, or whose
// epic, has a tracker. It only reads.
func examineTracker(ctx context.Context, root string, asked bool, epic *ir.Epic) []Finding {
	if !asked && (epic == nil || epic.Run.Tracker == nil) {
		return nil
	}
	f := Finding{Name: "beads", State: "ok"}
	c, err := bd.Open(ctx, bd.Options{Dir: root})
	var missing *bd.Missing
	switch {
	case errors.As(err, &missing):
		f.State, f.Detail, f.Hint = "error", missing.Why, missing.Type
		if missing.Untested { // a run goes on without being mirrored
			f.State = "warning"
		}
		return []Finding{f}
	case err != nil:
		f.State, f.Detail = "warning", err.Error()
		return []Finding{f}
	}
	f.Detail = "bd " + c.Database.Version + ", " + c.Database.Dir
	if why := c.Database.Untested(); why != "" {
		f.State, f.Hint = "warning", why
	}
	types, _, err := bd.MissingTypes(ctx, c)
	switch {
	case err != nil:
		f.State, f.Hint = "warning", strings.TrimPrefix(f.Hint+"\n"+err.Error(), "\n")
	case len(types) > 0:
		f.Detail += "; its types are registered by the first push"
	default:
		f.Detail += "; ralph's types are registered"
	}
	return []Finding{f}
}
