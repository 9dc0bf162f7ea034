package beadsmith_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/compiler"
	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/beadsmith"
)

const policy = `
runner "script" {
  kind = "command"
  run  = ["true"]
}
agent "coder" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
}
`

// compiled is the epic of a file with tasks.
func compiled(t testing.TB, text string) *ir.Epic {
	t.Helper()
	return compiledUnder(t, text, policy)
}

func compiledUnder(t testing.TB, text, hcl string) *ir.Epic {
	t.Helper()
	draft, list := beadsmith.Decode([]*diag.File{diag.NewFile("tasks.json", []byte(text))})
	out := compiler.Compile(compiler.Input{
		Imports: []compiler.Imported{{Sources: []compiler.Source{{Path: "tasks.json", Bytes: []byte(text)}}, Draft: draft, Diags: list}},
		Project: fstest.MapFS{"ralph.hcl": &fstest.MapFile{Data: []byte(hcl)}, "go.mod": &fstest.MapFile{Data: []byte("module m\n")}},
	})
	if out.Diags.HasErrors() {
		t.Fatalf("%s: %+v", text, out.Diags)
	}
	return out.Results[0].Epic
}

// exported is what an export writes of it.
func exported(t testing.TB, e *ir.Epic, h *ir.History) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := beadsmith.Encode(&b, e, h); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("it is no JSON: %s", b.Bytes())
	}
	return b.Bytes()
}
