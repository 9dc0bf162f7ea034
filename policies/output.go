package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/condition"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
)

var fieldBlock = &block{
	of:   (*field)(nil),
	name: "field", label: "name", many: true,
	doc: "a property of the answer",
	attrs: []attr{
		descriptionAttr,
		{name: "minimum", kind: kFloat, min: -1 << 53, max: 1 << 53, doc: "the least number"},
		{name: "maximum", kind: kFloat, min: -1 << 53, max: 1 << 53, doc: "the greatest number"},
	},
}

type field struct {
	Type        Value[string]   `hcl:"type=string" enum:"array boolean integer number object string" doc:"string, number, integer, boolean, array or object"`
	Description Value[string]   `hcl:"description"`
	Enum        Value[[]string] `hcl:"enum" doc:"the words that it may be, such as [\"pass\", \"fail\", \"stop\"]"`
	Items       Value[string]   `hcl:"items" enum:"boolean integer number object string" doc:"the type of an array's elements"`
	Required    Value[bool]     `hcl:"required=true" doc:"false lets it be left out"`
	Minimum     Value[float64]  `hcl:"minimum"`
	Maximum     Value[float64]  `hcl:"maximum"`
}

var outputBlock = &block{
	name: "output", doc: "what the agent answers, field by field",
	attrs:  []attr{{name: "additional", kind: kBool, doc: "false forbids fields that are not declared"}},
	blocks: []*block{fieldBlock},
}

// Verdicts are a gate's possible verdicts, in the form its output schema must list them.
var Verdicts = []string{"pass", "fail", "stop"}

