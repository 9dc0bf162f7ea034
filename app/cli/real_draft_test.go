//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/executor/runner/runnertest"
	"github.com/ralph-compiler/ralph/internal/modeltest"
	"github.com/ralph-compiler/ralph/internal/temptest"
)

// drafters are the programs that sync-agents writes a planner and an explorer for, each
// as somebody has it who logged in and chose a model.
var drafters = []struct {
	program string
	env     []string          // with MODEL for where the model is
	home    map[string]string // files, likewise
	editors []string          // its tools that change files; nil: it cannot do without them
	models  [2]string         // part of the names by which the explorer and the planner ask for theirs
}{
	{
		program: "claude",
		env:     []string{"ANTHROPIC_BASE_URL=MODEL", "ANTHROPIC_API_KEY=dummy-key-of-a-test"},
		editors: []string{"Write", "Edit", "NotebookEdit"},
		models:  [2]string{"sonnet", "opus"},
	},
	{
		program: "opencode",
		home: map[string]string{".config/opencode/opencode.json": `{"model":"scripted/m1","small_model":"scripted/m1","enabled_providers":["scripted"],"autoupdate":false,
			"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"MODEL/v1","apiKey":"dummy"},
			"models":{"m1":{"name":"m1","tool_call":true,"limit":{"context":200000,"output":8000}}}}}}`},
		editors: []string{"write", "edit", "patch"},
		models:  [2]string{"m1", "m1"},
	},
	{
		program: "codex",
		env:     []string{"OPENAI_API_KEY=dummy-key-of-a-test"},
		home: map[string]string{".codex/config.toml": "model = \"m1\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"Scripted\"\n" +
			"base_url = \"MODEL/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"},
		models: [2]string{"m1", "m1"},
	},
}

// workers is a project's policy: a script does the work, a person approves plans. Who
// plans is none of its business.
const workers = `runner "sh" {
  kind    = "command"
  run     = ["sh", "worker.sh"]
  prompt  = "stdin"
  outcome = "required"
}

agent "worker" {
  runner       = runner.sh
  capabilities = ["implement"]
  access       = "write"
}

hitl {
  plan      = "required"
  approvers = ["ada"]
}

worktree {
  min_free = "1MB"
}
`

// workerScript says hello in the language of its sprint.
const workerScript = `#!/bin/sh
set -eu
case $RALPH_NODE in
1.1) echo 'hello() { echo "hello $1"; }' >words.sh ;;
1.2) printf '. ./words.sh\nhello "${1:-world}"\n' >greet.sh ;;
esac
echo '{"result": "success", "summary": "done"}' >"$RALPH_OUTCOME"
`

// greetingPlan is what the planner writes; what 1.2 needs stands in %s.
const greetingPlan = `# Greeting

## Phase 1: Words

### Sprint 1.1: Find the words

**Owns**: ` + "`words.sh`" + ` (new)
**Implements**: REQ-001

**Acceptance Criteria**:

- hello of words.sh greets whom it is given

**Verify**: ` + "`sh -c '. ./words.sh; hello Ada' | grep -x 'hello Ada'`" + `

### Sprint 1.2: Say them

**Depends on**: %s
**Owns**: ` + "`greet.sh`" + `
**Implements**: REQ-002

**Acceptance Criteria**:

- greet.sh greets the world where it is given nobody

**Verify**: ` + "`sh greet.sh | grep -x 'hello world'`" + `
`

// What an unknown dependency in it is told as, above the plan's own lines.
const unknownDependency = `    error[unknown-dependency]: there is no item "1.11"
      --> plans/greeting.md:18:17
       |
    18 | **Depends on**: 1.11
       |                 ^^^^
`

