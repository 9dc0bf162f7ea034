package ralphbead

import (
	"bytes"
	"regexp"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/foreign"
)

// Format is the name of the format: of --as, and of its keys in Node.Ext.
const Format = "ralph-bead"

// maxBytes bounds a bead.
const maxBytes = 4 << 20

// Bounds of numbers: those that the same words have in a plan.
const (
	maxIterations = 10_000
	maxMinutes    = 10 * 366 * 24 * 60
)

// looksLike is what a file needs to be taken for a bead that is not named one.
var looksLike = regexp.MustCompile(`(?i)"(intent|dod)"\s*:`)

// Recognize reports whether a JSON file that was not said to be a bead is one,
// well-formed or not.
func Recognize(src []byte) bool {
	head := src[:min(len(src), maxBytes)]
	return looksLike.Match(head) && !bytes.Contains(head, []byte(`"ralph.ir/`))
}

// Decode reads a bead. The draft has one node; it is nil when the list holds an
// error. file.Name is the path that the epic calls its plan. Safe for
// concurrent use.
func Decode(file *diag.File) (*ir.Draft, diag.List) {
	d := &decoding{Reader: foreign.Reader{File: file, Format: Format}, ext: map[string]any{}}
	if root := d.Object(maxBytes); root != nil {
		d.bead(root)
	}
	d.Unknown()
	d.Diags.Sort()
	if d.Diags.HasErrors() {
		return nil, d.Diags
	}
	d.finish()
	return &d.draft, d.Diags
}

// decoding is the state of one Decode.
type decoding struct {
	foreign.Reader
	draft ir.Draft
	node  ir.DraftNode
	ext   map[string]any // keys that have no place in a draft
}
