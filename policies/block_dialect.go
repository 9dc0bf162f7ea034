package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Dialect is the block `dialect "n"`: how a plan's items are written. After
// Decode `extends` has been followed: every field holds what counts.
type Dialect struct {
	Decl
	Extends      Value[string]
	Phase        *DialectPhase // nil: no groups
	Item         DialectItem
	Letters      Value[string] // parallel, sequence
	IgnoreCase   Value[bool]
	Numbers      Value[string] // always, unless_explicit, never
	Groups       Value[string] // barrier, chain, none
	ParallelMark Value[string] // "[P]", "(P)", "" for none
	Explicit     Value[string] // replace, add
	Columns      DialectColumns
}

// DialectPhase says what group headings look like.
type DialectPhase struct {
	Keywords Value[[]string] // without case; an empty list: the id alone
	ID       Value[string]   // regular expression (RE2), without anchors
}

// DialectItem says what items look like.
type DialectItem struct {
	In       Value[string]   // heading, checkbox, bold, table, todo, front_matter
	Keywords Value[[]string] // without case; an empty list: the id alone
	ID       Value[string]   // regular expression (RE2), without anchors
}

// DialectColumns names the columns of a table of items.
type DialectColumns struct {
	ID      Value[[]string]
	Title   Value[[]string]
	Depends Value[[]string]
}

var dialectBlock = &block{
	name: "dialect", label: "name",
	doc: "how the items of a plan are written",
	attrs: []attr{
		descriptionAttr,
		{name: "extends", kind: kRef, ref: "dialect", doc: "the dialect that it changes"},
		{name: "letters", kind: kEnum, enum: []string{"parallel", "sequence"}, doc: "what a letter suffix means: parallel or sequence"},
		{name: "ignore_case", kind: kBool, doc: "true takes 1.2A for 1.2a"},
		{name: "numbers", kind: kEnum, enum: []string{"always", "never", "unless_explicit"}, doc: "always, unless_explicit or never"},
		{name: "groups", kind: kEnum, enum: []string{"barrier", "chain", "none"}, doc: "barrier, chain or none"},
		{name: "parallel_mark", kind: kEnum, enum: []string{"", "(P)", "[P]"}, doc: "[P] or (P)"},
		{name: "explicit", kind: kEnum, enum: []string{"add", "replace"}, doc: "replace or add"},
	},
	blocks: []*block{
		{name: "phase", doc: "what group headings look like; an empty block: there are none", attrs: []attr{
			{name: "keywords", kind: kStrings, doc: "words that a heading begins with, such as [\"Phase\"]; [] for the id alone"},
			{name: "id", kind: kRegex, doc: "a regular expression of the id"},
		}},
		{name: "item", doc: "what items look like", attrs: []attr{
			{name: "in", kind: kEnum, enum: []string{"bold", "checkbox", "front_matter", "heading", "table", "todo"}, doc: "heading, checkbox, bold, table, todo or front_matter"},
			{name: "keywords", kind: kStrings, doc: "words that an item begins with, such as [\"Task\", \"Story\"]; [] for the id alone"},
			{name: "id", kind: kRegex, doc: "a regular expression of the id"},
		}},
		{name: "columns", doc: "header words of a table of items", attrs: []attr{
			{name: "id", kind: kStrings, doc: "of the column of ids, such as [\"ID\", \"#\"]"},
			{name: "title", kind: kStrings, doc: "of the column of titles"},
			{name: "depends", kind: kStrings, doc: "of the column of dependencies"},
		}},
	},
}

func (r *reader) dialect(decl Decl) *Dialect {
	out := &Dialect{
		Decl:         decl,
		Extends:      r.ref("extends"),
		Letters:      r.enum("letters"),
		IgnoreCase:   r.boolean("ignore_case"),
		Numbers:      r.enum("numbers"),
		Groups:       r.enum("groups"),
		ParallelMark: r.enum("parallel_mark"),
		Explicit:     r.enum("explicit"),
	}
	if p := r.one("phase"); p != nil {
		out.Phase = &DialectPhase{Keywords: p.keywords(), ID: p.pattern("id")}
	}
	if i := r.one("item"); i != nil {
		out.Item = DialectItem{In: i.enum("in"), Keywords: i.keywords(), ID: i.pattern("id")}
	}
	if c := r.one("columns"); c != nil {
		out.Columns = DialectColumns{ID: c.strs("id"), Title: c.strs("title"), Depends: c.strs("depends")}
	}
	return out
}

// keywords are few: each line of a plan is held against each of them.
func (r *reader) keywords() Value[[]string] {
	return get(r, "keywords", func(v cty.Value, _ *attr) ([]string, error) {
		list, err := stringList(v)
		if err == nil && len(list) > maxKeywords {
			err = fmt.Errorf("a dialect has at most %d keywords, this has %d", maxKeywords, len(list))
		}
		return list, err
	})
}

