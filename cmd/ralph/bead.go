package main

import (
	"fmt"
	"runtime"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

// compileBead compiles a bead to an epic of one node under the policy of its
// project. say shows what is to say about it; nil says only errors, as the text of the
// error.
func compileBead(file string, say func(*compilation) error) (*ir.Epic, []byte, error) {
	a := &compileArgs{plans: []string{file}, as: ralphbead.Format, format: formatText}
	c, err := a.compile(nil)
	if err != nil {
		return nil, nil, err
	}
	defer c.project.Close()
	if say != nil {
		if err := say(c); err != nil {
			return nil, nil, err
		}
	}
	if c.Diags.HasErrors() {
		if say != nil {
			return nil, nil, &exitError{code: exitInput}
		}
		return nil, nil, inputErrorf("%s cannot be compiled:\n%s", file, c.sources.words(c.Diags))
	}
	r := c.Results[0]
	epic, err := ir.Decode(r.JSON) // as if it had been read: with its digest
	if err != nil {
		return nil, nil, fmt.Errorf("decode what %s was compiled to: %w", file, err)
	}
	return epic, r.JSON, nil
}

// isBead reports whether a file that nobody said to be a bead is one.
func isBead(file string, b []byte) bool { return kindOf(file) == "epic" && ralphbead.Recognize(b) }

// holdsBead is isBead for a file that was not read yet.
func holdsBead(file string) bool {
	if kindOf(file) != "epic" {
		return false
	}
	b, err := readFile(file)
	return err == nil && isBead(file, b)
}

// unrunnable names the verifiers of beads that this system's shell cannot read.
func unrunnable(epic *ir.Epic) []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	var out []string
	for i := range epic.Nodes {
		n := &epic.Nodes[i]
		if n.Ext[ralphbead.Format] == nil || n.Done {
			continue
		}
		for _, s := range n.Steps {
			for _, name := range s.Gates {
				if g := epic.Gates[name]; g.Kind == "command" && g.From == "plan" && ralphbead.PowerShell(g.Run) {
					out = append(out, fmt.Sprintf("a verifier that is written for PowerShell (gate %q); write it for sh, or start it with pwsh -Command", name))
				}
			}
		}
	}
	return out
}
