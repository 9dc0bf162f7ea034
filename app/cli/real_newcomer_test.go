//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/run"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
)

// newcomer is somebody with Claude Code on PATH and logged in, and an empty
// repository. The model is scripted; rules go before those for any work.
func newcomer(t *testing.T, rules ...modeltest.Rule) (*site, *modeltest.Server, string) {
	t.Helper()
	claude := runnertest.Binary(t, "claude")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, top: top, dir: filepath.Join(top, "project"), path: filepath.Dir(claude) + ":" + os.Getenv("PATH")}
	t.Cleanup(s.end)
	s.write("../home/.keep", "")
	s.write("README.md", "hello\n")
	s.git("init", "-q", "-b", "main", ".")
	s.git("config", "user.name", "Test User")
	s.git("config", "user.email", "test@example.org")
	model := modeltest.Start(t)
	base := model.Load(t, modeltest.Scenario{Rules: append(rules, []modeltest.Rule{
		{Match: "A person asks you", Steps: []modeltest.Step{{Do: []modeltest.Action{modeltest.Bash("pwd; ls")}}, {Text: "Because of bcrypt."}}},
		{Match: "This is a test of the connection", Steps: []modeltest.Step{
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "hello"})}}, {Text: "hello"},
		}},
		{Steps: []modeltest.Step{
			{Text: "I begin.", Do: []modeltest.Action{modeltest.Bash(`printf 'test:\n\ttrue\n' > Makefile; echo "$RALPH_NODE" > "made-$RALPH_NODE.txt"`)}},
			{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "made it"})}},
			{Text: "Done."},
		}},
	}...)})
	return s, model, base
}

// facing runs ralph in front of a model.
func (s *site) facing(base string, want int, args ...string) ran {
	s.t.Helper()
	got := s.begin(func(r *starting) {
		r.cmd.Env = append(r.cmd.Env, "ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=dummy-key-of-a-test")
	}, args...).wait()
	if got.code != want {
		s.t.Fatalf("ralph %s: exit %d, want %d\n%s", strings.Join(args, " "), got.code, want, got.all())
	}
	return got
}

