package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"

	"github.com/ralph-compiler/ralph/internal/shellword"
)

// complete refuses a repository that has no commit yet, and one whose objects are not
// all there: to commit anew what is in the checkout would bury what was lost.
func (s *repository) complete(ctx context.Context) error {
	for _, name := range []string{"HEAD^{commit}", "HEAD^{tree}"} {
		found, err := s.git.ref(ctx, name) // it ends without a word on a pack that is damaged
		if found != "" && err == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at, oid, rerr := s.headAt()
		switch {
		case rerr != nil:
			return rerr
		case oid == "" && err != nil:
			return err
		case oid == "":
			return s.unborn(at)
		}
		what := fmt.Sprintf("%s is at the commit %.12s, which", at, oid)
		if name == "HEAD^{tree}" {
			what = fmt.Sprintf("%s is at the commit %.12s, whose tree", at, oid)
		}
		return s.lost(what)
	}
	return nil
}

// unborn is the refusal of a branch without a commit. One that had some was lost, or is
// about to begin anew.
func (s *repository) unborn(branch string) error {
	b, err := regular.ReadMax(filepath.Join(s.git.common, "logs", "refs", "heads", filepath.FromSlash(branch)), maxConfig)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if f := strings.Fields(lines[len(lines)-1]); err == nil && len(f) > 1 && isOid(f[1]) {
		return &Refusal{
			fmt.Sprintf("the branch %s is gone; it was at the commit %.12s", branch, f[1]),
			"git update-ref " + shellword.Quote("refs/heads/"+branch) + " " + f[1],
		}
	}
	return &Refusal{"the repository has no commit yet", "git add -A && git commit -m 'first commit'"}
}

// headAt reads where HEAD of the user's checkout is, from git's own files.
func (s *repository) headAt() (at, oid string, err error) {
	b, err := regular.ReadMax(filepath.Join(s.gitDir(), "HEAD"), maxRef)
	if err != nil {
		return "", "", err
	}
	text := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		return "HEAD", text, nil
	}
	oid, err = s.git.refFile(ref)
	return strings.TrimPrefix(ref, "refs/heads/"), oid, err
}

// lost is the refusal of a repository that lacks an object, or cannot read it.
func (s *repository) lost(what string) error {
	objects := filepath.Join(s.git.common, "objects")
	b, err := regular.ReadMax(filepath.Join(objects, "info/alternates"), maxConfig)
	for line := range strings.Lines(string(b)) {
		dir := strings.TrimSpace(line)
		if dir == "" || strings.HasPrefix(dir, "#") {
			continue
		}
		dir = from(objects, dir)
		if _, serr := os.Stat(dir); err == nil && serr != nil {
			return &Refusal{
				fmt.Sprintf("%s cannot be read: the repository takes objects from %s, which is not there", what, dir),
				"put that directory back, or name where it is now in " + filepath.Join(objects, "info/alternates"),
			}
		}
	}
	return &Refusal{
		what + " is missing or damaged: objects are lost. Commit nothing before they are back",
		"git fsck --full (names what is missing); bring it back from a remote or another clone (git fetch), or from a backup of " + objects,
	}
}
