package workspace

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// stashRef is where git keeps what people stash.
const stashRef = "refs/stash"

// stashed is an entry of git stash list.
type stashed struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// stashes lists what is stashed, oldest first; never nil.
func (w *watch) stashes() []stashed {
	list, err := w.s.readStash()
	if err != nil {
		return []stashed{}
	}
	return list
}

// stashesOf lists what is stashed in a repository whose refs/stash is at a commit, ""
// if there is none.
func stashesOf(common, at string) []stashed {
	list := []stashed{}
	if b, err := regular.ReadMax(filepath.Join(common, "logs", stashRef), maxConfig); err == nil && at != "" {
		for line := range strings.Lines(string(b)) {
			who, text, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if f := strings.Fields(who); len(f) > 1 && isOid(f[1]) {
				list = append(list, stashed{f[1], oneLine(text, 100)})
			}
		}
	}
	if isOid(at) && !slices.ContainsFunc(list, func(s stashed) bool { return s.ID == at }) {
		list = append(list, stashed{ID: at})
	}
	return list
}

// stashWords names what is stashed in one value, in whatever order.
func stashWords(list []stashed) string {
	ids := lists.Map(list, func(s stashed) string { return s.ID[:12] })
	slices.Sort(ids)
	switch len(ids) {
	case 0:
		return "empty"
	case 1:
		return "1 stash (" + ids[0] + ")"
	}
	return fmt.Sprintf("%d stashes (%s)", len(ids), listed(ids))
}

// compareStash says what was stashed, and what is no longer. Nothing that is stashed
// is dropped by a command: it may be the only copy.
func (was *checkout) compareStash(now *checkout) []executor.Sighting {
	made, gone := without(now.Stash, was.Stash), without(was.Stash, now.Stash)
	if len(made) == 0 && len(gone) == 0 {
		return nil
	}
	s := executor.Sighting{Thing: executor.ThingOther, Drift: executor.Drift{
		What: stashRef, Was: stashWords(was.Stash), Is: stashWords(now.Stash), Look: "git stash list",
	}}
	if len(made) > 0 {
		s.Is += "; stashed meanwhile: " + stashNames(made)
	}
	switch {
	case len(gone) > 0:
		s.Is += "; dropped or popped: " + stashNames(gone)
		if len(gone) <= shown {
			s.Back = strings.Join(lists.Map(gone, stashed.store), " && ")
		}
	case len(made) == 1:
		s.Look = "git stash show --patch --include-untracked " + made[0].ID
		s.Back = "git stash apply " + made[0].ID
	}
	s.Is = clip(s.Is)
	return []executor.Sighting{s}
}

// store is the command that stashes an entry again.
func (s stashed) store() string {
	if s.Text == "" {
		return "git stash store " + s.ID
	}
	return "git stash store -m " + shellword.Quote(s.Text) + " " + s.ID
}

// sightStash says around an attempt what it finds of the stash, once. Finish says it
// again only if more has changed by then.
func (w *watch) sightStash(out []executor.Sighting) []executor.Sighting {
	if w.checkout == nil || w.checkout.Stash == nil {
		return out
	}
	list := w.checkout.compareStash(&checkout{Stash: w.stashes()})
	for i := range list {
		if list[i].Drift.ID() == w.saidStash {
			return out
		}
		w.saidStash = list[i].Drift.ID()
	}
	return append(out, list...)
}

// without lists what of a is not in b.
func without(a, b []stashed) []stashed {
	return slices.DeleteFunc(slices.Clone(a), func(s stashed) bool {
		return slices.ContainsFunc(b, func(t stashed) bool { return t.ID == s.ID })
	})
}

func stashNames(list []stashed) string {
	var names []string
	for _, s := range list {
		name := s.ID[:12]
		if s.Text != "" {
			name += " “" + s.Text + "”"
		}
		names = append(names, name)
	}
	return listed(names)
}
