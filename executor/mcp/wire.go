package mcp

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lazyregexp"
)

// The schema of a tool's input goes through an agent to a model. Both take less
// than JSON Schema: an object at the top, there no choice between schemas, no
// references, no keywords that are rare. wireOf writes a schema in these words.
// It may tell less than the true schema, never more; ralph validates with the true one.

// Bounds of texts for agents.
const (
	maxWire     = 64 << 10 // bytes
	maxRefDepth = 12       // references inside each other
)

// kept are the keywords that are passed on as they are.
var kept = []string{
	"type", "title", "description", "default", "examples", "enum", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required",
}

// silent are keywords that can be left out without a loss.
var silent = []string{"$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "$vocabulary", "readOnly", "writeOnly", "deprecated", "contentMediaType", "contentEncoding"}

// propertyName is what models take as the name of a property.
var propertyName = lazyregexp.New(`^[a-zA-Z0-9_.-]{1,64}$`)

type object = map[string]any

// wireOf writes a schema for agents. wrapped says that it may ask for something
// else than an object, which then is in the property "answer"; exact says that
// nothing was left out.
func wireOf(truth json.RawMessage) (wire json.RawMessage, wrapped, exact bool, err error) {
	var root any
	if err := json.Unmarshal(truth, &root); err != nil {
		return nil, false, false, err
	}
	w := &writer{root: root, exact: true}
	top := w.write(root, 0)
	if wrapped = !isObject(top); wrapped {
		top = object{"type": "object", "required": []any{"answer"}, "properties": object{"answer": top}}
	} else {
		top = w.flat(top)
	}
	if wire, err = json.Marshal(top); err != nil {
		return nil, false, false, err
	}
	if len(wire) <= maxWire {
		return wire, wrapped, w.exact, nil
	}
	if wrapped {
		top = object{"type": "object", "required": []any{"answer"}, "properties": object{"answer": object{}}}
	} else {
		top = object{"type": "object", "properties": object{}}
	}
	if wire, err = json.Marshal(top); err != nil {
		return nil, false, false, err
	}
	return wire, wrapped, false, nil
}

type writer struct {
	root  any
	exact bool
	size  int // schemas that were written
}

// write writes one schema and what is in it.
func (w *writer) write(schema any, refs int) object {
	in, ok := schema.(object)
	if w.size++; !ok || w.size > 2000 {
		w.exact = w.exact && schema == true
		return object{}
	}
	out := object{}
	if ref, ok := in["$ref"].(string); ok {
		if target, err := w.target(ref); err != nil || refs >= maxRefDepth {
			w.exact = false
		} else {
			out = w.write(target, refs+1)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		v := in[k]
		switch {
		case slices.Contains(kept, k):
			out[k] = v
		case k == "$ref", slices.Contains(silent, k):
		case k == "const":
			out["enum"] = []any{v}
		case k == "properties":
			props, _ := out[k].(object)
			out[k] = w.properties(props, v, refs)
		case k == "items":
			out[k] = w.write(v, refs)
		case k == "additionalProperties":
			if b, ok := v.(bool); ok {
				out[k] = b
			} else {
				out[k] = w.write(v, refs)
			}
		case k == "anyOf", k == "oneOf", k == "allOf":
			all := w.each(v, refs)
			if k == "oneOf" {
				k, w.exact = "anyOf", false
			}
			out[k] = all
		default:
			w.exact = false
		}
	}
	if req, ok := out["required"].([]any); ok { // of what it could not be told
		props, _ := out["properties"].(object)
		out["required"] = slices.DeleteFunc(slices.Clone(req), func(name any) bool {
			s, ok := name.(string)
			return !ok || !propertyName.MatchString(s) || props != nil && props[s] == nil && in["properties"] != nil && in["properties"].(object)[s] != nil
		})
	}
	return out
}

// properties adds those of a schema to what a reference beside them brought.
func (w *writer) properties(props object, of any, refs int) object {
	if props == nil {
		props = object{}
	}
	m, _ := of.(object)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !propertyName.MatchString(name) {
			w.exact = false
			continue
		}
		props[name] = w.write(m[name], refs)
	}
	return props
}

func (w *writer) each(schemas any, refs int) (all []any) {
	list, _ := schemas.([]any)
	for _, s := range list {
		all = append(all, w.write(s, refs))
	}
	return all
}

// target finds what a reference within the schema names.
func (w *writer) target(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, errors.New("outside")
	}
	at := w.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		m, _ := at.(object)
		var ok bool
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at, ok = m[part]; !ok {
			return nil, errors.New("unknown")
		}
	}
	return at, nil
}

// isObject reports whether a schema asks for an object, or lets it be one.
func isObject(s object) bool {
	switch t := s["type"].(type) {
	case string:
		return t == "object"
	case []any:
		return slices.Contains(t, any("object"))
	}
	if values, ok := s["enum"].([]any); ok {
		return !slices.ContainsFunc(values, func(v any) bool { _, is := v.(object); return !is })
	}
	all := func(list any) bool {
		l, _ := list.([]any)
		return !slices.ContainsFunc(l, func(v any) bool { return !isObject(v.(object)) })
	}
	switch {
	case s["properties"] != nil, s["required"] != nil, s["additionalProperties"] != nil:
		return true
	case s["anyOf"] != nil:
		return all(s["anyOf"])
	case s["allOf"] != nil:
		l, _ := s["allOf"].([]any)
		return slices.ContainsFunc(l, func(v any) bool { return isObject(v.(object)) })
	}
	return s["items"] == nil && s["minLength"] == nil && s["maxLength"] == nil && s["pattern"] == nil && s["minimum"] == nil && s["maximum"] == nil
}

// flat makes an object of the top: models take no choice between schemas there, so
// all their properties are told, and required is what all of them require.
func (w *writer) flat(s object) object {
	out := maps.Clone(s)
	out["type"] = "object"
	props, _ := out["properties"].(object)
	if props == nil {
		props = object{}
	}
	required, _ := out["required"].([]any)
	for _, k := range []string{"allOf", "anyOf"} {
		list, _ := out[k].([]any)
		delete(out, k)
		var common []any
		for i, b := range list {
			w.exact = false
			branch := w.flat(b.(object))
			for name, p := range branch["properties"].(object) {
				if props[name] == nil || len(props[name].(object)) == 0 {
					props[name] = p
				} else if k == "anyOf" {
					props[name] = object{} // it may be this or that
				}
			}
			req, _ := branch["required"].([]any)
			if k == "allOf" {
				required = append(required, req...)
				continue
			}
			if i == 0 {
				common = req
			}
			common = slices.DeleteFunc(slices.Clone(common), func(v any) bool { return !slices.Contains(req, v) })
		}
		required = append(required, common...)
	}
	if len(required) > 0 {
		var once []any
		for _, v := range required {
			if !slices.Contains(once, v) {
				once = append(once, v)
			}
		}
		out["required"] = once
	} else {
		delete(out, "required")
	}
	if _, ok := out["enum"]; ok {
		delete(out, "enum")
		w.exact = false
	}
	if out["additionalProperties"] == false && len(props) == 0 {
		delete(out, "additionalProperties")
	}
	out["properties"] = props
	return out
}
