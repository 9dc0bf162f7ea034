package policies

import (
	"encoding/json"
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

// The readers of attributes, one for each kind. Each reports a value that does
// not fit and then returns the zero Value.

func (r *reader) str(name string) Value[string] {
	run, shell := r.b.attr(name).run, r.b.attr(name).shell
	return get(r, name, func(v cty.Value, _ *attr) (string, error) {
		s, err := asString(v)
		if run {
			s = runTemplate(s)
		}
		if shell && err == nil {
			err = plainCommand(s)
		}
		return s, err
	})
}

// plainCommand refuses a command of which a part does not show: a reader would judge another one.
func plainCommand(s string) error {
	if shown, hidden := reveal.Text(strings.ReplaceAll(s, "\r\n", "\n")); hidden > 0 {
		return fmt.Errorf("the command has characters that do not show: “%s”. Remove them; where a command needs one, let the shell write it, as in printf '\\033'", printable(shown))
	}
	return nil
}

// plainCommands refuses a list of commands, or of a program and its arguments, likewise.
func (r *reader) plainCommands(name string, v Value[[]string]) Value[[]string] {
	for _, s := range v.V {
		if err := plainCommand(s); err != nil {
			r.invalid(name, v.Range, err)
			break
		}
	}
	return v
}

func (r *reader) strs(name string) Value[[]string] {
	return get(r, name, func(v cty.Value, _ *attr) ([]string, error) { return stringList(v) })
}

func (r *reader) boolean(name string) Value[bool] {
	return get(r, name, func(v cty.Value, _ *attr) (bool, error) {
		s, err := asString(v)
		if err != nil || s != "true" && s != "false" {
			return false, fmt.Errorf("true or false is needed, this is %s", typeName(v.Type()))
		}
		return s == "true", nil
	})
}

func (r *reader) integer(name string) Value[int] {
	return get(r, name, func(v cty.Value, a *attr) (int, error) {
		n, err := asInt(v, a)
		if err == nil && int64(int32(n)) != n {
			err = fmt.Errorf("the number is too large")
		}
		return int(n), err
	})
}

func (r *reader) long(name string) Value[int64] { return get(r, name, asInt) }

func (r *reader) integers(name string) Value[[]int] {
	return get(r, name, func(v cty.Value, a *attr) ([]int, error) {
		if v.Type() == cty.Number || v.Type() == cty.String {
			n, err := asInt(v, a)
			return []int{int(n)}, err
		}
		list, err := stringList(v)
		if err != nil {
			return nil, err
		}
		out := make([]int, len(list))
		for i, s := range list {
			n, err := asInt(cty.StringVal(s), a)
			if err != nil {
				return nil, err
			}
			out[i] = int(n)
		}
		return out, nil
	})
}

func (r *reader) float(name string) Value[float64] {
	return get(r, name, func(v cty.Value, a *attr) (float64, error) {
		if v.Type() != cty.Number {
			return 0, fmt.Errorf("a number is needed, this is %s", typeName(v.Type()))
		}
		f, _ := v.AsBigFloat().Float64()
		if f < float64(a.min) || a.max > 0 && f > float64(a.max) {
			return 0, fmt.Errorf("a number from %d to %d is needed", a.min, a.max)
		}
		return f, nil
	})
}

func (r *reader) duration(name string) Value[int64] {
	return get(r, name, func(v cty.Value, a *attr) (int64, error) {
		if v.Type() != cty.String {
			return 0, fmt.Errorf(`a duration is text with a unit, such as "20m"; this is %s`, typeName(v.Type()))
		}
		ms, err := ParseDuration(v.AsString())
		if err == nil && ms < a.min {
			err = fmt.Errorf("the duration must be longer than nothing")
		}
		return ms, err
	})
}

func (r *reader) usd(name string) Value[int64] {
	return get(r, name, func(v cty.Value, _ *attr) (int64, error) {
		if v.Type() == cty.Number {
			return micro(v.AsBigFloat())
		}
		s, err := asString(v)
		if err != nil {
			return 0, err
		}
		return ParseUSD(s)
	})
}

func (r *reader) size(name string) Value[int64] {
	return get(r, name, func(v cty.Value, a *attr) (int64, error) {
		if v.Type() == cty.Number {
			return asInt(v, &attr{max: 1 << 60})
		}
		s, err := asString(v)
		if err != nil {
			return 0, err
		}
		return parseSize(s)
	})
}

func (r *reader) percent(name string) Value[int] {
	return get(r, name, func(v cty.Value, _ *attr) (int, error) { return parsePercent(v) })
}

func (r *reader) enum(name string) Value[string] {
	return get(r, name, func(v cty.Value, a *attr) (string, error) {
		s, err := asString(v)
		if err != nil {
			return "", err
		}
		return s, oneOf(s, a.enum)
	})
}

func (r *reader) enums(name string) Value[[]string] {
	return get(r, name, func(v cty.Value, a *attr) ([]string, error) {
		list, err := stringList(v)
		for _, s := range list {
			if err == nil {
				err = oneOf(s, a.enum)
			}
		}
		return list, err
	})
}

func oneOf(s string, words []string) error {
	if slices.Contains(words, s) {
		return nil
	}
	if near, ok := spell.Nearest(s, words); ok {
		return fmt.Errorf("%s is not known; did you mean %q?", quoted(s), near)
	}
	return fmt.Errorf("%s is not known; it is one of %s", quoted(s), strings.Join(words, ", "))
}

func (r *reader) argv(name string) Value[[]string] {
	return get(r, name, func(v cty.Value, _ *attr) ([]string, error) {
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
			return nil, fmt.Errorf("the command is empty")
		}
		return list, nil
	})
}

