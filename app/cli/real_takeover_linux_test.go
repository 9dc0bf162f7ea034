package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// A person joins, in the sandbox and with the command that ralph names, the session of Claude
// Code at work, and writes there: the turn is theirs. S4-64, S4-68, S4-106
func TestRealPersonTakesOverInASandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real Claude Code")
	}
	needsNamespaces(t)
	s, model, base := newcomer(t,
		modeltest.Rule{Match: "think of the heron", Steps: []modeltest.Step{{Text: "I heard you."}}},
		modeltest.Rule{Match: "Sprint 1.1:", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("echo here > begun; exec sleep 1000")}}, {Text: "Done."}}},
	)
	s.write("plan.md", helloPlan)
	s.write("Makefile", "test:\n\ttrue\n")
	s.facing(base, exit.Done, "init")
	s.write("ralph.hcl", strings.Replace(s.read("ralph.hcl"), `plan = "required"`, `level = "none"`, 1))
	s.facing(base, exit.Done, "compile", "plan.md")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "the plan")
	env := func(r *starting) {
		r.cmd.Env = append(r.cmd.Env, "ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=dummy-key-of-a-test", "TERM=xterm-256color", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	}
	apply := s.begin(env, "apply")
	var at []string
	s.until("the agent works", func() bool {
		at, _ = filepath.Glob(filepath.Join(s.top, "project-worktrees/ralph/*/*/begun"))
		return len(at) > 0
	})
	var list []run.Session
	if err := json.Unmarshal([]byte(s.facing(base, exit.Done, "session", "1.1", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Inside || !list[0].Watched || list[0].Joined[0] != "ralph" {
		t.Fatalf("sessions: %+v", list)
	}
	x := newTerminal(t, 160, 50)
	person := s.begin(func(r *starting) { env(r); x.take(r) }, list[0].Joined[1:]...)
	shows := x.awaits
	shows("/effort") // the line below the input
	x.types("think of the heron")
	shows("heron")
	x.types("\r")
	if got := apply.wait(); got.code != exit.Waiting || !strings.Contains(got.all(), "a person") {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
	shows("I heard you.")
	if err := os.Remove(at[0]); err != nil {
		t.Fatal(err)
	}
	x.types("\x03\x03")
	person.wait()
	if show := s.facing(base, exit.Done, "show", "1.1").out; !strings.Contains(show, "think of the heron") {
		t.Errorf("show says:\n%s", show)
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
}

// awaits returns when the screen has said something.
func (x *terminal) awaits(want string) {
	x.t.Helper()
	said := func() string {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.raw.String()
	}
	for range 600 {
		if strings.Contains(said(), want) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	x.t.Fatalf("the screen does not say %q: %.3000q", want, said())
}

// openCodePolicy has OpenCode alone, in a sandbox, with the model at @MODEL@.
const openCodePolicy = `
runner "opencode" {
  kind = "opencode"
  run  = ["BIN/opencode"]
  env  = ["OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_CONFIG_CONTENT={\"model\":\"scripted/m1\",\"small_model\":\"scripted/m1\",\"enabled_providers\":[\"scripted\"],\"provider\":{\"scripted\":{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"Scripted\",\"options\":{\"baseURL\":\"@MODEL@/v1\",\"apiKey\":\"dummy\"},\"models\":{\"m1\":{\"name\":\"m1\",\"tool_call\":true,\"limit\":{\"context\":200000,\"output\":8000}}}}}}"]
}
model "scripted" {
  id       = "m1"
  provider = "scripted"
}
agent "default" {
  runner       = runner.opencode
  model        = "scripted"
  capabilities = "all"
  access       = "write"
}
sandbox "default" {
  kind    = "auto"
  network = ["model"]
}
worktree {
  layout   = "clone"
  min_free = "1GB"
}
hitl { level = "none" }
`

// A person attaches, in a sandbox of theirs and with the command that ralph names, to the
// server of OpenCode at work in its own, and writes there: the turn is theirs until they leave.
// S4-64, S4-68, S4-106
func TestRealPersonTakesOverOpenCodeInASandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real OpenCode")
	}
	binary := runnertest.Binary(t, "opencode")
	needsNamespaces(t)
	s, model, base := newcomer(t,
		modeltest.Rule{Match: "think of the heron", Steps: []modeltest.Step{{Text: "I heard you."}}},
		modeltest.Rule{Match: "Sprint 1.1:", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("echo here > begun; while test -e begun; do sleep 0.1; done")}}, {Text: "Done."}}},
	)
	s.write("plan.md", helloPlan)
	s.write("Makefile", "test:\n\ttrue\n")
	s.write("ralph.hcl", strings.NewReplacer("BIN", filepath.Dir(binary), "@MODEL@", base).Replace(openCodePolicy))
	s.facing(base, exit.Done, "compile", "plan.md")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "the plan")
	apply := s.begin(nil, "apply")
	over := make(chan ran, 1)
	go func() { over <- apply.wait() }()
	var at []string
	s.until("the agent works", func() bool {
		select {
		case got := <-over:
			t.Fatalf("apply: exit %d\n%s", got.code, got.all())
		default:
		}
		at, _ = filepath.Glob(filepath.Join(s.top, "project-worktrees/ralph/*/*/begun"))
		return len(at) > 0
	})
	var list []run.Session
	if err := json.Unmarshal([]byte(s.facing(base, exit.Done, "session", "1.1", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Inside || !list[0].Watched || strings.Join(list[0].Joined[:4], " ") != "ralph enter 1.1 --" || list[0].Joined[5] != "attach" {
		t.Fatalf("sessions: %+v", list)
	}
	x := newTerminal(t, 160, 50)
	person := s.begin(func(r *starting) { r.cmd.Env = append(r.cmd.Env, "TERM=xterm-256color"); x.take(r) }, list[0].Joined[1:]...)
	t.Cleanup(func() { _ = person.cmd.Process.Kill() }) // where the test fails it has the terminal open
	x.awaits("begun")
	x.types("think of the heron")
	x.awaits("heron")
	x.types("\r")
	s.until("the person is on record", func() bool {
		return strings.Contains(s.facing(base, exit.Done, "log", "1.1").out, "think of the heron")
	})
	if err := os.Remove(at[0]); err != nil { // the tool ends
		t.Fatal(err)
	}
	x.awaits("I heard you.")
	if v := s.nodeStatus("1.1"); v.Status != "running" {
		t.Errorf("while the person is there it is %s", v.Status)
	}
	x.types("\x03")
	person.wait()
	if got := <-over; got.code != exit.Waiting || !strings.Contains(got.all(), "a person") {
		t.Errorf("apply: exit %d\n%s", got.code, got.all())
	}
	if got := s.program(exit.Done, "session", "1.1"); strings.Contains(got.out, "attach") || !strings.Contains(got.out, "ralph enter 1.1 --") {
		t.Errorf("afterwards session says:\n%s", got.all())
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
}
