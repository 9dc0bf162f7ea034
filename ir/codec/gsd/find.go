package gsd

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// maxFiles bounds how many files a directory stands for.
const maxFiles = 2000

// Find lists the files of GSD's that a directory has: the directory may be a project,
// .planning in it, its phases, or one phase. Archived milestones and quick plans count
// only where they are named.
func Find(dir fs.FS) ([]string, error) {
	at := "."
	if s, err := fs.Stat(dir, ".planning"); err == nil && s.IsDir() {
		at = ".planning"
	}
	var out []string
	below := at
	if s, err := fs.Stat(dir, path.Join(at, "phases")); err == nil && s.IsDir() {
		below = path.Join(at, "phases")
	}
	if _, err := fs.Stat(dir, path.Join(at, "ROADMAP.md")); err == nil {
		out = append(out, path.Join(at, "ROADMAP.md"))
	}
	err := fs.WalkDir(dir, below, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if name != below && (strings.HasPrefix(e.Name(), ".") || strings.Count(strings.TrimPrefix(name, below), "/") > 2) {
				return fs.SkipDir
			}
		case isOurs(e.Name()) && len(out) < maxFiles:
			out = append(out, name)
		case isOurs(e.Name()):
			return errTooMany
		}
		return nil
	})
	return out, err
}

var errTooMany = errors.New("it holds more than 2000 plans and summaries; name one of its phases")

// isOurs reports whether a name is that of a plan or of the summary of one.
func isOurs(name string) bool {
	upper := strings.ToUpper(name)
	for _, end := range []string{"PLAN.MD", "SUMMARY.MD"} {
		if rest, ok := strings.CutSuffix(upper, end); ok && (rest == "" || strings.HasSuffix(rest, "-")) {
			return true
		}
	}
	return false
}