// extend returns a with everything that b sets put over it.
func (a *Dialect) extend(b *Dialect) *Dialect {
	out := &Dialect{
		Decl:         b.Decl,
		Extends:      b.Extends,
		Phase:        a.Phase,
		Letters:      b.Letters.Or(a.Letters),
		IgnoreCase:   b.IgnoreCase.Or(a.IgnoreCase),
		Numbers:      b.Numbers.Or(a.Numbers),
		Groups:       b.Groups.Or(a.Groups),
		ParallelMark: b.ParallelMark.Or(a.ParallelMark),
		Explicit:     b.Explicit.Or(a.Explicit),
		Item: DialectItem{
			In: b.Item.In.Or(a.Item.In), Keywords: b.Item.Keywords.Or(a.Item.Keywords), ID: b.Item.ID.Or(a.Item.ID),
		},
		Columns: DialectColumns{
			ID: b.Columns.ID.Or(a.Columns.ID), Title: b.Columns.Title.Or(a.Columns.Title), Depends: b.Columns.Depends.Or(a.Columns.Depends),
		},
	}
	switch {
	case b.Phase == nil:
	case a.Phase == nil || !b.Phase.Keywords.Set && !b.Phase.ID.Set:
		out.Phase = b.Phase
	default:
		out.Phase = &DialectPhase{Keywords: b.Phase.Keywords.Or(a.Phase.Keywords), ID: b.Phase.ID.Or(a.Phase.ID)}
	}
	return out
}

// linkDialects follows `extends`. Without it a dialect changes the default one.
func (s *Set) linkDialects(d *decoder) {
	linked := map[string]*Dialect{}
	var link func(name string, path []string) *Dialect
	link = func(name string, path []string) *Dialect {
		if done, ok := linked[name]; ok {
			return done
		}
		self := s.Dialects[name]
		if slices.Contains(path, name) {
			d.diags.Add(diag.Newf("dialect-cycle", self.Extends.Range, "dialect %s extends itself", quoted(name)).
				WithDetail("The chain is %s. Let one of them extend nothing.", printableText(strings.Join(append(path, name), " → "))))
			return self
		}
		parent := self.Extends.V
		if parent == "" && !self.Builtin {
			parent = DefaultDialect
		}
		if parent == "" || s.Dialects[parent] == nil || parent == name {
			linked[name] = self
			return self
		}
		out := link(parent, append(path, name)).extend(self)
		linked[name] = out
		return out
	}
	names := sortedKeys(s.Dialects)
	for _, name := range names {
		link(name, nil)
	}
	for _, name := range names {
		x := *linked[name]
		if p := x.Phase; p != nil && p.Keywords.V == nil && p.ID.V == "" {
			x.Phase = nil
		}
		s.Dialects[name] = &x
	}
}

// DefaultDialect is the dialect of plans that name none.
const DefaultDialect = "sprint"

// Dialect returns the dialect that a specification names: a name, or
// "task:PR,Unit" for the dialect task with other item keywords. at is the place
// of the specification.
func (s *Set) Dialect(spec string, at diag.Range) (*Dialect, diag.List) {
	name, words, more := strings.Cut(spec, ":")
	name = strings.TrimSpace(name)
	base, ok := s.Dialects[name]
	if !ok {
		names := sortedKeys(s.Dialects)
		dg := diag.Newf("dialect-unknown", at, "unknown dialect %s", quoted(name))
		if tool := ToolNamed(name); tool != nil {
			dg = dg.WithDetail("%s", tool.Advice())
		} else if near, ok := spell.Nearest(name, names); ok {
			dg = dg.WithDetail("Did you mean %q?", near)
		} else {
			dg = dg.WithDetail("The dialects are %s. Write one of these, or declare dialect %s { … } in a policy.", spell.Sorted(names, 20), quoted(name))
		}
		return s.Dialects[DefaultDialect], diag.List{dg}
	}
	if !more {
		return base, nil
	}
	out := *base
	out.Item.Keywords = Of([]string{}, at, "dialect "+spec)
	for w := range strings.SplitSeq(words, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out.Item.Keywords.V = append(out.Item.Keywords.V, w)
		}
		if len(out.Item.Keywords.V) > maxKeywords {
			return base, diag.List{diag.Newf("dialect-unknown", at, "too many keywords behind %s", quoted(name+":")).
				WithDetail("A dialect has at most %d keywords: each line is held against each of them. Name fewer.", maxKeywords)}
		}
	}
	if len(out.Item.Keywords.V) == 0 {
		return base, diag.List{diag.Newf("dialect-unknown", at, "no keyword behind %s", quoted(name+":")).
			WithDetail("A colon behind a dialect is followed by item keywords. Write %s:PR,Unit, or leave the colon out.", printable(name))}
	}
	return &out, nil
}
