package shepherd

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
)

// folder is where Agent Shepherd keeps its configuration.
const folder = ".agent-shepherd"

// Find lists the files of Agent Shepherd's that a directory has: the directory may be
// a project, .agent-shepherd in it, or the config folder in that. Both layouts are
// known; of a file that is in both Convert takes the one in config, and it says so
// of files that ralph has no use for. Without any file the list is empty.
func Find(dir fs.FS) ([]string, error) {
	at := "."
	if s, err := fs.Stat(dir, folder); err == nil && s.IsDir() {
		at = folder
	}
	files, err := yamls(dir, at)
	if err != nil {
		return nil, err
	}
	newer, err := yamls(dir, path.Join(at, "config"))
	return append(files, newer...), err
}

func yamls(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		if s, serr := fs.Stat(fsys, dir); serr == nil && !s.IsDir() {
			return nil, nil // a file called config
		}
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if ext := strings.ToLower(path.Ext(e.Name())); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// shadows returns the file in config that counts instead of one; nil if none does.
func shadows(f *diag.File, all []*diag.File) *diag.File {
	stem := func(s string) string { return strings.TrimSuffix(s, path.Ext(s)) }
	dir, name := path.Split(f.Name)
	for _, o := range all {
		if stem(o.Name) == path.Join(dir, "config", stem(name)) {
			return o
		}
	}
	return nil
}
