package policies

import (
	"encoding/json"
	"sync"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of policy files in HCL's
// JSON form, made from Decode's tables. Two-space indent, ends with a newline.
func JSONSchema() []byte { return policySchema() }

var policySchema = sync.OnceValue(func() []byte {
	complete()
	defs := map[string]any{}
	root := schemaOf(fileBlock, defs)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "ralph policy, JSON form of HCL"
	root["$defs"] = defs
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("policies: tables give no JSON: " + err.Error())
	}
	return append(b, '\n')
})

// schemaOf describes the object that a block's body is.
func schemaOf(b *block, defs map[string]any) map[string]any {
	props := map[string]any{"//": map[string]any{"description": "a comment"}}
	var required []string
	for _, a := range b.attrs {
		s := attrSchema(&a)
		if a.doc != "" {
			s["description"] = a.doc
		}
		props[a.name] = s
		if a.required {
			required = append(required, a.name)
		}
	}
	for _, n := range b.blocks {
		name := n.name
		if parent := b.name; fileBlock.block(name) != n && name != "step" {
			name = parent + "_" + name // nested blocks of one name may differ
		}
		if _, done := defs[name]; !done {
			defs[name] = nil // stops the recursion, should a block ever hold itself
			defs[name] = schemaOf(n, defs)
		}
		props[n.name] = blockSchema(n, map[string]any{"$ref": "#/$defs/" + name})
	}
	out := map[string]any{"type": "object", "properties": props}
	if b.doc != "" {
		out["description"] = b.doc
	}
	if b.name == "locals" {
		delete(out, "properties") // its attributes are names of the user's
		return out
	}
	out["additionalProperties"] = false
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// blockSchema describes what follows a block's type: an object by label,
// or the body; a list of either where there are several.
func blockSchema(b *block, body map[string]any) map[string]any {
	bodies := map[string]any{"anyOf": []any{body, map[string]any{"type": "array", "items": body}}}
	if b.label == "" {
		return bodies
	}
	labelled := map[string]any{"type": "object", "additionalProperties": bodies}
	return map[string]any{"anyOf": []any{labelled, map[string]any{"type": "array", "items": labelled}}}
}

// attrSchema describes an attribute. Text that holds a template may stand for
// any value.
func attrSchema(a *attr) map[string]any {
	str := map[string]any{"type": "string"}
	template := map[string]any{"type": "string", "pattern": `[$%]\{`}
	list := func(item map[string]any) map[string]any {
		return map[string]any{"anyOf": []any{item, map[string]any{"type": "array", "items": item}}}
	}
	or := func(s map[string]any) map[string]any { return map[string]any{"anyOf": []any{s, template}} }
	number := func(typ string) map[string]any {
		s := map[string]any{"type": typ}
		if a.kind == kInt || a.kind == kInts {
			s["minimum"] = a.min
			if a.max > 0 {
				s["maximum"] = a.max
			}
		}
		return s
	}
	switch a.kind {
	case kBool:
		return or(map[string]any{"type": "boolean"})
	case kInt:
		return or(number("integer"))
	case kFloat:
		return or(number("number"))
	case kUSD, kSize, kPercent:
		return map[string]any{"type": []string{"number", "string"}}
	case kStrings, kKeywords, kArgv, kGlobs, kRefs:
		return list(str)
	case kInts:
		return list(or(number("integer")))
	case kEnum:
		return or(map[string]any{"enum": a.enum})
	case kEnums:
		return list(or(map[string]any{"enum": a.enum}))
	case kMap:
		return or(map[string]any{"type": "object", "additionalProperties": map[string]any{"type": []string{"string", "number", "boolean"}}})
	case kIntMap:
		return or(map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "integer", "minimum": a.min}})
	case kSchema:
		return map[string]any{"type": []string{"object", "string"}}
	case kApproval:
		return map[string]any{"anyOf": []any{map[string]any{"type": []string{"boolean", "string"}}, map[string]any{"type": "array", "items": str}}}
	case kAny:
		return map[string]any{}
	}
	return str
}
