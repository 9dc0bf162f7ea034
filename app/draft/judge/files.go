package judge

import (
	"io/fs"
	"path"
	"slices"

	"github.com/ralph-compiler/ralph/app/draft/rules"
	"github.com/ralph-compiler/ralph/app/project"
)

// MapOf shows a project as its planners have it: the files of HEAD. What git ignores, or
// is not committed yet, is in no worktree.
func MapOf(p *project.Project, files map[string]string) []string {
	if files == nil { // there is no commit yet: nothing can be planned on it either, which is said later
		return rules.Map(p.FS(), rules.MapBudget)
	}
	t := tracked{p.FS(), map[string]bool{".": false}}
	for f := range files {
		t.holds[f] = true
		for d := path.Dir(f); ; d = path.Dir(d) {
			if _, known := t.holds[d]; known {
				break
			}
			t.holds[d] = false
		}
	}
	return rules.Map(t, rules.MapBudget)
}

// tracked is a file system as far as a commit holds it.
type tracked struct {
	fs.FS
	holds map[string]bool // by path: true for what may lie below it as well, as for a submodule
}

func (t tracked) has(name string) bool {
	_, there := t.holds[name]
	for d := path.Dir(name); !there && d != "."; d = path.Dir(d) {
		there = t.holds[d]
	}
	return there
}

// Open implements fs.FS.
func (t tracked) Open(name string) (fs.File, error) {
	if !t.has(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := t.FS.Open(name)
	if d, ok := f.(fs.ReadDirFile); err == nil && ok {
		return trackedDir{d, t, name}, nil
	}
	return f, err
}

// trackedDir is a directory of it.
type trackedDir struct {
	fs.ReadDirFile
	of   tracked
	name string
}

// ReadDir implements fs.ReadDirFile.
func (d trackedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		list, err := d.ReadDirFile.ReadDir(n)
		list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return !d.of.has(path.Join(d.name, e.Name())) })
		if len(list) > 0 || err != nil || n <= 0 {
			return list, err
		}
	}
}
