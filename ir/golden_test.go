package ir_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/irtest"
)

// S0-43 S4-142: the bytes of the worked example. A change here changes every
// epic.json that anybody has; it needs a reason in its commit.
func TestGoldenEpic(t *testing.T) {
	got := encode(t, irtest.Worked())
	const file = "testdata/worked.epic.json"
	if flag.Lookup("update").Value.String() == "true" {
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
		t.Fatal(firstDifference(got, want))
	}
}

// S4-153
func TestEpicsFitTheSchema(t *testing.T) {
	schema, err := jsonschema.Compile(ir.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*ir.Epic{"worked": irtest.Worked(), "rich": irtest.Rich(), "large": irtest.Large(50)} {
		for _, v := range schema.Validate(encode(t, e)) {
			t.Errorf("%s: %v", name, v)
		}
	}
}
