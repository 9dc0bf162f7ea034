package web

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/ir"
)

// object is JSON that is put together here.
type object = map[string]any

// OpenAPI is the description (3.1) of the route table, as JSON. The page's types are made
// from it.
func OpenAPI() []byte {
	b, err := describedRoutes()
	if err != nil {
		panic(err) // a type that has no schema: a test makes them all
	}
	return b
}

func describedRoutes() ([]byte, error) {
	set := jsonschema.NewSet("#/components/schemas/", reflect.TypeFor[ir.Node]().PkgPath())
	paths := map[string]object{}
	fault, err := set.Of(reflect.TypeFor[Fault]())
	if err != nil {
		return nil, err
	}
	if _, err := set.Of(reflect.TypeFor[Entry]()); err != nil { // of the streams
		return nil, err
	}
	for _, r := range routes() {
		o, err := r.operation(set, fault)
		if err != nil {
			return nil, err
		}
		at := base + strings.ReplaceAll(r.path, "...}", "}")
		if paths[at] == nil {
			paths[at] = object{}
		}
		paths[at][strings.ToLower(r.method)] = o
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "ralph ui", "version": "1",
			"description": "Fields are added, never renamed or removed. Every GET of JSON has an ETag. Every request carries the token of the printed link as a bearer.",
		},
		"paths":    paths,
		"security": []object{{"token": []string{}}},
		"components": object{
			"schemas":         set.Schemas(),
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}, "", "  ")
}

var inPath = lazyregexp.New(`\{(\w+)(?:\.\.\.)?\}`)

// operation describes a route.
func (r route) operation(set *jsonschema.Set, fault json.RawMessage) (object, error) {
	params := []object{}
	for _, m := range inPath.FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range r.query {
		kind := "string"
		if p.number {
			kind = "integer"
		}
		params = append(params, object{"name": p.name, "in": "query", "description": p.about, "schema": object{"type": kind}})
	}
	content := object{}
	switch {
	case r.answer == nil:
		content[r.kind] = object{"schema": object{"type": "string"}}
	default:
		s, err := set.Of(r.answer)
		if err != nil {
			return nil, err
		}
		content["application/json"] = object{"schema": s}
	}
	answers := object{
		"200":     object{"description": "it", "content": content},
		"default": object{"description": "what went wrong", "content": object{"application/json": object{"schema": fault}}},
	}
	out := object{"summary": r.about, "parameters": params, "responses": answers}
	if r.body == nil {
		answers["304"] = object{"description": "as before"}
		return out, nil
	}
	answers["202"] = object{"description": "sent, and not read yet", "content": content}
	s, err := set.Of(r.body)
	out["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s}}}
	return out, err
}

// describe serves the description.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	body := s.document()
	send(w, r, body, etagOf(body), nil)
}
