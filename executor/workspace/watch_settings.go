package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Bounds of what is read of settings.
const (
	maxConfig   = 4 << 20 // bytes of a file
	maxIncluded = 20      // files that a configuration includes
	maxHooks    = 1000    // entries of a directory
)

// settings reads the configuration of the repository, hooks and info/, and those of
// its submodules and other worktrees.
func (w *watch) settings() facts {
	common := w.s.git.common
	out := map[string]setting{}
	r := configReader{w: w, out: out, seen: map[string]bool{}}
	r.file(filepath.Join(common, "config"), "git config")
	if r.worktrees {
		r.file(filepath.Join(w.s.gitDir(), "config.worktree"), "git config --worktree")
	}
	w.directory(out, filepath.Join(common, "hooks"), "hook")
	if dir := r.hooks; dir != "" {
		dir = from(w.s.top, atHome(dir))
		// In the checkout hooks are files like others: a pull changes them, too.
		if rel, err := filepath.Rel(w.s.top, dir); err != nil || !filepath.IsLocal(rel) || strings.HasPrefix(filepath.ToSlash(rel)+"/", ".git/") {
			w.directory(out, dir, "hook")
		}
	}
	w.directory(out, filepath.Join(common, "info"), "file")
	delete(out, "file "+w.shown(filepath.Join(common, "info", "refs"))) // git gc writes it
	return facts{Settings: out, Dirs: w.gitDirs(out, r.worktrees)}
}

// gitDir is that of the user's checkout, which may be a linked worktree.
func (s *repository) gitDir() string {
	if to := gitLink(filepath.Join(s.top, ".git")); to != "" {
		return from(s.top, to)
	}
	return s.git.common
}

// directory reads the files of a directory: content and mode, of links where they lead.
func (w *watch) directory(out map[string]setting, dir, what string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return // it is not there: then none of its files is
	}
	for i, e := range list {
		path := filepath.Join(dir, e.Name())
		name := what + " " + w.shown(path)
		if i == maxHooks {
			break
		}
		st, err := os.Lstat(path)
		switch {
		case err != nil || st.IsDir():
		case st.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out[name] = setting{Value: "a link to " + clip(to), Set: "ln -s -- " + shellword.Quote(to) + " " + shellword.Path(w.shown(path)), unset: w.setAside(path, digestOf([]byte(to))), file: true}
		case !st.Mode().IsRegular():
			out[name] = setting{Value: st.Mode().Type().String() + ", no file", unset: w.setAside(path, st.Mode().Type().String()), file: true}
		default:
			out[name] = setting{
				Value: fmt.Sprintf("%d bytes, mode %o (sha256 %s)", st.Size(), st.Mode().Perm(), w.files.digest(path)),
				Set:   "cp -p " + shellword.Quote(w.keptAs(path, st)) + " " + shellword.Path(w.shown(path)), unset: w.setAside(path, w.files.digest(path)), file: true,
			}
		}
	}
}

// configReader reads a configuration file and those that it includes, whatever the
// condition.
type configReader struct {
	w         *watch
	out       map[string]setting
	seen      map[string]bool
	module    bool   // it is that of a submodule
	worktrees bool   // extensions.worktreeConfig
	hooks     string // core.hooksPath
}

// entry is a line of a configuration file.
type entry struct{ key, value string }

func (r *configReader) file(path, git string) {
	if r.seen[path] || len(r.seen) > maxIncluded {
		return
	}
	r.seen[path] = true
	w := r.w
	name := w.shown(path)
	st, err := os.Stat(path)
	if err != nil {
		return
	}
	if !st.Mode().IsRegular() {
		r.out[name] = setting{Value: st.Mode().Type().String() + ", no file", Set: "rm " + shellword.Path(name), unset: "rm " + shellword.Path(name)}
		return
	}
	list, ok := w.files.parse(path, maxConfig, w.entries).([]entry)
	if !ok {
		b, _ := regular.ReadMax(path, maxConfig) // a larger one is as good as empty
		r.out[name] = setting{Value: fmt.Sprintf("git cannot read it (sha256 %s)", digestOf(b)), unset: w.copyBack(path, st)}
		return
	}
	values := map[string][]string{}
	for _, e := range list {
		switch {
		case e.key == "extensions.worktreeconfig":
			r.worktrees = !slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(e.value))
		case e.key == "core.hookspath":
			r.hooks = e.value
		case e.key == "include.path" || strings.HasPrefix(e.key, "includeif.") && strings.HasSuffix(e.key, ".path"):
			to := from(filepath.Dir(path), atHome(e.value))
			r.file(to, "git config --file "+shellword.Path(w.shown(to)))
		}
		if watchedKeys.MatchString(e.key) && !unwatched[e.key] && !(r.module && e.key == "core.worktree" && w.inCheckout(path, e.value)) {
			values[e.key] = append(values[e.key], e.value)
		}
	}
	for key, all := range values {
		r.out[keyName(key)+" in "+name] = w.value(key, all, git, path, st)
	}
}

