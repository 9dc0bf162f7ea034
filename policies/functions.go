package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/glob"
	"github.com/ralph-compiler/ralph/internal/lists"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions returns what expressions may call: nothing that depends on the
// clock, the host or chance.
func (s *scope) functions() map[string]function.Function {
	if s.funcs != nil {
		return s.funcs
	}
	s.funcs = map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "alltrue": everyFunc, "anytrue": anyFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc,
		"chunklist": stdlib.ChunklistFunc, "coalesce": stdlib.CoalesceFunc, "coalescelist": stdlib.CoalesceListFunc,
		"compact": stdlib.CompactFunc, "concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc,
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "endswith": textTest(strings.HasSuffix), "flatten": stdlib.FlattenFunc,
		"floor": stdlib.FloorFunc, "format": bounded(stdlib.FormatFunc, formatFits), "formatlist": bounded(stdlib.FormatListFunc, formatFits),
		"hasindex": stdlib.HasIndexFunc, "indent": bounded(stdlib.IndentFunc, indentFits), "index": stdlib.IndexFunc, "int": stdlib.IntFunc,
		"join": bounded(stdlib.JoinFunc, joinFits), "jsondecode": stdlib.JSONDecodeFunc, "jsonencode": bounded(stdlib.JSONEncodeFunc, textFits),
		"keys": stdlib.KeysFunc, "length": stdlib.LengthFunc, "log": stdlib.LogFunc, "lookup": stdlib.LookupFunc, "lower": stdlib.LowerFunc,
		"max": stdlib.MaxFunc, "merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc,
		"range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"regexreplace": bounded(stdlib.RegexReplaceFunc, replaceFits), "replace": bounded(stdlib.ReplaceFunc, replaceFits),
		"reverse": stdlib.ReverseListFunc, "setintersection": stdlib.SetIntersectionFunc, "setproduct": bounded(stdlib.SetProductFunc, productFits),
		"setsubtract": stdlib.SetSubtractFunc, "setsymmetricdifference": stdlib.SetSymmetricDifferenceFunc, "setunion": stdlib.SetUnionFunc,
		"signum": stdlib.SignumFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc,
		"startswith": textTest(strings.HasPrefix), "strlen": stdlib.StrlenFunc, "strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc,
		"title": stdlib.TitleFunc, "tobool": stdlib.MakeToFunc(cty.Bool), "tolist": stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tonumber": stdlib.MakeToFunc(cty.Number), "toset": stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), "tostring": stdlib.MakeToFunc(cty.String),
		"trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc,
		"upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"file": s.fileFunc(), "jsonfile": s.jsonFileFunc(), "glob": s.globFunc(),
	}
	for name, f := range s.funcs {
		s.funcs[name] = s.paid(name, f)
	}
	return s.funcs
}

var (
	everyFunc = boolFold(true)
	anyFunc   = boolFold(false)
)

// boolFold returns alltrue (start true) or anytrue (start false): the fold ends
// at the first element that differs from start.
func boolFold(start bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				switch {
				case !v.IsKnown():
					unknown = true
				case v.IsNull():
					return cty.False, errors.New("an element is null")
				case v.True() != start:
					return cty.BoolVal(!start), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(start), nil
		},
	})
}

func textTest(test func(s, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "part", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// bounded returns f refusing arguments whose result would be out of proportion
// to them: the meter sees a value only after it has been made.
func bounded(f function.Function, fits func([]cty.Value) bool) function.Function {
	return guarded(f, false, func(args []cty.Value) error {
		if !fits(args) {
			return errors.New("the result would be too large")
		}
		return nil
	})
}

// guarded returns f with a look at its arguments before its own, null ones included
// if it says so.
func guarded(f function.Function, null bool, look func([]cty.Value) error) function.Function {
	spec := &function.Spec{
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := look(args); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	}
	open := func(p function.Parameter) function.Parameter {
		p.AllowUnknown, p.AllowDynamicType, p.AllowNull = true, true, p.AllowNull || null
		return p
	}
	spec.Params = lists.Map(f.Params(), open)
	if v := f.VarParam(); v != nil {
		p := open(*v)
		spec.VarParam = &p
	}
	return function.New(spec)
}

const maxResult = 1 << 20

func str(v cty.Value) (string, bool) {
	if v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

func count(v cty.Value) int {
	if v.IsNull() || !v.IsKnown() || !(v.Type().IsCollectionType() || v.Type().IsTupleType()) {
		return 1
	}
	return max(v.LengthInt(), 1)
}

// formatFits refuses widths and precisions of more than three digits.
func formatFits(args []cty.Value) bool {
	f, _ := str(args[0])
	for i, digits := 0, 0; i < len(f); i++ {
		if f[i] < '0' || f[i] > '9' {
			digits = 0
			continue
		}
		if digits++; digits > 3 && strings.Contains(f[:i], "%") {
			return false
		}
	}
	return textFits(args)
}

// textFits refuses values that would be more than a MiB of text.
func textFits(args []cty.Value) bool {
	left := maxResult
	for _, a := range args {
		if left = textSize(a, left); left < 0 {
			return false
		}
	}
	return true
}

// textSize returns what is left of a number of bytes when v is written as text;
// it stops below 0.
func textSize(v cty.Value, left int) int {
	if left -= 8; left < 0 || v.IsNull() || !v.IsKnown() {
		return left
	}
	switch ty := v.Type(); {
	case ty == cty.String:
		left -= len(v.AsString())
	case ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType():
		for it := v.ElementIterator(); it.Next() && left >= 0; {
			k, e := it.Element()
			left = textSize(e, textSize(k, left))
		}
	}
	return left
}

func indentFits(args []cty.Value) bool {
	if args[0].IsNull() || !args[0].IsKnown() || args[0].Type() != cty.Number {
		return true
	}
	n, _ := args[0].AsBigFloat().Int64()
	s, _ := str(args[1])
	return n >= 0 && n < 1000 && int(n)*(1+strings.Count(s, "\n")) < maxResult
}

func joinFits(args []cty.Value) bool {
	sep, _ := str(args[0])
	n := 0
	for _, a := range args[1:] {
		n += count(a)
	}
	return len(sep)*n < maxResult && textFits(args)
}

func replaceFits(args []cty.Value) bool {
	s, _ := str(args[0])
	with, _ := str(args[2])
	return (len(s)+1)*(len(with)+1) < 8*maxResult
}

func productFits(args []cty.Value) bool {
	n := 1
	for _, a := range args {
		if n *= count(a); n > 10_000 {
			return false
		}
	}
	return true
}

// ofName is a function of a path or a pattern.
func ofName(param string, result cty.Type, of func(string) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: param, Type: cty.String}},
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := of(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return v, nil
		},
	})
}

