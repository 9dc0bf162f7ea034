// Package strictjson finds what makes JSON ambiguous. It imports the standard library alone.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Twice is a key that occurs more than once in an object: one reader takes the first
// value, another the last.
type Twice struct{ Key string }

func (t *Twice) Error() string {
	return fmt.Sprintf("the key %q appears twice in one object", t.Key[:min(len(t.Key), 60)])
}

// Check reports what makes JSON ambiguous or too deep: a duplicate key (*Twice),
// objects and lists nested more than depth levels, and more than one
// value. With fold the letter case of the outermost object's keys does not count, for who
// reads it so.
func Check(b []byte, depth int, fold bool) error {
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
		if s, ok := t.(string); ok && top >= 0 && stack[top].key {
			if fold && top == 0 {
				s = strings.ToLower(s)
			}
			if stack[top].keys[s] {
				return &Twice{s}
			}
			stack[top].keys[s], stack[top].key = true, false
			continue
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if len(stack) == depth {
				return fmt.Errorf("objects and lists are nested more than %d levels", depth)
			}
			l := level{}
			if t == json.Delim('{') {
				l = level{map[string]bool{}, true}
			}
			stack = append(stack, l)
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if top = len(stack) - 1; top >= 0 {
			stack[top].key = stack[top].keys != nil
		}
		if len(stack) == 0 && d.More() {
			return errors.New("there is more than one JSON value")
		}
	}
}
