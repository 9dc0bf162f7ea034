package compiler

import (
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

// scrumBeads imports the beads of scrum agents that the files hold, as one epic.
func scrumBeads(sources ...Source) Imported {
	files := make([]*diag.File, len(sources))
	for i, src := range sources {
		files[i] = diag.NewFile(src.Path, src.Bytes)
	}
	draft, list := bead.Decode(files)
	return Imported{Sources: sources, Draft: draft, Diags: list}
}
