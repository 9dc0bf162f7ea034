package bead

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is JSON whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// put sets a key, at the end if it is new.
func (o *object) put(key string, value any) {
	if i := slices.IndexFunc(*o, func(m member) bool { return m.key == key }); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, value})
}

// MarshalJSON writes the keys in their order, and <, > and & as they are.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for k, v := range []any{m.key, m.value} {
			if k == 1 {
				b.WriteByte(':')
			}
			text, err := plainJSON(v)
			if err != nil {
				return nil, err
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainJSON is JSON without a line's end and without HTML's escapes.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
