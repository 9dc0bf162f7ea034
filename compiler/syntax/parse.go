package syntax

import "github.com/ralph-compiler/ralph/diag"

// Parse reads a plan. The tree is always there and usable, whatever the
// diagnostics say; with errors it holds what could be understood. The file's
// bytes must not change while the tree is used.
func Parse(file *diag.File, opts Options) (*Plan, diag.List) {
	p := &Plan{File: file}
	return p, nil
}

// Peek reads only the front matter: the dialect and the policy files that it
// names are needed before the plan can be parsed. It gives no diagnostics that
// Parse does not give again.
func Peek(file *diag.File) (FrontMatter, diag.List) {
	return FrontMatter{}, nil
}
