package policies

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// Text of a plan is no shell: who writes a title must not write a part of a gate's
// command. While a command is evaluated, all text of the node that a shell could read as
// more than a word is marked. Marks go with the text through functions and templates, not
// through conditions; one that reaches the command is an error.

// planText marks text of a plan: where it is, and what it says.
type planText struct{ name, text string }

// marked returns the node with the text marked that expressions name.
func marked(node cty.Value, vars []hcl.Traversal) cty.Value {
	attrs := node.AsValueMap()
	for _, t := range vars {
		if t.RootName() != "node" {
			continue
		}
		names := nodeNames()
		if len(t) > 1 {
			if name, ok := stepName(t[1]); ok {
				names = []string{name}
			}
		}
		for _, name := range names {
			if v, ok := attrs[name]; ok && !v.ContainsMarked() {
				attrs[name] = markText(v, "node."+name)
			}
		}
	}
	return cty.ObjectVal(attrs)
}

func markText(v cty.Value, name string) cty.Value {
	w, err := cty.TransformWithTransformer(v, &marker{name: name})
	if err != nil {
		return v.Mark(planText{name, ""})
	}
	return w
}

// marker marks what no shell may read; the commands of a policy's gates are none of the plan's.
type marker struct {
	name string
	own  int // depth of a gate of the policy; 0: in none
}

func (m *marker) Enter(p cty.Path, v cty.Value) (cty.Value, error) {
	if ty := v.Type(); m.own == 0 && ty.IsObjectType() && ty.HasAttribute("from") && ty.HasAttribute("run") && v.IsKnown() && !v.IsNull() {
		if from := v.GetAttr("from"); from.IsKnown() && !from.IsNull() && from.AsString() != "plan" {
			m.own = len(p) + 1
		}
	}
	return v, nil
}

func (m *marker) Exit(p cty.Path, v cty.Value) (cty.Value, error) {
	if m.own == len(p)+1 {
		m.own = 0
		return v, nil
	}
	if m.own > 0 || v.IsNull() || !v.IsKnown() || v.Type() != cty.String || shellword.Plain(v.AsString()) {
		return v, nil
	}
	return v.Mark(planText{m.name, v.AsString()}), nil
}

// inserted takes the mark from a text that a shell reads as itself, whatever it was made of.
func inserted(v cty.Value) cty.Value {
	if !v.IsMarked() {
		return v
	}
	plain, _ := v.Unmark()
	if !plain.IsKnown() || plain.IsNull() {
		return v
	}
	if ty := plain.Type(); ty == cty.Bool || ty == cty.Number || ty == cty.String && shellword.Plain(plain.AsString()) {
		return plain
	}
	return v
}

// planTextIn reports text of the plan in a command.
func (d *decoder) planTextIn(v cty.Value, u use) bool {
	_, marks := inserted(v).UnmarkDeep()
	var found []planText
	for m := range marks {
		if t, ok := m.(planText); ok {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return false
	}
	first := slices.MinFunc(found, func(a, b planText) int { return strings.Compare(a.name+a.text, b.name+b.text) })
	name, value := strings.ToUpper(strings.TrimPrefix(first.name, "node.")), first.name
	if attr, _ := d.view.AsValueMap()[strings.TrimPrefix(first.name, "node.")]; attr.Type().IsListType() {
		value = `join("\n", ` + first.name + `)`
	}
	key, _ := d.view.GetAttr("key").Unmark()
	d.diags.Add(diag.Newf("plan-text-in-command", u.at, "%s of %s would be read by the shell", first.name, printable(key.AsString())).
		WithDetail("It says %q. Whoever writes the plan would write a part of the command. Give it as a variable, env = { %s = %s }, and write \"$%[2]s\" in the command. Text goes into a command only if it has nothing but letters, digits and _@%%+=:,./-.",
			printable(first.text), name, value))
	return true
}
