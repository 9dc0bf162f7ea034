package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// A worktree of the layout "clone" is a repository of its own, as `git clone
// --shared` makes one, without a remote: it reads the user's objects by way of
// objects/info/alternates and writes its own. Agents and gates see only that one.
// ralph's own calls take from it no more than what a linked worktree has of its
// own (HEAD and its branches, the index, MERGE_HEAD): configuration and objects are
// the user's repository's (GIT_COMMON_DIR). What it holds is brought over, checked,
// by take, before ralph looks at the worktree; the node's branch in the user's
// repository moves only when ralph collects or resets (give).

// clones reports whether new worktrees are made as shared clones.
func (s *Space) clones() bool {
	return s.epic.Run.Worktree.Layout == "clone" || s.epic.Run.Worktree.Submodules
}

const (
	cloneMark = "ralph"      // the file in a clone's .git that says whose it is
	halfClone = ".git.ralph" // what .git is called while it is being made
)

func (s *Space) markOf(w *worktree) string { return s.git.common + "\n" + w.name + "\n" }

// ownClone reports whether there is a clone of ralph's at the worktree's place.
func (s *Space) ownClone(w *worktree) bool {
	return isDir(filepath.Join(w.dir, ".git")) && fileHolds(filepath.Join(w.dir, ".git", cloneMark), s.markOf(w))
}

func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

// fileHolds reports whether path is a regular file with this text.
func fileHolds(path, text string) bool {
	st, err := os.Lstat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() != int64(len(text)) {
		return false
	}
	b, err := regular.ReadFile(path)
	return err == nil && string(b) == text
}

func (s *Space) alternates() string { return filepath.Join(s.git.common, "objects") + "\n" }

// cloneIntact reports whether a clone's .git is safe to be looked at: it is the
// one that ralph made, reads no other repository's objects, and nothing in it
// leads out of it.
func (s *Space) cloneIntact(w *worktree) bool {
	gitDir := filepath.Join(w.dir, ".git")
	if !s.ownClone(w) || !fileHolds(filepath.Join(gitDir, "objects/info/alternates"), s.alternates()) || !plain(gitDir) {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if !isDir(filepath.Join(gitDir, name)) {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(gitDir, "HEAD"))
	if there, cerr := exists(filepath.Join(gitDir, "commondir")); cerr != nil || there {
		return false
	}
	return err == nil
}

// plain reports whether a tree holds nothing but directories and regular files.
func plain(dir string) bool {
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			err = fs.ErrInvalid
		}
		return err
	}) == nil
}

