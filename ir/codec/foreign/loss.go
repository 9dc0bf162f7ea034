package foreign

import (
	"io"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
)

// Decode reads the files of one import into one draft: nil when the list holds an
// error. The files' names are paths relative to the project. It is safe for
// concurrent use, and no bytes make it panic.
type Decode func(files []*diag.File) (*ir.Draft, diag.List)

// Encode writes an epic with its history in a format. Where the epic lacks what the format
// requires, it is written as it is and returned as breaches; an error is that of w.
type Encode func(w io.Writer, e *ir.Epic, h *ir.History) ([]Breach, error)

// Breach is a requirement of a format that the output does not meet.
type Breach struct {
	Node    ir.Key // "" is the epic
	Pointer string // JSON pointer in what was written for it
	Message string // "must be sonnet, opus or haiku, not gpt-5"
}

func (b Breach) String() string {
	s := b.Pointer + " " + b.Message
	if b.Node != "" {
		s = string(b.Node) + ": " + s
	}
	return s
}

// Loss is something that does not survive an import and an export. A codec lists
// its losses, its document has them as a table, its property test ignores them and
// nothing else.
type Loss struct {
	Field string // "/metadata/dev_prompts", or in words: "order of keys"
	What  string // what becomes of it, and why
}
