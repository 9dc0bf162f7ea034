package ir

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// A shape is what the encoder, the decoder, the comparison and the JSON Schema
// know about a type. It is computed once, on first use, so that a new field of
// a node needs a line in one file only: the type's.
type shape struct {
	kind   shapeKind
	name   string // of the Go type, for messages in tests and the schema
	typ    reflect.Type
	elem   *shape       // of slices, maps and pointers
	fields []shapeField // of structs, in the order of the file
	byName map[string]int
}

type shapeKind uint8

const (
	shapeString shapeKind = iota + 1
	shapeBool
	shapeInt
	shapeStrings // []string and slices of string kinds, the most frequent compound
	shapeSlice
	shapeMap
	shapeStruct
	shapePointer
	shapeRaw // json.RawMessage
)

// shapeField is a field of a struct; embedded structs are flattened, one level.
type shapeField struct {
	name  string
	label string // `"name": `
	outer int
	inner int // -1 if not embedded
	shape *shape
	words []string // the field's vocabulary; nil if it has none
	omit  bool     // it is left out while it is empty, so that files from before it was there stay as they are
}

// absent reports whether the field is left out of the file with this value.
func (f *shapeField) absent(v reflect.Value) bool {
	if !f.omit {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (f *shapeField) of(v reflect.Value) reflect.Value {
	v = v.Field(f.outer)
	if f.inner >= 0 {
		v = v.Field(f.inner)
	}
	return v
}

var (
	rawType = reflect.TypeFor[json.RawMessage]()

	epicShape  = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[Epic]()) })
	nodeShape  = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[Node]()) })
	workShape  = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[workView]()) })
	judgeShape = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[judgeView]()) })
	gateShape  = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[gateView]()) })
)

// shapeOf panics on a type that epic.json cannot hold: that is a bug in ralph,
// and every test finds it.
func shapeOf(t reflect.Type) *shape {
	s := &shape{name: t.Name(), typ: t}
	switch {
	case t == rawType:
		s.kind = shapeRaw
		return s
	case t.Kind() == reflect.String:
		s.kind = shapeString
		return s
	case t.Kind() == reflect.Bool:
		s.kind = shapeBool
		return s
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		s.kind = shapeInt
		return s
	case t.Kind() == reflect.Pointer:
		s.kind, s.elem = shapePointer, shapeOf(t.Elem())
		return s
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		s.kind, s.elem = shapeStrings, shapeOf(t.Elem())
		return s
	case t.Kind() == reflect.Slice:
		s.kind, s.elem = shapeSlice, shapeOf(t.Elem())
		return s
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.kind, s.elem = shapeMap, shapeOf(t.Elem())
		return s
	case t.Kind() != reflect.Struct:
		panic(fmt.Sprintf("ir: epic.json cannot hold a %s", t))
	}
	s.kind = shapeStruct
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for j := range f.Type.NumField() {
				s.add(f.Type.Field(j), i, j)
			}
			continue
		}
		s.add(f, i, -1)
	}
	s.byName = make(map[string]int, len(s.fields))
	for i, f := range s.fields {
		s.byName[f.name] = i
	}
	if len(s.fields) > 64 {
		panic(fmt.Sprintf("ir: %s has more than 64 fields", t))
	}
	return s
}

func (s *shape) add(f reflect.StructField, outer, inner int) {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		panic(fmt.Sprintf("ir: field %s.%s has no name in epic.json", s.name, f.Name))
	}
	s.fields = append(s.fields, shapeField{
		name: name, label: `"` + name + `": `, outer: outer, inner: inner, shape: shapeOf(f.Type),
		words: enums[s.name+"."+name], omit: option == "omitempty",
	})
}
