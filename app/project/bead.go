package project

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// CompileBead compiles a bead to an epic of one node under the policy of its project.
// say shows the diagnostics; if it is nil, only errors are reported, in the returned
// error's text.
func CompileBead(file string, say func(*Compilation) error) (*ir.Epic, []byte, error) {
	a := &Args{Plans: []string{file}, As: ralphbead.Format, Format: FormatText}
	c, err := a.Compile(nil)
	if err != nil {
		return nil, nil, err
	}
	defer c.Project.Close()
	if say != nil {
		if err := say(c); err != nil {
			return nil, nil, err
		}
	}
	if c.Diags.HasErrors() {
		if say != nil {
			return nil, nil, &exit.Error{Code: exit.Input}
		}
		return nil, nil, exit.Inputf("%s cannot be compiled:\n%s", file, c.Sources.Words(c.Diags))
	}
	r := c.Results[0]
	epic, err := ir.Decode(r.JSON) // as if it had been read: with its digest
	if err != nil {
		return nil, nil, fmt.Errorf("decode what %s was compiled to: %w", file, err)
	}
	return epic, r.JSON, nil
}

// isBead reports whether a file that was not declared a bead is one.
func isBead(file string, b []byte) bool { return KindOf(file) == "epic" && ralphbead.Recognize(b) }

// HoldsBead is isBead for a file that has not been read yet.
func HoldsBead(file string) bool {
	if KindOf(file) != "epic" {
		return false
	}
	b, err := ReadFile(file)
	return err == nil && isBead(file, b)
}

// Unrunnable names the verifiers of beads that this system's shell cannot read.
func Unrunnable(epic *ir.Epic) []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	var out []string
	for n := range lists.Refs(epic.Nodes) {
		if n.Ext[ralphbead.Format] == nil || n.Done {
			continue
		}
		for _, s := range n.Steps {
			for _, name := range s.Gates {
				if g := epic.Gates[name]; g.Kind == "command" && g.From == "plan" && ralphbead.PowerShell(g.Run) {
					out = append(out, fmt.Sprintf("a verifier written for PowerShell (gate %q); write it for sh, or run it with pwsh -Command", name))
				}
			}
		}
	}
	return out
}

// BeadID matches a bead's id. A path with a directory or an extension does not match.
var BeadID = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9_]+)+$`)

// NamesBead reports whether an argument in place of an epic.json is the id of an epic: it
// has the form of one, and no file has that name.
func NamesBead(file string) bool {
	if !BeadID.MatchString(file) {
		return false
	}
	_, err := os.Lstat(file)
	return errors.Is(err, os.ErrNotExist)
}
