package policies

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/glob"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/internal/reveal"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// kinds are what attributes hold: the word of the tag `is`, where the type does not say
// it, and, of all but references, a function that makes Go's value of HCL's:
// func(*reader, cty.Value, *attr) (T, error). One that fails is reported, and the
// attribute stays absent.
var kinds = [...]conversion{
	kString:   {"", toText},
	kBool:     {"", toBool},
	kInt:      {"", toInt},
	kFloat:    {"", toFloat},
	kStrings:  {"", plainly(stringList)},
	kKeywords: {"keywords", toKeywords},
	kInts:     {"", toInts},
	kArgv:     {"argv", toArgv},
	kMap:      {"", toMap},
	kIntMap:   {"", toIntMap},
	kDuration: {"duration", toDuration},
	kUSD:      {"usd", toUSD},
	kSize:     {"size", toSize},
	kPercent:  {"percent", plainly(parsePercent)},
	kEnum:     {"", toEnum},
	kEnums:    {"", toEnums},
	kSchema:   {"", plainly(schemaJSON)},
	kApproval: {"", plainly(approval)},
	kRegex:    {"regex", toPattern},
	kGlobs:    {"globs", toGlobs},
	kPath:     {"path", toPath},
}

type conversion struct {
	word string
	conv any
}

// plainly is a conversion that needs nothing but the value.
func plainly[T any](conv func(cty.Value) (T, error)) func(*reader, cty.Value, *attr) (T, error) {
	return func(_ *reader, v cty.Value, _ *attr) (T, error) { return conv(v) }
}

func toEnums(_ *reader, v cty.Value, a *attr) ([]string, error) {
	return listOf(v, func(s string) error { return oneOf(s, a.enum) })
}

func toGlobs(_ *reader, v cty.Value, _ *attr) ([]string, error) {
	return listOf(v, func(s string) error {
		if err := glob.Check(s); err != nil {
			return err
		}
		return inside(s)
	})
}

func toText(_ *reader, v cty.Value, a *attr) (string, error) {
	s, err := asString(v)
	if a.run {
		s = runTemplate(s)
	}
	if a.shell && err == nil {
		err = plainCommand(s)
	}
	return s, err
}

// plainCommand refuses a command of which a part does not show: a reader would judge another one.
func plainCommand(s string) error {
	if shown, hidden := reveal.Text(strings.ReplaceAll(s, "\r\n", "\n")); hidden > 0 {
		return fmt.Errorf("the command has invisible characters: “%s”. Remove them; where a command needs one, let the shell write it, as in printf '\\033'", printable(shown))
	}
	return nil
}

// plainCommands reports a list of commands, or a program and its arguments, likewise.
func (r *reader) plainCommands(name string, v Value[[]string]) {
	for _, s := range v.V {
		if err := plainCommand(s); err != nil {
			r.invalid(name, v.Range, err)
			return
		}
	}
}

func toBool(_ *reader, v cty.Value, _ *attr) (bool, error) {
	s, err := asString(v)
	if err != nil || s != "true" && s != "false" {
		return false, fmt.Errorf("true or false is needed, this is %s", typeName(v.Type()))
	}
	return s == "true", nil
}

func toInt(_ *reader, v cty.Value, a *attr) (int, error) {
	n, err := asInt(v, a)
	if err == nil && int64(int32(n)) != n {
		err = errTooLarge
	}
	return int(n), err
}

var errTooLarge = errors.New("the number is too large")

func toInts(_ *reader, v cty.Value, a *attr) ([]int, error) {
	list, err := stringList(v)
	out := make([]int, 0, len(list))
	for _, s := range list {
		if err == nil {
			var n int64
			n, err = asInt(cty.StringVal(s), a)
			out = append(out, int(n))
		}
	}
	return out, err
}

func toFloat(_ *reader, v cty.Value, a *attr) (float64, error) {
	if v.Type() != cty.Number {
		return 0, fmt.Errorf("a number is needed, this is %s", typeName(v.Type()))
	}
	f, _ := v.AsBigFloat().Float64()
	if f < float64(a.min) || a.max > 0 && f > float64(a.max) {
		return 0, fmt.Errorf("a number from %d to %d is needed", a.min, a.max)
	}
	return f, nil
}

