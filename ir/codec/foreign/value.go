package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
)

// maxDepth bounds how deep a file nests.
const maxDepth = 64

// Value is JSON with its position.
type Value struct {
	Kind       byte   // '{', '[', 's'tring, 'n'umber, 'b'ool, '0' for null
	Pointer    string // JSON pointer in its file, or in its line
	Start, End int    // in bytes of the file, end exclusive
	Text       string // of a string; the literal of a number
	Truth      bool
	Members    []Member
	Items      []*Value
}

// Member is a key of an object with its value.
type Member struct {
	Name       string // as written
	Start, End int    // of the name, quotes included
	Value      *Value
}

// Kinds are the words for kinds in messages.
var Kinds = map[byte]string{'{': "an object", '[': "a list", 's': "text", 'n': "a number", 'b': "true or false", '0': "null"}

// Reasons why bytes are no JSON that are not those of the decoder.
const (
	behind = "something follows the object"
	early  = "it ends too early"
)

// syntaxError is where and why bytes are no JSON.
type syntaxError struct {
	offset int
	why    string
}

func (e *syntaxError) Error() string { return e.why }

// parse reads exactly one JSON value of src[from:], which is not cut so that
// places are those of the file.
func parse(src []byte, from int) (*Value, error) {
	p := &parser{src: src, from: from, dec: json.NewDecoder(bytes.NewReader(src[from:]))}
	p.dec.UseNumber()
	v, err := p.value("", 0)
	if err == nil {
		end := p.at()
		if _, more := p.dec.Token(); !errors.Is(more, io.EOF) {
			err = &syntaxError{len(src) - len(bytes.TrimLeft(src[end:], " \t\r\n")), behind}
		}
	}
	var bad *syntaxError
	var syntax *json.SyntaxError
	switch {
	case err == nil || errors.As(err, &bad):
	case errors.As(err, &syntax):
		// The offset of a decoder that reads token by token is not that of the file.
		var whole json.RawMessage
		_ = errors.As(json.Unmarshal(src[from:], &whole), &syntax)
		err = &syntaxError{min(max(from+int(syntax.Offset)-1, 0), len(src)), syntax.Error()}
	default: // io.EOF, io.ErrUnexpectedEOF
		err = &syntaxError{len(src), early}
	}
	return v, err
}

type parser struct {
	src  []byte
	from int
	dec  *json.Decoder
}

// at is where the decoder is in the file.
func (p *parser) at() int { return p.from + int(p.dec.InputOffset()) }

// skip returns where the token after at begins.
func (p *parser) skip(at int) int {
	for at < len(p.src) && strings.IndexByte(" \t\r\n:,", p.src[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) value(pointer string, depth int) (*Value, error) {
	start := p.skip(p.at())
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, &syntaxError{start, fmt.Sprintf("it nests deeper than %d levels", maxDepth)}
	}
	v := &Value{Pointer: pointer, Start: start}
	switch t := t.(type) {
	case json.Delim:
		v.Kind = byte(t)
		if v.Kind == '{' {
			err = p.object(v, depth)
		} else {
			err = p.array(v, depth)
		}
	case string:
		v.Kind, v.Text = 's', t
	case json.Number:
		v.Kind, v.Text = 'n', t.String()
	case bool:
		v.Kind, v.Truth = 'b', t
	case nil:
		v.Kind = '0'
	}
	v.End = p.at()
	return v, err
}

func (p *parser) object(v *Value, depth int) error {
	for p.dec.More() {
		m := Member{Start: p.skip(p.at())}
		t, err := p.dec.Token()
		if err != nil {
			return err
		}
		m.Name, m.End = t.(string), p.at()
		if m.Value, err = p.value(v.Pointer+"/"+Escape(m.Name), depth+1); err != nil {
			return err
		}
		v.Members = append(v.Members, m)
	}
	_, err := p.dec.Token()
	return err
}

func (p *parser) array(v *Value, depth int) error {
	for p.dec.More() {
		x, err := p.value(fmt.Sprintf("%s/%d", v.Pointer, len(v.Items)), depth+1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, x)
	}
	_, err := p.dec.Token()
	return err
}

// Embedded returns the JSON that a text holds, as programs write it whose values can
// only be texts: "[1, 2]", "3". Every place in it is that of the text. What is no
// text, and a text that holds no JSON or another text, is returned as it is.
func (v *Value) Embedded() *Value {
	if v == nil || v.Kind != 's' {
		return v
	}
	in, err := parse([]byte(v.Text), 0)
	if err != nil || in.Kind == 's' {
		return v
	}
	in.move(v)
	return in
}

func (v *Value) move(to *Value) {
	v.Pointer, v.Start, v.End = to.Pointer+v.Pointer, to.Start, to.End
	for _, m := range lists.Each(v.Members) {
		m.Start, m.End = to.Start, to.End
		m.Value.move(to)
	}
	for _, x := range v.Items {
		x.move(to)
	}
}

// Any returns the first member with this name in any spelling, the exact one before others;
// nil if there is none, or a null.
func (v *Value) Any(name string) *Value {
	x := v.Get(name)
	if x == nil {
		x = v.member(func(m Member) bool { return Plain(m.Name) == Plain(name) })
	}
	if x == nil || x.Kind == '0' {
		return nil
	}
	return x
}

// Has reports whether there is a member with this name in any spelling, be it null.
func (v *Value) Has(name string) bool {
	return slices.ContainsFunc(v.Members, func(m Member) bool { return Plain(m.Name) == Plain(name) })
}

// Get returns the member with exactly this name, nil if there is none.
func (v *Value) Get(name string) *Value {
	return v.member(func(m Member) bool { return m.Name == name })
}

func (v *Value) member(is func(Member) bool) *Value {
	if i := slices.IndexFunc(v.Members, is); i >= 0 {
		return v.Members[i].Value
	}
	return nil
}

// Plain is a value as JSON without its place: keys are sorted, of two with the same name
// the last one counts, numbers are as they were written.
func (v *Value) Plain() json.RawMessage { return must(JSON(v.plain())) }

func (v *Value) plain() any {
	switch v.Kind {
	case '{':
		out := map[string]any{}
		for _, m := range v.Members {
			out[m.Name] = m.Value.plain()
		}
		return out
	case '[':
		return lists.Map(v.Items, func(x *Value) any { return x.plain() })
	case 's':
		return v.Text
	case 'n':
		return json.Number(v.Text)
	case 'b':
		return v.Truth
	}
	return nil
}

// Escape writes a name as a part of a JSON pointer.
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Plain is a key without what spellings differ in: timeout_seconds,
// TimeoutSeconds and timeoutSeconds are one key.
func Plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name))
}
