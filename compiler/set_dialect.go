package compiler

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// SetDialect returns the plan with its dialect in the front matter, which is created if
// missing. All other bytes stay. It reports false if the front matter has a form to which
// no line can be added.
func SetDialect(file *diag.File, name string) ([]byte, bool) {
	fm, _ := syntax.Peek(file)
	b := file.Bytes
	eol := "\n"
	if i := bytes.IndexByte(b, '\n'); i > 0 && b[i-1] == '\r' {
		eol = "\r\n"
	}
	value := name
	if !plainScalar.MatchString(name) {
		value = strconv.Quote(name)
	}
	from := 0
	if bom := []byte("\uFEFF"); bytes.HasPrefix(b, bom) {
		from = len(bom)
	}
	var out []byte
	switch {
	case fm.Dialect.Set():
		out = slices.Concat(b[:fm.Dialect.Range.Start], []byte(value), b[fm.Dialect.Range.End:])
	case fm.Present():
		at := from + bytes.IndexByte(b[from:], '\n') + 1
		out = slices.Concat(b[:at], []byte("dialect: "+value+eol), b[at:])
	default:
		out = slices.Concat(b[:from], []byte("---"+eol+"dialect: "+value+eol+"---"+eol+eol), b[from:])
	}
	now, l := syntax.Peek(diag.NewFile(file.Name, out))
	same := func(a, b syntax.Stated) bool { return a.Value == b.Value }
	ok := !l.HasErrors() && now.Dialect.Value == name && same(now.ID, fm.ID) && same(now.Title, fm.Title) && same(now.Policy, fm.Policy) &&
		same(now.Base, fm.Base) && same(now.Integration, fm.Integration) && same(now.Owner, fm.Owner) && same(now.Ralph, fm.Ralph)
	return out, ok
}

// plainScalar is what YAML takes for a text as it is, at the end of a line.
var plainScalar = lazyregexp.New(`^\pL[\pL\pM0-9_-]*(:[\pL\pM][\pL\pM0-9,_-]*)?$`)
