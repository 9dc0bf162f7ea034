package graphjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/ralph-compiler/ralph/internal/golden"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/graphjson"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// S4-140
func TestWrite(t *testing.T) {
	got, err := graphjson.Write(irtest.Worked())
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/worked.json", got)
}

func TestNothingIsNull(t *testing.T) {
	for _, e := range []*ir.Epic{{}, irtest.Rich()} {
		got, err := graphjson.Write(e)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(got) || bytes.Contains(got, []byte("null")) {
			t.Errorf("got %s", got)
		}
	}
}

// A person does a manual sprint, or approves at a gate.
func TestWhatWaitsForAPerson(t *testing.T) {
	gates := map[string]ir.Gate{"check": {Kind: "command"}, "approve": {Kind: "human"}}
	for _, c := range []struct {
		kind  ir.Kind
		gates []string
		human bool
	}{{ir.Manual, nil, true}, {ir.Work, []string{"check", "approve"}, true}, {ir.Work, []string{"check"}, false}, {ir.Work, nil, false}} {
		got, err := graphjson.Write(&ir.Epic{Gates: gates, Nodes: []ir.Node{{Key: "1", Kind: c.kind, Steps: []ir.Step{{Gates: c.gates}}}}})
		var g graphjson.Graph
		if err != nil || json.Unmarshal(got, &g) != nil || g.Nodes[0].Human != c.human {
			t.Errorf("%s with %v: %v, %s", c.kind, c.gates, err, got)
		}
	}
}
