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
