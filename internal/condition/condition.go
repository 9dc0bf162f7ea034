// Package condition reads what a gate requires of a field of an answer, such as `>= 80`,
// holds values against it and compares conditions. In: text and JSON. Out: verdicts on
// them. It imports only internal/text; policies checks conditions with it, ir compares
// those of two epics, and executor/gate holds answers against them.
package condition

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/text"
)

// Types of fields that conditions are about, as JSON Schema calls them.
const (
	Number  = "number"
	String  = "string"
	Boolean = "boolean"
)

// Condition is an operator and a value: >= 80, == "full", != true.
type Condition struct {
	op    string
	value value
}

// value is a JSON number, text or boolean.
type value struct {
	typ    string
	number float64 // of a number
	text   string  // of a text; "true" or "false" of a boolean
	shown  string  // as it is written
}

func (v value) equal(other value) bool { return v.number == other.number && v.text == other.text }

// operators, with those before others that they begin with.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// Parse reads a condition: an operator, then a number, true, false, a text in quotes or
// a single word. The error says what to write instead.
func Parse(s string) (Condition, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<>") {
		return Condition{}, noOperator(s)
	}
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(s, op) })
	if i < 0 {
		return Condition{}, noOperator(s)
	}
	c := Condition{op: operators[i]}
	rest := strings.TrimSpace(strings.TrimPrefix(s, c.op))
	var ok bool
	if c.value, ok = read([]byte(rest)); !ok && isWord(rest) {
		c.value, ok = value{typ: String, text: rest, shown: quote(rest)}, true
	}
	switch {
	case rest == "":
		return Condition{}, fmt.Errorf("nothing follows %s; write a value, such as %s 80", c.op, c.op)
	case !ok:
		return Condition{}, fmt.Errorf("%s is no value; write a number without a unit, true, false, or a text in quotes", quote(clip(rest)))
	case c.value.typ != Number && c.op != "==" && c.op != "!=":
		return Condition{}, fmt.Errorf("%s compares numbers, and %s is none; write a number, or == or !=", c.op, clip(c.value.shown))
	}
	return c, nil
}

// misspelt operators, with those before others that they begin with.
var misspelt = [][2]string{{"=>", ">="}, {"=<", "<="}, {"≥", ">="}, {"≤", "<="}, {"≠", "!="}, {"<>", "!="}, {"=", "=="}}

// noOperator says what is wrong with a condition that begins with none.
func noOperator(s string) error {
	for _, m := range misspelt {
		if rest, ok := strings.CutPrefix(s, m[0]); ok {
			return fmt.Errorf("%s is no operator; write %s", m[0], strings.TrimSpace(m[1]+" "+clip(strings.TrimSpace(rest))))
		}
	}
	if v, ok := read([]byte(s)); ok && v.typ == Number {
		return fmt.Errorf("the condition has no operator; write >= %s or == %s", clip(s), clip(s))
	}
	if s == "" {
		return errors.New("the condition is empty; write an operator and a value, such as >= 80")
	}
	return fmt.Errorf("the condition has no operator: write one of ==, !=, <, <=, >, >= before %s", quote(clip(s)))
}

// String returns the condition in its one spelling, which Parse reads.
func (c Condition) String() string { return c.op + " " + c.value.shown }

// Type is the type that a field must have to be held against the condition.
func (c Condition) Type() string { return c.value.typ }

// Holds reports whether a field is as the condition says. It is an error if the field
// has another type.
func (c Condition) Holds(field json.RawMessage) (bool, error) {
	v, ok := read(field)
	if !ok || v.typ != c.value.typ {
		return false, fmt.Errorf("it must be a %s", c.value.typ)
	}
	return c.holds(v), nil
}

func (c Condition) holds(v value) bool {
	order := cmp.Or(cmp.Compare(v.number, c.value.number), strings.Compare(v.text, c.value.text))
	switch c.op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// Implies reports whether every value that c holds of is one that other holds of.
func (c Condition) Implies(other Condition) bool {
	if c.value.typ != other.value.typ {
		return false
	}
	c, other = c.plain(), other.plain()
	if c.op == "==" {
		return other.holds(c.value)
	}
	// A half-line or all but a point: the end of c decides, and whether it is in.
	strict := strings.TrimSuffix(c.op, "=")
	switch other.op {
	case "!=":
		if c.op == "!=" {
			return c.value.equal(other.value)
		}
		return !c.holds(other.value)
	case c.op, strict:
		return other.holds(c.value) || c.op == other.op && c.value.equal(other.value)
	case strict + "=":
		return other.holds(c.value)
	}
	return false
}

// plain writes what is not true as false, and the other way around.
func (c Condition) plain() Condition {
	if c.value.typ == Boolean && c.op == "!=" {
		other := map[string]string{"true": "false", "false": "true"}[c.value.text]
		return Condition{"==", value{typ: Boolean, text: other, shown: other}}
	}
	return c
}

// read reads a JSON number, text or boolean.
func read(raw []byte) (value, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return value{}, false
	}
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		return value{typ: Number, number: n, shown: v.String()}, err == nil
	case string:
		return value{typ: String, text: v, shown: quote(v)}, true
	case bool:
		return value{typ: Boolean, text: fmt.Sprint(v), shown: fmt.Sprint(v)}, true
	}
	return value{}, false
}

// isWord reports whether a text needs no quotes.
func isWord(s string) bool {
	letter := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	return s != "" && letter(rune(s[0])) && s != "null" && !strings.ContainsFunc(s, func(c rune) bool { return !letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '-' })
}

// quote writes a text as JSON does.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always can be
	return strings.TrimSpace(b.String())
}

// clip shortens what a message repeats.
func clip(s string) string {
	const most = 60
	return text.Shorten(s, most)
}