func toDuration(_ *reader, v cty.Value, a *attr) (int64, error) {
	if v.Type() != cty.String {
		return 0, fmt.Errorf(`a duration is text with a unit, such as "20m"; this is %s`, typeName(v.Type()))
	}
	ms, err := ParseDuration(v.AsString())
	if err == nil && ms < a.min {
		err = errors.New("the duration must be longer than nothing")
	}
	return ms, err
}

// toUSD refuses, where there is a least amount, nothing at all: it would be taken for
// no limit.
func toUSD(_ *reader, v cty.Value, a *attr) (usd int64, err error) {
	if v.Type() == cty.Number {
		usd, err = micro(v.AsBigFloat())
	} else {
		var s string
		if s, err = asString(v); err == nil {
			usd, err = ParseUSD(s)
		}
	}
	if err == nil && usd < a.min {
		err = errPositive
	}
	return usd, err
}

func toSize(_ *reader, v cty.Value, _ *attr) (int64, error) {
	if v.Type() == cty.Number {
		return asInt(v, &attr{max: 1 << 60})
	}
	s, err := asString(v)
	if err != nil {
		return 0, err
	}
	return parseSize(s)
}

func toEnum(_ *reader, v cty.Value, a *attr) (string, error) {
	s, err := asString(v)
	if err != nil {
		return "", err
	}
	return s, oneOf(s, a.enum)
}

// listOf reads a list of which every element fits.
func listOf(v cty.Value, fits func(string) error) ([]string, error) {
	list, err := stringList(v)
	for _, s := range list {
		if err == nil {
			err = fits(s)
		}
	}
	return list, err
}

func oneOf(s string, words []string) error {
	if slices.Contains(words, s) {
		return nil
	}
	if near, ok := spell.Nearest(s, words); ok {
		return fmt.Errorf("%s is not known; did you mean %q?", quoted(s), near)
	}
	if len(words) == 1 {
		return fmt.Errorf("%s is not known; write %q", quoted(s), words[0])
	}
	return fmt.Errorf("%s is not known; it is one of %s", quoted(s), strings.Join(words, ", "))
}

// toKeywords reads the keywords of a dialect. They are few: each line of a plan is
// held against each of them.
func toKeywords(_ *reader, v cty.Value, _ *attr) ([]string, error) {
	list, err := stringList(v)
	if err == nil && len(list) > maxKeywords {
		err = fmt.Errorf("a dialect has at most %d keywords, this has %d", maxKeywords, len(list))
	}
	return list, err
}

func toArgv(_ *reader, v cty.Value, _ *attr) ([]string, error) {
	list, err := stringList(v)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i] = runTemplate(list[i])
	}
	if v.Type() == cty.String {
		list = []string{"sh", "-c", list[0]}
	}
	if len(list) == 0 || list[0] == "" {
		return nil, errors.New("the command is empty")
	}
	return list, nil
}

func toMap(_ *reader, v cty.Value, a *attr) (map[string]string, error) {
	m, err := stringMap(v)
	if a.run {
		for k := range m {
			m[k] = runTemplate(m[k])
		}
	}
	return m, err
}

func toIntMap(r *reader, v cty.Value, a *attr) (map[string]int, error) {
	m, err := stringMap(v)
	if err != nil {
		return nil, err
	}
	out := make(map[string]int, len(m))
	for _, k := range sortedKeys(m) {
		if out[k], err = toInt(r, cty.StringVal(m[k]), a); err != nil {
			return nil, fmt.Errorf("%q: %w", k, err)
		}
	}
	return out, nil
}

func toPattern(r *reader, v cty.Value, _ *attr) (string, error) {
	s, err := asString(v)
	if err != nil {
		return "", err
	}
	if len(s) > 1000 {
		return "", errors.New("the regular expression has more than 1000 characters")
	}
	if !r.d.scope.meter.use(patternFactor * patternCost(s)) {
		return "", errors.New(spent)
	}
	if _, err := regexp.Compile(s); err != nil {
		return "", fmt.Errorf("the regular expression cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return s, nil
}

func toPath(_ *reader, v cty.Value, _ *attr) (string, error) {
	s, err := asString(v)
	if err == nil {
		err = inside(s)
	}
	return strings.TrimPrefix(strings.ReplaceAll(s, `\`, "/"), "./"), err
}

// expr returns an attribute's expression, not evaluated; nil if absent.
func (r *reader) expr(name string) hclsyntax.Expression {
	if a, ok := r.attrs[name]; ok {
		return r.d.native(a.Expr)
	}
	return nil
}