// drafting is what the model does: the explorer finds something, the planner's plan names
// a sprint that is not there until it is told.
var drafting = modeltest.Scenario{Rules: []modeltest.Rule{
	{Match: "# Look around for a plan", Steps: []modeltest.Step{
		{Text: "I look.", Do: []modeltest.Action{modeltest.Read("greet.sh")}},
		{Do: []modeltest.Action{modeltest.Bash(`if [ -n "${RALPH_OUTCOME:-}" ]; then echo "hi, twice" > "$(dirname "$RALPH_OUTCOME")/findings.md"; fi`)}},
		{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "greet.sh says hi to nobody; nothing tests it."})}},
		{Text: "Looked."},
	}},
	{Match: "Gate compiles: fail", Steps: []modeltest.Step{
		{Text: "I fix it.", Do: []modeltest.Action{modeltest.Bash("sed -i 's/1[.]11$/1.1/' plans/greeting.md")}},
		{Text: "The dependency is fixed.\n\n<promise>PLAN_READY</promise>"},
	}},
	{Match: "# Write a plan", Steps: []modeltest.Step{
		{Text: "I plan.", Do: []modeltest.Action{modeltest.Write("plans/greeting.md", fmt.Sprintf(greetingPlan, "1.11"))}},
		{Do: []modeltest.Action{modeltest.Report(map[string]any{"result": "success", "summary": "two sprints"})}},
		{Text: "Planned."},
	}},
}}

