package cli

import (
	"slices"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
)

// checkFreshIDs holds --fresh-id to compiles that write the id into the plan: the next
// one would derive the deleted sprint's again.
func checkFreshIDs(a *project.Args) error {
	if len(a.FreshIDs) == 0 {
		return nil
	}
	const writes = "--fresh-id writes the new id into the plan, and "
	switch {
	case a.NoAnnotate:
		return exit.Usagef(writes + "--no-annotate leaves it alone: give one of them")
	case a.Check:
		return exit.Usagef(writes + "--check writes nothing: give one of them")
	case slices.Contains(a.Plans, "-"):
		return exit.Usagef(writes + "a plan from standard input cannot be written: name its file")
	}
	for _, key := range a.FreshIDs {
		if slices.Contains(a.SameIDs, key) {
			return exit.Usagef("--fresh-id %s and --same-id %s: give one of them", key, key)
		}
	}
	return nil
}
