package policies

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
)

// The fields of a block's type say which attributes and nested blocks they hold:
//
//	Base    Value[string] `hcl:"base"`           the attribute base
//	Access  Value[string] `hcl:"access=read"`    … with the value that it has when it is absent
//	Tags    Value[[]string] `hcl:"tags="`        … an empty list
//	Retry   Retry `hcl:"retry"`                  the nested block retry; a pointer stays nil without it
//	Settings Settings `hcl:"."`                  attributes and blocks of the same block, as of an embedded struct
//
// A Decl and a Range are those of the block itself. What a tag cannot say is said by
// a method check, which is called when the fields are filled.

// fill reads a block into a struct.
func (r *reader) fill(into any) {
	v := reflect.ValueOf(into).Elem()
	for i, tag := range tagsOf(v.Type()) {
		if !tag.exported {
			continue
		}
		switch field := v.Field(i).Addr().Interface().(type) {
		case *Decl:
			*field = Decl{Name: r.name, Range: r.at, Builtin: r.d.builtin}
		case *diag.Range:
			*field = r.at
		case attrValue:
			if tag.name != "" {
				field.read(r, tag.name)
			}
			if tag.fixed && !field.isSet() {
				field.setDefault(tag.def)
			}
		default:
			if tag.name == "." {
				r.fill(field)
			} else if tag.name != "" {
				r.fillNested(tag.name, v.Field(i))
			}
		}
	}
	if c, ok := into.(interface{ check(r *reader) }); ok {
		c.check(r)
	}
}

// fieldTag is what the tag of a field says.
type fieldTag struct {
	exported  bool
	name, def string
	fixed     bool // there is a default
}

var fieldTags sync.Map // reflect.Type → []fieldTag

func tagsOf(t reflect.Type) []fieldTag {
	if tags, done := fieldTags.Load(t); done {
		return tags.([]fieldTag)
	}
	tags := make([]fieldTag, t.NumField())
	for i := range tags {
		f := t.Field(i)
		tags[i].exported = f.IsExported()
		tags[i].name, tags[i].def, tags[i].fixed = strings.Cut(f.Tag.Get("hcl"), "=")
		if f.Anonymous && tags[i].name == "" {
			tags[i].name = "."
		}
	}
	fieldTags.Store(t, tags)
	return tags
}

// complete adds to the blocks what the tags of their types say: attributes and nested
// blocks that they do not list themselves. It is done on first use, because most
// commands read no policy. Beside hcl and doc the tags are
//
//	is    the kind, where the Go type has several: duration, usd, size, percent, regex, path, globs, argv, keywords
//	enum  the words that it may be
//	ref   the type of the block that it names
//	min, max
//	with  required, run, shell: see attr
var complete = sync.OnceFunc(func() {
	for _, b := range []*block{fileBlock, fenceBlock, planFenceBlock} {
		b.complete()
	}
})

func (b *block) complete() {
	if of := b.of; of != nil {
		b.of = nil
		declared(reflect.TypeOf(of).Elem(), b)
	}
	for _, n := range b.blocks {
		n.complete()
	}
}

func declared(t reflect.Type, b *block) *block {
	for i, tag := range tagsOf(t) {
		f := t.Field(i)
		switch _, isValue := reflect.New(f.Type).Interface().(attrValue); {
		case tag.name == "" || tag.name == "." || f.Type == reflect.TypeFor[Decl]():
		case isValue && b.attr(tag.name) == nil:
			b.attrs = append(b.attrs, attrOf(tag.name, f))
		case !isValue && b.block(tag.name) == nil:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			b.blocks = append(b.blocks, declared(inner, &block{name: tag.name, doc: f.Tag.Get("doc")}))
		}
	}
	return b
}

// kindOfType is what values of a type hold where nothing else is said.
var kindOfType = map[reflect.Type]kind{
	reflect.TypeFor[string]():            kString,
	reflect.TypeFor[[]string]():          kStrings,
	reflect.TypeFor[bool]():              kBool,
	reflect.TypeFor[float64]():           kFloat,
	reflect.TypeFor[int]():               kInt,
	reflect.TypeFor[int64]():             kInt,
	reflect.TypeFor[[]int]():             kInts,
	reflect.TypeFor[map[string]string](): kMap,
	reflect.TypeFor[map[string]int]():    kIntMap,
	reflect.TypeFor[json.RawMessage]():   kSchema,
	reflect.TypeFor[Approval]():          kApproval,
}

