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
	shows := func(want string) {
		t.Helper()
		shown := func() string {
			x.mu.Lock()
			defer x.mu.Unlock()
			return x.raw.String()
		}
		for range 600 {
			if strings.Contains(shown(), want) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("the screen does not say %q: %.3000q", want, shown())
	}
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
