package ralphbead

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "ralph-bead"

// maxBytes bounds what Recognize looks at.
const maxBytes = 4 << 20

// Bounds of numbers: those that the same words have in a plan.
const (
	maxIterations = 10_000
	maxMinutes    = 10 * 366 * 24 * 60
)

// looksLike is what a file needs to be taken for a bead that is not named one.
var looksLike = lazyregexp.New(`(?i)"(intent|dod)"\s*:`)

// Recognize reports whether a JSON file not declared as a bead is one, well-formed or
// not.
func Recognize(src []byte) bool {
	head := src[:min(len(src), maxBytes)]
	return looksLike.Match(head) && !bytes.Contains(head, []byte(`"ralph.ir/`))
}

// Decode reads beads: one in a file, or several as a list or one per line. The draft
// has a node for each, in the order of the files, and no edges: the format has none.
// It is nil when the list holds an error. A name of a file is the path that the epic
// calls its plan. Safe for concurrent use.
func Decode(files []*diag.File) (*ir.Draft, diag.List) {
	draft := &ir.Draft{}
	var all diag.List
	for _, file := range files {
		r := &foreign.Reader{File: file, Format: Format}
		objects := r.Objects()
		if len(objects) == 0 && !r.Diags.HasErrors() {
			r.Diags.Add(diag.New("bead-missing", file.Range(0, 0), "there is no bead in it").WithDetail("Name a file with a bead, a list of beads, or one bead a line."))
		}
		for i, root := range objects {
			d := &decoding{Reader: r, ext: map[string]json.RawMessage{}}
			d.bead(root)
			if r.Diags.HasErrors() {
				continue // what is wrong with the others is found all the same
			}
			name := foreign.Slug(foreign.Stem(file.Name))
			if len(objects) > 1 {
				name = fmt.Sprintf("%s-%d", name, i+1)
			}
			d.finish(name)
			draft.Nodes = append(draft.Nodes, d.node)
		}
		r.Unknown()
		r.Diags.Sort()
		all = append(all, r.Diags...)
	}
	if len(draft.Nodes) == 0 || all.HasErrors() {
		return nil, all
	}
	first := &draft.Nodes[0]
	draft.Plan, draft.Title, draft.Range = first.Range.File, first.Title, first.Range
	if len(draft.Nodes) == 1 {
		draft.Slug = string(first.Key)
	} else {
		draft.Title = fmt.Sprintf("%d beads", len(draft.Nodes))
	}
	return draft, all
}

// decoding is the state of reading one bead.
type decoding struct {
	*foreign.Reader
	node       ir.DraftNode
	ext        map[string]json.RawMessage // keys that have no place in a draft
	repository bool                       // it is written by the schema of gastown's repository
}
