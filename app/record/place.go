package record

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Place is a node's location in its plan's current text.
type Place struct {
	File    string // as it is named from the project's top; "" if there is none
	Path    string // absolute
	Line    int    // of its heading, from 1; 0 if it is not there any more
	Section string
	There   bool // the file is
}

// String is the place in the form that editors and terminals know: "docs/plan.md:14".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// PlaceOf looks a node up in its plan. top is the project's directory.
func PlaceOf(top, plan string, id ir.NodeID, section string, key ir.Key) Place {
	p := Place{File: plan, Section: section}
	local := filepath.FromSlash(plan)
	if plan == "" || !filepath.IsLocal(local) {
		return p
	}
	p.Path = filepath.Join(top, local)
	if project.Confined(p.Path) != nil {
		return p
	}
	b, err := project.ReadFile(p.Path)
	if err != nil {
		return p
	}
	p.There = true
	if ext := strings.ToLower(filepath.Ext(plan)); ext == ".md" || ext == ".markdown" || ext == "" {
		p.Line = compiler.Locate(diag.NewFile(plan, b), id, section, key)
	}
	return p
}

// PlaceIn is the location of a recorded node in its plan.
func PlaceIn(r *Record, id ir.NodeID) Place {
	n := r.Node(id)
	return PlaceOf(r.Space.Top(), r.Epic.Epic.Plan, n.ID, n.Section, n.Key)
}
