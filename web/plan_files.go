package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// reads is a project's files, of which it is noted what a compile asks for.
type reads struct {
	fs.FS
	names map[string]bool
}

func (r reads) noted(name string) string {
	r.names[name] = true
	return name
}

// Open implements fs.FS.
func (r reads) Open(name string) (fs.File, error) { return r.FS.Open(r.noted(name)) }

// ReadFile implements fs.ReadFileFS.
func (r reads) ReadFile(name string) ([]byte, error) { return fs.ReadFile(r.FS, r.noted(name)) }

// Stat implements fs.StatFS.
func (r reads) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.FS, r.noted(name)) }

// ReadDir implements fs.ReadDirFS.
func (r reads) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS, r.noted(name)) }

// Lstat implements fs.ReadLinkFS.
func (r reads) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.FS, r.noted(name)) }

// ReadLink implements fs.ReadLinkFS.
func (r reads) ReadLink(name string) (string, error) { return fs.ReadLink(r.FS, r.noted(name)) }

// sorted are the names that were asked for, and those of others.
func (r reads) sorted(others ...string) []string {
	for _, name := range others {
		r.names[name] = true
	}
	return slices.Sorted(maps.Keys(r.names))
}

// marks change when files do, or come or go; newest is when one was written to last.
func marks(dir string, files []string) (mark string, newest time.Time) {
	sum := sha256.New()
	for _, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, filepath.FromSlash(f))
		}
		st, err := os.Stat(f)
		if err != nil {
			fmt.Fprintf(sum, "%s\n", f)
			continue
		}
		fmt.Fprintf(sum, "%s %d %d\n", f, st.Size(), st.ModTime().UnixNano())
		if st.ModTime().After(newest) {
			newest = st.ModTime()
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), newest
}