// DefaultOutput is the output schema of a gate that declares none.
var DefaultOutput = json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"details":{"type":"object"},"message":{"type":"string"},"status":{"enum":["pass","fail","stop"],"type":"string"}},"required":["message","status"],"type":"object"}`)

// gateOutput reads output {} or output_schema into g and checks it.
func (r *reader) gateOutput(g *Gate) {
	judged := g.Kind.V == "agent" || g.Kind.V == "review"
	if o := r.one("output"); o != nil {
		if g.OutputSchema.Set {
			r.d.diags.Add(diag.New("gate-output", o.at, "the output is typed twice").
				WithDetail("output { } and output_schema say the same thing. Remove one of them.").WithRelated(g.OutputSchema.Range, "output_schema"))
			return
		}
		raw, at := o.output()
		g.OutputSchema = Of(raw, at, r.origin)
	}
	// The built-in schema is checked by a test: compiling one costs milliseconds.
	if g.OutputSchema.Set && g.OutputSchema.V != nil && !r.d.builtin {
		_, diags := CheckOutput(g.OutputSchema.V, g.OutputSchema.Range)
		r.d.diags.Add(diags...)
	}
	if !g.OutputSchema.Set && judged {
		g.OutputSchema = Value[json.RawMessage]{V: DefaultOutput, Origin: "default"}
	}
	if g.InputSchema.V != nil {
		_, diags := CheckInput(g.InputSchema.V, g.InputSchema.Range)
		r.d.diags.Add(diags...)
	}
}

// output makes a JSON Schema from field blocks.
func (r *reader) output() (json.RawMessage, diag.Range) {
	props, required := map[string]any{}, []string{}
	seen := map[string]diag.Range{}
	for _, b := range r.nested {
		if b.Type != "field" {
			continue
		}
		name, at := b.Labels[0], r.d.rng(b.DefRange)
		if first, again := seen[name]; again {
			r.d.twice("field", name, at, first)
			continue
		}
		seen[name] = at
		var f field
		r.d.open(fieldBlock, b.Body, r.path+".field."+name, r.origin, at, r.node).fill(&f)
		p := map[string]any{"type": f.Type.V}
		for key, v := range map[string]Value[float64]{"minimum": f.Minimum, "maximum": f.Maximum} {
			if v.Set {
				p[key] = v.V
			}
		}
		if f.Description.Set {
			p["description"] = f.Description.V
		}
		if f.Enum.Set {
			p["enum"] = f.Enum.V
		}
		if f.Items.Set {
			p["items"] = map[string]any{"type": f.Items.V}
		}
		if f.Required.V {
			required = append(required, name)
		}
		props[name] = p
	}
	slices.Sort(required)
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": props, "required": required,
	}
	var additional Value[bool]
	if additional.read(r, "additional"); additional.Set && !additional.V {
		schema["additionalProperties"] = false
	}
	raw, err := json.Marshal(schema)
	if err == nil {
		raw, err = canonicalJSON(raw)
	}
	if err != nil {
		panic("policies: field blocks gave no JSON: " + err.Error()) // strings and numbers always do
	}
	return raw, r.at
}

// CheckOutput checks a JSON Schema as the output of a gate that is judged by an
// agent: a valid schema (draft 2020-12, or draft-07 when it says so) that
// defines and requires status, with exactly the words of Verdicts, and message.
// It returns the schema in its canonical form. at is where problems are shown.
func CheckOutput(raw json.RawMessage, at diag.Range) (json.RawMessage, diag.List) {
	canonical, diags := checkSchema("output", raw, at)
	if canonical == nil {
		return nil, diags
	}
	if err := verdictIn(canonical); err != nil {
		diags.Add(diag.New("gate-output", at, "the output schema gives no verdict").
			WithDetail("%s. Define status with the enum pass, fail, stop and message as a string, and list both in required.", sentence(err.Error())))
	}
	return canonical, diags
}

// CheckInput returns an input schema in canonical form; if it is no JSON Schema, that is
// an error and the result is nil.
func CheckInput(raw json.RawMessage, at diag.Range) (json.RawMessage, diag.List) {
	return checkSchema("input", raw, at)
}

func checkSchema(of string, raw json.RawMessage, at diag.Range) (json.RawMessage, diag.List) {
	canonical, err := canonicalJSON(raw)
	if err == nil {
		_, err = jsonschema.Compile(canonical)
	}
	if err == nil {
		return canonical, nil
	}
	return nil, diag.List{diag.Newf("gate-schema", at, "the %s schema is not a JSON Schema", of).
		WithDetail("%s. Write a schema of draft 2020-12, or of draft-07 with its $schema.", sentence(printableText(err.Error())))}
}

// require replaces the conditions of a gate by those that can be held against its
// answers, in their one spelling, and reports the others.
func (r *reader) require(g *Gate) {
	if g.Kind.V != "agent" && g.Kind.V != "review" {
		g.Require.V = nil // it means nothing
	}
	for _, name := range sortedKeys(g.Require.V) {
		at := r.entry("require", name, g.Require.Range)
		c, err := condition.Parse(g.Require.V[name])
		if err != nil {
			r.wrong("require", at, fmt.Errorf("the condition on %s cannot be read: %w", quoted(name), err))
		}
		if err != nil || !r.answered(g, name, c.Type(), at) {
			delete(g.Require.V, name)
			continue
		}
		g.Require.V[name] = c.String()
	}
}

// answered reports whether the judge's answers may have a field of a type, with a
// diagnostic if not.
func (r *reader) answered(g *Gate, name, typ string, at diag.Range) bool {
	if g.OutputSchema.V == nil { // it was reported
		return true
	}
	f, ok := condition.Find(g.OutputSchema.V, name)
	var dg diag.Diagnostic
	switch {
	case !ok:
		dg = diag.Newf("gate-output", at, "the output has no field %s", quoted(name)).
			WithDetail("The output types neither this field nor one of details with this name, so that no pass could have it. Write field %q { type = %q } into the output, or correct the name.", name, typ)
	case !f.May(typ):
		dg = diag.Newf("gate-output", at, "the field %s has another type", quoted(name)).
			WithDetail("The condition is about a %s, and the output gives %s another type. Correct the condition, or the type in the output.", typ, f.Path())
	default:
		return true
	}
	if g.OutputSchema.Set {
		dg = dg.WithRelated(g.OutputSchema.Range, "the output")
	}
	r.d.diags.Add(dg)
	return false
}

func verdictIn(raw []byte) error {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return errors.New("the schema describes no object")
	}
	for _, name := range []string{"status", "message"} {
		switch {
		case s.Properties[name] == nil:
			return fmt.Errorf("the schema does not define %q", name)
		case !slices.Contains(s.Required, name):
			return fmt.Errorf("the schema does not require %q", name)
		}
	}
	var status struct {
		Enum []string `json:"enum"`
	}
	_ = json.Unmarshal(s.Properties["status"], &status) // not an object, or other types in enum: no words
	slices.Sort(status.Enum)
	if !slices.Equal(status.Enum, []string{"fail", "pass", "stop"}) {
		return fmt.Errorf("status must have the enum %s, exactly", strings.Join(Verdicts, ", "))
	}
	var message struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(s.Properties["message"], &message) == nil && message.Type != nil && message.Type != "string" {
		return errors.New("message must be a string")
	}
	return nil
}