// value is what is told of the values of a key. What may hold a password is told
// by its digest.
func (w *watch) value(key string, all []string, git, path string, st fs.FileInfo) setting {
	if key == "core.worktree" || strings.HasPrefix(key, "extensions.") { // with which git may refuse to work here
		git = "git -C / config --file " + shellword.Quote(path)
	}
	out := setting{unset: git + " --unset-all " + shellword.Quote(keyName(key))}
	text := cmp.Or(strings.Join(all, ", "), `""`)
	if shown := w.hide(key, text); shown != text || len(text) > maxValue {
		out.Value = fmt.Sprintf("%s (sha256 %.12s)", oneLine(shown, maxValue), digestOf([]byte(strings.Join(all, "\x00"))))
		out.Set = w.copyBack(path, st)
		return out
	}
	out.Value = oneLine(text, maxValue)
	if len(all) == 1 {
		out.Set = git + " --replace-all " + shellword.Quote(keyName(key)) + " " + shellword.Quote(all[0])
		return out
	}
	set := []string{out.unset}
	set = append(set, lists.Map(all, func(v string) string {
		return git + " --add " + shellword.Quote(keyName(key)) + " " + shellword.Quote(v)
	})...)
	out.Set = strings.Join(set, " && ")
	return out
}

// inURL is who logs in, in an address.
var inURL = lazyregexp.New(`(://)[^/@\s]*@`)

// hide leaves out of a value what may be a password.
func (w *watch) hide(key, value string) string {
	if strings.HasPrefix(key, "credential.") || strings.HasSuffix(key, ".extraheader") {
		return "not shown"
	}
	return w.clean(inURL.ReplaceAllString(value, "$1…@"))
}

// copyBack puts a file back as it was when the run began, and keeps it as it is.
func (w *watch) copyBack(path string, st fs.FileInfo) string {
	now, aside := shellword.Path(w.shown(path)), shellword.Path(w.shown(path)+".now")
	return "test ! -e " + aside + " && cp -p " + now + " " + aside + " && cp -p " + shellword.Quote(w.keptAs(path, st)) + " " + now
}

// setAside is the command that takes a file away: to where files are kept.
func (w *watch) setAside(path, digest string) string {
	to := filepath.Join(w.kept(), fmt.Sprintf("aside-%s-%.12s", filepath.Base(path), digest))
	return "mkdir -p " + shellword.Quote(w.kept()) + " && mv " + shellword.Path(w.shown(path)) + " " + shellword.Quote(to)
}

// entries lets git read a configuration file: nil if it cannot. What the file
// includes is not followed. A git that did not run to its end, because the machine has no
// process left or somebody killed it, says nothing about the file, and is tried again.
func (w *watch) entries(b []byte) any {
	g := w.git() // elsewhere: in the repository git may refuse to work by now
	g.dir, g.common, g.private = "/", "", ""
	for try := range 6 {
		time.Sleep(time.Duration(try) * 200 * time.Millisecond)
		out, err := g.run(context.Background(), place{}, string(b), nil, "config", "--file", "-", "--no-includes", "--list", "-z")
		if err == nil {
			return entriesOf(out)
		}
		if refused, is := errors.AsType[*gitError](err); is && refused.code > 0 {
			break
		}
	}
	return nil
}

// entriesOf reads what git config -z prints.
func entriesOf(out []byte) []entry {
	list := []entry{}
	for e := range strings.SplitSeq(string(out), "\x00") {
		if e == "" {
			continue
		}
		key, value, has := strings.Cut(e, "\n")
		if !has {
			value = "true"
		}
		list = append(list, entry{key, value})
	}
	return list
}
