package executor

import (
	"bytes"
	"encoding/json"
	"strings"
)

// repeatedKey returns a key that an object of b has twice, "" if there is none: one
// reader takes the first value, another the last. Of the outermost object the letter
// case of keys does not count, as where it is read.
func repeatedKey(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // a key comes next
	}
	var stack []level
	for {
		t, err := d.Token()
		if err != nil {
			return "" // who reads it says what is wrong
		}
		top := len(stack) - 1
		if s, ok := t.(string); ok && top >= 0 && stack[top].key {
			if top == 0 {
				s = strings.ToLower(s)
			}
			if stack[top].keys[s] {
				return s
			}
			stack[top].keys[s], stack[top].key = true, false
			continue
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
			top--
		}
		if top < 0 {
			return ""
		}
		stack[top].key = stack[top].keys != nil
	}
}