// build makes the .git of a clone, whose own branch stands where the user's
// repository has it. It has the other refs that show as they are now, the settings
// that hold in every call, and no remote.
func (s *Space) build(ctx context.Context, w *worktree, commit string) error {
	gitDir := filepath.Join(w.dir, halfClone)
	if err := os.RemoveAll(gitDir); err != nil {
		return err
	}
	if err := os.MkdirAll(gitDir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	head := commit
	if w.ref != "" {
		head = "ref: " + w.ref
		at, err := s.git.ref(ctx, w.ref)
		if err != nil {
			return err
		}
		if at != "" {
			commit = at
		}
	}
	refs, err := s.shows(w.node)
	if err != nil {
		return err
	}
	var packed strings.Builder
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if ref != w.ref && isOid(refs[ref]) {
			packed.WriteString(refs[ref] + " " + ref + "\n")
		}
	}
	type file struct{ name, text string }
	files := []file{
		{cloneMark, s.markOf(w)},
		{"objects/info/alternates", s.alternates()},
		{"config", s.cloneConfig()},
		{"packed-refs", packed.String()},
	}
	for _, name := range []string{"shallow", "info/exclude", "info/attributes"} {
		if b, err := regular.ReadFile(filepath.Join(s.git.common, filepath.FromSlash(name))); err == nil {
			files = append(files, file{name, string(b)})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if w.ref != "" {
		files = append(files, file{w.ref, commit + "\n"})
	}
	for _, f := range append(files, file{"HEAD", head + "\n"}) {
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(f.name)), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(filepath.FromSlash(f.name), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	if err := root.MkdirAll(filepath.FromSlash("refs/heads"), 0o755); err != nil {
		return err
	}
	return os.Rename(gitDir, filepath.Join(w.dir, ".git")) // from now on it is a repository
}

func isOid(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// cloneConfig is the configuration of a clone: who commits, and what of the
// user's settings decides how files look. ralph itself never reads it.
func (s *Space) cloneConfig() string {
	var b strings.Builder
	version := 0
	if s.carried["extensions.objectformat"] != "" {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tlogallrefupdates = true\n", version)
	for _, key := range slices.Sorted(maps.Keys(s.carried)) {
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		section := "[" + key[:first]
		if last > first {
			section += ` "` + key[first+1:last] + `"`
		}
		fmt.Fprintf(&b, "%s]\n\t%s = \"%s\"\n", section, key[last+1:], quoteConfig(s.carried[key]))
	}
	return b.String()
}

// mendClone makes .git of a clone sound without reading more of it than it has to.
// What an agent put in its place is kept in ralph's state.
func (s *Space) mendClone(ctx context.Context, w *worktree, commit string) error {
	gitDir := w.at.gitDir
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	if !s.cloneIntact(w) {
		if there, err := exists(gitDir); err != nil {
			return err
		} else if there {
			if err := s.moveOut(w, gitReplaced, ".git"); err != nil {
				return err
			}
		}
		if w.Left != "" {
			commit = w.Left
		}
		if err := s.build(ctx, w, commit); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(gitDir, "config.worktree")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.mendHead(w); err != nil {
		return err
	}
	return s.unlockTree(w)
}

// take brings what was committed or staged in a clone into the user's repository,
// so that ralph can look at the worktree. If that cannot be done, w.refused says
// why, and the clone stands at the commit that ralph left there; its files stay.
func (s *Space) take(ctx context.Context, w *worktree) error {
	if !w.Clone || w.Left == "" {
		return nil
	}
	_, head, err := s.cloneHead(w)
	if err != nil {
		return err
	}
	if err := s.importFrom(ctx, w, head); err != nil {
		return err
	}
	if w.refused != "" {
		if err := s.point(w, w.Left); err != nil {
			return err
		}
	}
	there, err := exists(filepath.Join(w.at.gitDir, "index"))
	if err == nil && !there {
		_, err = s.git.line(ctx, w.at, "read-tree", w.Left)
	}
	return err
}

// cloneHead reads where HEAD of a clone is: the ref that it names, "" if it is
// detached, and the commit, "" if there is none.
func (s *Space) cloneHead(w *worktree) (on, commit string, err error) {
	on, commit, err = s.headOf(w)
	if err == nil && on != "" && filepath.IsLocal(filepath.FromSlash(strings.TrimPrefix(on, "refs/"))) {
		var refs map[string]string
		refs, err = (&git{common: w.at.gitDir}).readRefs(filepath.ToSlash(filepath.Dir(on)))
		commit = refs[on]
	}
	if !isOid(commit) {
		commit = ""
	}
	return on, commit, err
}

// give makes the node's branch of the user's repository the same as that of a
// clone that was put at a commit. Commits that somebody else put on it are pinned
// first.
func (s *Space) give(ctx context.Context, w *worktree, commit string, seq int64) error {
	if !w.Clone || w.ref == "" {
		return nil
	}
	tip, err := s.git.ref(ctx, w.ref)
	if err != nil || tip == commit {
		return err
	}
	moves := []move{{w.ref, tip, commit}}
	if tip != "" && tip != w.Left {
		has, err := s.git.ancestor(ctx, tip, commit)
		if err != nil {
			return err
		}
		pin := s.nodeRef(w.node.ID, fmt.Sprintf("saved/%d-branch", seq))
		if old, err := s.git.ref(ctx, pin); err != nil {
			return err
		} else if !has {
			moves = append(moves, move{pin, old, tip})
		}
	}
	return s.git.update(ctx, "reset", moves...)
}

// point puts HEAD of a clone at a commit, on the node's branch if it has one. It
// needs nothing of what is there.
func (s *Space) point(w *worktree, commit string) error {
	root, err := os.OpenRoot(w.at.gitDir)
	if err != nil {
		return err
	}
	defer root.Close()
	write := func(name, text string) error {
		name = filepath.FromSlash(name)
		_ = root.Remove(name + ".lock") // mostly there is none
		err := root.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = root.WriteFile(name+".ralph", []byte(text+"\n"), 0o644)
		}
		if err == nil {
			err = root.Rename(name+".ralph", name)
		}
		return err
	}
	if w.ref == "" {
		return write("HEAD", commit)
	}
	if err := write(w.ref, commit); err != nil {
		// Branches of the agent's are in the way of a name that needs to be.
		if err := root.RemoveAll(filepath.FromSlash("refs/heads")); err != nil {
			return err
		}
		if err := write(w.ref, commit); err != nil {
			return fmt.Errorf("tell %s where its branch stands: %w", w.dir, err)
		}
	}
	return write("HEAD", "ref: "+w.ref)
}

// stagedBlobs lists files in the index of a clone that the user's repository does
// not have.
func (s *Space) stagedBlobs(ctx context.Context, w *worktree) ([]string, error) {
	out, err := s.git.line(ctx, w.at, "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", w.Left)
	if err != nil {
		return nil, ctx.Err() // a broken index is mended, or saved as far as it goes, later
	}
	var blobs []string
	for entry := range strings.SplitSeq(out, "\x00") {
		f := strings.Fields(entry)
		if len(f) != 5 || !strings.HasPrefix(entry, ":") || f[1] == "160000" || !isOid(f[3]) || strings.Trim(f[3], "0") == "" {
			continue
		}
		if have, err := s.git.ref(ctx, f[3]); err != nil {
			return nil, err
		} else if have == "" {
			blobs = append(blobs, f[3])
		}
	}
	return blobs, nil
}

// importFrom copies the commit that HEAD of a clone names, what it needs, and what
// is staged, into the user's repository: object by object, each checked. What was
// staged may be forgotten if it is broken.
func (s *Space) importFrom(ctx context.Context, w *worktree, head string) error {
	if err := s.takeCommit(ctx, w, head); err != nil {
		return err
	}
	if w.Index != "" && w.Index == indexMark(w) {
		return nil
	}
	if err := s.unfold(ctx, w); err != nil {
		return err
	}
	blobs, err := s.stagedBlobs(ctx, w)
	if err != nil || len(blobs) == 0 {
		return err
	}
	if err := s.copyObjects(ctx, w, blobs...); err != nil {
		if !theirs(err) {
			return err
		}
		if err := os.Remove(filepath.Join(w.at.gitDir, "index")); err != nil || head == "" || w.refused != "" {
			return err
		}
		_, err = s.git.line(ctx, w.at, "read-tree", head)
		return err
	}
	return nil
}

// takeCommit copies a commit of a clone and what it needs. If that cannot be done for
// what the clone holds, w.refused says why.
func (s *Space) takeCommit(ctx context.Context, w *worktree, head string) error {
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
	if errors.As(err, &large) {
		return true
	}
	if !errors.As(err, &g) {
		return false
	}
	for _, sign := range []string{"No space left", "Disk quota", "Input/output error", "Read-only file system", "Permission denied", "out of memory", "signal"} {
		if strings.Contains(g.stderr, sign) {
			return false
		}
	}
	return true
}

// few is the number of objects up to which they are not kept as a pack.
const few = 100

// copyObjects copies objects of a clone, and all that they need and that no ref
// which shows in it has, into the user's repository, by way of a pack: git names each
// object by what it holds, and refuses those that are broken or lack something.
func (s *Space) copyObjects(ctx context.Context, w *worktree, want ...string) error {
	refs, err := s.shows(w.node)
	if err != nil {
		return err
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
	tmp, err := os.CreateTemp(s.state, "import-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	env := []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotedPath(filepath.Join(w.at.gitDir, "objects"))}
	if added, err := s.newFiles(ctx, env, in.String()); err != nil {
		return err
	} else if wrong := s.weigh(w, added); wrong != "" {
		return wrong
	} else {
		w.added += total(added)
	}
	if err := s.git.pipe(ctx, strings.NewReader(in.String()), tmp, env, "pack-objects", "--revs", "--stdout", "-q"); err != nil {
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
	return s.git.pipe(ctx, bufio.NewReader(tmp), nil, nil, args...)
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

// pinConflict keeps from a gc of the user's what only the index and HEAD of a clone name:
// those of a linked worktree git knows of.
func (s *Space) pinConflict(ctx context.Context, w *worktree) error {
	if !w.Clone || w.Shot == "" {
		return nil
	}
	b, err := s.git.run(ctx, place{}, "A merge that is under way\n", s.author("ralph"), "commit-tree", w.Shot, "-p", w.Left)
	if err != nil {
		return err
	}
	ref := s.nodeRef(w.node.ID, "conflict")
	old, err := s.git.ref(ctx, ref)
	if err != nil {
		return err
	}
	return s.git.update(ctx, "conflict", move{ref, old, strings.TrimSpace(string(b))})
}
