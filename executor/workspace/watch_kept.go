package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// trusted is the file of what a run trusts.
func (w *watch) trusted() string { return filepath.Join(w.s.state, "trusted.json") }

// kept is the directory of the files that can be put back.
func (w *watch) kept() string { return filepath.Join(w.s.state, "trusted") }

// watchedVersion is raised when more is watched.
const watchedVersion = 3

// trustedFile is what trusted.json holds.
type trustedFile struct {
	Version  int       `json:"version,omitempty"` // of what is watched
	Facts    facts     `json:"facts"`
	Checkout *checkout `json:"checkout,omitempty"`
}

// save writes what is trusted, but for the epic's refs, which are in the journal.
func (w *watch) save() error {
	b, err := json.Marshal(trustedFile{watchedVersion, w.trust, w.checkout})
	if err != nil {
		return fmt.Errorf("write what is trusted: %w", err)
	}
	if err := atomicfile.WriteOwn(w.trusted(), b, 0o600); err != nil {
		return err
	}
	w.unsaved = false
	return nil
}

// load reads what the last run had trusted. What an earlier release did not watch is
// trusted as it is now.
func (w *watch) load(now facts) (facts, *checkout, error) {
	b, err := regular.ReadOwnMax(w.trusted(), maxTrusted)
	if err != nil {
		return facts{}, nil, err
	}
	var r trustedFile
	if err := json.Unmarshal(b, &r); err != nil {
		return facts{}, nil, err
	}
	if r.Facts.Settings == nil || r.Facts.Refs == nil {
		return facts{}, nil, errors.New("it says nothing")
	}
	for name, s := range now.Settings {
		key := strings.ToLower(keyOf(name))
		switch {
		case r.Version < 2 && key != "" && !earlierKeys.MatchString(key),
			r.Version < 3 && (now.dirOf(name) != "" || laterKeys.MatchString(key)):
			r.Facts.Settings[name] = s
		}
	}
	if r.Version < 3 {
		r.Facts.Dirs = now.Dirs
	}
	return r.Facts, r.Checkout, nil
}

// Bounds of what is kept.
const (
	maxTrusted = 256 << 20 // bytes of trusted.json
	maxCopy    = 1 << 20   // bytes of one file
	maxCopies  = 16 << 20  // bytes of all, for one run
)

// keptAs is where a file is kept as it is now, so that it can be put back.
func (w *watch) keptAs(path string, st fs.FileInfo) string {
	to := filepath.Join(w.kept(), fmt.Sprintf("%s-%s-%o", filepath.Base(path), w.files.digest(path), st.Mode().Perm()))
	if _, known := w.copies[to]; !known {
		w.copies[to] = path
	}
	return to
}

// keepFiles copies the files that are to be kept. A large one is not: then the
// command that puts it back says that it is missing.
func (w *watch) keepFiles() {
	for _, to := range sortedKeys(w.copies) {
		path := w.copies[to]
		if path == "" {
			continue // done
		}
		w.copies[to] = ""
		if _, err := os.Lstat(to); err == nil || regular.MkdirOwn(w.kept()) != nil {
			continue
		}
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		b, err := regular.ReadMax(path, min(maxCopy, w.room))
		if err != nil {
			continue
		}
		w.room -= int64(len(b))
		if err := regular.WriteOwn(to, b, st.Mode().Perm()|0o200); err == nil {
			_ = os.Chmod(to, st.Mode().Perm())
		}
	}
}
