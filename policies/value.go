package policies

import "github.com/ralph-compiler/ralph/diag"

// Value is a setting that may be absent, with the place that it was written at.
// An absent Value of a block whose defaults are fixed (an agent, a runner, a
// gate) holds the default in V all the same, with Set false.
type Value[T any] struct {
	V      T
	Set    bool
	Range  diag.Range // of the value; zero when it comes from a flag or is a default
	Origin string     // who says so: `policy "default", step "build"`; built-in blocks begin with "built-in "
}

// Or returns v if it is set, else w.
func (v Value[T]) Or(w Value[T]) Value[T] {
	if v.Set {
		return v
	}
	return w
}

// Get returns the value if it is set, else def.
func (v Value[T]) Get(def T) T {
	if v.Set {
		return v.V
	}
	return def
}

// Of returns a set Value that was written at r by origin.
func Of[T any](v T, r diag.Range, origin string) Value[T] {
	return Value[T]{V: v, Set: true, Range: r, Origin: origin}
}

// Decl says where a block was declared.
type Decl struct {
	Name    string     // its label; "" for blocks without one
	Range   diag.Range // of the block's header: `gate "unit"`
	Builtin bool       // from the embedded policy, not from the user
}

// FileRead is a file of the project that fed a value of the policy.
type FileRead struct {
	Path   string // relative to the project, forward slashes; "glob:PATTERN" for a list of names
	Digest string // "sha256:…" of the bytes (of the joined names for a glob)
	For    string // the value that it fed: "gate.qa.output_schema"
}
