package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"

	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Bounds of what is read of other git directories.
const (
	maxDirs    = 200  // git directories
	maxListed  = 2000 // directories in which they are looked for
	maxDirDeep = 12
)

// gitDirs reads what git runs in submodules (.git/modules, those in them, those of
// worktrees) and, if they have configuration of their own, in other worktrees than the
// one that is watched and ralph's. It returns these directories. Those that were there
// are looked at first: others cannot push them out of the bounds.
func (w *watch) gitDirs(out map[string]setting, worktrees bool) map[string]bool {
	f := dirFinder{w: w, out: out, dirs: map[string]bool{}}
	common := w.s.git.common
	for name := range w.last.Dirs {
		path := from(w.s.top, filepath.FromSlash(name))
		if dir := filepath.Dir(path); dir != common && filepath.Base(dir) != "worktrees" && isGitDir(path) {
			f.module(path)
		}
	}
	f.modules(filepath.Join(common, "modules"), 0)
	f.worktrees(common, worktrees)
	if f.more {
		out["file "+w.shown(filepath.Join(common, "modules"))] = setting{Value: tooMany}
	}
	return f.dirs
}

// dirFinder looks for git directories.
type dirFinder struct {
	w      *watch
	out    map[string]setting
	dirs   map[string]bool
	listed int
	more   bool
}

// tooMany is reported when not all git directories are looked at.
const tooMany = "more git directories than are looked at"