func (s *scope) fileFunc() function.Function {
	return ofName("path", cty.String, func(name string) (cty.Value, error) {
		b, err := s.read(name)
		return cty.StringVal(string(b)), err
	})
}

func (s *scope) jsonFileFunc() function.Function {
	decode := func(args []cty.Value) (cty.Value, error) {
		if !args[0].IsKnown() {
			return cty.DynamicVal, nil
		}
		name := args[0].AsString()
		b, err := s.read(name)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if v, known := s.decoded[name]; known {
			return v, nil
		}
		if jsonTooDeep(b) >= 0 {
			return cty.NilVal, function.NewArgErrorf(0, "the JSON is nested deeper than %d levels", maxDepth)
		}
		s.meter.spend(len(b) / 4)
		v, err := stdlib.JSONDecode(cty.StringVal(string(b)))
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "the file is not JSON: %s", err)
		}
		s.decoded[name] = v
		return v, nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := decode(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return decode(args) },
	})
}

func (s *scope) globFunc() function.Function {
	return ofName("pattern", cty.List(cty.String), func(pattern string) (cty.Value, error) {
		if err := inside(pattern); err != nil {
			return cty.NilVal, err
		}
		var names []string
		if s.project != nil {
			var err error
			if names, err = glob.Files(s.project, pattern, maxGlobNames); err != nil {
				return cty.NilVal, err
			}
		}
		s.record("glob:"+pattern, []byte(strings.Join(names, "\n")))
		if len(names) == 0 {
			return cty.ListValEmpty(cty.String), nil
		}
		return cty.ListVal(lists.Map(names, cty.StringVal)), nil
	})
}

// inside reports how name would leave the project.
func inside(name string) error {
	switch clean := path.Clean(strings.ReplaceAll(name, `\`, "/")); {
	case name == "":
		return errors.New("the path is empty")
	case strings.HasPrefix(clean, "/") || len(clean) > 1 && clean[1] == ':':
		return errors.New("the path is absolute; write it relative to the project")
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return errors.New("the path leaves the project; policy reads nothing outside it")
	case slices.ContainsFunc(strings.Split(clean, "/"), func(s string) bool { return strings.EqualFold(s, ".git") }):
		return errors.New("the path leads into .git, of which nothing is read: credentials may lie there; name a file of the project")
	}
	return nil
}

// read returns a file of the project and records that it fed the value that is
// being evaluated.
func (s *scope) read(name string) ([]byte, error) {
	if err := inside(name); err != nil {
		return nil, err
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	b, ok := s.files[name]
	if !ok {
		if s.project == nil {
			return nil, fmt.Errorf("there is no file %q", name)
		}
		var err error
		if b, err = readBounded(s.project, name); err != nil {
			return nil, err
		}
		s.files[name] = b
	}
	s.meter.spend(len(b) / 8)
	s.record(name, b)
	return b, nil
}

func (s *scope) record(name string, b []byte) {
	s.reads = lists.Include(s.reads, FileRead{Path: name, Digest: digest(b), For: s.feeding})
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %q in the project", name)
		}
		return nil, fmt.Errorf("%q cannot be read: %w", name, plain(err))
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxReadBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%q cannot be read: %w", name, plain(err))
	}
	if len(b) > maxReadBytes {
		return nil, fmt.Errorf("%q has more than 1 MiB", name)
	}
	return b, nil
}

// plain removes the machine's path from a file error.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
