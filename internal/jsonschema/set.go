package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"time"

	infer "github.com/google/jsonschema-go/jsonschema"
)

// Set makes the schemas of several types. Each named struct among them, and below them, has
// one schema, to which the others refer. Its lists and maps are never null, unless it is of
// a loose package.
type Set struct {
	at    string // before a name in a reference
	loose string // path of a package
	names map[reflect.Type]string
	taken map[string]reflect.Type
	known map[reflect.Type]*infer.Schema
	made  map[string]json.RawMessage
}

// NewSet returns a set whose references begin with at: "#/components/schemas/". The lists
// and maps of the types of the package loose may be null.
func NewSet(at, loose string) *Set {
	return &Set{
		at: at, loose: loose, names: map[reflect.Type]string{}, taken: map[string]reflect.Type{},
		known: map[reflect.Type]*infer.Schema{}, made: map[string]json.RawMessage{},
	}
}

// Of returns the schema of a type, and adds those that it refers to.
func (s *Set) Of(t reflect.Type) (json.RawMessage, error) {
	if err := ownForms(t, s.known, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	structs := s.name(t, nil)
	for _, t := range structs {
		s.known[t] = &infer.Schema{Ref: s.at + s.names[t]}
	}
	for _, t := range structs {
		b, err := s.schema(t, t)
		if err != nil {
			return nil, err
		}
		s.made[s.names[t]] = b
	}
	return s.schema(t, nil)
}

// Schemas are those that have been made, by name.
func (s *Set) Schemas() map[string]json.RawMessage { return s.made }

// name gives names to the structs of a type that have none yet, and lists them.
func (s *Set) name(t reflect.Type, list []reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return s.name(t.Elem(), list)
	case reflect.Struct:
	default:
		return list
	}
	if _, own := s.known[t]; own || s.names[t] != "" || t == reflect.TypeFor[time.Time]() {
		return list
	}
	if t.Name() != "" {
		name := t.Name()
		if s.taken[name] != nil {
			name = path.Base(t.PkgPath()) + "_" + name
		}
		s.names[t], s.taken[name] = name, t
		list = append(list, t)
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous) {
			list = s.name(f.Type, list)
		}
	}
	return list
}

// schema is that of a type; whole is written out, and not referred to.
func (s *Set) schema(t, whole reflect.Type) (json.RawMessage, error) {
	known := maps.Clone(s.known)
	writeOut(known, whole)
	out, err := infer.ForType(t, &infer.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	open(out)
	present(out, whole != nil && whole.PkgPath() == s.loose)
	return json.Marshal(out)
}

// writeOut takes a struct, and those embedded in it, out of what is referred to.
func writeOut(known map[reflect.Type]*infer.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	delete(known, t)
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			writeOut(known, f.Type)
		}
	}
}

// present makes a reference that may be null a choice and, unless they are loose, lists and
// maps ones that are never null.
func present(s *infer.Schema, loose bool) {
	if s == nil {
		return
	}
	switch {
	case s.Ref != "" && len(s.Types) > 0:
		s.AnyOf, s.Ref, s.Types = []*infer.Schema{{Ref: s.Ref}, {Type: "null"}}, "", nil
	case loose:
	case s.Items != nil:
		s.Type, s.Types = "array", nil
	case s.AdditionalProperties != nil && len(s.Types) > 0:
		s.Type, s.Types = "object", nil
	}
	for _, p := range s.Properties {
		present(p, loose)
	}
	present(s.Items, loose)
	present(s.AdditionalProperties, loose)
}
