package project

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// MayInit reports, before anything is written, what would keep init from writing a file: a
// file where a directory is needed, or a link out of the project.
func MayInit(dir string) error {
	files := []string{".gitattributes"}
	for _, f := range InitFiles {
		files = append(files, f.File)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		for d := filepath.Dir(path); ; d = filepath.Dir(d) {
			info, err := os.Stat(d)
			if err == nil && !info.IsDir() {
				return exit.Inputf("%s is a file, but init needs a directory there; nothing was written", d)
			}
			if err == nil || filepath.Dir(d) == d {
				break
			}
		}
		if err := ConfinedIn(dir, path); err != nil {
			return err
		}
	}
	return nil
}

// ConfinedIn is Confined for a file below a directory that may not exist yet.
func ConfinedIn(dir, file string) error {
	for !IsDir(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	p, err := Open(filepath.Join(dir, "x"))
	if err != nil {
		return err
	}
	defer p.Close()
	return p.LeadsOut(file)
}

// AddLine appends a line to a file unless a line about the same path is there.
func AddLine(path, line string) (bool, error) {
	old, err := regular.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	name, _, _ := strings.Cut(line, " ")
	for l := range bytes.Lines(old) {
		if fields := bytes.Fields(l); len(fields) > 0 && string(fields[0]) == name {
			return false, nil
		}
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	return true, atomicfile.Write(path, append(old, line...), 0o644)
}
