package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// stagedBlobs lists the files that the index of a worktree has and a commit has not.
func (s *space) stagedBlobs(ctx context.Context, w *worktree, commit string) (staged []altered, err error) {
	out, err := s.git.line(ctx, w.at, "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", commit)
	if err != nil {
		return nil, ctx.Err() // a broken index is mended, or saved as far as it goes, later
	}
	eachChange(out, func(c altered) {
		if c.mode != submoduleMode && isOid(c.now) && !none(c.now) {
			staged = append(staged, c)
		}
	})
	return staged, nil
}

// importFrom copies the commit that HEAD of a clone names, what it needs, and what
// is staged, into the user's repository: object by object, each checked. What was
// staged may be forgotten if it is broken.
func (s *space) importFrom(ctx context.Context, w *worktree, head string) error {
	if err := s.takeCommit(ctx, w, head); err != nil || s.asIndexed(w) {
		return err
	}
	if err := s.unfold(ctx, w); err != nil {
		return err
	}
	staged, err := s.stagedBlobs(ctx, w, w.Left) // not HEAD, of which git would unfold what no one has looked at
	if err != nil {
		return err
	}
	lacks, err := s.git.lacks(ctx, lists.Map(staged, func(c altered) string { return c.now }))
	if err != nil || len(lacks) == 0 {
		return err
	}
	err = s.copyObjects(ctx, w, lacks...)
	if err == nil || !theirs(err) {
		return err
	}
	if err := os.Remove(filepath.Join(w.at.gitDir, "index")); err != nil || head == "" || w.refused != "" {
		return err
	}
	_, err = s.git.line(ctx, w.at, "read-tree", head)
	return err
}

// asIndexed reports whether the index of a worktree is unchanged since ralph wrote it.
func (s *space) asIndexed(w *worktree) bool { return w.Index != "" && w.Index == indexMark(w) }

// takeCommit copies a commit of a clone and what it needs. If that cannot be done for
// what the clone holds, w.refused says why.
func (s *space) takeCommit(ctx context.Context, w *worktree, head string) error {
	if head == "" || head == w.Left {
		return nil
	}
	have, err := s.git.ref(ctx, head+"^{commit}")
	if err != nil || have != "" {
		return err
	}
	if err := s.copyObjects(ctx, w, head); err != nil {
		if !theirs(err) {
			return err
		}
		w.refused = "its commits cannot be taken: " + oneLine(err.Error(), 600)
	} else if _, err := s.git.commitHeader(ctx, head); err != nil {
		w.refused = "HEAD of its worktree names no commit"
	} else {
		w.checked = head
	}
	return nil
}

// theirs reports whether git failed because of what it was given, and not for
// want of space or the like.
func theirs(err error) bool {
	var g *gitError
	var large tooLarge
	var not notTaken
	return errors.As(err, &large) || errors.As(err, &not) || errors.As(err, &g) &&
		!says(g.stderr, "No space left", "Disk quota", "Input/output error", "Read-only file system", "Permission denied", "out of memory", "signal")
}

// few is the number of objects up to which they are not kept as a pack.
const few = 100

// copyObjects copies objects of a clone, and all that they need and that no ref
// which shows in it has, into the user's repository, by way of a pack: git names each
// object by what it holds, and refuses those that are broken or lack something.
func (s *space) copyObjects(ctx context.Context, w *worktree, want ...string) error {
	revs, err := s.newRevs(w, want)
	if err != nil {
		return err
	}
	if spec, err := s.confined(w, HandOver); err != nil {
		return err
	} else if spec != nil {
		return s.handOver(ctx, w, spec, revs)
	}
	tmp, err := os.CreateTemp(s.state, "import-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	env := []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotedPath(filepath.Join(w.at.gitDir, "objects"))}
	if added, err := s.newFiles(ctx, env, revs); err != nil {
		return err
	} else if wrong := s.weigh(w, added); wrong != "" {
		return wrong
	} else {
		w.added += total(added)
	}
	if err := s.git.pipe(ctx, strings.NewReader(revs), tmp, append(env, keepMemory...), "pack-objects", "--revs", "--stdout", "-q"); err != nil {
		return err
	}
	count, err := packed(tmp)
	if err != nil || count == 0 {
		return err
	}
	args := []string{"unpack-objects", "--strict", "-q"}
	if count > few {
		args = []string{"index-pack", "--strict", "--stdin"}
	}
	return s.git.pipe(ctx, bufio.NewReader(tmp), nil, keepMemory, args...)
}

// newRevs names objects of a clone, and after "--not" what it has from the user's
// repository, as pack-objects reads it.
func (s *space) newRevs(w *worktree, want []string) (string, error) {
	refs, err := s.shows(w.node)
	if err != nil {
		return "", err
	}
	have := map[string]bool{w.Left: true}
	for _, oid := range append(slices.Collect(maps.Values(refs)), w.Heads...) {
		have[oid] = isOid(oid)
	}
	var in strings.Builder
	for _, oid := range want {
		in.WriteString(oid + "\n")
	}
	in.WriteString("--not\n")
	for oid, is := range have {
		if is && !slices.Contains(want, oid) {
			in.WriteString(oid + "\n")
		}
	}
	return in.String(), nil
}

// packed returns how many objects a pack has, and leaves it at its beginning.
func packed(f *os.File) (int, error) {
	var h [12]byte
	if _, err := f.ReadAt(h[:], 0); err != nil {
		return 0, fmt.Errorf("git pack-objects wrote no pack: %w", err)
	}
	_, err := f.Seek(0, 0)
	return int(h[8])<<24 | int(h[9])<<16 | int(h[10])<<8 | int(h[11]), err
}

// quotedPath writes a path for a list of paths that is separated by colons.
func quotedPath(path string) string {
	if !strings.ContainsAny(path, ":\"\n") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
