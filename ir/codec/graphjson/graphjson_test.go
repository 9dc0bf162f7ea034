package graphjson_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/graphjson"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// S4-140
func TestWrite(t *testing.T) {
	got, err := graphjson.Write(irtest.Worked())
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/worked.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
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
