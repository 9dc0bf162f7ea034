package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/strictjson"
	"github.com/ralph-compiler/ralph/internal/text"
)

// Bounds of a report.
const (
	maxReport = 1 << 20  // bytes: what readers of the outcome file take
	maxDepth  = 64       // objects and lists inside each other
	maxExact  = 16 << 10 // bytes of a schema that is told in words, too
	maxBroken = 8        // ways in which a report does not fit that are told
)

// shape is what has to be reported.
type shape struct {
	schema      *jsonschema.Schema // nil: any object
	outcome     bool               // it is an outcome of a step
	wrapped     bool               // it need not be an object, and is in "answer"
	wire        json.RawMessage    // what agents are told
	description string
}

// shapeOf is the required report of a run. It fails if its schema is invalid.
func shapeOf(r executor.AgentRun) (shape, error) {
	s := shape{description: "Report what came of your task: call it once you are done, before you end. What does not fit is refused with the reason, and you can call it again; the last call that was taken counts."}
	truth := r.Schema
	if len(bytes.TrimSpace(truth)) == 0 || bytes.Equal(bytes.TrimSpace(truth), []byte("null")) {
		if r.Raw {
			s.wire = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":true}`)
			s.description += " It takes any JSON object: the one that you were asked for."
			return s, nil
		}
		truth, s.outcome = executor.OutcomeSchema, true
	}
	var err error
	if s.schema, err = jsonschema.Compile(truth); err != nil {
		return shape{}, fmt.Errorf("the schema of what is to be reported cannot be used: %w", err)
	}
	var exact bool
	if s.wire, s.wrapped, exact, err = wireOf(truth); err != nil {
		return shape{}, fmt.Errorf("the schema of what is to be reported cannot be used: %w", err)
	}
	if s.wrapped {
		s.description += ` The report itself is the value of "answer".`
	}
	if !exact && len(truth) <= maxExact {
		var b bytes.Buffer
		if json.Compact(&b, truth) == nil {
			s.description += " It has to be valid under this JSON Schema: " + b.String()
		}
	}
	return s, nil
}

// read takes the report out of a call, or says what is wrong with it and what to
// write instead.
func (s shape) read(args json.RawMessage) (json.RawMessage, error) {
	value := json.RawMessage(bytes.TrimSpace(args))
	if len(value) == 0 || bytes.Equal(value, []byte("null")) {
		value = json.RawMessage("{}")
	}
	var wrong []string
	switch err := strictjson.Check(value, maxDepth, false); {
	case len(value) > maxReport:
		wrong = []string{fmt.Sprintf("it has %d bytes; at most %d are taken: write it shorter", len(value), maxReport)}
	case !utf8.Valid(value):
		wrong = []string{"it is not valid UTF-8"}
	case err != nil:
		wrong = []string{err.Error()}
	case value[0] != '{':
		wrong = []string{"it is not a JSON object"}
	default:
		if s.wrapped {
			var m map[string]json.RawMessage
			_ = json.Unmarshal(value, &m) // it is sound
			if value = m["answer"]; value == nil {
				wrong = []string{`it has no "answer"`}
				break
			}
		}
		wrong = s.broken(value)
	}
	if len(wrong) == 0 {
		return value, nil
	}
	if more := len(wrong) - maxBroken; more > 0 {
		wrong = append(wrong[:maxBroken], fmt.Sprintf("and %d more", more))
	}
	text := "report_outcome did not take this, and recorded nothing:\n- " + strings.Join(wrong, "\n- ") + "\nCall it again"
	if sketch := sketchOf(s.wire); sketch != "{}" {
		text += " with:\n" + sketch
	}
	return nil, errors.New(text)
}

// broken lists how a value does not fit.
func (s shape) broken(value json.RawMessage) []string {
	if s.schema == nil {
		return nil
	}
	list := lists.Map(s.schema.Validate(value), func(v jsonschema.Violation) string { return text.Clip(v.String(), 300) })
	if !s.outcome {
		return list
	}
	o, _ := executor.ParseOutcome(value)
	var form map[string]json.RawMessage
	_ = json.Unmarshal(value, &form) // it is an object
	switch {
	case o.Invalid == "" && o.Summary == "" && form["result"] != nil:
		return []string{`it has no "summary": write what you did, or why it failed, in a few sentences`}
	case o.Invalid == "": // in one of its forms; what the schema knows of is one of them
		return nil
	case !strings.Contains(o.Invalid, "json:") || len(list) == 0:
		return []string{o.Invalid}
	}
	return list
}
