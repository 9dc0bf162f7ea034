package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// stage is addAll of what an agent left. What git refuses, and what is more than may
// be added, is moved out of the worktree, which is on record (see moved).
func (s *space) stage(ctx context.Context, w *worktree, at place) error {
	if err := s.lighten(ctx, w); err != nil {
		return err
	}
	for range maxUnfit {
		path, why, err := s.add(ctx, w, at)
		if err == nil || path == "" {
			return err
		}
		if merr := s.moveOut(w, why+"; it was moved out of its worktree", path); merr != nil {
			return errors.Join(err, merr)
		}
	}
	return fmt.Errorf("git refuses more than %d paths of %s", maxUnfit, w.dir)
}

// errUnfit says that stage would move something out of a worktree.
var errUnfit = errors.New("a commit cannot hold all of it")

// fits is stage of who only looks: it moves nothing.
func (s *space) fits(ctx context.Context, w *worktree, at place) error {
	if _, wrong, err := s.excess(ctx, w); err != nil || wrong != "" {
		return cmp.Or(err, errUnfit)
	}
	path, _, err := s.add(ctx, w, at)
	if path != "" {
		return errUnfit
	}
	return err
}

// add is addAll of files that their owner may not read, too. If git refuses a path it
// is returned, and what to do instead.
func (s *space) add(ctx context.Context, w *worktree, at place) (path, why string, err error) {
	err = s.addAll(ctx, at)
	locked := closed(err)
	if locked != "" && unlock(filepath.Join(w.dir, filepath.FromSlash(locked)), 0o400) {
		unlockFiles(w.dir) // there may be thousands
		err = s.addAll(ctx, at)
		locked = closed(err)
	}
	switch {
	case err == nil || locked == "" && !theirs(err):
		return "", "", err
	case locked != "":
		return locked, fmt.Sprintf("%s may not be read, as it belongs to somebody else: make it as the user, or where git ignores it", oneLine(locked, 200)), err
	}
	path, why = s.unfit(ctx, at, err)
	return path, why, err
}

// maxUnfit bounds how many paths that git refuses are moved out of a worktree.
const maxUnfit = 100

var (
	invalidPath = lazyregexp.New(`(?m)^error: invalid path '`)
	encoding    = lazyregexp.New(`(?ms)^(?:fatal|error): (BOM is (?:required|prohibited) in '.+' if encoded as .+|failed to encode '.+' from .+|encoding '.+' from .+ and back is not the same)$`)
)

// unfit finds which path of a worktree git refused to add, and says what to do instead;
// "" if it was something else. What git says only points at one of the paths that are
// there to be added: a name can hold lines that read as if git had said them.
func (s *space) unfit(ctx context.Context, at place, err error) (string, string) {
	var g *gitError
	if !errors.As(err, &g) {
		return "", ""
	}
	said := ""
	switch m := encoding.FindStringSubmatch(g.stderr); {
	case m != nil:
		said = m[1]
	case !invalidPath.MatchString(g.stderr):
		return "", ""
	}
	paths, err := s.git.list(ctx, at, "", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return "", ""
	}
	named := ""
	for _, p := range paths {
		parts := strings.Split(p, "/")
		if i := slices.IndexFunc(parts, looksLikeGit); i >= 0 {
			named, said = path.Join(parts[:i+1]...), ""
			break
		}
		if len(p) > len(named) && strings.Contains(g.stderr, "'"+asGitSays(p)+"'") {
			named = p
		}
	}
	switch {
	case named == "":
		return "", ""
	case said != "":
		return named, fmt.Sprintf("git cannot store %s as .gitattributes says (working-tree-encoding): %s. Write the file in that encoding, or leave the attribute out", oneLine(named, 200), oneLine(said, 200))
	}
	return named, fmt.Sprintf("%s has a name that git keeps for itself on some systems, so that no commit can hold it: choose another name", oneLine(named, 200))
}

// asGitSays is a path as it stands in git's messages.
func asGitSays(path string) string {
	b := []byte(path) // which may be no UTF-8
	for i, c := range b {
		if (c < ' ' || c == 0x7f) && c != '\t' && c != '\n' {
			b[i] = '?'
		}
	}
	return string(b)
}

// looksLikeGit reports whether a name is .git to some file system: case, short names,
// trailing dots and blanks, streams and characters that do not show make no
// difference there.
func looksLikeGit(name string) bool {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name))
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, `\`)
	name = strings.TrimRight(name, " .")
	return name == ".git" || name == "git~1"
}
