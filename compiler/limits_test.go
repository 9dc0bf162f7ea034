package compiler

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/policies"
)

// A policy file has one limit, whichever way it comes in.
func TestPolicyFilesHaveOneLimit(t *testing.T) {
	const text = "# Plan\n\n### Sprint 1.1: A\n**Verify**: `true`\n"
	fill := func(n int) []byte { return append(bytes.Repeat([]byte("#"), n-1), '\n') }
	for name, c := range map[string]struct {
		bytes int
		want  string
	}{
		"a file of exactly the limit is read":         {policies.MaxFileBytes, ""},
		"one byte more is refused when found":         {policies.MaxFileBytes + 1, "policy-file"},
		"one byte more is refused when given by flag": {-(policies.MaxFileBytes + 1), "policy-too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Plans: []Source{{Path: "plan.md", Bytes: []byte(text)}}, Project: fstest.MapFS{}}
			if c.bytes < 0 {
				in.Policy = []Source{{Path: "ralph.hcl", Bytes: fill(-c.bytes)}}
			} else {
				in.Project = fstest.MapFS{"ralph.hcl": &fstest.MapFile{Data: fill(c.bytes)}}
			}
			var codes []string
			for _, d := range Compile(in).Diags {
				codes = append(codes, string(d.Code))
			}
			if got := strings.Join(codes, " "); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}
