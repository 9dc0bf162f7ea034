package project

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// The search for a project's epics is breadth first and bounded in depth, entries, files
// and bytes; most projects have one epic.
const (
	epicDepth   = 4
	epicEntries = 1000
	epicHeads   = 200 // files whose content is read
	epicFiles   = 50
	epicBytes   = 32 << 20
)

// EpicsIn finds the epics in a project, those in the directory first before all others. It
// follows no link and reads only the beginning of a file that is not an epic.
func EpicsIn(project fs.FS, first string) (out []workspace.EpicFile) {
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

// foreignDirs hold files that are not the project's own, or test data that may be invalid.
var foreignDirs = []string{"node_modules", "vendor", "third_party", "testdata", "fixtures", "target", "dist", "build"}

// readEpicFile reads a file if it begins the way ralph writes an epic and is not too large.
func readEpicFile(project fs.FS, name string, most int64) []byte {
	f, err := project.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, epicHead)
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

// epicHead is how much of a file is needed to recognize an epic that ralph wrote, in bytes.
const epicHead = 64

// ReadsUpTo is the size limit of a file that begins with head, in bytes. An epic may be
// larger than anything that people write: an epic of 100,000 sprints has 500 MB.
func ReadsUpTo(head []byte) int64 {
	if bytes.Contains(head[:min(len(head), epicHead)], []byte(`"ralph.ir/`)) {
		return ir.MaxBytes
	}
	return MaxFile
}

// MayBeEpic reports whether a file is empty or has the keys of an epic. If it begins the
// way ralph writes an epic, only that beginning is read.
func MayBeEpic(file string) (bool, error) {
	f, err := regular.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, epicHead)
	if n, _ := io.ReadFull(f, head); ReadsUpTo(head[:n]) == ir.MaxBytes {
		return true, nil
	}
	b, err := ReadFile(file)
	return len(bytes.TrimSpace(b)) == 0 || bytes.Contains(b, []byte(`"ralph.ir/`)), err
}

// SameBytes reports whether a file holds exactly b, without reading it into memory.
func SameBytes(file string, b []byte) bool {
	f, err := regular.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != int64(len(b)) {
		return false
	}
	part := make([]byte, 256<<10)
	for len(b) > 0 {
		n, err := io.ReadFull(f, part[:min(len(part), len(b))])
		if err != nil || !bytes.Equal(part[:n], b[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}
