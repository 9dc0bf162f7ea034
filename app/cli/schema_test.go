package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/ir"
)

// misfit is the exit code of a ralph of the tests that printed what its schema does
// not allow.
const misfit = 99

// fitting is Main, in every test that runs ralph: what is printed with --json has to
// fit the schema that ralph schema prints, and may have no field that is not in it.
func fitting(args []string, in io.Reader, out, errOut io.Writer) int {
	name := formOf(args)
	if name == "" {
		return Main(args, in, out, errOut)
	}
	var b bytes.Buffer
	code := Main(args, in, &b, errOut)
	if found := misfits(name, b.Bytes()); len(found) > 0 {
		fmt.Fprintf(errOut, "ralph %s prints what its schema does not allow: %v\n", strings.Join(args, " "), found)
		code = misfit
	}
	if _, err := b.WriteTo(out); err != nil {
		return misfit
	}
	return code
}

// formOf is the schema of what a command line prints, "" if it prints no such form.
func formOf(args []string) string {
	if len(args) == 0 || !slices.Contains(args, "--json") {
		return ""
	}
	switch name := args[0]; {
	case name == "show" && slices.Contains(args, "--diff"):
		return "show-diff"
	case record.Schemas[name] != nil:
		return name
	}
	return ""
}

// misfits are the ways in which a form does not fit its schema, with every object of
// that closed; nothing printed fits.
func misfits(name string, printed []byte) []jsonschema.Violation {
	if len(printed) == 0 {
		return nil
	}
	var doc any
	if err := json.Unmarshal(record.Schemas[name](), &doc); err != nil {
		return []jsonschema.Violation{{Message: err.Error()}}
	}
	closed, err := json.Marshal(closeObjects(doc))
	if err != nil {
		return []jsonschema.Violation{{Message: err.Error()}}
	}
	s, err := jsonschema.Compile(closed)
	if err != nil {
		return []jsonschema.Violation{{Message: err.Error()}}
	}
	return s.Validate(printed)
}

// closeObjects lets no object of a schema have fields that it does not name.
func closeObjects(schema any) any {
	at, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if named, ok := at["properties"].(map[string]any); ok {
		at["additionalProperties"] = false
		for name, p := range named {
			named[name] = closeObjects(p)
		}
	} else if values, ok := at["additionalProperties"]; ok {
		at["additionalProperties"] = closeObjects(values)
	}
	if items, ok := at["items"]; ok {
		at["items"] = closeObjects(items)
	}
	return at
}

// Every test that runs ralph is one of this: see fitting. Here stands that it would
// tell, and that what is printed is held to it before a run, after one that was tried
// twice, and while one waits.
func TestWhatIsPrintedFitsItsSchema(t *testing.T) {
	t.Parallel()
	for name, printed := range map[string]string{
		"status":  `{"version":2}`,
		"plan":    `{"version":1,"base":"","nodes":[],"counts":{},"changes":false,"disk":{"need":0,"worktrees":0,"free":0}}`,
		"monitor": `{"version":2,"repositories":[],"more":1}`,
		"runs":    `{"version":1,"runs":[{"epic":1}]}`,
	} {
		if found := misfits(name, []byte(printed)); len(found) == 0 {
			t.Errorf("%s: %s fits", name, printed)
		}
	}
	look := func(r *applyRepo) {
		t.Helper()
		for _, line := range []string{"status", "plan", "runs", "monitor .", "show 1.1", "show 1.2", "show integration", "show 1.1 --diff"} {
			out := r.ralph(exit.Done, append(strings.Fields(line), "--json")...)
			version := 2
			if line == "runs" || line == "show 1.1 --diff" {
				version = 1
			}
			if !strings.HasPrefix(out, fmt.Sprintf("{\n  \"version\": %d,\n", version)) {
				t.Errorf("%s begins without its version: %.80s", line, out)
			}
		}
	}
	r := newApplyRepo(t, recordEpic())
	look(r)
	r.run(exit.Done)
	look(r)

	asked := recordEpic()
	asked.Gates["lead"] = ir.Gate{Kind: "human", From: "policy", Approvers: []string{"ann"}, OnFailure: "retry"}
	asked.Nodes[0].Steps[0].Gates = append(asked.Nodes[0].Steps[0].Gates, "lead")
	w := newApplyRepo(t, asked)
	w.run(exit.Waiting)
	look(w)
}

// Each schema is one, and says which version it is of.
func TestTheSchemasOfForms(t *testing.T) {
	for name, schema := range record.Schemas {
		if _, err := jsonschema.Compile(schema()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var out, errOut bytes.Buffer
		if code := Main([]string{"schema", name}, nil, &out, &errOut); code != exit.Done || !bytes.Equal(out.Bytes(), schema()) {
			t.Errorf("ralph schema %s: exit %d, %s", name, code, &errOut)
		}
		if !regexp.MustCompile(`"const": [12]\b`).MatchString(out.String()) {
			t.Errorf("%s does not say its version", name)
		}
	}
}