// The sample that ralph init writes runs as it is, and its agents' sessions can be
// joined and asked: S0-62, S0-65, S0-112, S0-114, S4-61, S4-131, S4-133, L0-03.
func TestRealSampleRunsAsItIsAndItsAgentsCanBeAsked(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real Claude Code")
	}
	needsNamespaces(t) // what init writes confines
	s, model, base := newcomer(t)
	s.write("Makefile", "test:\n\ttrue\n") // as the agents write it
	s.facing(base, exit.Done, "init")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	s.facing(base, exit.Done, "compile", "plans/example.md")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "the plan")

	got := s.facing(base, exit.Done, "doctor", "--live").out
	if !regexp.MustCompile(`(?m)^ok +runner claude Claude Code [0-9.]+ \(`).MatchString(got) || !regexp.MustCompile(`(?m)^ok +hello claude .*[0-9]k? tokens.*; report_outcome came back$`).MatchString(got) {
		t.Errorf("doctor --live says\n%s", got)
	}

	s.facing(base, exit.Waiting, "apply", "--parallel", "2") // the sample's plan waits for approval
	s.facing(base, exit.Done, "approve")
	s.facing(base, exit.Done, "apply", "--parallel", "2")
	if files := s.git("ls-tree", "--name-only", "ralph/example/integration"); !strings.Contains(files, "made-1.2b.txt") || !strings.Contains(files, "made-2.1.txt") {
		t.Fatalf("the result holds\n%s", files)
	}

	var list []run.Session
	if err := json.Unmarshal([]byte(s.facing(base, exit.Done, "session", "1.2a", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Work || list[0].Kind != "claude" || list[0].Agent != "developer" || list[0].Status != "passed" || !slices.Equal(list[0].Joined, []string{"ralph", "enter", "1.2a", "--", "claude", "--resume", list[0].Session}) {
		t.Fatalf("sessions of 1.2a: %+v", list)
	}
	transcripts := func() []string {
		out, _ := exec.Command("find", s.top, "-name", list[0].Session+".jsonl").Output()
		return strings.Fields(string(out))
	}
	was := transcripts()
	if len(was) != 1 || !strings.Contains(was[0], "/sandboxes/") {
		t.Fatalf("transcripts of session %s: %v, not one in its sandbox", list[0].Session, was)
	}
	before, err := os.ReadFile(was[0])
	if err != nil {
		t.Fatal(err)
	}
	head := s.git("rev-parse", "ralph/example/1-2a-greeting-endpoint")

	if got := s.facing(base, exit.Done, "ask", "1.2a", "why bcrypt?"); got.out != "Because of bcrypt.\n" {
		t.Errorf("it answers %q\n%s", got.out, got.err)
	}
	var asked *modeltest.Request
	for _, r := range model.Requests(base) {
		if len(r.Humans) > 0 && strings.Contains(r.Humans[len(r.Humans)-1], "why bcrypt?") {
			asked = &r
		}
	}
	if asked == nil {
		t.Fatal("the model was never asked")
	}
	if !strings.Contains(strings.Join(asked.Said, "\n"), "I begin.") {
		t.Errorf("who was asked does not remember: it said %q", asked.Said)
	}
	saw := strings.Join(asked.Results, "\n")
	if !strings.Contains(saw, ".ask-") || !strings.Contains(saw, "made-1.2a.txt") || strings.Contains(saw, "made-1.2b.txt") {
		t.Errorf("who was asked sees\n%s", saw)
	}
	for _, tool := range asked.Tools {
		if slices.Contains([]string{"Write", "Edit", "NotebookEdit"}, tool.Name) {
			t.Errorf("who was asked has the tool %s", tool.Name)
		}
	}
	if after, err := os.ReadFile(was[0]); err != nil || string(after) != string(before) || len(transcripts()) != 1 {
		t.Errorf("the session itself changed (%v): %d bytes, were %d; %v", err, len(after), len(before), transcripts())
	}
	if now := s.git("rev-parse", "ralph/example/1-2a-greeting-endpoint"); now != head {
		t.Errorf("the branch moved from %s to %s", head, now)
	}
	if raw := s.facing(base, exit.Done, "log", "1.2a", "--raw").out; !strings.Contains(raw, `"at":"`) || !strings.Contains(raw, list[0].Session) {
		t.Errorf("log --raw prints\n%.2000s", raw)
	}
	if list := s.git("worktree", "list"); strings.Contains(list, ".ask-") {
		t.Errorf("left behind:\n%s", list)
	}
}

// A plan alone, with no policy at all, is done by the user's Claude Code, as the
// built-in policy says and docs/agents.md promises: S0-47, S4-75, S4-84, K11.
func TestRealPlanWithoutAPolicyIsDoneByClaudeCode(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real Claude Code")
	}
	s, model, base := newcomer(t)
	s.write("plan.md", "# A greeting\n\n## Phase 1: All\n\n### Sprint 1.1: Say hello\n\nWrite it down.\n\n**Verify**: `test -e made-1.1.txt`\n")
	s.facing(base, exit.Done, "compile", "plan.md")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "the plan")
	s.facing(base, exit.Done, "apply")
	var list []run.Session
	if err := json.Unmarshal([]byte(s.facing(base, exit.Done, "session", "1.1", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Agent != "default" || list[0].Kind != "claude" || list[0].Status != "passed" {
		t.Errorf("sessions: %+v", list)
	}
	if files := s.git("ls-tree", "--name-only", "ralph/plan/integration"); !strings.Contains(files, "made-1.1.txt") {
		t.Errorf("the result holds\n%s", files)
	}
	if missed := model.Missed(base); len(missed) > 0 {
		t.Errorf("the model was asked what it has no answer to: %q", missed)
	}
}

// helloPlan is a plan for the work that every agent of a newcomer does.
const helloPlan = `# Say hello

## Phase 1: All

### Sprint 1.1: Say hello

**Owns**: ` + "`made-1.1.txt` (new), `Makefile` (new)" + `

**Acceptance Criteria**:

- there is a file for it

**Verify**: ` + "`test -e made-1.1.txt`" + `
`

// From one sentence to an applied plan with two commands, of which the first names the
// second: without a policy, with the one of ralph init, and where a person approves.
// Planning mode: S2-01, S2-08, S2-09, S0-47
func TestRealOneSentenceIsAppliedWithTwoCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real Claude Code")
	}
	for name, begins := range map[string]func(s *site, base string) string{
		"no policy": func(s *site, base string) string {
			return s.facing(base, exit.Done, "draft", "Say hello", "--yes").out
		},
		"ralph init": func(s *site, base string) string {
			s.write("Makefile", "test:\n\ttrue\n") // as the agents write it
			s.facing(base, exit.Done, "init")
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "policy")
			return s.facing(base, exit.Done, "draft", "Say hello", "--yes").out
		},
		"a person": func(s *site, base string) string {
			s.facing(base, exit.Waiting, "draft", "Say hello")
			return s.facing(base, exit.Done, "approve", "1", "--epic", "draft-say-hello").out
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, model, base := newcomer(t, modeltest.Rule{Match: "# Look around for a plan", Steps: []modeltest.Step{
				{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "there is a README.md"})}}, {Text: "Looked."},
			}}, modeltest.Rule{Match: "# Write a plan", Steps: []modeltest.Step{
				{Do: []modeltest.Action{modeltest.Write("plans/say-hello.md", helloPlan)}}, {Text: "<promise>PLAN_READY</promise>"},
			}})
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "first")
			said := begins(s, base)
			next := regexp.MustCompile(`(?m)^  next: (.*)$`).FindStringSubmatch(said)
			if next == nil {
				t.Fatalf("no next command:\n%s", said)
			}
			got := s.next(next[1], "ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=dummy-key-of-a-test")
			if files := s.git("ls-tree", "--name-only", "ralph/say-hello/integration"); !strings.Contains(got, "1 of 1 sprint done") || !strings.Contains(files, "made-1.1.txt") {
				t.Errorf("it ends with\n%s\n%s", files, got)
			}
			if missed := model.Missed(base); len(missed) > 0 {
				t.Errorf("the model was asked what it has no answer to: %q", missed)
			}
		})
	}
}

// next types a command that ralph printed into a shell, as it is.
func (s *site) next(line string, env ...string) string {
	s.t.Helper()
	cmd := s.command("/bin/sh", "-c", line)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
