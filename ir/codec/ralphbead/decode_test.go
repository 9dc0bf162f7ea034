package ralphbead_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/diag"
	"github.com/ralph-compiler/ralph/internal/jsonschema"
	"github.com/ralph-compiler/ralph/ir"
	"github.com/ralph-compiler/ralph/ir/codec/ralphbead"
)

func decode(text string) (*ir.Draft, diag.List) {
	return ralphbead.Decode([]*diag.File{diag.NewFile("x.json", []byte(text))})
}

func example(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExamplesKeepEveryField(t *testing.T) { // S3-04..15, S3-23..34, K6, K24, K28
	d, l := decode(example(t, "verifiers"))
	if l.HasErrors() {
		t.Fatal(l)
	}
	n := d.Nodes[0]
	if n.ID != "gt-refactor-auth-001" || n.Kind != ir.Work || n.Type.Value != "task" || n.Priority.Value != "2" ||
		n.Attempts.Value != "10" || n.Budget.Value != "120m" || !n.Ordered || !strings.HasPrefix(n.Goal, "Refactor auth module to use") {
		t.Errorf("the node is %+v", n)
	}
	var got []string
	for _, g := range n.Verify {
		got = append(got, fmt.Sprintf("%s|%s|%d|%s|%s|%v", g.Name, g.Run, g.Expect.ExitCode, g.Timeout.Value, g.OnFailure.Value, g.Evidence))
	}
	want := `lint-passes|npm run lint|0|60s|retry|false
type-check-passes|npx tsc --noEmit|0|60s|continue|false
unit-tests-pass|npm test -- --testPathPattern=auth|0|120s|retry|false
integration-tests-pass|npm run test:integration|0|300s|retry|false`
	if strings.Join(got, "\n") != want {
		t.Errorf("the verifiers are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	d, _ = decode(example(t, "gate"))
	if n := d.Nodes[0]; n.Kind != ir.GateKind || n.Type.Value != "gate" || n.Verify[0].Timeout.Value != "30s" {
		t.Errorf("the gate bead is %+v", n)
	}
	d, _ = decode(example(t, "task"))
	if n := d.Nodes[0]; n.Lane.Value != "feature" || !n.Verify[0].Evidence {
		t.Errorf("the task bead is %+v", n)
	}
}

func TestDefaultsAreMadeExplicit(t *testing.T) { // S3-25..29, S3-33
	d, l := decode(`{"intent": "Do it\nand well", "dod": {"verifiers": [{"name": "Ä!", "command": "make\r\nmake check\n", "expect": {"stdout_contains": null, "stderr_contains": "done"}}, {"name": "ä?", "command": "true"}]}}`)
	if len(l) > 0 {
		t.Fatal(l)
	}
	n := d.Nodes[0]
	if n.Title != "Do it" || n.Key != "x" || n.ID != "" || d.Slug != "x" {
		t.Errorf("title %q, key %q, id %q, slug %q", n.Title, n.Key, n.ID, d.Slug)
	}
	g := n.Verify[0]
	if g.Name != "verify" || n.Verify[1].Name != "verify-2" || g.Run != "make\nmake check" || g.Timeout.Value != "300s" || g.OnFailure.Value != "retry" ||
		g.Expect != (ir.Expect{StderrContains: "done"}) {
		t.Errorf("the verifier is %+v", g)
	}
	want := []string{`Ä!: the following writes "done" to standard error`, "  make", "  make check", "ä?: `true`"}
	if strings.Join(n.Acceptance, "\n") != strings.Join(want, "\n") {
		t.Errorf("the agent is told %q, want %q", n.Acceptance, want)
	}
}

// Spellings of keys and the byte order mark change nothing. L3-03, K19
func TestSpellingsMeanTheSame(t *testing.T) {
	snake := example(t, "verifiers")
	pascal, camel := snake, snake
	for _, k := range []string{"id", "title", "intent", "type", "priority", "dod", "verifiers", "name", "command", "expect", "exit_code", "timeout_seconds", "on_failure", "constraints", "max_iterations", "time_budget_minutes"} {
		word := ""
		for part := range strings.SplitSeq(k, "_") {
			word += strings.ToUpper(part[:1]) + part[1:]
		}
		pascal = strings.ReplaceAll(pascal, `"`+k+`":`, `"`+word+`":`)
		camel = strings.ReplaceAll(camel, `"`+k+`":`, `"`+strings.ToLower(word[:1])+word[1:]+`":`)
	}
	want := plainDraft(t, snake)
	for name, text := range map[string]string{
		"PascalCase": pascal, "camelCase": camel, "BOM": "\ufeff" + snake, "CRLF": strings.ReplaceAll(snake, "\n", "\r\n"),
	} {
		if got := plainDraft(t, text); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// plainDraft is a draft without its places.
func plainDraft(t *testing.T, text string) string {
	t.Helper()
	d, l := decode(text)
	if len(l) > 0 {
		t.Fatalf("%v\n%s", l, text)
	}
	n := d.Nodes[0]
	var out strings.Builder
	fmt.Fprintln(&out, d.Slug, n.ID, n.Key, n.Title, n.Goal, n.Kind, n.Type.Value, n.Priority.Value, n.Attempts.Value, n.Budget.Value, n.Acceptance, string(n.Ext["ralph-bead"]))
	for _, g := range n.Verify {
		fmt.Fprintln(&out, g.Name, g.Run, g.Expect, g.Timeout.Value, g.OnFailure.Value)
	}
	return out.String()
}

// What fits the published schema is accepted and what does not is refused, but
// for what is listed. S3-02, S3-35
func TestDecodeAgreesWithTheSchema(t *testing.T) {
	s, err := jsonschema.Compile(ralphbead.Schema())
	if err != nil {
		t.Fatal(err)
	}
	base := `{"id": "a", "title": "T", "intent": "I", "type": "task", "priority": 1, "lane": "fast", "dod": {"verifiers": [{"name": "N", "command": "true", "expect": {"exit_code": 0, "stdout_contains": "x", "stderr_contains": "y"}, "timeout_seconds": 5, "on_failure": "stop"}], "evidence_required": true}, "constraints": {"max_iterations": 2, "time_budget_minutes": 5, "deadline": "2026-01-31T18:00:00Z"}, "ralph_meta": {"attempt_count": 1}, "status": "pending"}`
	// Where the two differ, and why.
	differs := map[string]string{
		"/dod/verifiers []":                   "nothing would judge",
		"/dod/verifiers/0/name \"\"":          "an empty text says nothing",
		"/dod/verifiers/0/command \"\"":       "an empty text says nothing",
		"/title \"\"":                         "an empty text says nothing",
		"/intent \"\"":                        "an empty text says nothing",
		"/id \"\"":                            "an empty text says nothing",
		"/id \"a b\"":                         "ids become part of refs",
		"/lane \"other\"":                     "lanes are declared by the policy",
		"/constraints/time_budget_minutes 0":  "no time at all",
		"/constraints/time_budget_minutes -1": "no time at all",
		"/constraints/max_iterations 1000000": "nobody means it",
	}
	pointers := []string{
		"/id", "/title", "/intent", "/type", "/priority", "/lane", "/dod", "/dod/verifiers", "/dod/verifiers/0", "/dod/verifiers/0/name",
		"/dod/verifiers/0/command", "/dod/verifiers/0/expect", "/dod/verifiers/0/expect/exit_code", "/dod/verifiers/0/expect/stdout_contains",
		"/dod/verifiers/0/expect/stderr_contains", "/dod/verifiers/0/timeout_seconds", "/dod/verifiers/0/on_failure", "/dod/evidence_required",
		"/constraints", "/constraints/max_iterations", "/constraints/time_budget_minutes", "/constraints/deadline", "/ralph_meta", "/status",
	}
	for _, pointer := range pointers {
		for _, v := range []string{`1`, `0`, `-1`, `6`, `1.5`, `1000000`, `true`, `""`, `"a b"`, `"other"`, `[]`, `{}`, "absent"} {
			bead := replaced(t, base, pointer, v)
			vs := s.Validate([]byte(bead))
			_, l := decode(bead)
			name := pointer + " " + v
			agree := (len(vs) == 0) != l.HasErrors()
			if _, listed := differs[name]; agree == listed {
				t.Errorf("%s: the schema says %v, Decode says %v; listed as different: %v", name, vs, l, listed)
			}
		}
	}
}

// replaced returns a bead with another value at a pointer; "absent" deletes it.
func replaced(t *testing.T, text, pointer, value string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(pointer, "/")[1:]
	at := doc
	for _, p := range parts[:len(parts)-1] {
		if list, ok := at.([]any); ok {
			at = list[0]
		} else {
			at = at.(map[string]any)[p]
		}
	}
	last := parts[len(parts)-1]
	switch to := at.(type) {
	case map[string]any:
		if to[last] = json.RawMessage(value); value == "absent" {
			delete(to, last)
		}
	case []any:
		if to[0] = json.RawMessage(value); value == "absent" {
			to[0] = map[string]any{"name": "N", "command": "true"}
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPowerShellIsTold(t *testing.T) {
	for command, want := range map[string]bool{
		"$PSVersionTable.PSVersion.Major":                          true,
		"(Get-ChildItem).Count":                                    true,
		`.\scripts\check.ps1`:                                      true,
		`& '.\scripts\check.ps1' -All`:                             true,
		"if ($x -eq 1) { exit 1 }":                                 true,
		"Write-Host ok; exit 0":                                    true,
		"$env:CI = 1; npm test":                                    true,
		"pwsh -NoProfile -File check.ps1":                          false,
		"powershell.exe -Command Get-ChildItem":                    false,
		"pwsh -Command \"ls | Where-Object Name\"":                 false,
		"npm test -- --testPathPattern=login":                      false,
		"go test ./... -run Test-Sort":                             false,
		"$HOME/bin/check --set-Up":                                 false,
		"test \"$(ls | wc -l)\" -eq 3":                             false,
		"[ \"$a\" -gt 1 ] && { echo x; }":                          false,
		"exit 1":                                                   false,
		"npm start & sleep 5 && curl http://localhost:3000/health": false,
		"if (cd web && npm test); then echo ok; fi":                false,
	} {
		if got := ralphbead.PowerShell(command); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

func TestRecognize(t *testing.T) {
	for text, want := range map[string]bool{
		example(t, "task"):                         true,
		"\ufeff{\"Intent\": \"x\"":                 true,
		`{"ir": "ralph.ir/v1", "x": {"intent":1}}`: false,
		`{"name": "package"}`:                      false,
	} {
		if got := ralphbead.Recognize([]byte(text)); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
}

// FuzzDecode: no bytes make it panic, every place lies inside the file, and an
// error leaves no draft.
func FuzzDecode(f *testing.F) {
	for _, n := range []string{"task", "gate", "verifiers"} {
		f.Add([]byte(example(f, n)))
	}
	f.Add([]byte("\ufeff{}"))
	f.Add([]byte(`{"dod": {"verifiers": [{"name": 1, "command": null}, []]}, "id": "..", "constraints": {"max_iterations": 1e3}}`))
	f.Add([]byte("\xff\xfe{\x00"))
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, l := ralphbead.Decode([]*diag.File{diag.NewFile("x.json", b)})
		if (d == nil) != l.HasErrors() {
			t.Fatalf("draft %v, findings %v", d, l)
		}
		for _, x := range l {
			if x.Range.Start < 0 || x.Range.End < x.Range.Start || x.Range.End > len(b) {
				t.Fatalf("%+v in %d bytes", x, len(b))
			}
		}
		if d != nil && (len(d.Nodes) == 0 || len(d.Nodes[0].Verify) == 0 || !json.Valid(d.Nodes[0].Ext[ralphbead.Format])) {
			t.Fatalf("%+v", d)
		}
	})
}

// Of what a bead forbids a sandbox can hold the network; the rest is named.
func TestAForbiddenNetworkClosesTheSandboxes(t *testing.T) { // L3-01
	for ops, want := range map[string]struct {
		offline bool
		told    string
	}{
		`"network"`: {true, ""},
		`"External_Network access", "git push --force"`: {true, "git push --force"},
		`"network drives"`:            {false, "network drives"},
		`"rm -rf /", "drop database"`: {false, "rm -rf /, drop database"},
	} {
		d, l := decode(`{"intent": "Do it", "dod": {"verifiers": [{"name": "v", "command": "true"}]}, "constraints": {"forbidden_ops": [` + ops + `]}}`)
		if l.HasErrors() {
			t.Fatal(l)
		}
		var told string
		for _, x := range l {
			if x.Code == "bead-place" && x.Severity == diag.Note {
				told, _, _ = strings.Cut(x.Detail, ": ")
			}
		}
		if d.Nodes[0].Offline != want.offline || told != want.told {
			t.Errorf("%s: offline %v, told %q", ops, d.Nodes[0].Offline, told)
		}
	}
}
