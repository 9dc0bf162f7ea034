package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
)

// maxCommit is what an attempt may add, in bytes.
func (s *space) maxCommit() int64 { return cmp.Or(s.epic.Run.Worktree.MaxCommit, ir.MaxCommit) }

// heavy is a file and its size.
type heavy struct {
	path string
	size int64
}

// tooLarge is what an attempt may not add, in words.
type tooLarge string

func (t tooLarge) Error() string { return string(t) }

// weigh says what is wrong with files that are to be added beside what w.added counts,
// "" if nothing is; the largest come first then.
func (s *space) weigh(w *worktree, files []heavy) tooLarge {
	sum := w.added + total(files)
	if sum <= s.maxCommit() {
		return ""
	}
	slices.SortFunc(files, func(a, b heavy) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path))
	})
	names := lists.Map(files[:min(len(files), shown)], func(f heavy) string { return fmt.Sprintf("%s (%s)", oneLine(f.path, 100), size(f.size)) })
	return tooLarge(fmt.Sprintf("it adds %s, and worktree.max_commit allows %s. The largest files: %s. Leave such files out of the work: write them below ${TMPDIR:-/tmp}, or into a directory that git ignores",
		size(sum), size(s.maxCommit()), strings.Join(names, ", ")))
}

func total(files []heavy) int64 {
	sum := int64(0)
	for _, f := range files {
		sum += f.size
	}
	return sum
}

// asFile is how large a commit or a directory has to be to count as a file does, in bytes.
const asFile = 1 << 20

// newFiles lists the files that objects bring which others, after "--not" in revs, do
// not hold: every version of each, and commits and directories that are as large as
// files. What git cannot list it will refuse to copy.
func (s *space) newFiles(ctx context.Context, env []string, revs string) ([]heavy, error) {
	list, err := s.git.run(ctx, place{}, wanted(revs), env, "rev-list", "--objects", "--stdin")
	if err != nil {
		return nil, ctx.Err()
	}
	return s.sizes(ctx, env, list)
}

// wanted writes revs as rev-list reads them: before 2.42 it knows no --not there.
func wanted(revs string) string {
	wanted, held, _ := strings.Cut(revs, "--not\n")
	for oid := range strings.Lines(held) {
		wanted += "^" + oid
	}
	return wanted
}

// sizes picks, of a list of objects and their names, those that are as large as files.
func (s *space) sizes(ctx context.Context, env []string, list []byte) ([]heavy, error) {
	var out bytes.Buffer
	if err := s.git.pipe(ctx, bytes.NewReader(list), &out, env, "cat-file", "--batch-check=%(objecttype) %(objectsize) %(objectname) %(rest)", "--buffer"); err != nil {
		return nil, err
	}
	var files []heavy
	for line := range strings.Lines(out.String()) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(f) < 4 {
			continue // it lacks the object
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		switch {
		case err != nil:
		case f[0] == "blob":
			files = append(files, heavy{cmp.Or(f[3], fmt.Sprintf("object %.12s", f[2])), n})
		case f[0] == "tree" && n >= asFile:
			files = append(files, heavy{"the names in " + cmp.Or(f[3], "."), n})
		case f[0] == "commit" && n >= asFile:
			files = append(files, heavy{fmt.Sprintf("the message of %.12s", f[2]), n})
		}
	}
	return files, nil
}

// overweight says what is wrong with the size of what an agent committed or staged in a
// linked worktree, which wrote it into the repository itself: the index is then that
// of the commit that the attempt started from, as if nothing had been committed.
func (s *space) overweight(ctx context.Context, e executor.Effect, w *worktree, head string) (string, error) {
	if w.Clone || e.Person {
		return "", nil // of a clone it was weighed before it was copied
	}
	var added []heavy
	var err error
	if head != e.Commit {
		held := e.Commit + "\n"
		for _, in := range e.Inputs { // others have made what a merge brings
			held += in.Commit + "\n"
		}
		if added, err = s.newFiles(ctx, nil, head+"\n--not\n"+held); err != nil {
			return "", err
		}
	}
	wrong := s.weigh(w, added)
	if wrong == "" {
		w.added = total(added)
		if many, err := s.crowdedSince(ctx, head, e.Commit); err != nil {
			return "", err
		} else if many != "" {
			head = e.Commit // its commits are refused
		}
		staged, err := s.stagedFiles(ctx, e, w, head)
		if err != nil {
			return "", err
		}
		if s.weigh(w, staged) == "" {
			w.added += total(staged)
			return "", nil
		}
		e.Commit = head
	}
	_, err = s.git.line(ctx, w.at, "read-tree", e.Commit) // what is in the files is weighed once more
	return string(wrong), err
}

