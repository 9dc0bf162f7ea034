package policies

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-compiler/ralph/diag"
)

// decodeText decodes one policy file and fails on errors that are not expected.
func decodeText(t *testing.T, src string) *Set {
	t.Helper()
	s, diags := Decode(Input{Files: []*diag.File{diag.NewFile("ralph.hcl", []byte(src))}, Project: fstest.MapFS{}})
	if diags.HasErrors() {
		t.Fatalf("policy is refused: %+v", diags)
	}
	return s
}

func TestFragment(t *testing.T) {
	s := decodeText(t, `gate "unit" { run = "make test" }`)
	tests := []struct {
		name, scope, src string
		want             []string // codes with the text under them
	}{
		{"attributes of a step speak of every step", "sprint 1.1", "timeout = \"40m\"\ngates = [gate.unit]\nretry { attempts = 5 }", nil},
		{"a step block speaks of one step", "phase 2", "step \"implement\" {\n iterations = 3\n}", nil},
		{"a gate defined in the fence can be named there", "sprint 1.1", "gate \"lint\" { run = \"make lint\" }\ngates = [gate.lint]", nil},
		{"an agent belongs in a policy file", "sprint 1.1", "agent \"x\" {}", []string{"policy-not-in-fence agent"}},
		{"rules are in the plan's fence", "plan", "rule \"r\" {\n assert = node.key != \"\"\n message = \"m\"\n}\nconcurrency { nodes = 2 }", nil},
		{"rules are not in a sprint's fence", "sprint 1.1", "rule \"r\" {\n assert = true\n message = \"m\"\n}", []string{"policy-not-in-fence rule"}},
		{"an unknown attribute has a suggestion", "sprint 1.1", "timeuot = \"1m\"", []string{"policy-unknown-attribute timeuot"}},
		{"node.* is not known", "sprint 1.1", "model = node.key", []string{"policy-node-not-known node.key"}},
		{"node.* is not known in a gate either", "sprint 1.1", "gate \"g\" {\n run = node.key\n}", []string{"policy-node-not-known gate \"g\""}},
		{"two gates of one name", "plan", "gate \"g\" { run = \"a\" }\ngate \"g\" { run = \"b\" }", []string{"policy-duplicate-block gate \"g\""}},
		{"syntax errors have their place", "plan", "timeout = ", []string{"policy-syntax "}},
		{"deep nesting is refused", "plan", "x = " + strings.Repeat("[", 100), []string{"policy-too-large ["}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := "# Plan\n\n```hcl ralph\n"
			file := diag.NewFile("plan.md", []byte(before+test.src+"\n```\n"))
			_, diags := s.Fragment(file, []byte(test.src), len(before), test.scope)
			var got []string
			for _, d := range diags {
				got = append(got, string(d.Code)+" "+strings.TrimSpace(file.Text(d.Range)))
			}
			if strings.Join(got, "|") != strings.Join(test.want, "|") {
				t.Errorf("got %q, want %q", got, test.want)
			}
			checkDiags(t, diags, map[string]*diag.File{"plan.md": file})
		})
	}
}

func TestFragmentValues(t *testing.T) {
	s := decodeText(t, `gate "unit" { run = "make test" }`)
	src := "timeout = \"40m\"\ngates = [gate.lint]\nretry { attempts = 5 }\ngate \"lint\" { run = \"make lint\" }\n"
	f, diags := s.Fragment(diag.NewFile("p.md", []byte(src)), []byte(src), 0, "sprint 1.1")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	below := StepSettings{Gates: Of([]string{"unit"}, diag.Range{}, "policy"), TimeoutMS: Of(int64(1), diag.Range{}, "policy")}
	got := below.OverlayFence(f.Steps)
	if got.TimeoutMS.V != 2_400_000 || got.Retry.Attempts.V != 5 || strings.Join(got.Gates.V, " ") != "unit lint" {
		t.Errorf("got %+v", got)
	}
	if got.TimeoutMS.Origin != "fence of sprint 1.1" {
		t.Errorf("origin is %q", got.TimeoutMS.Origin)
	}
	if f.Gates["lint"].TimeoutMS.V != 300_000 { // K24
		t.Errorf("gate timeout is %+v", f.Gates["lint"].TimeoutMS)
	}
	if len(s.ctx.names["gate"]) != 2 {
		t.Errorf("the fence's gate is known outside it: %v", s.ctx.names["gate"])
	}
}

// The schema accepts what Decode accepts, and refuses what is misspelt.
func TestJSONSchemaFitsTheDecoder(t *testing.T) {
	schema := compileSchema(t)
	good := `{
	  "agent": {"dev": {"model": "sonnet", "capabilities": ["implement"], "access": "write", "fallback": ["${agent.two}"]}, "two": {}},
	  "locals": {"t": "10m"},
	  "gate": {"unit": {"run": "go test", "timeout": "${local.t}", "expect": {"exit_code": 1}}},
	  "policy": {"p": {"default": true, "step": [{"plan": {"access": "read"}}, {"implement": {"gates": ["${gate.unit}"], "retry": {"attempts": 2}}}]}},
	  "notify": [{"on": ["run.done"], "run": "true"}],
	  "complexity": {"huge": {"rank": 9, "limits": {"build": 60}}}
	}`
	if v := schema.Validate([]byte(good)); len(v) > 0 {
		t.Errorf("a good policy is refused: %v", v)
	}
	_, diags := Decode(Input{Files: []*diag.File{diag.NewFile("p.hcl.json", []byte(good))}})
	if diags.HasErrors() {
		t.Errorf("Decode refuses it: %+v", diags)
	}
	for _, bad := range []string{
		`{"agnet": {}}`, `{"agent": {"dev": {"modle": "x"}}}`, `{"gate": {"g": {"kind": "comand"}}}`,
		`{"policy": {"p": {"step": {"s": {"retry": {"attempts": 0}}}}}}`, `{"model": {"m": {}}}`,
	} {
		if v := schema.Validate([]byte(bad)); len(v) == 0 {
			t.Errorf("accepted: %s", bad)
		}
	}
}

func TestJSONSchemaNamesEveryBlock(t *testing.T) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, b := range fileBlock.blocks {
		if s.Properties[b.name] == nil || s.Defs[b.name] == nil {
			t.Errorf("block %s is missing", b.name)
		}
	}
	if !bytes.HasSuffix(JSONSchema(), []byte("}\n")) {
		t.Error("no newline at the end")
	}
}
