package jsonschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	infer "github.com/google/jsonschema-go/jsonschema"
)

// Of returns the schema (2020-12) of what encoding/json writes of a T. An object may
// have more fields than the schema names. T has a field "version", and the schema
// allows no other value there.
func Of[T any](title, description string, version int) ([]byte, error) {
	t := reflect.TypeFor[T]()
	known := map[reflect.Type]*infer.Schema{}
	if err := ownForms(t, known, map[reflect.Type]bool{}); err != nil {
		return nil, err
	}
	s, err := infer.ForType(t, &infer.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, err
	}
	open(s)
	s.Schema, s.Title, s.Description = "https://json-schema.org/draft/2020-12/schema", title, description
	at := s.Properties["version"]
	if at == nil {
		return nil, fmt.Errorf("%s has no field version", t)
	}
	var only any = version
	at.Const = &only
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// ownForms gathers the types that say themselves how they are written.
func ownForms(t reflect.Type, known map[reflect.Type]*infer.Schema, seen map[reflect.Type]bool) error {
	if seen[t] || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	seen[t] = true
	switch p := reflect.PointerTo(t); {
	case t == reflect.TypeFor[json.RawMessage]():
		known[t] = &infer.Schema{}
		return nil
	case p.Implements(reflect.TypeFor[json.Marshaler]()):
		return fmt.Errorf("%s writes itself, and its schema is not known", t)
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		known[t] = &infer.Schema{Type: "string"}
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return ownForms(t.Elem(), known, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if err := ownForms(f.Type, known, seen); err != nil {
				return fmt.Errorf("%s.%s: %w", t.Name(), f.Name, err)
			}
		}
	}
	return nil
}

// open lets objects have fields that a later release adds, and maps be null, as they
// are written when they are nil.
func open(s *infer.Schema) {
	if s == nil {
		return
	}
	switch {
	case s.Properties != nil:
		s.AdditionalProperties = nil
	case s.AdditionalProperties != nil && s.Type == "object":
		s.Type, s.Types = "", []string{"null", "object"}
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}