// stagedFiles lists what an agent staged on top of its own commits.
func (s *space) stagedFiles(ctx context.Context, e executor.Effect, w *worktree, head string) ([]heavy, error) {
	if e.Merge || s.asIndexed(w) {
		return nil, nil
	}
	staged, err := s.stagedBlobs(ctx, w, head)
	return lists.Map(staged, func(c altered) heavy { return heavy{c.path, int64(max(s.git.sizeOf(ctx, c.now), 0))} }), err
}

// lighten moves out of a worktree the largest of the files that are not as its index
// has them, until what is left may be added, before git stores any of them.
func (s *space) lighten(ctx context.Context, w *worktree) error {
	files, wrong, err := s.excess(ctx, w)
	if err != nil || wrong == "" {
		return err
	}
	left := w.added + total(files)
	var paths []string
	for _, f := range files {
		if left <= s.maxCommit() {
			break
		}
		paths = append(paths, f.path)
		left -= f.size
	}
	return s.moveOut(w, string(wrong)+". They were moved out of its worktree", paths...)
}

// excess says what is wrong with the size of the files of a worktree that are not as its
// index has them, "" if nothing is; the largest come first then.
func (s *space) excess(ctx context.Context, w *worktree) ([]heavy, tooLarge, error) {
	if all, err := s.holdsMuch(ctx, w); err != nil || !all {
		return nil, "", err
	}
	paths, err := s.git.list(ctx, w.at, "", "ls-files", "-z", "--modified", "--others", "--exclude-standard")
	if err != nil {
		return nil, "", ctx.Err() // the index is broken, and is mended or saved as far as it goes
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	slices.Sort(paths)
	var files []heavy
	for _, path := range slices.Compact(paths) { // one in conflict is listed more than once
		// Behind a directory that became a link git sees somebody else's file.
		if st, err := root.Lstat(filepath.FromSlash(path)); err == nil && st.Mode().IsRegular() {
			files = append(files, heavy{path, st.Size()})
		}
	}
	return files, s.weigh(w, files), nil
}

// holdsMuch reports whether a worktree has more in it, ignored or not, than may be added:
// only then git has to be asked what of it is new.
func (s *space) holdsMuch(ctx context.Context, w *worktree) (bool, error) {
	left := s.maxCommit() - w.added
	err := filepath.WalkDir(w.dir, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case err == nil && d.Type().IsRegular():
			if st, err := d.Info(); err == nil {
				left -= st.Size()
			}
		}
		if left < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return left < 0, err
}

// Room returns a transient executor.Failure if less space is free than
// worktree.min_free, where worktrees are or where ralph keeps its state; nil if there is
// enough. It may be called from any goroutine.
func (s Trees) Room() error {
	for _, dir := range s.disks {
		if err := s.room(dir); err != nil {
			return err
		}
	}
	return nil
}

// disk is the directory on whose file system a worktree is: the first one, beside
// the checkout or in it, of its path.
func (s *space) disk(worktree string) string {
	if rel, err := filepath.Rel(filepath.Dir(s.top), worktree); err == nil {
		return filepath.Join(filepath.Dir(s.top), firstOf(rel))
	}
	return s.top
}

// firstOf returns the first part of a relative path.
func firstOf(rel string) string {
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	return first
}

// room refuses to continue with less free space than the policy asks for.
func (s *space) room(dir string) error {
	floor := s.epic.Run.Worktree.MinFree
	if floor <= 0 {
		return nil
	}
	for {
		if there, err := exists(dir); err != nil || there {
			break
		}
		dir = filepath.Dir(dir)
	}
	have, err := s.free(dir)
	if errors.Is(err, errors.ErrUnsupported) { // the floor does not apply
		return nil
	}
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if have < floor {
		return &executor.Failure{Class: executor.FailTransient, Err: fmt.Errorf(
			"%s are free in %s and worktree.min_free requires %s: make room (ralph waits and tries again), or lower min_free", size(have), dir, size(floor))}
	}
	return nil
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d bytes", n)
}
