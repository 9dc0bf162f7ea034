package workspace

import (
	"strings"

	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Shadows returns what git takes a branch's short name for before the branch itself:
// a file of that name in the git directory, a ref below refs/ and a tag, in the
// order of gitrevisions(7). Where there is one, "git merge NAME" merges that.
func (s Checkout) Shadows(branch string) []string { return s.git.shadows(branch) }

func (g *git) shadows(branch string) (by []string) {
	for _, ref := range []string{branch, "refs/" + branch, "refs/tags/" + branch} {
		at, err := g.refFile(ref)
		if err == nil && (isOid(at) || strings.HasPrefix(at, "ref: ")) { // else git passes it over
			by = append(by, ref)
		}
	}
	return by
}

// typed is the name of a branch for a command that a person types: its whole name
// where git takes the short one for something else.
func (g *git) typed(branch string) string {
	if len(g.shadows(branch)) > 0 {
		branch = "refs/heads/" + branch
	}
	return shellword.Quote(branch)
}
