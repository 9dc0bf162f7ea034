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

// AlsoPlanned finds the names of an epic that others need which lie in its project and
// are not applied: a warning, because nothing is taken yet.
func AlsoPlanned(space *workspace.Space) []workspace.Clash {
	root, err := os.OpenRoot(space.Top())
	if err != nil {
		return nil
	}
	defer root.Close()
	found, err := space.Planned(EpicsIn(regular.FS(root), "."))
	if err != nil {
		return nil
	}
	return found[:min(len(found), 10)]
}

// Target is the file that the epic of a slug is written to; validate, which writes
// nothing, takes the one that compile would write to.
func (a *Args) Target(slug string) string {
	switch {
	case a.Out == "":
		return "epic.json"
	case IsDirName(a.Out):
		return filepath.Join(a.Out, slug+".json")
	}
	return a.Out
}

// EpicAt reads the epic of an id; nil if the file holds none, or another one.
func EpicAt(file string, id ir.NodeID) *ir.Epic {
	epic := epicIn(file)
	if epic == nil || epic.Epic.ID != id {
		return nil
	}
	return epic
}

// epicIn reads the epic of a file; nil if it holds none. One that was edited by hand is
// read all the same: it is compared, not run.
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

// NamesAt reads how the epic of an id calls its nodes; found is false where EpicAt would
// return nil.
func NamesAt(file string, id ir.NodeID) (names ir.Names, found bool) {
	names = NamesIn(file)
	return names, names.Epic == id
}

// NamesIn reads how the epic of a file calls its nodes; zero where epicIn would return
// nil. What compile wrote is not read as a whole.
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
