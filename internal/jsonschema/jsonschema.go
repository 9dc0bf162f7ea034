// Package jsonschema compiles JSON Schemas (2020-12, and draft-07 when $schema
// says so), validates JSON against them, and makes them from types. It is the only user of the schema
// libraries; policies, executor/gate, app/record and the tests of ir call it.
package jsonschema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled schema. Safe for concurrent use.
type Schema struct{ s *jsonschema.Schema }

// Violation is one way in which a value does not fit.
type Violation struct {
	Pointer string // JSON pointer into the value, "" for the whole
	Message string
}

func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Message
	}
	return v.Pointer + ": " + v.Message
}

// maxSize bounds a schema, in bytes: one from a stranger's plan must not cost
// more than reading it.
const maxSize = 1 << 20

// noLoader refuses every reference out of the schema: nothing is fetched, no
// file is read.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s lies outside the schema: copy what it defines into $defs", url)
}

// Compile checks raw against its meta-schema and returns it ready for use. It
// fails when raw is not JSON, is no schema, or refers to anything outside itself.
func Compile(raw []byte) (*Schema, error) {
	if len(raw) > maxSize {
		return nil, fmt.Errorf("the schema has %d bytes; at most %d are read", len(raw), maxSize)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	const at = "schema:root"
	if err := c.AddResource(at, doc); err != nil {
		return nil, err
	}
	s, err := c.Compile(at)
	if err != nil {
		return nil, readable(err)
	}
	return &Schema{s}, nil
}

// readable says in one line what the library says in a tree.
func readable(err error) error {
	var broken *jsonschema.SchemaValidationError
	if !errors.As(err, &broken) {
		return errors.New(strings.ReplaceAll(err.Error(), "schema:root", "schema"))
	}
	var verr *jsonschema.ValidationError
	if !errors.As(broken.Err, &verr) {
		return errors.New("not a valid JSON Schema")
	}
	vs := violations(verr)
	return fmt.Errorf("not a valid JSON Schema: %s", vs[0])
}

// Validate returns how raw breaks the schema, sorted as the library walks it;
// nil when it fits. JSON that cannot be parsed is one violation.
func (s *Schema) Validate(raw []byte) []Violation {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []Violation{{Message: "not valid JSON: " + err.Error()}}
	}
	err = s.s.Validate(v)
	if err == nil {
		return nil
	}
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return []Violation{{Message: err.Error()}}
	}
	return violations(verr)
}

// violations lists the leaves of the error tree.
func violations(e *jsonschema.ValidationError) []Violation {
	if len(e.Causes) == 0 {
		v := Violation{Message: e.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
		if len(e.InstanceLocation) > 0 {
			esc := strings.NewReplacer("~", "~0", "/", "~1")
			for _, part := range e.InstanceLocation {
				v.Pointer += "/" + esc.Replace(part)
			}
		}
		return []Violation{v}
	}
	var all []Violation
	for _, c := range e.Causes {
		all = append(all, violations(c)...)
	}
	return all
}
