package workspace

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
	"github.com/ralph-compiler/ralph/ir"
)

// readRefs lists the refs below some directories ("refs/heads") from git's own
// files, without a process. A ref that is symbolic is given as what it says.
func (g *git) readRefs(under ...string) (map[string]string, error) {
	return g.refsBut(func(string) bool { return false }, under...)
}

// refsBut is readRefs without the refs that skip names: none of their files is
// opened. A directory ends with a slash.
func (g *git) refsBut(skip func(ref string) bool, under ...string) (map[string]string, error) {
	refs := map[string]string{}
	below := func(ref string) bool {
		return slices.ContainsFunc(under, func(u string) bool { return strings.HasPrefix(ref, u+"/") })
	}
	// A git that packs them writes the file first and removes the loose ones then: who
	// looks the other way round misses what it packs meanwhile.
	for _, u := range under {
		if err := g.loose(refs, u, skip); err != nil {
			return nil, err
		}
	}
	f, err := regular.Open(filepath.Join(g.common, "packed-refs"))
	if err == nil {
		in := bufio.NewScanner(f)
		for in.Scan() {
			oid, ref, ok := strings.Cut(in.Text(), " ")
			if _, loose := refs[ref]; ok && !loose && below(ref) && !skip(ref) {
				refs[ref] = oid
			}
		}
		err = errors.Join(in.Err(), f.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return refs, nil
}

// refFile reads the commit of a ref from git's own files, "" if there is none.
func (g *git) refFile(ref string) (string, error) {
	b, err := regular.ReadMax(filepath.Join(g.common, filepath.FromSlash(ref)), maxRef)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	b, err = regular.ReadMax(filepath.Join(g.common, "packed-refs"), maxPacked)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if oid, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return oid, nil
		}
	}
	return "", nil
}

// headOf reads HEAD of a worktree: the ref that it names ("" if it is detached)
// and the commit ("" if there is none).
func (s *space) headOf(w *worktree) (ref, commit string, err error) {
	b, err := regular.ReadFile(filepath.Join(w.at.gitDir, "HEAD"))
	if err != nil {
		return "", "", err
	}
	text := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		return "", text, nil
	}
	return ref, "", nil
}

// indexMark tells whether anything has written the index of a worktree: git
// replaces the file, but others can also write into it. Its time counts because
// git takes what is older for unchanged.
func indexMark(w *worktree) string {
	f, err := regular.Open(filepath.Join(w.at.gitDir, "index"))
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%d %x", st.ModTime().UnixNano(), sum.Sum(nil))
}

// refDirs remembers directories of loose refs. git changes a ref by renaming a file, so
// that a directory which has not changed holds what it held. What others write into the
// file of a ref, in place, the watch sees.
type refDirs struct {
	mu   sync.Mutex // guards what is below, also of the entries
	dirs map[string]refDir
	read int // files, so far
}

type refDir struct {
	mark    stamp
	entries []refEntry
}

type refEntry struct {
	name string
	dir  bool
	at   string // what the file says; "": it was not read
}

// loose adds the loose refs below a directory ("refs/heads") to refs.
func (g *git) loose(refs map[string]string, under string, skip func(ref string) bool) error {
	dirs := g.dirs
	if dirs == nil || strings.HasPrefix(under, "refs/ralph/") { // of these each node has its own, which are looked at once
		dirs = &refDirs{}
	}
	dirs.mu.Lock()
	defer dirs.mu.Unlock()
	return dirs.walk(refs, g.common, under, skip)
}

func (d *refDirs) walk(refs map[string]string, common, under string, skip func(ref string) bool) error {
	path := filepath.Join(common, filepath.FromSlash(under))
	entries, err := d.list(path)
	if errors.Is(err, fs.ErrNotExist) { // moved while we look: it is in the other place
		return nil
	}
	if err != nil {
		return err
	}
	for e := range lists.Refs(entries) {
		ref := under + "/" + e.name
		if e.dir {
			if !skip(ref + "/") {
				err = d.walk(refs, common, ref, skip)
			}
		} else if !skip(ref) {
			if e.at == "" {
				e.at, err = readRef(filepath.Join(path, e.name))
				d.read++
			}
			if e.at != "" {
				refs[ref] = e.at
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRef reads the file of a ref, "" if it is gone.
func readRef(path string) (string, error) {
	b, err := regular.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// list returns what is in a directory. Its entries are the same as long as it does not
// change.
func (d *refDirs) list(path string) ([]refEntry, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	mark := stampOf(st)
	if was, ok := d.dirs[path]; ok && was.mark == mark {
		return was.entries, nil
	}
	delete(d.dirs, path)
	found, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(f os.DirEntry) bool { return strings.HasSuffix(f.Name(), ".lock") })
	entries := lists.Map(found, func(f os.DirEntry) refEntry { return refEntry{name: f.Name(), dir: f.IsDir()} })
	if !mark.fresh() {
		if d.dirs == nil {
			d.dirs = map[string]refDir{}
		}
		d.dirs[path] = refDir{mark, entries}
	}
	return entries, nil
}

// Shadows returns what git prefers to a branch when given its short name: a file of that
// name in the git directory, a ref below refs/ and a tag, in the order of
// gitrevisions(7). If there is one, "git merge NAME" merges that.
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

// shows returns the branches, remote branches and tags that the clone of a node gets,
// and where they are. Of the epic's own these are the branches of what the node needs
// and of all results together: with those of every node each would cost as much as
// there are nodes. Where a person works, or all results are joined, all of them show.
func (s *space) shows(n *ir.Node) (map[string]string, error) {
	under := []string{"refs/heads", "refs/tags", "refs/remotes"}
	if n == nil || n.ID == executor.Integration || n.Kind == ir.Manual {
		return s.git.readRefs(under...)
	}
	sum := s.sumRef()
	refs, err := s.git.refsBut(func(ref string) bool {
		branch := branchRef(ref)
		return s.branches[branch] && branch != sum
	}, under...)
	if err != nil {
		return nil, err
	}
	needed, err := s.needed(n)
	maps.Copy(refs, needed)
	return refs, err
}

// needed returns the branches of the nodes that a node needs. One without a branch was
// skipped, or is done by the plan's word: what it needs itself counts in its place.
func (s *space) needed(n *ir.Node) (map[string]string, error) {
	refs := map[string]string{}
	seen := map[ir.Key]bool{}
	for todo := []*ir.Node{n}; len(todo) > 0; todo = todo[1:] {
		for _, e := range todo[0].After {
			dep := s.byKey[e.Key]
			if e.Type != ir.Blocks || dep == nil || seen[e.Key] {
				continue
			}
			seen[e.Key] = true
			ref := "refs/heads/" + dep.Git.Branch
			at, err := s.git.refFile(ref)
			switch {
			case err != nil:
				return nil, err
			case at == "":
				todo = append(todo, dep)
			default:
				refs[ref] = at
			}
		}
	}
	return refs, nil
}
