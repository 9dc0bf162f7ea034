package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/ralph-compiler/ralph/internal/spell"
)

// maxDuration keeps sums of durations in milliseconds far from overflow.
const maxDuration = 10 * 365 * 24 * time.Hour

// ParseDuration reads a duration as policies and plans write it, "90s", "20m",
// "1h30m", "2d", and returns milliseconds. At most ten years.
func ParseDuration(s string) (int64, error) {
	in := strings.TrimSpace(s)
	d, err := time.ParseDuration(in)
	if err != nil {
		days, ok := strings.CutSuffix(in, "d")
		n, nerr := strconv.ParseFloat(days, 64)
		if !ok || nerr != nil || n > 4000 || n < 0 {
			return 0, errors.New(`a duration is a number with a unit, such as "90s", "20m", "1h30m" or "2d"`)
		}
		d = time.Duration(n * float64(24*time.Hour))
	}
	switch {
	case d < 0:
		return 0, errors.New("a duration cannot be negative")
	case d > maxDuration:
		return 0, errors.New("a duration is at most ten years")
	case d > 0 && d < time.Millisecond:
		return 0, errors.New("a duration is at least a millisecond")
	}
	return d.Milliseconds(), nil
}

// ParseUSD reads an amount of money, "2.50", "$2.50" or "2.50 USD", and returns
// millionths of a US dollar.
func ParseUSD(s string) (int64, error) {
	in := strings.TrimSpace(s)
	in = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(in, "$"), "USD"), "usd"))
	if len(in) > 30 || strings.ContainsAny(in, "eExXpP_") {
		return 0, errMoney
	}
	f, ok := new(big.Float).SetPrec(128).SetString(in)
	if !ok {
		return 0, errMoney
	}
	return micro(f)
}

var errMoney = errors.New("an amount of money is a number of US dollars from 0 to 1,000,000,000, such as 2.50")

func micro(f *big.Float) (int64, error) {
	m := new(big.Float).SetPrec(128).Mul(f, big.NewFloat(1e6))
	m.Add(m, big.NewFloat(0.5))
	if f.Sign() < 0 || m.Cmp(big.NewFloat(1e15)) > 0 {
		return 0, errMoney
	}
	n, _ := m.Int64()
	return n, nil
}

var sizeUnits = []struct {
	suffix string
	factor float64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"TIB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1e3},
	{"M", 1e6},
	{"G", 1e9},
	{"T", 1e12},
	{"B", 1},
}

// parseSize reads "10GB", "512 MiB" or a number of bytes.
func parseSize(s string) (int64, error) {
	in, factor := strings.ToUpper(strings.TrimSpace(s)), 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(in, u.suffix); ok {
			in, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(in, 64)
	if err != nil || n < 0 || n*factor > 1<<60 || math.IsNaN(n) {
		return 0, errors.New(`a size is a number with a unit, such as "10GB" or "512MiB"`)
	}
	return int64(n * factor), nil
}

// parsePercent reads 0.2 or "20%" as 20.
func parsePercent(v cty.Value) (int, error) {
	bad := errors.New(`a share is a number from 0 to 1 or a text such as "20%"`)
	if v.Type() == cty.Number {
		f, _ := v.AsBigFloat().Float64()
		if f < 0 || f > 1 {
			return 0, bad
		}
		return int(math.Round(f * 100)), nil
	}
	if v.Type() == cty.String {
		if s, ok := strings.CutSuffix(strings.TrimSpace(v.AsString()), "%"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n >= 0 && n <= 100 {
				return n, nil
			}
		}
	}
	return 0, bad
}

// ParseApproval reads what a plan writes after **Approval**: "required from
// @ada, @bob within 48h", "required", "none", or only names. Names lose their @.
func ParseApproval(s string) (Approval, error) {
	in := strings.TrimSuffix(strings.TrimSpace(s), ".")
	switch strings.ToLower(in) {
	case "", "none", "no", "false", "-", "--", "–", "—", "[]", "nothing", "n/a", "not required":
		return Approval{}, nil
	case "yes", "true", "required":
		return Approval{Required: true}, nil
	}
	a := Approval{Required: true}
	whole, from := in, false // from: what follows are people
	lower := strings.ToLower(in)
	if len(lower) == len(in) { // lower-casing kept the offsets
		if i := strings.LastIndex(lower, "within "); i >= 0 && (i == 0 || lower[i-1] == ' ' || lower[i-1] == ',') {
			ms, err := ParseDuration(in[i+len("within "):])
			if err != nil {
				return Approval{}, err
			}
			a.WithinMS = ms
			in = strings.TrimRight(in[:i], " ,")
		}
		for i, word := range []string{"required", "from", "by", "of"} {
			if len(in) >= len(word) && strings.EqualFold(in[:len(word)], word) && (len(in) == len(word) || in[len(word)] == ' ' || in[len(word)] == ':') {
				in = strings.TrimLeft(in[len(word):], " :")
				from = from || i > 0
			}
		}
	}
	if near, ok := nearApproval(whole, in); ok {
		return Approval{}, fmt.Errorf("%q is almost %q; write a person as @name", whole, near)
	}
	for _, name := range strings.FieldsFunc(strings.ReplaceAll(in, " and ", ","), func(r rune) bool { return r == ',' || r == '&' || r == '+' }) {
		written := strings.TrimSpace(name)
		if name = strings.TrimPrefix(strings.Trim(written, "`"), "@"); written == "" {
			continue
		}
		if strings.IndexFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0 {
			return Approval{}, errors.New("each name is one word, and only \"within\" with a duration may follow them")
		}
		if !namesPerson(written, from) {
			return Approval{}, fmt.Errorf("%q names nobody; a person is written as @name", written)
		}
		a.Approvers = append(a.Approvers, name)
	}
	return a, nil
}

// namesPerson reports whether a word is the name of a person: @ada, `ada`, and after
// "from" ada. Any other word ("pending", "done") would be a person who does not exist.
func namesPerson(word string, from bool) bool {
	if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return false
	}
	return word[0] == '@' || word[0] == '`' || from && !nobody[strings.ToLower(word)]
}

