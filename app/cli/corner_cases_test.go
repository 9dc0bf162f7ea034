//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// cornerCase is a way in which a run goes wrong, and what has to become of it.
type cornerCase struct {
	group, name string
	want        string // the rule, in docs' words

	plan   string // sprints below "## Phase 1"; "" is sprint 1.1 alone
	agent  string // shell of the coder
	qa     string // shell of the tester, for gate.qa
	qaTime string // timeout of gate.qa; "" is a minute
	second string // shell of the second tester, for gate.second
	unit   string // command of gate.unit; "" is true
	gates  string // of the step; "" is gate.unit
	step   string // more lines of the step
	retry  string // more lines of its retry
	runner string // more lines of the coder's runner
	policy string // more blocks
	check  func(t *testing.T, r *cornerRepo)
}

// cornerRepo is a repository in which a case plays. $TOP is the directory above
// it, for what agents remember; programs in $TOP/bin come first on PATH.
type cornerRepo struct {
	t        *testing.T
	top, dir string
	env      []string
}

const cornerPlan = `### Sprint 1.1: First

**Acceptance Criteria**:
- it works
`

// cornerPolicy holds what all cases share.
const cornerPolicy = `
runner "coder" {
  kind = "command"
  run  = ["sh", "-c", file("agent.sh")]
  env  = ["PATH", "HOME", "TOP"]
  RUNNER
}

runner "tester" {
  kind = "command"
  run  = ["sh", "-c", file("qa.sh")]
  env  = ["PATH", "HOME", "TOP"]
}

runner "second" {
  kind = "command"
  run  = ["sh", "-c", file("second.sh")]
  env  = ["PATH", "HOME", "TOP"]
}

agent "coder" {
  runner       = runner.coder
  capabilities = ["implement"]
  access       = "write"
}

agent "tester" {
  runner       = runner.tester
  capabilities = ["test"]
  access       = "read"
}

agent "second" {
  runner       = runner.second
  capabilities = ["test"]
  access       = "read"
}

gate "unit" {
  kind = "command"
  run  = "UNIT"
  env  = { TOP = "ABOVE" }
}

gate "qa" {
  kind    = "agent"
  agent   = agent.tester
  prompt  = "Try it."
  timeout = "QATIME"
}

gate "second" {
  kind   = "agent"
  agent  = agent.second
  prompt = "Try it."
}

policy "default" {
  default = true

  step "implement" {
    capabilities = ["implement"]
    gates        = [GATES]
    STEP

    retry {
      initial = "10ms"
      RETRY
    }
  }
}

worktree {
  min_free = "1MB"
}
POLICY
`

func newCornerRepo(t *testing.T, c *cornerCase) *cornerRepo {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &cornerRepo{t: t, top: top, dir: filepath.Join(top, "project")}
	r.env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "PATH=") || strings.HasPrefix(e, "HOME=") || strings.HasPrefix(e, "GIT_") || strings.HasPrefix(e, "RALPH_")
	}), "PATH="+filepath.Join(top, "bin")+":"+os.Getenv("PATH"), "HOME="+filepath.Join(top, "home"), "TOP="+top, "GIT_CONFIG_NOSYSTEM=1")
	policy := strings.NewReplacer("RUNNER", c.runner, "QATIME", cmp.Or(c.qaTime, "1m"), "UNIT", cmp.Or(c.unit, "true"), "ABOVE", top, "GATES", cmp.Or(c.gates, "gate.unit"), "STEP", c.step, "RETRY", c.retry, "POLICY", c.policy).Replace(cornerPolicy)
	r.write("ralph.hcl", policy)
	r.write("plan.md", "# Corner\n\n## Phase 1: All\n\n"+cmp.Or(c.plan, cornerPlan))
	r.write("agent.sh", cmp.Or(c.agent, `echo "$RALPH_NODE" > "out-$RALPH_NODE"`))
	r.write("qa.sh", cmp.Or(c.qa, says("pass", "fine")))
	r.write("second.sh", cmp.Or(c.second, says("pass", "fine")))
	r.write("shared.txt", "one\ntwo\nthree\n")
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "Test User")
	r.git("config", "user.email", "test@example.org")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	return r
}

// says is the shell of a tester with one opinion.
func says(status, message string) string {
	return "printf '```json\\n{\"status\": \"" + status + "\", \"message\": \"" + message + "\"}\\n```\\n'"
}

// path of a file in the project; "../" is $TOP.
func (r *cornerRepo) path(name string) string { return filepath.Join(r.dir, name) }

func (r *cornerRepo) write(name, text string) {
	r.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(r.path(name)), 0o755), os.WriteFile(r.path(name), []byte(text), 0o755)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *cornerRepo) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *cornerRepo) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	return cmd
}

func (r *cornerRepo) git(args ...string) string {
	r.t.Helper()
	out, err := r.command("git", args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// ralph runs a command to its end and returns what it printed.
func (r *cornerRepo) ralph(want int, args ...string) string {
	r.t.Helper()
	cmd := r.command("ralph", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	if code != want {
		r.t.Fatalf("ralph %s: exit %d, want %d\n%s", strings.Join(args, " "), code, want, &out)
	}
	return out.String()
}

// apply compiles the plan and applies it.
func (r *cornerRepo) apply(want int, args ...string) string {
	r.t.Helper()
	if r.read("epic.json") == "" {
		r.ralph(exit.Done, "compile", "plan.md")
	}
	return r.ralph(want, append([]string{"apply"}, args...)...)
}

func (r *cornerRepo) has(out string, wants ...string) {
	r.t.Helper()
	for _, w := range wants {
		if !strings.Contains(out, w) {
			r.t.Errorf("the output lacks %q:\n%s", w, out)
		}
	}
}

func (r *cornerRepo) hasNot(out string, wants ...string) {
	r.t.Helper()
	for _, w := range wants {
		if strings.Contains(out, w) {
			r.t.Errorf("the output has %q:\n%s", w, out)
		}
	}
}

// result is a file of the integration branch.
func (r *cornerRepo) result(name string) string {
	r.t.Helper()
	return r.git("show", "ralph/plan/integration:"+name)
}

// untouched checks what belongs to the user.
func (r *cornerRepo) untouched() {
	r.t.Helper()
	if head := r.git("symbolic-ref", "--short", "HEAD"); head != "main" {
		r.t.Errorf("the checkout is on %s", head)
	}
	if s := r.git("status", "--porcelain", "--", "shared.txt", "agent.sh"); s != "" {
		r.t.Errorf("the checkout differs: %s", s)
	}
}

// TestCornerCases plays the ways to fail that a workflow of agents is known for.
// L0-09
func TestCornerCases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real git and real agents for some seconds")
	}
	names := map[string]bool{}
	for _, c := range slices.Concat(cornerAgents, cornerGates, cornerPlaces, cornerData, cornerMerges) {
		if names[c.name] || c.want == "" {
			t.Fatalf("%s: twice, or without the rule", c.name)
		}
		names[c.name] = true
		t.Run(c.group+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, newCornerRepo(t, &c))
		})
	}
	if len(names) != 24 {
		t.Errorf("%d corner cases, want 24", len(names))
	}
}