// attrOf reads the tags of a field that is a Value.
func attrOf(name string, f reflect.StructField) attr {
	with := strings.Fields(f.Tag.Get("with"))
	a := attr{
		name: name, kind: kindOfType[f.Type.Field(0).Type], doc: f.Tag.Get("doc"), ref: f.Tag.Get("ref"),
		required: slices.Contains(with, "required"), run: slices.Contains(with, "run"), shell: slices.Contains(with, "shell"),
	}
	a.min, _ = strconv.ParseInt(f.Tag.Get("min"), 10, 64)
	a.max, _ = strconv.ParseInt(f.Tag.Get("max"), 10, 64)
	a.enum = strings.Fields(f.Tag.Get("enum"))
	list := a.kind == kStrings
	switch word, is := f.Tag.Lookup("is"); {
	case is:
		a.kind = kind(slices.IndexFunc(kinds[:], func(c conversion) bool { return c.word == word }))
	case a.ref != "" && list:
		a.kind = kRefs
	case a.ref != "":
		a.kind = kRef
	case len(a.enum) > 0 && list:
		a.kind = kEnums
	case len(a.enum) > 0:
		a.kind = kEnum
	}
	return a
}

// fillNested reads the nested block of a type into a struct, or into a new one after
// a pointer.
func (r *reader) fillNested(typ string, field reflect.Value) {
	if r.b.block(typ) == nil { // a fence has not all of them
		return
	}
	n := r.one(typ)
	if n == nil {
		return
	}
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	n.fill(field.Addr().Interface())
}

// attrValue is a *Value of any type.
type attrValue interface {
	read(r *reader, name string)
	setDefault(text string)
	isSet() bool
	rangeOf() diag.Range
}

func (v *Value[T]) isSet() bool         { return v.Set }
func (v *Value[T]) rangeOf() diag.Range { return v.Range }

func (v *Value[T]) read(r *reader, name string) {
	switch into := any(v).(type) {
	case *Value[string]:
		if r.b.attr(name).kind == kRef {
			*into = r.refTo(name, r.b.attr(name).ref)
			return
		}
	case *Value[int64]:
		if r.b.attr(name).kind == kInt {
			*into = get(r, name, func(_ *reader, v cty.Value, a *attr) (int64, error) { return asInt(v, a) })
			return
		}
	case *Value[[]string]:
		if r.b.attr(name).kind == kRefs {
			*into = r.refs(name)
			return
		}
	}
	*v = get(r, name, kinds[r.b.attr(name).kind].conv.(func(*reader, cty.Value, *attr) (T, error)))
}

// setDefault gives an absent value what its tag says.
func (v *Value[T]) setDefault(text string) {
	v.Origin = "default"
	switch p := any(&v.V).(type) {
	case *string:
		*p = text
	case *bool:
		*p = text == "true"
	case *int:
		*p, _ = strconv.Atoi(text)
	case *int64:
		*p, _ = strconv.ParseInt(text, 10, 64)
	case *float64:
		*p, _ = strconv.ParseFloat(text, 64)
	case *[]string:
		*p = []string{}
	case *map[string]string:
		*p = map[string]string{}
	}
}

// Overlay returns below overlaid with everything that over sets, field by field.
func Overlay[T any](below, over T) T {
	put(reflect.ValueOf(&below).Elem(), reflect.ValueOf(&over).Elem())
	return below
}

func put(below, over reflect.Value) {
	for i := range over.NumField() {
		f := over.Field(i)
		switch v := f.Addr().Interface().(type) {
		case attrValue:
			if v.isSet() {
				below.Field(i).Set(f)
			}
		case *Decl, *diag.Range:
			below.Field(i).Set(f)
		default:
			if f.Kind() == reflect.Struct {
				put(below.Field(i), f)
			}
		}
	}
}

// Stated is a written attribute.
type Stated struct {
	Block string // that it is in: "git"; "" for attributes of a step
	Name  string
	Range diag.Range // of the value
}

// Stated returns the attributes of the settings' blocks, without nested ones.
func (a Settings) Stated() []Stated { return stated(reflect.ValueOf(&a).Elem(), "") }

// Stated returns a fence's attributes of settings, of concurrency, and of steps.
func (f *Fragment) Stated() []Stated {
	s := f.Settings
	s.Retry, s.Stall = Retry{}, Stall{} // stand in Steps, too
	out := slices.Concat(s.Stated(), stated(reflect.ValueOf(&f.Concurrency).Elem(), "concurrency"), stated(reflect.ValueOf(&f.Steps).Elem(), ""))
	for _, st := range f.Step {
		out = append(out, stated(reflect.ValueOf(&st.StepSettings).Elem(), "")...)
	}
	return out
}

func stated(v reflect.Value, block string) (out []Stated) {
	for i, tag := range tagsOf(v.Type()) {
		name := tag.name
		if x, ok := v.Field(i).Addr().Interface().(attrValue); ok {
			if x.isSet() {
				out = append(out, Stated{block, name, x.rangeOf()})
			}
		} else if name != "" {
			inner := stated(v.Field(i), name)
			for k := range inner {
				if block != "" {
					inner[k].Block, inner[k].Name = block, name+"."+inner[k].Name
				}
			}
			out = append(out, inner...)
		}
	}
	return out
}
