package condition

import (
	"encoding/json"
	"slices"
)

// Field is where the answers under a schema have a field: beside status, or in details.
type Field struct {
	Name   string
	nested bool
	types  []string // that the schema lets it have; nil: any
}

// object is what of a JSON Schema says which fields there are.
type object struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Additional json.RawMessage            `json:"additionalProperties"`
	Ref        json.RawMessage            `json:"$ref"`
	All        json.RawMessage            `json:"allOf"`
	Any        json.RawMessage            `json:"anyOf"`
	One        json.RawMessage            `json:"oneOf"`
	Patterns   json.RawMessage            `json:"patternProperties"`
}

// details is the object that judges fill as they like where nothing else is said.
const details = "details"

// Find returns where answers have a field, and whether the schema lets them have it:
// one that it types itself, one that it types in details, or any in details that are
// not typed.
func Find(schema []byte, name string) (Field, bool) {
	var top, in object
	_ = json.Unmarshal(schema, &top) // what describes no object has no field
	if p, ok := top.Properties[name]; ok {
		return Field{Name: name, types: types(p)}, true
	}
	f := Field{Name: name, nested: true}
	raw, ok := top.Properties[details]
	if !ok {
		return f, false
	}
	_ = json.Unmarshal(raw, &in) // true describes everything
	if p, ok := in.Properties[name]; ok {
		f.types = types(p)
		return f, true
	}
	if t := types(raw); t != nil && !slices.Contains(t, "object") {
		return f, false
	}
	if elsewhere := len(in.Ref)+len(in.All)+len(in.Any)+len(in.One)+len(in.Patterns) > 0; elsewhere {
		return f, true // whether it is there is known when it is there
	}
	return f, in.Properties == nil && string(in.Additional) != "false"
}

// types are those that a schema names; nil if it names none.
func types(raw json.RawMessage) []string {
	var s struct {
		Type json.RawMessage `json:"type"`
	}
	var one string
	var several []string
	switch {
	case json.Unmarshal(raw, &s) != nil || len(s.Type) == 0:
	case json.Unmarshal(s.Type, &one) == nil:
		return []string{one}
	case json.Unmarshal(s.Type, &several) == nil:
		return several
	}
	return nil
}

// May reports whether the field may have what a condition is about.
func (f Field) May(typ string) bool {
	return f.types == nil || slices.Contains(f.types, typ) || typ == Number && slices.Contains(f.types, "integer")
}

// Object is the object of the answer that holds the field, "" for the answer itself.
func (f Field) Object() string {
	if f.nested {
		return details
	}
	return ""
}

// Path is the field as messages name it: details.coverage_percent.
func (f Field) Path() string {
	if f.nested {
		return details + "." + f.Name
	}
	return f.Name
}

// In returns the field of an answer, nil if it has none.
func (f Field) In(answer []byte) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(answer, &fields) // what is no object has no field
	if !f.nested {
		return fields[f.Name]
	}
	var inner map[string]json.RawMessage
	_ = json.Unmarshal(fields[details], &inner)
	return inner[f.Name]
}
