package project

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// AlsoPlanned finds names of an epic that other, not yet applied epics of the project also
// use. This deserves a warning, not an error, because the names are still free.
func AlsoPlanned(space *workspace.Space) []workspace.Clash {
	root, err := os.OpenRoot(space.Top())
	if err != nil {
		return nil
	}
	defer root.Close()
	found, err := space.Names.Planned(EpicsIn(regular.FS(root), "."))
	if err != nil {
		return nil
	}
	return found[:min(len(found), 10)]
}

// Target is the file that an epic with this slug is written to; validate, which writes
// nothing, uses the file that compile would write.
func (a *Args) Target(slug string) string {
	switch {
	case a.Out == "":
		return "epic.json"
	case IsDirName(a.Out):
		return filepath.Join(a.Out, slug+".json")
	}
	return a.Out
}

// EpicAt reads the epic with the given id; nil if the file holds no epic, or another one.
func EpicAt(file string, id ir.NodeID) *ir.Epic {
	epic := epicIn(file)
	if epic == nil || epic.Epic.ID != id {
		return nil
	}
	return epic
}

// epicIn reads the epic of a file; nil if it holds none. An epic that was edited by hand
// is read too: it is compared, not run.
func epicIn(file string) *ir.Epic {
	b, err := ReadFile(file)
	if err != nil {
		return nil
	}
	epic, err := ir.Decode(b)
	var edited *ir.DigestError
	if err != nil && !errors.As(err, &edited) {
		return nil
	}
	return epic
}

// NamesAt reads the node names of the epic with the given id; found is false where EpicAt
// would return nil.
func NamesAt(file string, id ir.NodeID) (names ir.Names, found bool) {
	names = NamesIn(file)
	return names, names.Epic == id
}

// NamesIn reads the node names of a file's epic; zero where epicIn would return nil. Files
// that compile wrote are not read completely.
func NamesIn(file string) ir.Names {
	f, err := regular.Open(file)
	if err != nil {
		return ir.Names{}
	}
	defer f.Close()
	if names, ok := ir.ReadNames(io.LimitReader(f, ir.MaxBytes+1)); ok {
		return names
	}
	if e := epicIn(file); e != nil {
		return e.Names()
	}
	return ir.Names{}
}
