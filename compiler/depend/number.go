package depend

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Number is the key of an item, taken apart: "FE-03-004b" has the shape
// "fe-#-#", the parts 3 and 4 and the letters "", "b".
//
// Two numbers can be compared when their shapes are equal. Letters belong to
// the part before them ("3a.2b"); letters that begin a part do not ("S1-T1").
type Number struct {
	Shape string
	Parts []Part
}

// Part is one number in a key, with the letters after it.
type Part struct {
	Value   uint64
	Letters string // lower case
}

// MaxPart is the largest number in a key: beyond it numbers are an error.
const MaxPart = 1<<31 - 1

// maxParts bounds how deep a key is taken apart; the rest is part of the shape.
const maxParts = 8

// ParseNumber parses a key. ok is false when a number in it is too large.
func ParseNumber(key string) (n Number, ok bool) {
	if p := sprintNumber(key); p != nil {
		return Number{Shape: "#.#", Parts: p}, true
	}
	var shape strings.Builder
	ok = true
	parts := make([]Part, 0, 3)
	for i := 0; i < len(key); {
		c := key[i]
		if !digit(c) || len(parts) == maxParts {
			shape.WriteByte(lowerByte(c))
			i++
			continue
		}
		v, j := uint64(0), i
		for j < len(key) && digit(key[j]) {
			if v = v*10 + uint64(key[j]-'0'); v > MaxPart {
				v, ok = MaxPart, false
			}
			j++
		}
		k := j
		for k < len(key) && letter(key[k]) {
			k++
		}
		// Letters that a digit follows begin the next part: "P1T2".
		if k < len(key) && digit(key[k]) {
			k = j
		}
		shape.WriteByte('#')
		parts = append(parts, Part{Value: v, Letters: strings.ToLower(key[j:k])})
		i = k
	}
	return Number{Shape: shape.String(), Parts: parts}, ok
}

// sprintNumber parses the common form "3a.2b" without building a shape;
// nil if key has another form.
func sprintNumber(key string) []Part {
	a, rest := leadingPart(key)
	if rest == "" || rest == key || rest[0] != '.' {
		return nil
	}
	b, end := leadingPart(rest[1:])
	if end != "" || len(rest) == 1 {
		return nil
	}
	return []Part{a, b}
}

func leadingPart(s string) (p Part, rest string) {
	i := 0
	for i < len(s) && i < 10 && digit(s[i]) {
		p.Value = p.Value*10 + uint64(s[i]-'0')
		i++
	}
	if i == 0 || p.Value > MaxPart {
		return Part{}, s
	}
	j := i
	for j < len(s) && 'a' <= s[j] && s[j] <= 'z' {
		j++
	}
	p.Letters = s[i:j]
	return p, s[j:]
}

// SameBase reports whether a and b are the same number except for the letters of their
// last part: 1.2, 1.2a and 1.2ab are.
func (a Number) SameBase(b Number) bool {
	if a.Shape != b.Shape || len(a.Parts) == 0 || len(a.Parts) != len(b.Parts) {
		return false
	}
	last := len(a.Parts) - 1
	return slices.Equal(a.Parts[:last], b.Parts[:last]) && a.Parts[last].Value == b.Parts[last].Value
}

// Letters returns the letters of the last part.
func (a Number) Letters() string { return a.last().Letters }

// Last returns the value of the last part.
func (a Number) Last() uint64 { return a.last().Value }

func (a Number) last() (p Part) {
	if n := len(a.Parts); n > 0 {
		p = a.Parts[n-1]
	}
	return p
}

// Compare orders numbers of one shape: by part, a plain number before lettered
// ones; numbers of different shapes by shape.
func (a Number) Compare(b Number) int {
	if a.Shape != b.Shape {
		return strings.Compare(a.Shape, b.Shape)
	}
	for i := range min(len(a.Parts), len(b.Parts)) {
		if c := cmp.Or(cmp.Compare(a.Parts[i].Value, b.Parts[i].Value), strings.Compare(a.Parts[i].Letters, b.Parts[i].Letters)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.Parts), len(b.Parts))
}

// dotted reports whether the number is made of numbers alone: 2, 2.5, 1-3.
func (a Number) dotted() bool {
	for i := 0; i < len(a.Shape); i++ {
		if c := a.Shape[i]; i%2 == 0 && c != '#' || i%2 == 1 && c != '.' && c != '-' {
			return false
		}
	}
	return a.Shape != "" && len(a.Shape)%2 == 1
}

// family is the shape, but for numbers alone: these can be compared with each other.
func (a Number) family() string {
	if a.dotted() {
		return "#"
	}
	return a.Shape
}

// compareAll orders numbers of one family: 2, 2.5, 3.
func (a Number) compareAll(b Number) int {
	if a.Shape == b.Shape || a.family() != b.family() {
		return a.Compare(b)
	}
	b.Shape = a.Shape
	return a.Compare(b)
}

// Text writes the value without zero padding, in lower case: two keys with the
// same text are the same number to a reader.
func (a Number) Text() string {
	var b strings.Builder
	i := 0
	for _, c := range []byte(a.Shape) {
		if c != '#' || i >= len(a.Parts) {
			b.WriteByte(c)
			continue
		}
		b.WriteString(strconv.FormatUint(a.Parts[i].Value, 10))
		b.WriteString(a.Parts[i].Letters)
		i++
	}
	return b.String()
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