// isGitDir reports whether git would take a directory for a repository.
func isGitDir(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// modules looks for git directories at and below a directory: the name of a submodule
// may have slashes.
func (f *dirFinder) modules(dir string, deep int) {
	for _, name := range f.list(dir) {
		switch path := filepath.Join(dir, name); {
		case deep == maxDirDeep:
			f.more = true
		case !isGitDir(path):
			f.modules(path, deep+1)
		default:
			f.module(path)
			f.modules(filepath.Join(path, "modules"), deep+1)
		}
	}
}

// list returns the directories in a directory, also those that are links.
func (f *dirFinder) list(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	if f.listed++; f.listed > maxListed {
		f.more = true
		return nil
	}
	var out []string
	for _, e := range entries {
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// module reads the git directory of a submodule, and those of its worktrees.
func (f *dirFinder) module(dir string) {
	w := f.w
	if f.dirs[w.shown(dir)] || !f.has(dir) {
		return
	}
	r := configReader{w: w, out: f.out, seen: map[string]bool{}, module: true}
	r.file(filepath.Join(dir, "config"), gitConfig(w.shown(filepath.Join(dir, "config"))))
	if r.worktrees {
		r.file(filepath.Join(dir, "config.worktree"), gitConfig(w.shown(filepath.Join(dir, "config.worktree"))))
	}
	w.directory(f.out, filepath.Join(dir, "hooks"), "hook")
	info := map[string]setting{}
	w.directory(info, filepath.Join(dir, "info"), "file")
	attributes := "file " + w.shown(filepath.Join(dir, "info", "attributes"))
	if s, has := info[attributes]; has {
		f.out[attributes] = s
	}
	f.worktrees(dir, r.worktrees)
}

func gitConfig(file string) string { return "git config --file " + shellword.Quote(file) }

// has counts a git directory.
func (f *dirFinder) has(dir string) bool {
	if len(f.dirs) == maxDirs {
		f.more = true
		return false
	}
	f.dirs[f.w.shown(dir)] = true
	return true
}

// worktrees reads the configuration that the worktrees of a git directory have of their
// own, if git does, and their submodules. The watched one has been read.
func (f *dirFinder) worktrees(of string, config bool) {
	w := f.w
	if config && of == w.s.git.common && of != w.s.gitDir() { // the main worktree is another one
		f.config(of)
	}
	for _, name := range f.list(filepath.Join(of, "worktrees")) {
		dir := filepath.Join(of, "worktrees", name)
		if w.ralphs(dir) {
			continue
		}
		if config && dir != w.s.gitDir() && f.has(dir) {
			f.config(dir)
		}
		f.modules(filepath.Join(dir, "modules"), 0)
	}
}

func (f *dirFinder) config(dir string) {
	path := filepath.Join(dir, "config.worktree")
	r := configReader{w: f.w, out: f.out, seen: map[string]bool{}}
	r.file(path, gitConfig(f.w.shown(path)))
}

// ralphs reports whether the worktree of a git directory is one of ralph's: each names
// the other.
func (w *watch) ralphs(dir string) bool {
	at, err := regular.ReadMax(filepath.Join(dir, "gitdir"), maxRef)
	if err != nil {
		return false
	}
	link := strings.TrimSpace(string(at))
	if filepath.Clean(gitLink(link)) != dir {
		return false
	}
	top := filepath.Dir(link)
	for id := range w.s.nodes {
		if w.s.dirOf(id) == top {
			return true
		}
	}
	return strings.HasPrefix(top, w.s.state+string(filepath.Separator))
}

// inCheckout reports whether core.worktree of a submodule leads into the checkout that
// the submodule is of, as git sets and unsets it.
func (w *watch) inCheckout(config, value string) bool {
	at := from(filepath.Dir(config), value)
	top := filepath.Dir(w.s.git.common)
	if rel, err := filepath.Rel(filepath.Join(w.s.git.common, "worktrees"), config); err == nil && filepath.IsLocal(rel) {
		name, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		link, _ := regular.ReadMax(filepath.Join(w.s.git.common, "worktrees", name, "gitdir"), maxRef)
		top = filepath.Dir(strings.TrimSpace(string(link)))
	}
	rel, err := filepath.Rel(top, at)
	return err == nil && filepath.IsLocal(rel) && rel != "." && !strings.HasPrefix(filepath.ToSlash(rel)+"/", ".git/")
}

// dirOf is the git directory that a setting or file stands in, if it is another one
// than the repository's.
func (f facts) dirOf(what string) string {
	path := what
	if _, after, ok := strings.Cut(what, " "); ok && keyOf(what) == "" {
		path = after
	} else if i := strings.LastIndex(what, " in "); i >= 0 {
		path = what[i+len(" in "):]
	}
	for dir := path; strings.Contains(dir, "/"); {
		dir = dir[:strings.LastIndexByte(dir, '/')]
		if f.Dirs[dir] {
			return dir
		}
	}
	return ""
}

// withItsDirectory reports whether a setting differs because its git directory came or
// went (git submodule add, git worktree remove), and is none that git does not make: a
// new hook or program is told of, unless the repository has the same.
func (w *watch) withItsDirectory(what string, now facts) bool {
	if dir := w.last.dirOf(what); dir != "" && !now.Dirs[dir] {
		return true
	}
	dir := now.dirOf(what)
	if dir == "" || w.last.Dirs[dir] {
		return false
	}
	is := now.Settings[what].Value
	if is == "" || strings.HasSuffix(what, ".sample") {
		return true
	}
	if name, ok := strings.CutPrefix(what, "hook "+dir+"/hooks/"); ok { // of the same template
		return is == now.Settings["hook "+w.shown(filepath.Join(w.s.git.common, "hooks", name))].Value
	}
	key := keyOf(what)
	switch section, name := splitKey(key); section {
	case "branch":
		return !strings.EqualFold(name, "mergeoptions")
	case "extensions":
		return true
	case "remote":
		return name == "url" || name == "fetch" || name == "pushurl"
	case "submodule":
		return name == "url" || !strings.HasPrefix(is, "!")
	}
	for other, s := range w.last.Settings { // git worktree add copies them
		if key != "" && keyOf(other) == key && s.Value == is && strings.HasSuffix(other, "/config.worktree") {
			return true
		}
	}
	return false
}
