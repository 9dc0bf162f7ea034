package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/strictjson"
	"github.com/ralph-compiler/ralph/internal/text"
	"github.com/ralph-compiler/ralph/ir"
)

// Bounds of an answer.
const (
	maxAnswer = 1 << 20 // bytes of JSON
	maxDepth  = 64      // objects and lists inside each other
)

// verdict is an answer that fits its schema.
type verdict struct {
	status  executor.Verdict
	message string
	raw     []byte // the whole answer
	counts  *executor.TestCounts
}

// plainSchema is the output of a gate that types none.
var plainSchema = []byte(`{"type":"object","properties":{"status":{"enum":["pass","fail","stop"]},"message":{"type":"string"}},"required":["status","message"]}`)

func schemaOf(g ir.Gate) (*jsonschema.Schema, error) {
	s, err := jsonschema.Compile(schemaText(g))
	if err != nil {
		return nil, fmt.Errorf("output_schema of the gate cannot be used: %w. %s", err, "Fix it in the policy and compile again.")
	}
	return s, nil
}

// schemaText is what a gate's answer has to look like.
func schemaText(g ir.Gate) []byte {
	if noSchema(g.OutputSchema) {
		return plainSchema
	}
	return g.OutputSchema
}

func noSchema(raw []byte) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// answers lists what may hold the answer, in the order in which it is looked for: the
// whole output, the file that was named.
func answers(out []byte, file string) []string {
	list := []string{string(out)}
	if f, err := regular.OpenOwn(file); err == nil {
		if b, err := io.ReadAll(io.LimitReader(f, maxAnswer+1)); err == nil {
			list = append(list, string(b))
		}
		_ = f.Close() // it was only read
	}
	return list
}

var errNotAlone = errors.New("the answer is not one JSON object alone: write nothing before and behind it, or put it into a ```json block")

// readVerdict takes the first answer that speaks of a status and demands that it
// ends with a whole and valid verdict, which nothing else that was said contradicts: a
// judge who quotes the file that it judges must not be taken at the file's word.
func readVerdict(answers []string, schema *jsonschema.Schema) (verdict, error) {
	for i, a := range answers {
		if !strings.Contains(a, `"status"`) {
			continue
		}
		m := takeApart(a)
		whole, at, ok := m.verdictAt()
		if !ok {
			return verdict{}, errNotAlone
		}
		if behind := strings.TrimSpace(m.text[whole.to:]); behind != "" {
			return verdict{}, fmt.Errorf("something follows its verdict (%q): nothing may follow it", text.Head(behind, 60))
		}
		v, err := parseVerdict([]byte(strings.TrimSpace(at.of(m.text))), schema)
		if err == nil {
			err = contradicted(answers, i, v, whole)
		}
		if err != nil {
			return verdict{}, err
		}
		return v, nil
	}
	return verdict{}, errors.New("it holds no JSON object with a status")
}

// contradicted says what speaks of another verdict, outside of a pass that stands in
// one of the answers.
func contradicted(answers []string, in int, v verdict, at span) error {
	if v.status != executor.Pass {
		return nil
	}
	for i, a := range answers {
		without := span{}
		if i == in {
			without = at
		}
		if other := takeApart(a).failsAt(without); other != "" {
			return fmt.Errorf("it says pass, and elsewhere in the same output another verdict (%q): quote none, and give one", text.Head(clean(other), 80))
		}
	}
	return nil
}

func parseVerdict(b []byte, schema *jsonschema.Schema) (verdict, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if len(b) > maxAnswer {
		return verdict{}, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if !utf8.Valid(b) {
		return verdict{}, errors.New("the answer is not valid UTF-8")
	}
	if len(b) == 0 || b[0] != '{' {
		return verdict{}, errNotAlone
	}
	if err := strictjson.Check(b, maxDepth, false); err != nil {
		return verdict{}, err
	}
	if broken := schema.Validate(b); len(broken) > 0 {
		lines := lists.Map(broken[:min(len(broken), 5)], func(v jsonschema.Violation) string { return text.Head(v.String(), 300) })
		return verdict{}, errors.New("the answer is not valid under the schema: " + strings.Join(lines, "; "))
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return verdict{}, err
	}
	var status, message string
	if json.Unmarshal(m["status"], &status) != nil || json.Unmarshal(m["message"], &message) != nil {
		return verdict{}, errors.New(`"status" and "message" must be texts`)
	}
	v := verdict{status: executor.Verdict(status), message: message, raw: b, counts: counted(m)}
	if slices.Contains([]executor.Verdict{executor.Pass, executor.Fail, executor.Stop}, v.status) {
		return v, nil
	}
	return verdict{}, fmt.Errorf(`"status" is %q; it must be pass, fail or stop`, text.Head(status, 60))
}

// counted finds the numbers of tests that QA agents like to report, as
// test_results or details with passed and failed; nil if there are none.
func counted(m map[string]json.RawMessage) *executor.TestCounts {
	for _, name := range []string{"test_results", "tests", "details"} {
		var c struct {
			Passed  *int `json:"passed"`
			Failed  *int `json:"failed"`
			Skipped int  `json:"skipped"`
		}
		if json.Unmarshal(m[name], &c) == nil && c.Passed != nil && c.Failed != nil && *c.Passed >= 0 && *c.Failed >= 0 && c.Skipped >= 0 {
			return &executor.TestCounts{Passed: *c.Passed, Failed: *c.Failed, Skipped: c.Skipped}
		}
	}
	return nil
}
