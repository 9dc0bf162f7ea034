package compiler

import (
	"cmp"
	"strconv"
	"strings"
)

// number is the key of an item, taken apart: "FE-03-004b" has the shape
// "fe-#-#", the parts 3 and 4 and the letters "", "b".
//
// Two numbers can be compared when their shapes are equal. Letters belong to
// the part before them ("3a.2b"); letters that begin a part do not ("S1-T1").
type number struct {
	shape string
	parts []part
}

type part struct {
	n       uint64
	letters string // lower case
}

// maxPart is the largest number in a key: beyond it numbers are an error.
const maxPart = 1<<31 - 1

// maxParts bounds how deep a key is taken apart; the rest is part of the shape.
const maxParts = 8

// parseNumber takes a key apart. ok is false when a number in it is too large.
func parseNumber(key string) (n number, ok bool) {
	if p := sprintNumber(key); p != nil {
		return number{shape: "#.#", parts: p}, true
	}
	var shape strings.Builder
	ok = true
	parts := make([]part, 0, 3)
	for i := 0; i < len(key); {
		c := key[i]
		if !digit(c) || len(parts) == maxParts {
			shape.WriteByte(lowerByte(c))
			i++
			continue
		}
		v, j := uint64(0), i
		for j < len(key) && digit(key[j]) {
			if v = v*10 + uint64(key[j]-'0'); v > maxPart {
				v, ok = maxPart, false
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
		parts = append(parts, part{n: v, letters: strings.ToLower(key[j:k])})
		i = k
	}
	return number{shape: shape.String(), parts: parts}, ok
}

// sprintNumber takes the common form "3a.2b" apart without building a shape;
// nil if key has another form.
func sprintNumber(key string) []part {
	a, rest := leadingPart(key)
	if rest == "" || rest == key || rest[0] != '.' {
		return nil
	}
	b, end := leadingPart(rest[1:])
	if end != "" || len(rest) == 1 {
		return nil
	}
	return []part{a, b}
}

func leadingPart(s string) (p part, rest string) {
	i := 0
	for i < len(s) && i < 10 && digit(s[i]) {
		p.n = p.n*10 + uint64(s[i]-'0')
		i++
	}
	if i == 0 || p.n > maxPart {
		return part{}, s
	}
	j := i
	for j < len(s) && 'a' <= s[j] && s[j] <= 'z' {
		j++
	}
	p.letters = s[i:j]
	return p, s[j:]
}

// base reports whether a and b are the same number but for the letters of
// their last part: 1.2, 1.2a and 1.2ab are.
func (a number) base(b number) bool {
	if a.shape != b.shape || len(a.parts) == 0 || len(a.parts) != len(b.parts) {
		return false
	}
	last := len(a.parts) - 1
	for i := range last {
		if a.parts[i] != b.parts[i] {
			return false
		}
	}
	return a.parts[last].n == b.parts[last].n
}

// letters returns the letters of the last part.
func (a number) letters() string {
	if len(a.parts) == 0 {
		return ""
	}
	return a.parts[len(a.parts)-1].letters
}

// last returns the value of the last part.
func (a number) last() uint64 {
	if len(a.parts) == 0 {
		return 0
	}
	return a.parts[len(a.parts)-1].n
}

// compare orders numbers of one shape: by part, a plain number before lettered
// ones; numbers of different shapes by shape.
func (a number) compare(b number) int {
	if a.shape != b.shape {
		return strings.Compare(a.shape, b.shape)
	}
	for i := range min(len(a.parts), len(b.parts)) {
		if c := cmp.Or(cmp.Compare(a.parts[i].n, b.parts[i].n), strings.Compare(a.parts[i].letters, b.parts[i].letters)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.parts), len(b.parts))
}

// dotted reports whether the number is made of numbers alone: 2, 2.5, 1-3.
func (a number) dotted() bool {
	for i := 0; i < len(a.shape); i++ {
		if c := a.shape[i]; i%2 == 0 && c != '#' || i%2 == 1 && c != '.' && c != '-' {
			return false
		}
	}
	return a.shape != "" && len(a.shape)%2 == 1
}

// family is the shape, but for numbers alone: these can be compared with each other.
func (a number) family() string {
	if a.dotted() {
		return "#"
	}
	return a.shape
}

// compareAll orders numbers of one family: 2, 2.5, 3.
func (a number) compareAll(b number) int {
	if a.shape == b.shape || a.family() != b.family() {
		return a.compare(b)
	}
	b.shape = a.shape
	return a.compare(b)
}

// text writes the value without zero padding, in lower case: two keys with the
// same text are the same number to a reader.
func (a number) text() string {
	var b strings.Builder
	i := 0
	for _, c := range []byte(a.shape) {
		if c != '#' || i >= len(a.parts) {
			b.WriteByte(c)
			continue
		}
		b.WriteString(strconv.FormatUint(a.parts[i].n, 10))
		b.WriteString(a.parts[i].letters)
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
