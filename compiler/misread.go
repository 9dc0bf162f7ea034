package compiler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/compiler/syntax"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/text"
)

// misread is a plan that another dialect may fit better.
type misread struct {
	src     Source
	chosen  syntax.Dialect
	tree    *syntax.Plan
	noItems *diag.Diagnostic // nil: it has some
}

// remember keeps what is to be tried when everything else is compiled. The message
// about a plan without items is taken out of the list until the other dialects were tried.
func (c *compilation) remember(src Source, u *unit, l diag.List) diag.List {
	if c.trial || u.tree.Hidden || len(u.tree.Items) > 0 && len(u.tree.Others) == 0 {
		return l
	}
	m := misread{src: src, chosen: u.dialect, tree: u.tree}
	if len(u.tree.Items) == 0 {
		i := slices.IndexFunc(l, func(d diag.Diagnostic) bool { return d.Code == "no-items" })
		if i < 0 {
			return l
		}
		d := l[i]
		m.noItems = &d
		l = slices.Delete(l, i, i+1)
	}
	c.misread = append(c.misread, m)
	return l
}

// sayDialects names the dialects that fit plans better than their own.
func (c *compilation) sayDialects() {
	for _, m := range lists.Each(c.misread) {
		all, untried := c.tryOthers(m)
		if m.noItems != nil {
			said := "No other dialect finds any items. " + cmp.Or(m.tree.Instead, "Add items to the plan, such as \"- [ ] Write the parser\" for the dialect todo.")
			if b := best(all); b != nil {
				said = m.advice(c.files[m.src.Path], b, all, untried)
			}
			if m.tree.Strays > 0 {
				said += fmt.Sprintf(" The plan was compiled before, in another dialect: keep the %s in it, and compile it with the dialect used then.", text.Count(m.tree.Strays, "id"))
			}
			c.diags.Add(m.noItems.WithDetail("%s %s", m.noItems.Detail, said))
			continue
		}
		all = slices.DeleteFunc(all, func(r Reading) bool { return r.Weak })
		if b := best(all); b != nil {
			c.diags.Add(diag.Newf("another-dialect", m.tree.TitleRange, "another dialect finds %s more", text.Count(m.outside(b.Dialect), "item")).
				WithDetail("The dialect %s finds %s; the text outside %s is prose. %s Ignore this if that is intended.",
					m.chosen.Name, text.Count(len(m.tree.Items), "item"), text.Form(len(m.tree.Items), "it", "them"), m.advice(c.files[m.src.Path], b, all, untried)))
		}
	}
}

func (m *misread) outside(dialect string) int {
	for _, o := range m.tree.Others {
		if o.Dialect == dialect {
			return o.Outside
		}
	}
	return 0
}

// tryOthers compiles the plan with the dialects that find something in it, those that
// find most first, as far as the plan's size allows.
func (c *compilation) tryOthers(m *misread) (all []Reading, untried int) {
	ranks := lists.Index(m.tree.Others, func(x *syntax.Other) string { return x.Dialect })
	slices.SortStableFunc(m.tree.Others, func(a, b syntax.Other) int { return cmp.Or(b.Outside-a.Outside, b.Items-a.Items) })
	room := maxTrial
	untried = m.tree.Unread
	for _, o := range m.tree.Others {
		if room -= len(m.src.Bytes) + trialCost; room < 0 && len(all) > 0 {
			untried++
			continue
		}
		if r := c.try(m.src, o.Dialect, ranks[o.Dialect]); r.Items > 0 {
			all = append(all, r)
		}
	}
	if untried == 0 {
		all = c.tryWords(m.src, m.tree.Words, all, room)
	}
	if m.noItems != nil {
		all = slices.DeleteFunc(c.tryPlace(m.src, all), func(r Reading) bool { return r.Items == 0 })
	}
	return all, untried
}

// advice says what to write, and how the others came off.
func (m *misread) advice(file *diag.File, b *Reading, all []Reading, untried int) string {
	var out strings.Builder
	made := text.Count(b.Items, "item")
	if b.Groups > 0 {
		made += " in " + text.Count(b.Groups, "group")
	}
	made += ", " + text.Count(b.Edges, "dependency")
	name := b.Dialect
	switch {
	case b.Refused == nil:
		fmt.Fprintf(&out, "With the dialect %s it compiles: %s. Write dialect: %s in the front matter, as ralph init --plan does, or --dialect %s.", name, made, name, asArg(name))
		if f := fuller(all, b); f != nil && f.Refused == nil {
			fmt.Fprintf(&out, " The dialect %s finds %s; %s is taken because %s keeps its plans here.", f.Dialect, text.Count(f.Items, "item"), name, b.Tool.Title)
		} else if f != nil {
			fmt.Fprintf(&out, " The dialect %s finds %s, and refuses the plan%s: %s.", f.Dialect, text.Count(f.Items, "item"), f.inLine(file), f.Refused.Summary)
		}
	case b.Tool != nil:
		fmt.Fprintf(&out, "It is where %s keeps its plans, which the dialect %s reads: %s, refused%s: %s. Write dialect: %s in the front matter and correct that.", b.Tool.Title, name, made, b.inLine(file), b.Refused.Summary, name)
	default:
		fmt.Fprintf(&out, "No dialect compiles it. The nearest is %s: %s, refused%s: %s. Write dialect: %s in the front matter and correct that.", name, made, b.inLine(file), b.Refused.Summary, name)
	}
	others := slices.Clone(all)
	slices.SortStableFunc(others, func(a, b Reading) int { return cmp.Or(b.Items-a.Items, a.rank-b.rank) })
	var words []string
	for _, r := range lists.Each(others) {
		if r.Dialect == b.Dialect || len(words) == maxNamed {
			continue
		}
		w := fmt.Sprintf("%s %d", r.Dialect, r.Items)
		if r.Refused != nil && b.Refused == nil {
			w += " (refused)"
		}
		words = append(words, w)
	}
	if len(words) > 0 {
		fmt.Fprintf(&out, " Items by other dialects: %s.", strings.Join(words, ", "))
	}
	if untried > 0 {
		fmt.Fprintf(&out, " %s not tried, because the plan is large.", countAre(untried, "dialect"))
	}
	return out.String()
}

// maxNamed bounds how many dialects, or user stories, a message names.
const maxNamed = 12
