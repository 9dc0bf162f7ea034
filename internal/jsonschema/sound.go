package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Sound reports what makes JSON ambiguous or too deep: a key that stands twice may
// mean one thing to one reader and another to the next, objects and lists that stand
// more than depth levels inside each other, and more than one value.
func Sound(b []byte, depth int) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // a key comes next
	}
	var stack []level
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not valid JSON: %w", err)
		}
		top := len(stack) - 1
		if s, ok := t.(string); ok && top >= 0 && stack[top].keys != nil && stack[top].key {
			if stack[top].keys[s] {
				return fmt.Errorf("the key %q stands twice in one object", s[:min(len(s), 60)])
			}
			stack[top].keys[s], stack[top].key = true, false
			continue
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if len(stack) == depth {
				return fmt.Errorf("objects and lists stand more than %d levels inside each other", depth)
			}
			l := level{}
			if t == json.Delim('{') {
				l = level{keys: map[string]bool{}, key: true}
			}
			stack = append(stack, l)
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if top = len(stack) - 1; top >= 0 && stack[top].keys != nil {
			stack[top].key = true
		}
		if len(stack) == 0 && d.More() {
			return errors.New("there is more than one JSON value")
		}
	}
}
