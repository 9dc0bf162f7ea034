package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ralph-compiler/ralph/ir"
)

// Object is JSON whose keys keep their order. A value is whatever a format allows there.
type Object []Field

// Field is a key of an Object.
type Field struct {
	Name  string
	Value any
}

// Of is an object of names and values by turns.
func Of(pairs ...any) Object {
	var o Object
	for i := 0; i < len(pairs); i += 2 {
		o.Put(pairs[i].(string), pairs[i+1])
	}
	return o
}

// Put sets a key, at the end if it is new.
func (o *Object) Put(name string, value any) {
	if i := slices.IndexFunc(*o, func(f Field) bool { return f.Name == name }); i >= 0 {
		(*o)[i].Value = value
		return
	}
	*o = append(*o, Field{name, value})
}

// Text puts a text that is not empty.
func (o *Object) Text(name, text string) {
	if text != "" {
		o.Put(name, text)
	}
}

// Add is Put of what is not nil.
func (o *Object) Add(name string, value any) {
	if value != nil {
		o.Put(name, value)
	}
}

// Rest puts the keys of m that are not named, sorted.
func Rest[V any](o *Object, m map[string]V, but ...string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(but, k) {
			o.Put(k, m[k])
		}
	}
}

// MarshalJSON writes the keys in their order, and <, > and & as they are.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, f := range o {
		name, err := JSON(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := JSON(f.Value)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(append(append(name, ':'), value...))
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON is a value as JSON without a line's end and without HTML's escapes.
func JSON[V any](v V) ([]byte, error) {
	b, err := encoded(v, "")
	return bytes.TrimSuffix(b, []byte("\n")), err
}

func encoded[V any](v V, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// WriteLines writes values as JSON, one per line.
func WriteLines[V any](w io.Writer, list []V) error {
	var out []byte
	for i, v := range list {
		b, err := encoded(v, "")
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, b...)
	}
	_, err := w.Write(out)
	return err
}

// Write writes a value as indented JSON.
func Write[V any](w io.Writer, v V) error {
	b, err := encoded(v, "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// WriteOne is Write of a list, or of its one value where it has just one.
func WriteOne[V any](w io.Writer, list []V) error {
	if len(list) == 1 {
		return Write(w, list[0])
	}
	return Write(w, list)
}

// Ext is what a codec keeps of a node, as Node.Ext has it; nil if nothing. It was read from
// JSON.
func Ext(format string, kept map[string]any) map[string]json.RawMessage {
	if len(kept) == 0 {
		return nil
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", format, err))
	}
	return map[string]json.RawMessage{format: raw}
}

// Kept reads back what Ext has kept of a node, its numbers as they were written; nil if that
// is nothing.
func Kept(n *ir.Node, format string) (kept map[string]any, err error) {
	raw := n.Ext[format]
	if len(raw) == 0 {
		return nil, nil
	}
	if err = Exact(raw, &kept); err != nil {
		err = fmt.Errorf("the foreign keys of node %s (ext.%s): %w", n.Key, format, err)
	}
	return kept, err
}

// Exact reads JSON with its numbers as they are.
func Exact[V any](raw []byte, to *V) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to)
}
