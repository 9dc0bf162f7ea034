package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// checkWire holds a schema to what agents and models take: an object at the top
// without a choice, no references, and names that models take.
func checkWire(t *testing.T, wire json.RawMessage) {
	t.Helper()
	var top object
	if err := json.Unmarshal(wire, &top); err != nil {
		t.Fatal(err)
	}
	if _, ok := top["properties"].(object); !ok || top["type"] != "object" {
		t.Errorf("no object: %s", wire)
	}
	for _, k := range []string{"anyOf", "allOf", "oneOf", "not", "enum"} {
		if top[k] != nil {
			t.Errorf("%s is at the top: %s", k, wire)
		}
	}
	var walk func(any)
	walk = func(v any) {
		s, ok := v.(object)
		if !ok {
			t.Errorf("%v is no schema that agents take: %s", v, wire)
			return
		}
		for k, v := range s {
			switch k {
			case "$ref", "$schema", "$defs", "definitions", "oneOf", "if", "patternProperties", "x-mcp-header":
				t.Errorf("%s: %s", k, wire)
			case "properties":
				for name, p := range v.(object) {
					if !propertyName.MatchString(name) {
						t.Errorf("a property is called %q", name)
					}
					walk(p)
				}
			case "items":
				walk(v)
			case "anyOf", "allOf":
				for _, p := range v.([]any) {
					walk(p)
				}
			}
		}
	}
	walk(top)
}

func TestSchemasAreWrittenInTheWordsOfAgents(t *testing.T) {
	for name, c := range map[string]struct {
		schema, wire string
		wrapped      bool
		exact        bool
		takes        string
		refuses      string
	}{
		"a plain one stays": {
			schema: verdictSchema, exact: true,
			wire:  `{"properties":{"message":{"type":"string"},"status":{"enum":["pass","fail","stop"]}},"required":["status","message"],"type":"object"}`,
			takes: `{"status":"pass","message":""}`, refuses: `{"status":"x","message":""}`,
		},
		"references and names of drafts": {
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"x:y","definitions":{"s":{"const":"a"}},"properties":{"x":{"$ref":"#/definitions/s"}},"required":["x"]}`,
			wire:   `{"properties":{"x":{"enum":["a"]}},"required":["x"],"type":"object"}`, exact: true,
			takes: `{"x":"a"}`, refuses: `{"x":"b"}`,
		},
		"one that refers to itself": {
			schema:  `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}}}}}`,
			takes:   `{"next":{"next":{"v":1}}}`,
			refuses: `{"next":{"next":{"v":"x"}}}`,
		},
		"a choice at the top": {
			schema: `{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]}`,
			wire:   `{"properties":{"kind":{},"n":{"type":"integer"}},"required":["kind"],"type":"object"}`,
			takes:  `{"kind":"b"}`, refuses: `{"kind":"a"}`,
		},
		"no object": {
			schema: `{"type":"array","items":{"type":"string"}}`, wrapped: true, exact: true,
			wire:  `{"properties":{"answer":{"items":{"type":"string"},"type":"array"}},"required":["answer"],"type":"object"}`,
			takes: `{"answer":["x"]}`, refuses: `{"answer":[1]}`,
		},
		"an object, or nothing": {
			schema: `{"type":["object","null"],"properties":{"a":{}}}`, wire: `{"properties":{"a":{}},"type":"object"}`, exact: true,
			takes: `{"a":1}`, refuses: `[]`,
		},
		"what agents do not know": {
			schema: `{"type":"object","properties":{"a b":{"type":"string"},"c":{"type":"string","not":{"const":"x"},"x-mcp-header":"a b"}},"required":["a b","c"],"patternProperties":{"^z":false}}`,
			wire:   `{"properties":{"c":{"type":"string"}},"required":["c"],"type":"object"}`,
			takes:  `{"a b":"1","c":"2"}`, refuses: `{"a b":"1","c":"x"}`,
		},
		"anything":         {schema: `true`, wire: `{"properties":{},"type":"object"}`, exact: true, takes: `{}`, refuses: `1`},
		"a wide one":       {schema: `{"type":"object","properties":{"x":{"enum":["` + strings.Repeat(`x","`, maxWire) + `y"]}}}`, wire: `{"properties":{},"type":"object"}`, takes: `{"x":"y"}`, refuses: `{"x":"z"}`},
		"a list of tuples": {schema: `{"type":"object","properties":{"x":{"type":"array","items":{"type":"array","prefixItems":[{"type":"string"}]}}}}`, wire: `{"properties":{"x":{"items":{"type":"array"},"type":"array"}},"type":"object"}`, takes: `{"x":[["a"]]}`, refuses: `{"x":[[1]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := shapeOf(executor.AgentRun{Raw: true, Schema: json.RawMessage(c.schema)})
			if err != nil {
				t.Fatal(err)
			}
			checkWire(t, s.wire)
			if c.wire != "" && string(s.wire) != c.wire {
				t.Errorf("got  %s\nwant %s", s.wire, c.wire)
			}
			if told := strings.Contains(s.description, "JSON Schema: "); s.wrapped != c.wrapped || told == c.exact && len(c.schema) < maxExact {
				t.Errorf("wrapped %v, the schema is told in words %v", s.wrapped, told)
			}
			if v, err := s.read(json.RawMessage(c.takes)); err != nil || c.wrapped && strings.Contains(string(v), "answer") {
				t.Errorf("%s: got %s, %v", c.takes, v, err)
			}
			if _, err := s.read(json.RawMessage(c.refuses)); err == nil {
				t.Errorf("%s was taken", c.refuses)
			}
		})
	}
}
