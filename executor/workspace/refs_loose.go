package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/internal/regular"
)

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
	for i := range entries {
		e := &entries[i]
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
	entries := make([]refEntry, 0, len(found))
	for _, f := range found {
		if !strings.HasSuffix(f.Name(), ".lock") {
			entries = append(entries, refEntry{name: f.Name(), dir: f.IsDir()})
		}
	}
	if !mark.fresh() {
		if d.dirs == nil {
			d.dirs = map[string]refDir{}
		}
		d.dirs[path] = refDir{mark, entries}
	}
	return entries, nil
}