// One flow for each program: the planner and the explorer that sync-agents writes draft a
// plan until it compiles, a person approves it, scripts apply it.
// S2-01, S2-04, S2-08, S2-09, S2-10, S2-46…S2-49, S2-72, S4-55
func TestRealAgentsDraftAPlanThatIsApplied(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it runs real agents")
	}
	for _, who := range drafters {
		t.Run(who.program, func(t *testing.T) {
			temptest.Share(t, 2)
			bin := runnertest.Binary(t, who.program)
			model := modeltest.Start(t)
			base := model.Load(t, drafting)
			at := func(text string) string { return strings.ReplaceAll(text, "MODEL", base) }
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s := &site{t: t, top: top, dir: filepath.Join(top, "project"), path: filepath.Dir(bin) + ":" + os.Getenv("PATH")}
			t.Cleanup(s.end)
			s.write("../home/.keep", "")
			for name, text := range who.home {
				s.write("../home/"+name, at(text))
			}
			ralph := func(want int, args ...string) ran {
				t.Helper()
				got := s.begin(func(r *starting) {
					for _, v := range who.env {
						r.cmd.Env = append(r.cmd.Env, at(v))
					}
				}, args...).wait()
				if got.code != want {
					t.Fatalf("ralph %s: exit %d, want %d\n%s", strings.Join(args, " "), got.code, want, got.all())
				}
				return got
			}
			s.write("greet.sh", "echo hi\n")
			s.write("worker.sh", workerScript)
			s.write("ralph.hcl", workers)
			s.write("brief.md", "# Greet whom it is given\n\nREQ-001: the words are in a file of their own.\nREQ-002: without a name it greets the world.\n")
			s.git("init", "-q", "-b", "main", ".")
			s.git("config", "user.name", "Test User")
			s.git("config", "user.email", "test@example.org")
			ralph(exit.Done, "sync-agents", "--planner", who.program)
			s.git("add", "-A")
			s.git("commit", "-q", "-m", "first")
			head := s.git("rev-parse", "HEAD")

			said := ralph(exit.Waiting, "draft", "--from", "brief.md", "-o", "plans/greeting.md").out
			for _, want := range []string{"plan #1: gate compiles: fail: The plan does not compile: 1 error (unknown-dependency)", "plan #2: gate compiles: pass", "wave 2: 1.2", "ralph approve 1 --as ada --epic draft-greeting"} {
				if !strings.Contains(said, want) {
					t.Errorf("draft does not say %q:\n%s", want, said)
				}
			}
			if now := s.git("status", "--porcelain"); now != "" {
				t.Errorf("before the approval the checkout is touched:\n%s", now)
			}
			told := draftersTold(t, model.Requests(base))
			for _, want := range []string{"REQ-002: without a name", "greet.sh"} {
				if !strings.Contains(told.explorer.Human(), want) {
					t.Errorf("the explorer is not told %q", want)
				}
			}
			for _, tool := range told.explorer.Tools {
				if slices.Contains(who.editors, tool.Name) {
					t.Errorf("the explorer has the tool %s", tool.Name)
				}
			}
			if got := [2]string{told.explorer.Model, told.first.Model}; !strings.Contains(got[0], who.models[0]) || !strings.Contains(got[1], who.models[1]) {
				t.Errorf("they ask for the models %q, want %q", got, who.models)
			}
			for who, r := range map[string]modeltest.Request{"You read a repository for somebody": told.explorer, "You plan work on a repository": told.first} {
				if !strings.Contains(r.System+r.Human(), who) {
					t.Errorf("its agent file is not there: %q", who)
				}
			}
			for _, want := range []string{"greet.sh says hi to nobody; nothing tests it.", "explore-1/findings.md", "REQ-001, REQ-002"} {
				if !strings.Contains(told.first.Human(), want) {
					t.Errorf("the planner is not told %q:\n%s", want, told.first.Human())
				}
			}
			if strings.Contains(told.first.Human(), "unknown-dependency") {
				t.Error("the first prompt knows of the failure")
			}
			for _, want := range []string{"The plan does not compile: 1 error (unknown-dependency).", unknownDependency, `Did you mean "1.1"?`} {
				if !strings.Contains(told.second.Human(), want) {
					t.Errorf("the second prompt lacks\n%s\nin\n%s", want, told.second.Human())
				}
			}
			if !strings.Contains(strings.Join(told.second.Said, "\n"), "Planned.") {
				t.Errorf("the planner does not remember its first attempt: it said %q", told.second.Said)
			}
			if missed := model.Missed(base); len(missed) > 0 {
				t.Errorf("the model was asked what it has no answer to: %q", missed)
			}

			said = ralph(exit.Done, "approve", "1", "--as", "ada", "--epic", "draft-greeting").out
			next := regexp.MustCompile(`(?m)^  next: (.*)$`).FindStringSubmatch(said)
			if next == nil {
				t.Fatalf("approve names no next command:\n%s", said)
			}
			if now := s.git("status", "--porcelain", "-uall"); now != "?? plans/greeting.md" || s.git("rev-parse", "HEAD") != head {
				t.Errorf("in the checkout changed\n%s", now)
			}
			if plan := s.read("plans/greeting.md"); strings.Count(plan, "<!-- beads-ralph: ") != 2 || !strings.Contains(plan, "<!-- beads-ralph-epic: ") || !strings.Contains(plan, "**Depends on**: 1.1") {
				t.Errorf("the plan is\n%s", plan)
			}
			done := s.next(next[1])
			if got := s.git("show", "ralph/greeting/integration:greet.sh"); !strings.Contains(done, "2 of 2 sprints done") || !strings.Contains(got, "world") {
				t.Errorf("it ends with\n%s\n%s", got, done)
			}
			if log := ralph(exit.Done, "log").out; !regexp.MustCompile(`approve.*drafted`).MatchString(log) {
				t.Errorf("the approval is not in the plan's journal:\n%s", log)
			}
			if left := s.processes(); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// draftTurns are the first requests of an explorer's and of a planner's turns.
type draftTurns struct{ explorer, first, second modeltest.Request }

func draftersTold(t *testing.T, all []modeltest.Request) (out draftTurns) {
	t.Helper()
	for _, turn := range []struct {
		rule string
		to   *modeltest.Request
	}{{"rule 0, step 0", &out.explorer}, {"rule 2, step 0", &out.first}, {"rule 1, step 0", &out.second}} {
		i := slices.IndexFunc(all, func(r modeltest.Request) bool { return r.Played == turn.rule })
		if i < 0 {
			t.Fatalf("the model was never asked for %s", turn.rule)
		}
		*turn.to = all[i]
	}
	return out
}
