package ralphbead

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds how deep a bead nests.
const maxDepth = 64

// value is JSON that knows where it stands.
type value struct {
	kind       byte // '{', '[', 's'tring, 'n'umber, 'b'ool, '0' for null
	pointer    string
	start, end int // in bytes of the file, end exclusive
	text       string
	truth      bool
	members    []member
	items      []*value
}

type member struct {
	name       string // as written
	start, end int    // of the name, quotes included
	value      *value
}

// kinds are the words that people use for kinds.
var kinds = map[byte]string{'{': "an object", '[': "a list", 's': "text", 'n': "a number", 'b': "true or false", '0': "null"}

// syntaxError is where and why bytes are no JSON.
type syntaxError struct {
	offset int
	why    string
}

func (e *syntaxError) Error() string { return e.why }

// parse reads exactly one JSON value.
func parse(src []byte) (*value, error) {
	p := &parser{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	p.dec.UseNumber()
	v, err := p.value("", 0)
	if err == nil {
		if _, more := p.dec.Token(); !errors.Is(more, io.EOF) {
			err = &syntaxError{p.skip(int(p.dec.InputOffset())), "something stands behind the object"}
		}
	}
	var bad *syntaxError
	var syntax *json.SyntaxError
	switch {
	case err == nil || errors.As(err, &bad):
	case errors.As(err, &syntax):
		err = &syntaxError{min(max(int(syntax.Offset)-1, 0), len(src)), syntax.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = &syntaxError{len(src), "it ends too early"}
	default:
		err = &syntaxError{min(int(p.dec.InputOffset()), len(src)), err.Error()}
	}
	return v, err
}

type parser struct {
	src []byte
	dec *json.Decoder
}

// skip returns where the token behind at begins.
func (p *parser) skip(at int) int {
	for at < len(p.src) && strings.IndexByte(" \t\r\n:,", p.src[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) value(pointer string, depth int) (*value, error) {
	start := p.skip(int(p.dec.InputOffset()))
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, &syntaxError{start, fmt.Sprintf("it nests deeper than %d levels", maxDepth)}
	}
	v := &value{pointer: pointer, start: start}
	switch t := t.(type) {
	case json.Delim:
		v.kind = byte(t)
		if v.kind == '{' {
			err = p.object(v, depth)
		} else {
			err = p.array(v, depth)
		}
	case string:
		v.kind, v.text = 's', t
	case json.Number:
		v.kind, v.text = 'n', t.String()
	case bool:
		v.kind, v.truth = 'b', t
	case nil:
		v.kind = '0'
	}
	v.end = int(p.dec.InputOffset())
	return v, err
}

func (p *parser) object(v *value, depth int) error {
	for p.dec.More() {
		m := member{start: p.skip(int(p.dec.InputOffset()))}
		t, err := p.dec.Token()
		if err != nil {
			return err
		}
		m.name, m.end = t.(string), int(p.dec.InputOffset())
		if m.value, err = p.value(v.pointer+"/"+escape(m.name), depth+1); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	_, err := p.dec.Token()
	return err
}

func (p *parser) array(v *value, depth int) error {
	for p.dec.More() {
		x, err := p.value(fmt.Sprintf("%s/%d", v.pointer, len(v.items)), depth+1)
		if err != nil {
			return err
		}
		v.items = append(v.items, x)
	}
	_, err := p.dec.Token()
	return err
}

// escape writes a name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// plain is a key without what spellings differ in: timeout_seconds,
// TimeoutSeconds and timeoutSeconds are one key.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
