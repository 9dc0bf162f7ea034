package rules

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Bounds of a walk: what is beyond them is counted or named, not read.
const (
	maxEntries = 20_000 // of the whole project
	maxInDir   = 5_000  // of one directory
	maxDepth   = 16
	maxShown   = 30 // files of one directory by name
)

// others are directories of what a project did not write, or can make again.
var others = []string{"node_modules", "vendor", "venv", ".venv", "target", "build", "dist", "out", "__pycache__", ".git"}

// folder is a directory as far as it was looked at.
type folder struct {
	name    string
	depth   int
	folders []*folder
	files   []string
	note    string // why nothing of it is listed; "" if it is
	count   int    // files in it and below
	partial bool   // there are more
}

// walk reads the names of a project, the upper directories first. It follows no
// link.
func walk(project fs.FS) *folder {
	root := &folder{name: "."}
	type place struct {
		dir *folder
		at  string
	}
	order := []place{{root, "."}}
	left := maxEntries
	for i := 0; i < len(order); i++ {
		dir, at := order[i].dir, order[i].at
		entries, whole, err := list(project, at)
		switch {
		case err != nil:
			dir.note, dir.partial = "cannot be read", true
			continue
		case !whole:
			dir.note, dir.partial = fmt.Sprintf("more than %d entries", maxInDir), true
			continue
		case len(entries) > left || dir.depth >= maxDepth:
			dir.note, dir.partial = "not looked into", true
			continue
		}
		left -= len(entries)
		for _, e := range entries {
			switch name := e.Name(); {
			case !e.IsDir():
				if name != ".git" {
					dir.files = append(dir.files, name)
				}
			case name == ".git":
			default:
				sub := &folder{name: name, depth: dir.depth + 1}
				dir.folders = append(dir.folders, sub)
				if slices.Contains(others, name) {
					sub.note, sub.partial = "left out", true
					continue
				}
				order = append(order, place{sub, path.Join(at, name)})
			}
		}
	}
	for _, p := range slices.Backward(order) {
		p.dir.count += len(p.dir.files)
		for _, sub := range p.dir.folders {
			p.dir.count += sub.count
			p.dir.partial = p.dir.partial || sub.partial && sub.note != "left out"
		}
	}
	return root
}

// list returns the entries of a directory by name; whole is false where there are
// too many to look at.
func list(project fs.FS, dir string) (entries []fs.DirEntry, whole bool, err error) {
	f, err := project.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() // it was only read
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, false, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrInvalid}
	}
	for len(entries) <= maxInDir {
		some, err := d.ReadDir(maxInDir + 1 - len(entries))
		entries = append(entries, some...)
		if len(some) == 0 || err != nil {
			break // the end; what was read counts
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, len(entries) <= maxInDir, nil
}

// draw writes the tree down to a depth.
func (f *folder) draw(depth int) []string {
	var out []string
	in := strings.Repeat("  ", f.depth)
	for _, sub := range f.folders {
		line := in + name(sub.name) + "/"
		switch {
		case sub.note != "":
			out = append(out, line+" ("+sub.note+")")
		case sub.depth >= depth:
			out = append(out, line+" ("+sub.size()+")")
		default:
			out = append(append(out, line), sub.draw(depth)...)
		}
	}
	for i, file := range f.files {
		if i == maxShown && len(f.files) > maxShown+1 {
			return append(out, in+"… "+kinds(f.files[i:]))
		}
		out = append(out, in+name(file))
	}
	return out
}

func (f *folder) size() string {
	if f.partial {
		return fmt.Sprintf("more than %d files", f.count)
	}
	return text.Count(f.count, "file")
}

// kinds says how many files of which endings there are.
func kinds(files []string) string {
	by := map[string]int{}
	for _, f := range files {
		by[path.Ext(f)]++
	}
	exts := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(by[b]-by[a], cmp.Compare(a, b)) })
	parts := make([]string, 0, 4)
	rest := len(files)
	for _, e := range exts[:min(3, len(exts))] {
		if e != "" && len(e) <= 10 {
			parts = append(parts, fmt.Sprintf("%d %s", by[e], name(e)))
			rest -= by[e]
		}
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d others", rest))
	}
	return fmt.Sprintf("%d more: %s", len(files), strings.Join(parts, ", "))
}

// name is the name of a file or directory on one line.
func name(s string) string {
	s = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
	s, _ = reveal.Text(s)
	return text.Clip(s, 120)
}
