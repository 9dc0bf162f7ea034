package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/internal/jsonschema"
)

// answerOf is what a path answers, by the OpenAPI document: schemas by status, and of the rest.
type answerOf struct {
	method string
	path   *regexp.Regexp
	schema map[string]*jsonschema.Schema
}

var described = sync.OnceValues(func() ([]answerOf, error) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema json.RawMessage }
			}
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		return nil, err
	}
	var out []answerOf
	for path, methods := range doc.Paths {
		pattern := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^?]+?`) + "$"
		for method, o := range methods {
			a := answerOf{strings.ToUpper(method), regexp.MustCompile(pattern), map[string]*jsonschema.Schema{}}
			for status, r := range o.Responses {
				schema := r.Content["application/json"].Schema
				if schema == nil {
					continue
				}
				whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{schema}, "components": doc.Components})
				if err != nil {
					return nil, err
				}
				if a.schema[status], err = jsonschema.Compile([]byte(strings.ReplaceAll(string(whole), `"Schemas":`, `"schemas":`))); err != nil {
					return nil, err
				}
			}
			out = append(out, a)
		}
	}
	return out, nil
})

// describes finds what the OpenAPI document says of an answer. What there is not is answered
// with a fault, as everywhere.
func describes(t *testing.T, method, path string, status int) *jsonschema.Schema {
	t.Helper()
	all, err := described()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ = strings.Cut(path, "?")
	var best *answerOf
	for i, a := range all {
		if a.method == method && a.path.MatchString(path) && (best == nil || strings.Count(a.path.String(), "/") > strings.Count(best.path.String(), "/") || len(a.path.String()) > len(best.path.String())) {
			best = &all[i]
		}
	}
	switch {
	case best != nil && status >= 400:
		return best.schema["default"]
	case best != nil:
		return best.schema[map[int]string{http.StatusOK: "200", http.StatusAccepted: "202"}[status]]
	case status == http.StatusNotFound:
		return all[0].schema["default"]
	}
	return nil
}

// Conforms checks an answer with JSON against the OpenAPI document; path begins with /api/v1.
// What goes wrong there is always JSON.
func Conforms(t *testing.T, method, path string, status int, kind string, body []byte) {
	t.Helper()
	isJSON := kind == "application/json"
	if !strings.HasPrefix(path, base+"/") || status == http.StatusNotModified || !isJSON && status < 400 {
		return
	}
	schema := describes(t, method, path, status)
	if schema == nil || !isJSON {
		t.Errorf("the OpenAPI document does not say that %s %s is answered with %d, %s: %.300s", method, path, status, kind, body)
		return
	}
	if v := schema.Validate(body); len(v) > 0 {
		t.Errorf("%s %s (%d) is not as its schema says: %v\n%.2000s", method, path, status, v, body)
	}
	if status >= 400 {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(new(Fault)); err != nil {
			t.Errorf("%s %s (%d): %v\n%s", method, path, status, err, body)
		}
	}
}
