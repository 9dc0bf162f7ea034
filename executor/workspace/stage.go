package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/regular"
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
	if locked != "" && unlockIn(w.dir, filepath.FromSlash(locked), 0o400) {
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
	return named, fmt.Sprintf("%s has a name that git reserves on some systems, so that no commit can contain it: choose another name", oneLine(named, 200))
}

// asGitSays is a path as it is in git's messages.
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

// addAll stages all that is in a worktree, as `git add --all` does. Of submodules
// it only reads where their HEAD is: to see whether files in them changed, git
// would run another git there, with settings that an agent can write.
func (s *space) addAll(ctx context.Context, at place) error {
	links, err := s.gitlinks(ctx, at)
	if err != nil {
		return err
	}
	if len(links) == 0 {
		_, err := s.git.line(ctx, at, "add", "--all", "--", ".")
		return err
	}
	var paths, heads strings.Builder
	paths.WriteString(".\x00")
	for _, p := range links {
		if isDir(filepath.Join(at.workTree, p)) { // else it was removed, or is a file now
			paths.WriteString(":(exclude,literal,top)" + p + "\x00")
			heads.WriteString(p + "\x00")
		}
	}
	if _, err := s.git.run(ctx, at, paths.String(), nil, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return err
	}
	if heads.Len() == 0 {
		return nil
	}
	_, err = s.git.run(ctx, at, heads.String(), nil, "update-index", "--add", "-z", "--stdin")
	return err
}

// gitlinks lists the submodules that an index has. git is asked only if the file
// may hold one: each entry has its mode in four bytes.
func (s *space) gitlinks(ctx context.Context, at place) ([]string, error) {
	index := cmp.Or(at.index, filepath.Join(at.gitDir, "index"))
	b, err := regular.ReadFile(index)
	if err != nil || !bytes.Contains(b, []byte{0, 0, 0xE0, 0}) && !bytes.Contains(b, []byte("link")) { // "link": its entries are in another file
		return nil, nil // of one that cannot be read, git says why
	}
	out, err := s.git.line(ctx, at, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var links []string
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(meta, "160000 ") && (len(links) == 0 || links[len(links)-1] != path) {
			links = append(links, path)
		}
	}
	return links, nil
}

// unnest turns repositories that were made inside the worktree into plain
// directories: a commit could hold only their names, and what is in them would
// be lost with the next clean. Their .git is moved out of the worktree. unstaged says
// that nothing was put into the index.
func (s *space) unnest(ctx context.Context, w *worktree, unstaged bool) error {
	var staged []string
	if !unstaged {
		var err error
		if staged, err = s.staged(ctx, w); err != nil {
			return err
		}
	}
	for _, p := range staged {
		if st, err := os.Lstat(filepath.Join(w.dir, p, ".git")); err != nil || !st.IsDir() {
			continue // a submodule, which has a file there
		}
		if _, err := s.git.line(ctx, w.at, "rm", "--cached", "--quiet", "-f", "--", ":(literal)"+p); err != nil {
			return err
		}
	}
	for { // one may lie inside another
		others, err := s.git.list(ctx, w.at, "", "ls-files", "--others", "--exclude-standard", "-z")
		if err != nil {
			return err
		}
		more := false
		for _, p := range others {
			dir, nested := strings.CutSuffix(p, "/")
			if !nested {
				continue
			}
			why := oneLine(dir, 200) + " was a git repository of its own, which a commit cannot contain; its files are collected, its .git was moved out of its worktree"
			if err := s.moveOut(w, why, dir+"/.git"); err != nil {
				return err
			}
			more = true
		}
		if !more {
			return nil
		}
	}
}

// staged lists the repositories that were put into the index since ralph left
// the worktree.
func (s *space) staged(ctx context.Context, w *worktree) ([]string, error) {
	if w.Left == "" {
		return nil, nil
	}
	out, err := s.git.line(ctx, w.at, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none", w.Left)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	var paths []string
	for i := 0; i+1 < len(fields); i += 2 {
		if meta := strings.Fields(fields[i]); len(meta) == 5 && meta[0] != ":160000" && meta[1] == "160000" {
			paths = append(paths, fields[i+1])
		}
	}
	return paths, nil
}
