package run

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
)

// Grouped says below which directory sandboxes get groups, by their limits; "" if none has
// a limit that only a group holds. unheld says of each sandbox which of its limits nothing
// here would hold: a limit that does not hold is worse than none. This process may be moved
// to another group; whatever it asks of the machine it asks once.
func Grouped(ctx context.Context, limits map[string]map[string]string) (base string, unheld map[string]string) {
	unheld = map[string]string{}
	var need []group.Controller
	for name, l := range limits {
		if own := grouping(l); len(own) > 0 {
			unheld[name] = string(own[0])
			need = lists.Include(need, own...)
		}
	}
	if len(need) == 0 {
		return "", nil
	}
	base, err := group.Base(ctx, need...)
	if err == nil {
		return base, nil
	}
	for name, limit := range unheld {
		unheld[name] = fmt.Sprintf("limits.%s needs a control group of its own: %v", limit, err)
	}
	return "", unheld
}

// NeedsGroup reports whether a sandbox has a limit that only a group holds.
func NeedsGroup(limits map[string]string) bool { return len(grouping(limits)) > 0 }

// grouping are the limits of a sandbox that only a group holds, as what bounds them.
func grouping(limits map[string]string) (out []group.Controller) {
	for _, c := range []group.Controller{group.Memory, group.CPU, group.Pids} {
		if limits[string(c)] != "" && (c != group.Pids || os.Geteuid() == 0) { // users are held to it without one
			out = append(out, c)
		}
	}
	return out
}
