package main

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/ir"
)

// What a project holds of epics is looked for in its upper directories, the nearest ones
// first, and in so many entries, files and bytes; most projects have one.
const (
	epicDepth   = 4
	epicEntries = 1000
	epicHeads   = 200 // files that are looked into
	epicFiles   = 50
	epicBytes   = 32 << 20
)

// epicsIn finds the epics that lie in a project, those of one directory first. No link is
// followed; of a file that is no epic only the beginning is read.
func epicsIn(project fs.FS, first string) (out []workspace.EpicFile) {
	entries, heads, size := 0, 0, int64(0)
	seen := map[string]bool{}
	dirs := []string{first, "."}
	for len(dirs) > 0 && entries < epicEntries && len(out) < epicFiles {
		dir := dirs[0]
		dirs = dirs[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		list, err := fs.ReadDir(project, dir)
		if err != nil {
			continue
		}
		entries += len(list)
		for _, e := range list {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && strings.Count(name, "/") < epicDepth-1 && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(foreignDirs, e.Name()):
				dirs = append(dirs, name)
			case e.Type().IsRegular() && strings.HasSuffix(name, ".json") && heads < epicHeads && len(out) < epicFiles:
				heads++
				if b := readEpicFile(project, name, epicBytes-size); b != nil {
					size += int64(len(b))
					out = append(out, workspace.EpicFile{Name: name, JSON: b})
				}
			}
		}
	}
	return out
}

// foreignDirs hold what is not the project's own, or is made to be wrong.
var foreignDirs = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "target", "dist", "build"}

// readEpicFile reads a file if it begins as ralph writes an epic, and has at most so many bytes.
func readEpicFile(project fs.FS, name string, most int64) []byte {
	f, err := project.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil || !bytes.Contains(head[:n], []byte(`"ir": "`+ir.Version+`"`)) {
		return nil
	}
	if st, err := f.Stat(); err != nil || st.Size() > most {
		return nil
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	return append(head, rest...)
}
