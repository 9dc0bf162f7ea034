package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Fetch brings what the trees lack from the remotes that a partial clone expects it of,
// with the user's git and settings, before any worktree is made: in the other calls of a
// run git fetches nothing. Without such a remote nothing is looked at.
func (s Bases) Fetch(ctx context.Context, trees ...executor.Tree) error {
	if len(s.promisors) == 0 {
		return nil
	}
	for _, t := range trees {
		var before []string
		for { // what a fetched tree lacks is seen once it is there
			missing, err := s.missing(ctx, t)
			if err != nil {
				return err
			}
			if len(missing) == 0 {
				break
			}
			if slices.Equal(missing, before) {
				return s.unfetched(t, len(missing), "it is not there")
			}
			if err := s.fetchObjects(ctx, missing); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return s.unfetched(t, len(missing), err.Error())
			}
			before = missing
		}
	}
	return nil
}

// missing lists the objects of a tree that are not here.
func (s *space) missing(ctx context.Context, t executor.Tree) ([]string, error) {
	out, err := s.git.line(ctx, place{}, "rev-list", "--objects", "--missing=print", t.Tree)
	if err != nil {
		return nil, err
	}
	var missing []string
	for line := range strings.Lines(out) {
		if oid, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			missing = append(missing, oid)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// fetchObjects asks one remote after another, until one has them.
func (s *space) fetchObjects(ctx context.Context, oids []string) (err error) {
	defer s.hold("fetch")()
	for _, remote := range s.promisors {
		_, err = s.users().run(ctx, place{}, strings.Join(oids, "\n")+"\n", nil, "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags",
			"--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no", "--refmap=", "--filter=blob:none", "--stdin", "--", remote)
		if err == nil {
			return nil
		}
	}
	return err
}

func (s *space) unfetched(t executor.Tree, n int, why string) error {
	return &Refusal{
		fmt.Sprintf("this is a partial clone, which lacks %d of the files that the base %.12s has, and they could not be fetched from %s: %s",
			n, t.Commit, strings.Join(s.promisors, ", "), why),
		fmt.Sprintf("git rev-list --objects --missing=print '%.12s^{tree}' | sed -n 's/^?//p' | git fetch --no-tags --no-write-fetch-head --stdin %s (what ralph tried), or git fetch --refetch --no-filter %[2]s",
			t.Commit, shellword.Quote(s.promisors[0])),
	}
}
