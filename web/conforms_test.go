package web_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/web"
)

// answerOf is the schema of what a path answers, by the OpenAPI document.
type answerOf struct {
	method string
	path   *regexp.Regexp
	schema *jsonschema.Schema
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
	if err := json.Unmarshal(web.OpenAPI(), &doc); err != nil {
		return nil, err
	}
	var out []answerOf
	for path, methods := range doc.Paths {
		for method, o := range methods {
			schema := o.Responses["200"].Content["application/json"].Schema
			if schema == nil {
				continue
			}
			whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{schema}, "components": doc.Components})
			if err != nil {
				return nil, err
			}
			s, err := jsonschema.Compile([]byte(strings.ReplaceAll(string(whole), `"Schemas":`, `"schemas":`)))
			if err != nil {
				return nil, err
			}
			pattern := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^?]+?`) + "$"
			out = append(out, answerOf{strings.ToUpper(method), regexp.MustCompile(pattern), s})
		}
	}
	return out, nil
})

// conforms checks an answer against the OpenAPI document.
func conforms(t *testing.T, method, path string, body []byte) {
	t.Helper()
	all, err := described()
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ = strings.Cut("/api/v1"+path, "?")
	var best *answerOf
	for i, a := range all {
		if a.method == method && a.path.MatchString(path) && (best == nil || strings.Count(a.path.String(), "/") > strings.Count(best.path.String(), "/") || len(a.path.String()) > len(best.path.String())) {
			best = &all[i]
		}
	}
	if best == nil {
		t.Fatalf("the OpenAPI document does not name %s %s", method, path)
	}
	if v := best.schema.Validate(body); len(v) > 0 {
		t.Errorf("%s %s is not as its schema (%s) says: %v\n%.2000s", method, path, best.path, v, body)
	}
}
