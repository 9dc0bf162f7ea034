package bead_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir/codec/bead"
)

// What the format's own model refuses is refused, and nothing else. testdata/model.json
// has a bead, changes to it, and what that model (pydantic 2) said of each. S0-127..143, K17
func TestValidateIsTheFormatsModel(t *testing.T) {
	raw, err := os.ReadFile("testdata/model.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Bead  json.RawMessage
		Cases []struct {
			OK          bool
			Set, Delete string
			To          json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if list := validated(all.Bead); len(list) > 0 {
		t.Fatalf("the bead itself: %v", list)
	}
	refused := 0
	for _, c := range all.Cases {
		dec := json.NewDecoder(bytes.NewReader(all.Bead))
		dec.UseNumber()
		var doc any
		if err := dec.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		doc = changed(doc, strings.Split(strings.Trim(c.Set+c.Delete, "/"), "/"), c.To)
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		list := validated(b)
		if list.HasErrors() == c.OK {
			t.Errorf("set %q delete %q to %s: the model accepts it: %t; got %v", c.Set, c.Delete, c.To, c.OK, list)
		}
		for _, d := range list {
			if d.Severity != diag.Error || !strings.Contains(d.Detail, "must be") {
				t.Errorf("set %q delete %q to %s: %v is no error that says what must be there", c.Set, c.Delete, c.To, d)
			}
		}
		if !c.OK {
			refused++
		}
	}
	if refused < 261 || len(all.Cases)-refused < 100 {
		t.Errorf("%d of %d cases are refused: too few of a kind", refused, len(all.Cases))
	}
}

// The examples of the format's documents are valid, and several beads of a file are
// each held to the model.
func TestValidateTakesTheExamples(t *testing.T) {
	for name, errors := range map[string]int{"work": 0, "merge": 0, "completed": 19} { // the last is an excerpt
		b, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if list := validated(b); len(list) != errors {
			t.Errorf("%s: want %d errors, got %v", name, errors, list)
		}
	}
	if list := validated([]byte("[]")); len(list) != 1 || list[0].Code != "bead-missing" {
		t.Errorf("no bead at all: %v", list)
	}
}

func validated(b []byte) diag.List { return bead.Validate([]*diag.File{diag.NewFile("bead.json", b)}) }

// changed sets the value at a path, or without one takes it away.
func changed(v any, path []string, to json.RawMessage) any {
	at, rest := path[0], path[1:]
	switch x := v.(type) {
	case map[string]any:
		switch {
		case len(rest) > 0:
			x[at] = changed(x[at], rest, to)
		case to == nil:
			delete(x, at)
		default:
			x[at] = to
		}
		return x
	case []any:
		i, err := strconv.Atoi(at)
		switch {
		case err != nil:
			panic(err)
		case len(rest) > 0:
			x[i] = changed(x[i], rest, to)
		case to == nil:
			return append(x[:i:i], x[i+1:]...)
		default:
			x[i] = to
		}
		return x
	}
	panic("nothing is at " + at)
}
