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

// Object is JSON whose keys keep their order.
type Object []Field

// Field is a key of an Object with its value.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Form is what a format can have at a key: a text, a whole number, truth, an object, JSON
// that was read, and lists of these. A nil pointer is null; the keys of a map are sorted.
type Form interface {
	~string | *string | ~int | ~int64 | ~bool | ~[]string |
		Object | map[string]json.RawMessage | json.RawMessage | []Object | []json.RawMessage
}

// Raw is a value as JSON.
func Raw[V Form](v V) json.RawMessage { return must(JSON(v)) }

// Key is a key with its value.
func Key[V Form](name string, v V) Field { return Field{name, Raw(v)} }

// must is JSON that was written of a Form, or of what was read from JSON: either can be
// written.
func must(raw []byte, err error) json.RawMessage {
	if err != nil {
		panic("foreign: " + err.Error())
	}
	return raw
}

// Put sets a key, at the end if it is new.
func Put[V Form](o *Object, name string, v V) { o.set(Key(name, v)) }

func (o *Object) set(f Field) {
	if i := slices.IndexFunc(*o, func(have Field) bool { return have.Name == f.Name }); i >= 0 {
		(*o)[i] = f
		return
	}
	*o = append(*o, f)
}

// Text puts a text that is not empty.
func (o *Object) Text(name, text string) {
	if text != "" {
		Put(o, name, text)
	}
}

// Add puts JSON that was read, unless that is nothing or null.
func (o *Object) Add(name string, raw json.RawMessage) {
	if len(raw) > 0 && string(raw) != "null" {
		Put(o, name, raw)
	}
}

// Rest puts the keys of m that are not named, sorted.
func (o *Object) Rest(m map[string]json.RawMessage, but ...string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(but, k) {
			Put(o, k, m[k])
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
		b.WriteByte("{,"[min(i, 1)])
		b.Write(append(append(name, ':'), f.Value...))
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
func Ext(format string, kept map[string]json.RawMessage) map[string]json.RawMessage {
	if len(kept) == 0 {
		return nil
	}
	return map[string]json.RawMessage{format: must(json.Marshal(kept))}
}

// Kept reads back what Ext has kept of a node; nil if that is nothing.
func Kept(n *ir.Node, format string) (map[string]json.RawMessage, error) {
	raw := n.Ext[format]
	if len(raw) == 0 {
		return nil, nil
	}
	kept, err := Members(raw)
	if err != nil {
		err = fmt.Errorf("the foreign keys of node %s (ext.%s): %w", n.Key, format, err)
	}
	return kept, err
}

// Members takes an object apart: its values by their keys, as Value.Plain has them.
func Members(raw []byte) (map[string]json.RawMessage, error) {
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&all); err != nil || all == nil {
		return nil, err
	}
	out := make(map[string]json.RawMessage, len(all))
	for k, v := range all {
		out[k] = must(JSON(v))
	}
	return out, nil
}

// Text is the text that JSON holds; "" if it holds something else.
func Text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// List are the items of a list; none of what is no list.
func List(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return []json.RawMessage{}
	}
	return list
}
