package ir

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// Change is a field that differs between two epics. A scalar has Old and New; a
// list or a text has Lines instead.
type Change struct {
	Path  string   `json:"path"`  // steps.implement.limits.attempts
	Old   string   `json:"old"`   // as text, or JSON where it is no scalar; "" if absent
	New   string   `json:"new"`   // the same
	Lines []string `json:"lines"` // of a line difference; each begins with "-", "+" or " "
}

// comparer collects the differences between two values of one shape.
type comparer struct {
	changes []Change
	skip    map[string]bool // paths that are derived from something else
}

// equal compares without looking for where a difference is: most values of two
// epics are the same.
func equal(s *shape, a, b reflect.Value) bool {
	switch s.kind {
	case shapeString:
		return a.String() == b.String()
	case shapeBool:
		return a.Bool() == b.Bool()
	case shapeInt:
		return a.Int() == b.Int()
	case shapeRaw:
		return bytes.Equal(a.Bytes(), b.Bytes()) || sameJSON(a.Bytes(), b.Bytes())
	case shapePointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(s.elem, a.Elem(), b.Elem())
	case shapeStruct:
		for i := range s.fields {
			if f := &s.fields[i]; !equal(f.shape, f.of(a), f.of(b)) {
				return false
			}
		}
	case shapeStrings, shapeSlice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(s.elem, a.Index(i), b.Index(i)) {
				return false
			}
		}
	case shapeMap:
		if a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if x := b.MapIndex(k); !x.IsValid() || !equal(s.elem, a.MapIndex(k), x) {
				return false
			}
		}
	}
	return true
}

func sameJSON(a, b []byte) bool {
	x, errX := NormalizeJSON(a)
	y, errY := NormalizeJSON(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// walk adds what differs between a and b below path.
func (c *comparer) walk(s *shape, path string, a, b reflect.Value) {
	if c.skip[path] || equal(s, a, b) {
		return
	}
	switch s.kind {
	case shapeStruct:
		for _, f := range lists.Each(s.fields) {
			if x, y := f.of(a), f.of(b); !equal(f.shape, x, y) { // most are, and need no path
				c.walk(f.shape, join(path, f.name), x, y)
			}
		}
	case shapeMap:
		c.entries(s, path, a, b)
	case shapePointer:
		if a.IsNil() || b.IsNil() {
			c.scalar(path, show(s, a), show(s, b))
			return
		}
		c.walk(s.elem, path, a.Elem(), b.Elem())
	case shapeSlice:
		if s.elem.name == "Step" {
			c.steps(s, path, a, b)
			return
		}
		c.lines(path, listLines(s, a), listLines(s, b))
	case shapeStrings:
		c.lines(path, listLines(s, a), listLines(s, b))
	case shapeRaw:
		c.lines(path, rawLines(a.Bytes()), rawLines(b.Bytes()))
	default:
		c.scalar(path, show(s, a), show(s, b))
	}
}

func (c *comparer) scalar(path, old, now string) {
	c.changes = append(c.changes, Change{Path: path, Old: old, New: now, Lines: []string{}})
}

func (c *comparer) entries(s *shape, path string, a, b reflect.Value) {
	keys := map[string]reflect.Value{}
	for _, m := range [...]reflect.Value{a, b} {
		for _, k := range m.MapKeys() {
			keys[k.String()] = k
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		x, y := a.MapIndex(keys[name]), b.MapIndex(keys[name])
		at := entry(path, name)
		switch {
		case !x.IsValid():
			c.scalar(at, "", show(s.elem, y))
		case !y.IsValid():
			c.scalar(at, show(s.elem, x), "")
		default:
			c.walk(s.elem, at, x, y)
		}
	}
}

// steps compares steps by name.
func (c *comparer) steps(s *shape, path string, a, b reflect.Value) {
	names := func(v reflect.Value) (list []string, at map[string]int) {
		at = map[string]int{}
		for i := range v.Len() {
			name := v.Index(i).Addr().Interface().(*Step).Name
			list, at[name] = append(list, name), i
		}
		return list, at
	}
	old, oldAt := names(a)
	now, nowAt := names(b)
	if !slices.Equal(old, now) {
		c.lines(path, old, now)
	}
	for _, name := range now {
		if i, kept := oldAt[name]; kept {
			c.walk(s.elem, entry(path, name), a.Index(i), b.Index(nowAt[name]))
		}
	}
}

// lines adds a line difference without headers and without @@ lines: what
// is between the parts of a prompt can be read in the file.
func (c *comparer) lines(path string, old, now []string) {
	text := func(lines []string) []byte {
		var b bytes.Buffer
		for _, l := range lines {
			b.WriteString(strings.ReplaceAll(l, "\n", "\u2424"))
			b.WriteByte('\n')
		}
		return b.Bytes()
	}
	var out []string
	for i, line := range strings.Split(strings.TrimSuffix(string(diff.Diff("", text(old), "", text(now))), "\n"), "\n") {
		switch {
		case i < 3: // diff, ---, +++
		case strings.HasPrefix(line, "@@ "):
			if len(out) > 0 {
				out = append(out, " …")
			}
		default:
			out = append(out, line)
		}
	}
	c.changes = append(c.changes, Change{Path: path, Lines: out})
}

func listLines(s *shape, v reflect.Value) []string {
	var out []string
	for i := range v.Len() {
		if task, ok := v.Index(i).Interface().(Task); ok {
			out = append(out, task.Text)
			for _, d := range task.Detail {
				out = append(out, "  "+d)
			}
			continue
		}
		out = append(out, show(s.elem, v.Index(i)))
	}
	return out
}

func rawLines(raw []byte) []string {
	if len(raw) == 0 {
		return nil
	}
	e := encoder{}
	if e.raw(raw, 0); e.err != nil {
		return []string{string(raw)}
	}
	return strings.Split(string(e.b), "\n")
}

// show writes a value on one line: scalars as they are, the rest as JSON.
func show(s *shape, v reflect.Value) string {
	switch {
	case s.kind == shapeString:
		return v.String()
	case s.kind == shapePointer && v.IsNil():
		return ""
	}
	var e encoder
	e.value(s, v, 0)
	var b bytes.Buffer
	if err := json.Compact(&b, e.b); err != nil {
		return "?" // embedded JSON that is none
	}
	return b.String()
}