// nobody are placeholders for a name that is still missing.
var nobody = map[string]bool{"n/a": true, "na": true, "none": true, "nobody": true, "tbd": true, "tba": true, "todo": true, "pending": true, "unknown": true}

// nearApproval reports a value of one word that is no name of a person but a
// misspelt "required" or "none", or names with a word stuck to the first one.
func nearApproval(whole, names string) (string, bool) {
	low := strings.ToLower(whole)
	for _, w := range []string{"required", "none", "false", "true"} {
		if len(low) >= 4 && low[0] == w[0] && spell.OneEdit(low, w) {
			return w, true
		}
	}
	for _, w := range []string{"required", "from", "by", "of"} {
		if rest, ok := strings.CutPrefix(strings.ToLower(names), w); ok && strings.HasPrefix(rest, "@") {
			return w + " " + rest, true
		}
	}
	return "", false
}

// approval converts the attribute: a bool, a list of people, or text.
func approval(v cty.Value) (Approval, error) {
	switch ty := v.Type(); {
	case ty == cty.Bool:
		return Approval{Required: v.True()}, nil
	case ty == cty.String:
		return ParseApproval(v.AsString())
	default:
		names, err := stringList(v)
		if err != nil {
			return Approval{}, errors.New(`approval is true, a list of people, or "required from @a within 48h"`)
		}
		withoutAt(names)
		return Approval{Required: true, Approvers: names}, nil
	}
}

func stringList(v cty.Value) ([]string, error) {
	ty := v.Type()
	if ty == cty.String || ty == cty.Number || ty == cty.Bool {
		s, err := asString(v)
		return []string{s}, err
	}
	if !ty.IsTupleType() && !ty.IsListType() && !ty.IsSetType() {
		return nil, fmt.Errorf("a list of texts is needed, this is %s", typeName(ty))
	}
	if err := fitting(v); err != nil {
		return nil, err
	}
	out := make([]string, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		s, err := asString(e)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", len(out)+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// fitting refuses a list or object of too many elements: what a policy lists is held
// against each node.
func fitting(v cty.Value) error {
	if n := v.LengthInt(); n > maxElements {
		return fmt.Errorf("at most %d elements are taken, this has %d", maxElements, n)
	}
	return nil
}

func stringMap(v cty.Value) (map[string]string, error) {
	ty := v.Type()
	if !ty.IsObjectType() && !ty.IsMapType() {
		return nil, fmt.Errorf("an object { name = text } is needed, this is %s", typeName(ty))
	}
	if err := fitting(v); err != nil {
		return nil, err
	}
	out := make(map[string]string, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		s, err := asString(e)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", k.AsString(), err)
		}
		out[k.AsString()] = s
	}
	return out, nil
}

func asString(v cty.Value) (string, error) {
	if v.IsNull() {
		return "", errors.New("the value is null")
	}
	if !v.IsKnown() { // HCL puts it in the place of an expression that it could not read
		return "", errors.New("the value is not known")
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", fmt.Errorf("text is needed, this is %s", typeName(v.Type()))
	}
	// A heredoc in a file with CRLF line ends says the same as one without.
	return strings.ReplaceAll(s.AsString(), "\r\n", "\n"), nil
}

func asInt(v cty.Value, a *attr) (int64, error) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil || n.IsNull() {
		return 0, fmt.Errorf("a whole number is needed, this is %s", typeName(v.Type()))
	}
	f := n.AsBigFloat()
	i, acc := f.Int64()
	if !f.IsInt() || acc != big.Exact {
		return 0, errors.New("a whole number is needed")
	}
	return i, inRange(i, a)
}

func inRange(i int64, a *attr) error {
	switch {
	case a.max > 0 && (i < a.min || i > a.max):
		return fmt.Errorf("a number from %d to %d is needed", a.min, a.max)
	case i < a.min:
		return fmt.Errorf("a number of at least %d is needed", a.min)
	}
	return nil
}

func typeName(ty cty.Type) string {
	switch {
	case ty == cty.String:
		return "text"
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "true or false"
	case ty.IsTupleType(), ty.IsListType(), ty.IsSetType():
		return "a list"
	case ty.IsObjectType(), ty.IsMapType():
		return "an object"
	}
	return "something else"
}

// schemaJSON returns a JSON Schema in its canonical form: compact, keys sorted,
// number literals as they were written.
func schemaJSON(v cty.Value) (json.RawMessage, error) {
	if v.Type() == cty.String {
		return canonicalJSON([]byte(v.AsString()))
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		return nil, fmt.Errorf("a JSON Schema is an object, or text that holds JSON; this is %s", typeName(v.Type()))
	}
	if !v.IsWhollyKnown() {
		return nil, errors.New("the schema is not known when compiling")
	}
	b, err := ctyjson.SimpleJSONValue{Value: v}.MarshalJSON()
	if err != nil {
		return nil, errors.New("the schema cannot be written as JSON")
	}
	return canonicalJSON(b)
}

func canonicalJSON(b []byte) (json.RawMessage, error) {
	if jsonTooDeep(b) >= 0 {
		return nil, fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("the text is not valid JSON")
	}
	if dec.More() {
		return nil, errors.New("something follows the JSON")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
