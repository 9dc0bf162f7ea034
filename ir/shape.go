package ir

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-compiler/ralph/internal/lists"
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
	sound bool     // it has neither words nor numbers that could be wrong
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
	s := &shape{name: t.Name(), typ: t, kind: kindOfType(t)}
	switch s.kind {
	case shapePointer, shapeStrings, shapeSlice, shapeMap:
		s.elem = shapeOf(t.Elem())
	}
	if s.kind != shapeStruct {
		return s
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			view := f.Tag.Get("digest")
			for j := range f.Type.NumField() {
				if in := f.Type.Field(j); in.Tag.Get("digest") == view || view == "" {
					s.add(in, i, j)
				}
			}
			continue
		}
		s.add(f, i, -1)
	}
	s.byName = lists.Index(s.fields, func(x *shapeField) string { return x.name })
	if len(s.fields) > 64 {
		panic(fmt.Sprintf("ir: %s has more than 64 fields", t))
	}
	return s
}

// sound reports whether nothing in a value has a vocabulary, or is a number.
func (s *shape) sound() bool {
	switch s.kind {
	case shapeInt:
		return false
	case shapePointer, shapeSlice, shapeMap:
		return s.elem.sound()
	case shapeStruct:
		return !slices.ContainsFunc(s.fields, func(f shapeField) bool { return !f.sound })
	}
	return true
}

func kindOfType(t reflect.Type) shapeKind {
	switch k := t.Kind(); {
	case t == rawType:
		return shapeRaw
	case k == reflect.String:
		return shapeString
	case k == reflect.Bool:
		return shapeBool
	case k == reflect.Int || k == reflect.Int64:
		return shapeInt
	case k == reflect.Pointer:
		return shapePointer
	case k == reflect.Slice && t.Elem().Kind() == reflect.String:
		return shapeStrings
	case k == reflect.Slice:
		return shapeSlice
	case k == reflect.Map && t.Key().Kind() == reflect.String:
		return shapeMap
	case k == reflect.Struct:
		return shapeStruct
	}
	panic(fmt.Sprintf("ir: epic.json cannot hold a %s", t))
}

func (s *shape) add(f reflect.StructField, outer, inner int) {
	name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		panic(fmt.Sprintf("ir: field %s.%s has no name in epic.json", s.name, f.Name))
	}
	field := shapeField{
		name: name, label: `"` + name + `": `, outer: outer, inner: inner, shape: shapeOf(f.Type),
		words: enums[s.name+"."+name], omit: option == "omitempty",
	}
	field.sound = field.words == nil && field.shape.sound()
	if i := slices.IndexFunc(s.fields, func(f shapeField) bool { return f.name == name }); i >= 0 {
		s.fields[i] = field // in the place of the embedded one
		return
	}
	s.fields = append(s.fields, field)
}
