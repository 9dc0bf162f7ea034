package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
func (s *space) clones() bool {
	return s.epic.Run.Worktree.Layout == "clone" || s.epic.Run.Worktree.Submodules
}

const (
	cloneMark = "ralph"      // the file in a clone's .git that says whose it is
	halfClone = ".git.ralph" // what .git is called while it is being made
)

func (s *space) markOf(w *worktree) string { return s.git.common + "\n" + w.name + "\n" }

// ownClone reports whether there is a clone of ralph's at the worktree's place.
func (s *space) ownClone(w *worktree) bool {
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

func (s *space) alternates() string { return filepath.Join(s.git.common, "objects") + "\n" }

// cloneIntact reports whether a clone's .git is safe to be looked at: it is the
// one that ralph made, reads no other repository's objects, and nothing in it
// leads out of it.
func (s *space) cloneIntact(w *worktree) bool {
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

// build makes the .git of a clone, whose own branch is where the user's
// repository has it. It has the other refs that show as they are now, the settings
// that hold in every call, and no remote.
func (s *space) build(ctx context.Context, w *worktree, commit string) error {
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
	files, err := s.cloneFiles(ctx, w, commit)
	q := asking{err: err}
	for _, f := range files {
		name := filepath.FromSlash(f[0])
		q.do(func() error { return root.MkdirAll(filepath.Dir(name), 0o755) })
		q.do(func() error { return root.WriteFile(name, []byte(f[1]), 0o644) })
	}
	q.do(func() error { return root.MkdirAll(filepath.FromSlash("refs/heads"), 0o755) })
	q.do(func() error { return os.Rename(gitDir, filepath.Join(w.dir, ".git")) }) // from now on it is a repository
	return q.err
}

// cloneFiles are the files of a clone's .git, by name, in the order in which they are made.
func (s *space) cloneFiles(ctx context.Context, w *worktree, commit string) ([][2]string, error) {
	head := commit
	if w.ref != "" {
		head = "ref: " + w.ref
		at, err := s.git.ref(ctx, w.ref)
		if err != nil {
			return nil, err
		}
		commit = cmp.Or(at, commit)
	}
	refs, err := s.shows(w.node)
	if err != nil {
		return nil, err
	}
	var packed strings.Builder
	for _, ref := range sortedKeys(refs) {
		if ref != w.ref && isOid(refs[ref]) {
			packed.WriteString(refs[ref] + " " + ref + "\n")
		}
	}
	files := [][2]string{
		{cloneMark, s.markOf(w)},
		{"objects/info/alternates", s.alternates()},
		{"config", s.cloneConfig()},
		{"packed-refs", packed.String()},
	}
	for _, name := range []string{"shallow", "info/exclude", "info/attributes"} {
		if b, err := regular.ReadFile(filepath.Join(s.git.common, filepath.FromSlash(name))); err == nil {
			files = append(files, [2]string{name, string(b)})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if w.ref != "" {
		files = append(files, [2]string{w.ref, commit + "\n"})
	}
	return append(files, [2]string{"HEAD", head + "\n"}), nil
}

func isOid(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// cloneConfig is the configuration of a clone: who commits, and what of the
// user's settings decides how files look. ralph itself never reads it.
func (s *space) cloneConfig() string {
	var b strings.Builder
	version := 0
	if s.carried["extensions.objectformat"] != "" {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tlogallrefupdates = true\n", version)
	for _, key := range sortedKeys(s.carried) {
		b.WriteString(configLines(key, s.carried[key]))
	}
	return b.String()
}

// mendClone makes .git of a clone sound without reading more of it than it has to.
// What an agent put in its place is kept in ralph's state.
func (s *space) mendClone(ctx context.Context, w *worktree, commit string) error {
	var q asking
	q.do(func() error { return os.MkdirAll(w.dir, 0o755) })
	if q.err == nil && !s.cloneIntact(w) {
		q.do(func() error { return s.moveGit(w) })
		q.do(func() error { return s.build(ctx, w, cmp.Or(w.Left, commit)) })
	}
	q.do(func() error { return remove(filepath.Join(w.at.gitDir, "config.worktree")) })
	q.do(func() error { return s.mendWalled(w) })
	q.do(func() error { return s.mendHead(w) })
	q.do(func() error { return s.unlockTree(w) })
	return q.err
}

// take brings what was committed or staged in a clone into the user's repository,
// so that ralph can look at the worktree. If that cannot be done, w.refused says
// why, and the clone is at the commit that ralph left there; its files stay.
func (s *space) take(ctx context.Context, w *worktree) error {
	if !w.Clone || w.Left == "" {
		return nil
	}
	_, head, err := s.cloneHead(w)
	q := s.git.asking(ctx)
	q.note(err)
	q.do(func() error { return s.importFrom(ctx, w, head) })
	if w.refused != "" {
		q.do(func() error { return s.point(w, w.Left) })
	}
	there, err := exists(filepath.Join(w.at.gitDir, "index"))
	if q.note(err); !there {
		q.line(w.at, "read-tree", w.Left)
	}
	return q.err
}

// cloneHead reads where HEAD of a clone is: the ref that it names, "" if it is
// detached, and the commit, "" if there is none.
func (s *space) cloneHead(w *worktree) (on, commit string, err error) {
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
// clone that was put at a commit. Commits that someone else put on it are pinned
// first.
func (s *space) give(ctx context.Context, w *worktree, commit string, seq int64) error {
	if !w.Clone || w.ref == "" {
		return nil
	}
	q := s.git.asking(ctx)
	tip := q.ref(w.ref)
	if q.err != nil || tip == commit {
		return q.err
	}
	moves := []move{{w.ref, tip, commit}}
	if tip != "" && tip != w.Left {
		pin := s.nodeRef(w.node.ID, fmt.Sprintf("saved/%d-branch", seq))
		if !q.ancestor(tip, commit) {
			moves = append(moves, move{pin, q.ref(pin), tip})
		}
	}
	q.update("reset", moves...)
	return q.err
}

// point puts HEAD of a clone at a commit, on the node's branch if it has one. It
// needs nothing of what is there.
func (s *space) point(w *worktree, commit string) error {
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
			return fmt.Errorf("update the branch of %s: %w", w.dir, err)
		}
	}
	return write("HEAD", "ref: "+w.ref)
}

// pinConflict keeps from a gc of the user's what only the index and HEAD of a clone name:
// those of a linked worktree git knows of.
func (s *space) pinConflict(ctx context.Context, w *worktree) error {
	if !w.Clone || w.Shot == "" {
		return nil
	}
	commit, err := s.git.commitTree(ctx, "A merge that is under way\n", s.author("ralph"), w.Shot, w.Left)
	if err != nil {
		return err
	}
	return s.git.point(ctx, "conflict", [2]string{s.nodeRef(w.node.ID, "conflict"), commit})
}
