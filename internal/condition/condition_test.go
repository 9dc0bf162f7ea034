package condition

import (
	"testing"
)

// S0-95
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		">= 80":              ">= 80",
		"  >=80 ":            ">= 80",
		"< -1.5e3":           "< -1.5e3",
		"== full":            `== "full"`,
		`!= "a <b>"`:         `!= "a <b>"`,
		"== true":            "== true",
		"!=false":            "!= false",
		"":                   "error: the condition is empty; write an operator and a value, such as >= 80",
		"80":                 "error: the condition has no operator; write >= 80 or == 80",
		"true":               `error: the condition has no operator: write one of ==, !=, <, <=, >, >= before "true"`,
		"=> 80":              "error: => is no operator; write >= 80",
		"= 80":               "error: = is no operator; write == 80",
		"≥ 80":               "error: ≥ is no operator; write >= 80",
		"<> 80":              "error: <> is no operator; write != 80",
		">=":                 "error: nothing follows >=; write a value, such as >= 80",
		">= 80%":             `error: "80%" is no value; write a number without a unit, true, false, or a text in quotes`,
		"== null":            `error: "null" is no value; write a number without a unit, true, false, or a text in quotes`,
		"== 1 2":             `error: "1 2" is no value; write a number without a unit, true, false, or a text in quotes`,
		"== [1]":             `error: "[1]" is no value; write a number without a unit, true, false, or a text in quotes`,
		"> full":             `error: > compares numbers, and "full" is none; write a number, or == or !=`,
		"<= true":            "error: <= compares numbers, and true is none; write a number, or == or !=",
		"== 0x10":            `error: "0x10" is no value; write a number without a unit, true, false, or a text in quotes`,
		"== Infinity":        `== "Infinity"`,
		`== "` + "\u202e\"":  "== \"\u202e\"",
		">= 1e99999999999":   `error: "1e99999999999" is no value; write a number without a unit, true, false, or a text in quotes`,
		"== -":               `error: "-" is no value; write a number without a unit, true, false, or a text in quotes`,
		"=== 80":             `error: "= 80" is no value; write a number without a unit, true, false, or a text in quotes`,
		`== "two" and "one"`: `error: "\"two\" and \"one\"" is no value; write a number without a unit, true, false, or a text in quotes`,
	} {
		c, err := Parse(in)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = c.String()
			if again, err := Parse(got); err != nil || again.String() != got {
				t.Errorf("%q: its spelling %q is read as %q, %v", in, got, again, err)
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// S0-95
func TestHolds(t *testing.T) {
	for _, c := range []struct{ condition, field, want string }{
		{">= 80", "80", "holds"},
		{">= 80", "80.0", "holds"},
		{">= 80", "79.99", "does not"},
		{"> 80", "80", "does not"},
		{"< 80", "79", "holds"},
		{"<= 80", "8.1e1", "does not"},
		{"== 0.1", "0.10", "holds"},
		{">= 80", "1e999999999", "it must be a number"},
		{">= 80", "1e-999999999", "does not"},
		{"== full", `"full"`, "holds"},
		{"== full", `"Full"`, "does not"},
		{"!= full", `"Full"`, "holds"},
		{"== true", "true", "holds"},
		{"!= true", "true", "does not"},
		{">= 80", `"80"`, "it must be a number"},
		{">= 80", "", "it must be a number"},
		{">= 80", "null", "it must be a number"},
		{">= 80", "[80]", "it must be a number"},
		{"== true", `"true"`, "it must be a boolean"},
		{"== full", "true", "it must be a string"},
	} {
		parsed, err := Parse(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := parsed.Holds([]byte(c.field))
		got := map[bool]string{true: "holds", false: "does not"}[ok]
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.condition, c.field, got, c.want)
		}
	}
}

// A condition implies another where no value holds of the one alone: held against the
// values around both.
func TestImplies(t *testing.T) {
	numbers := []string{"-1", "0", "0.5", "1", "1.5", "2", "3"}
	values := append([]string{`"a"`, `"b"`, `"c"`, "true", "false"}, numbers...)
	var all []Condition
	for _, op := range operators {
		for _, v := range []string{"0", "1", "2", `"a"`, `"b"`, "true", "false"} {
			if c, err := Parse(op + v); err == nil {
				all = append(all, c)
			}
		}
	}
	for _, c := range all {
		for _, other := range all {
			want := c.Type() == other.Type()
			for _, v := range values {
				if one, err := c.Holds([]byte(v)); err == nil && one {
					two, _ := other.Holds([]byte(v))
					want = want && two
				}
			}
			if got := c.Implies(other); got != want {
				t.Errorf("%s implies %s: %v, want %v", c, other, got, want)
			}
		}
	}
}

// S0-95
func TestFind(t *testing.T) {
	for name, c := range map[string]struct{ schema, field, want string }{
		"beside status":                          {`{"properties":{"n":{"type":"number"}}}`, "n", "n number"},
		"a whole number":                         {`{"properties":{"n":{"type":"integer"}}}`, "n", "n number"},
		"of several types":                       {`{"properties":{"n":{"type":["string","null"]}}}`, "n", "n string"},
		"of any type":                            {`{"properties":{"n":{"enum":[1,"a"]}}}`, "n", "n number string boolean"},
		"in details that are not typed":          {`{"properties":{"details":{"type":"object"}}}`, "n", "details.n number string boolean"},
		"in details that are anything":           {`{"properties":{"details":true}}`, "n", "details.n number string boolean"},
		"in details that are typed":              {`{"properties":{"details":{"properties":{"n":{"type":"boolean"}}}}}`, "n", "details.n boolean"},
		"in details that are typed elsewhere":    {`{"properties":{"details":{"$ref":"#/$defs/d"}}}`, "n", "details.n number string boolean"},
		"in details of which others are typed":   {`{"properties":{"details":{"properties":{"m":{"type":"boolean"}}}}}`, "n", "none"},
		"in details that hold nothing else":      {`{"properties":{"details":{"additionalProperties":false}}}`, "n", "none"},
		"in details that are a text":             {`{"properties":{"details":{"type":"string"}}}`, "n", "none"},
		"nowhere":                                {`{"properties":{"status":{}}}`, "n", "none"},
		"in both, where it is beside the status": {`{"properties":{"details":{"type":"object"},"n":{"type":"string"}}}`, "n", "n string"},
		"in a schema of everything":              {`true`, "n", "none"},
	} {
		f, ok := Find([]byte(c.schema), c.field)
		got := f.Path()
		for _, typ := range []string{Number, String, Boolean} {
			if f.May(typ) {
				got += " " + typ
			}
		}
		if !ok {
			got = "none"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestInFindsTheFieldOfAnAnswer(t *testing.T) {
	top, nested := Field{Name: "n"}, Field{Name: "n", nested: true}
	for answer, want := range map[string][2]string{
		`{"n":1,"details":{"n":2}}`:    {"1", "2"},
		`{"details":{"N":2}}`:          {"", ""},
		`{"details":"n"}`:              {"", ""},
		`[]`:                           {"", ""},
		`{"n":{"n":1},"details":null}`: {`{"n":1}`, ""},
	} {
		if got := [2]string{string(top.In([]byte(answer))), string(nested.In([]byte(answer)))}; got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
