package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Bounds of what is kept of the user's work.
const (
	maxWork  = 8 << 20 // bytes, of files of at most maxCopy bytes
	keptRuns = 6       // directories
)

// keepWork looks at the user's checkout, and keeps what of its files is not committed
// and small: if others destroy it, git has it nowhere. What git ignores is not kept.
func (w *watch) keepWork() *checkout {
	work := map[string][]byte{}
	room := maxWork
	c := w.lookAround(func(name string, _ indexed, b []byte) {
		if len(b) <= min(room, maxCopy) {
			work[name] = b
			room -= len(b)
		}
	})
	names := w.unignored(sortedKeys(work))
	if len(names) == 0 {
		return c
	}
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&all, "%s %s\x00", c.Files[name].Content, name)
	}
	c.Kept = keptPrefix + digestOf([]byte(all.String()))[:12]
	for _, name := range names {
		w.keepAs(c.Kept, name, work[name], os.FileMode(c.Files[name].Mode).Perm())
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(w.kept(), c.Kept), now, now)
	w.dropWork(c.Kept)
	return c
}

const keptPrefix = "checkout-"

// keepAs keeps the content of a file; what cannot be kept is not there later.
func (w *watch) keepAs(dir, name string, b []byte, mode os.FileMode) {
	to := filepath.Join(w.kept(), dir, filepath.FromSlash(name))
	if _, err := os.Lstat(to); err == nil || regular.MkdirOwn(filepath.Dir(to)) != nil {
		return
	}
	if err := regular.WriteOwn(to, b, mode|0o200); err == nil {
		_ = os.Chmod(to, mode)
	}
}

// dropWork removes what was kept for runs that are long past.
func (w *watch) dropWork(but string) {
	type dir struct {
		path string
		at   time.Time
	}
	var dirs []dir
	list, _ := os.ReadDir(w.kept())
	for _, e := range list {
		if st, err := e.Info(); err == nil && e.IsDir() && strings.HasPrefix(e.Name(), keptPrefix) && e.Name() != but {
			dirs = append(dirs, dir{filepath.Join(w.kept(), e.Name()), st.ModTime()})
		}
	}
	slices.SortFunc(dirs, func(a, b dir) int { return b.at.Compare(a.at) })
	for i := keptRuns - 1; i < len(dirs); i++ {
		_ = regular.RemoveAllOwn(dirs[i].path)
	}
}

// keptWork is where the content of a file is kept as it was, "" if nowhere. What git
// has among its objects is written there now.
func (w *watch) keptWork(was *checkout, name string) string {
	f := was.Files[name]
	if !isOid(f.Content) || !os.FileMode(f.Mode).IsRegular() {
		return ""
	}
	if was.Kept == "" {
		was.Kept = keptPrefix + digestOf([]byte(was.At + was.Index + time.Now().String()))[:12]
	}
	at := filepath.Join(w.kept(), was.Kept, filepath.FromSlash(name))
	if b, err := regular.ReadMax(at, maxContent); err == nil {
		if w.content(b) == f.Content {
			return at
		}
		return ""
	}
	b, err := w.git().run(context.Background(), place{}, "", nil, "cat-file", "blob", f.Content)
	if err != nil || len(b) > maxContent {
		return ""
	}
	w.keepAs(was.Kept, name, b, os.FileMode(f.Mode).Perm())
	return at
}

// restore puts a file back as it was. What is there by then is set aside, not
// overwritten.
func (w *watch) restore(from, name string, there bool) string {
	to, copied := shellword.Path(name), "cp -p "+shellword.Path(w.shown(from))+" "+shellword.Path(name)
	if there {
		aside := shellword.Path(name + ".now")
		return "test ! -e " + aside + " && mv " + to + " " + aside + " && " + copied
	}
	if dir := filepath.ToSlash(filepath.Dir(name)); dir != "." {
		copied = "mkdir -p " + shellword.Path(dir) + " && " + copied
	}
	return "test ! -e " + to + " && " + copied
}
