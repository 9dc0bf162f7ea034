//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/doctor"
	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// helloEpic has a runner whose program answers the hello turn as script says.
func helloEpic(script string) *ir.Epic {
	return executortest.Epic([]string{"1.1"}, func(e *ir.Epic) {
		e.Runners["sh"] = ir.Runner{Kind: "command", Run: []string{"sh", "-c", script}, Prompt: "stdin", Env: []string{"PATH", "HOME"}, Outcome: "optional"}
		e.Agents["dev"] = ir.Agent{Runner: "sh", Access: "write", Model: "large"}
		e.Models = map[string]ir.Model{"large": {ID: "large-9"}}
	})
}

func TestDoctorLooksAtEachRunner(t *testing.T) { // S4-133
	t.Parallel()
	const hello = `grep -q report_outcome && [ -z "$(ls)" ] && printf '{"result":"success","summary":"hello","usage":{"tokens":12,"usd":0.5}}' > "$RALPH_OUTCOME"`
	s := newSite(t, "", helloEpic(hello))
	s.write("ralph.hcl", `sandbox "cage" { kind = "seatbelt" }
runner "spare" {
  kind = "codex"
  run  = ["no-such-codex"]
}
runner "cc" {
  kind = "command"
  run  = ["no-such-program"]
}
agent "cc" {
  runner       = runner.cc
  capabilities = ["implement"]
}
`)
	got := s.program(exit.Done, "doctor").out
	for _, want := range []string{
		`warning +runner sh sh 2\.5`, `ralph was tried with >= 1\.0, < 2`, `cannot tools: it is a shell`,
		`warning +runner cc `, `agent cc: no-such-program`, `missing +runner spare `, `warning +sandbox cage kind seatbelt: ralph apply refuses`, `(?m)^ok +epic.json`,
	} {
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("doctor says\n%s\nwant %q", got, want)
		}
	}
	if strings.Contains(got, "hello sh") {
		t.Errorf("without --live it says hello:\n%s", got)
	}

	var found []doctor.Finding
	if err := json.Unmarshal([]byte(s.program(exit.Done, "doctor", "--live", "--json").out), &found); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Name == "hello sh" })
	if i < 0 {
		t.Fatalf("nobody said hello: %+v", found)
	}
	if f := found[i]; f.State != "warning" || !strings.HasPrefix(f.Detail, "large-9, ") || !strings.Contains(f.Detail, "12 tokens, $0.50") || !strings.Contains(f.Hint, "not with the tool report_outcome") {
		t.Errorf("hello: %+v", f)
	}
}

func TestDoctorFailsWhereNobodySaysHello(t *testing.T) { // S4-133
	t.Parallel()
	s := newSite(t, "", helloEpic("echo not today; exit 3"))
	if got := s.program(exit.Input, "doctor", "--live").out; !regexp.MustCompile(`error +hello sh  ?large-9, .*; tokens unknown, cost unknown\n +it ended with exit code 3: not today`).MatchString(got) {
		t.Errorf("doctor --live says\n%s", got)
	}
}

// TestDoctorSaysHelloInTheSandbox: what an agent cannot reach at work it cannot reach here.
func TestDoctorSaysHelloInTheSandbox(t *testing.T) {
	t.Parallel()
	needsNamespaces(t)
	outside := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	epic := helloEpic("test ! -e " + outside + ` && printf '{"result":"success","summary":"hello"}' > "$RALPH_OUTCOME"`)
	epic.Sandboxes = map[string]ir.Sandbox{"default": {Kind: "namespaces", Network: []string{}}}
	s := newSite(t, "", epic)
	if got := s.program(exit.Done, "doctor", "--live").out; !regexp.MustCompile(`warning +hello sh .*; in sandbox "default" \(namespaces\)\n +it reported success, but not with the tool`).MatchString(got) {
		t.Errorf("doctor --live says\n%s", got)
	}
}