func (r *reader) object(name string) Value[map[string]string] {
	run := r.b.attr(name).run
	return get(r, name, func(v cty.Value, _ *attr) (map[string]string, error) {
		m, err := stringMap(v)
		if run {
			for k := range m {
				m[k] = runTemplate(m[k])
			}
		}
		return m, err
	})
}

func (r *reader) intObject(name string) Value[map[string]int] {
	return get(r, name, func(v cty.Value, a *attr) (map[string]int, error) {
		m, err := stringMap(v)
		if err != nil {
			return nil, err
		}
		out := make(map[string]int, len(m))
		for _, k := range sortedKeys(m) {
			n, err := asInt(cty.StringVal(m[k]), a)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", k, err)
			}
			if int64(int32(n)) != n {
				return nil, fmt.Errorf("%q: the number is too large", k)
			}
			out[k] = int(n)
		}
		return out, nil
	})
}

func (r *reader) schema(name string) Value[json.RawMessage] {
	return get(r, name, func(v cty.Value, _ *attr) (json.RawMessage, error) { return schemaJSON(v) })
}

func (r *reader) approval(name string) Value[Approval] {
	return get(r, name, func(v cty.Value, _ *attr) (Approval, error) { return approval(v) })
}

func (r *reader) pattern(name string) Value[string] {
	return get(r, name, func(v cty.Value, _ *attr) (string, error) {
		s, err := asString(v)
		if err != nil {
			return "", err
		}
		if len(s) > 1000 {
			return "", fmt.Errorf("the regular expression has more than 1000 characters")
		}
		if !r.d.scope.meter.use(patternFactor * patternCost(s)) {
			return "", errors.New(spent)
		}
		if _, err := regexp.Compile(s); err != nil {
			return "", fmt.Errorf("the regular expression cannot be read: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return s, nil
	})
}

func (r *reader) globs(name string) Value[[]string] {
	return get(r, name, func(v cty.Value, _ *attr) ([]string, error) {
		list, err := stringList(v)
		for _, s := range list {
			if err == nil {
				err = glob.Check(s)
			}
			if err == nil {
				err = inside(s)
			}
		}
		return list, err
	})
}

func (r *reader) file(name string) Value[string] {
	return get(r, name, func(v cty.Value, _ *attr) (string, error) {
		s, err := asString(v)
		if err == nil {
			err = inside(s)
		}
		return strings.TrimPrefix(strings.ReplaceAll(s, `\`, "/"), "./"), err
	})
}

// expr returns an attribute's expression, not evaluated; nil if absent.
func (r *reader) expr(name string) hclsyntax.Expression {
	if a, ok := r.attrs[name]; ok {
		return r.d.native(a.Expr)
	}
	return nil
}
