package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// maxSketch bounds a sketch, in bytes.
const maxSketch = 1500

// sketchOf shows in one line what an object has to look like, such as
// {"status": "pass" | "fail", "message": text, "details"?: object}. It chooses
// nothing for the reader.
func sketchOf(wire json.RawMessage) string {
	var s object
	if json.Unmarshal(wire, &s) != nil {
		return "{}"
	}
	return text.Clip(sketch(s, 0), maxSketch)
}

func sketch(s object, depth int) string {
	if values, ok := s["enum"].([]any); ok {
		var words []string
		for _, v := range values[:min(len(values), 12)] {
			b, _ := json.Marshal(v) // it came from JSON
			words = append(words, string(b))
		}
		return strings.Join(words, " | ")
	}
	kind, _ := s["type"].(string)
	props, _ := s["properties"].(object)
	switch {
	case len(props) > 0 && depth < 3:
		required, _ := s["required"].([]any)
		var first, then []string
		for _, name := range slices.Sorted(maps.Keys(props)) {
			p, _ := props[name].(object)
			key, _ := json.Marshal(name)
			if slices.Contains(required, any(name)) {
				first = append(first, string(key)+": "+sketch(p, depth+1))
			} else {
				then = append(then, string(key)+"?: "+sketch(p, depth+1))
			}
		}
		return "{" + strings.Join(append(first, then...), ", ") + "}"
	case kind == "object" && depth == 0:
		return "{}"
	case kind == "array":
		items, _ := s["items"].(object)
		if len(items) == 0 || depth >= 3 {
			return "list"
		}
		return "[" + sketch(items, depth+1) + ", …]"
	case kind == "string":
		return "text"
	case kind == "":
		return "any"
	}
	return kind
}
