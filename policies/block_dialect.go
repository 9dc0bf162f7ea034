package policies

import (
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/spell"
)

// Dialect is the block `dialect "n"`: how a plan's items are written. After
// Decode `extends` has been followed: every field holds what counts.
type Dialect struct {
	Decl
	Extends      Value[string]  `hcl:"extends" ref:"dialect" doc:"the dialect that it changes"`
	Phase        *DialectPhase  `hcl:"phase" doc:"what group headings look like; an empty block: there are none"` // nil: no groups
	Item         DialectItem    `hcl:"item" doc:"what items look like"`
	Letters      Value[string]  `hcl:"letters" enum:"parallel sequence" doc:"what a letter suffix means: parallel or sequence"`
	IgnoreCase   Value[bool]    `hcl:"ignore_case" doc:"true takes 1.2A for 1.2a"`
	Numbers      Value[string]  `hcl:"numbers" enum:"always never unless_explicit" doc:"always, unless_explicit or never"`
	Groups       Value[string]  `hcl:"groups" enum:"barrier chain none" doc:"barrier, chain or none"`
	ParallelMark Value[string]  `hcl:"parallel_mark"` // "[P]", "(P)", "" for none
	Explicit     Value[string]  `hcl:"explicit" enum:"add replace" doc:"replace or add"`
	Columns      DialectColumns `hcl:"columns" doc:"header words of a table of items"`
}

// DialectPhase is the form of group headings.
type DialectPhase struct {
	Keywords Value[[]string] `hcl:"keywords" is:"keywords" doc:"words that a heading begins with, such as [\"Phase\"]; [] for the id alone"` // without case; an empty list: the id alone
	ID       Value[string]   `hcl:"id" is:"regex" doc:"a regular expression of the id"`                                                      // regular expression (RE2), without anchors
}

// DialectItem is the form of items.
type DialectItem struct {
	In       Value[string]   `hcl:"in" enum:"bold checkbox front_matter heading table todo" doc:"heading, checkbox, bold, table, todo or front_matter"`
	Keywords Value[[]string] `hcl:"keywords" is:"keywords" doc:"words that an item begins with, such as [\"Task\", \"Story\"]; [] for the id alone"` // without case; an empty list: the id alone
	ID       Value[string]   `hcl:"id" is:"regex" doc:"a regular expression of the id"`                                                              // regular expression (RE2), without anchors
}

// DialectColumns names the columns of a table of items.
type DialectColumns struct {
	ID      Value[[]string] `hcl:"id" doc:"of the column of ids, such as [\"ID\", \"#\"]"`
	Title   Value[[]string] `hcl:"title" doc:"of the column of titles"`
	Depends Value[[]string] `hcl:"depends" doc:"of the column of dependencies"`
}

var dialectBlock = &block{
	of:   (*Dialect)(nil),
	name: "dialect", label: "name",
	doc: "how the items of a plan are written",
	attrs: []attr{
		descriptionAttr,
		{name: "parallel_mark", kind: kEnum, enum: []string{"", "(P)", "[P]"}, doc: "[P] or (P)"},
	},
}

// extend returns a with everything that b sets put over it.
func (a *Dialect) extend(b *Dialect) *Dialect {
	out := Overlay(*a, *b)
	out.Extends = b.Extends
	switch {
	case b.Phase == nil:
	case a.Phase == nil || !b.Phase.Keywords.Set && !b.Phase.ID.Set:
		out.Phase = b.Phase
	default:
		phase := Overlay(*a.Phase, *b.Phase)
		out.Phase = &phase
	}
	return &out
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
			return base, diag.List{diag.Newf("dialect-unknown", at, "too many keywords after %s", quoted(name+":")).
				WithDetail("A dialect has at most %d keywords: each line is held against each of them. Name fewer.", maxKeywords)}
		}
	}
	if len(out.Item.Keywords.V) == 0 {
		return base, diag.List{diag.Newf("dialect-unknown", at, "no keyword after %s", quoted(name+":")).
			WithDetail("A colon after a dialect is followed by item keywords. Write %s:PR,Unit, or leave the colon out.", printable(name))}
	}
	return &out, nil
}
