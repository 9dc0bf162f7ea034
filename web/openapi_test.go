package web

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTheDescriptionNamesEveryRoute(t *testing.T) {
	var doc struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range routes() {
		if doc.Paths[base+strings.ReplaceAll(r.path, "...}", "}")][strings.ToLower(r.method)] == nil {
			t.Errorf("%s %s is not described", r.method, r.path)
		}
	}
	for _, name := range []string{"Epic", "InboxItem", "ShowJSON", "Fault", "Entry"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}
