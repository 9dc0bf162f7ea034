package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox/sandboxtest"
	"github.com/ralph-compiler/ralph/internal/temptest"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// attackedPolicy runs the attacker wherever ralph starts a program, as its last command:
// then no shell is its parent.
const attackedPolicy = `
sandbox "default" {
  kind    = "KIND"
  network = ["allowed.example", "model"]
  read    = ["BIN", "TOOLS/bin"]
  write   = ["OUT"]
  limits  = { file = "256MB"TMPPIDS }
}
worktree {
  layout  = "clone"
  setup   = ["test -e OUT/setup.1 || exec PLACE setup"]
  network = ["allowed.example"]
}
runner "script" {
  kind = "command"
  run  = ["/bin/sh", "-c", "echo done > work.txt; case $SESSION in *-fork) echo fine; exec PLACE ask;; esac; exec PLACE agent"]
}
runner "judge" {
  kind   = "command"
  prompt = "stdin"
  run    = ["/bin/sh", "-c", "echo '{\"status\": \"pass\", \"message\": \"fine\"}'; exec PLACE judge"]
}
agent "coder" {
  runner       = runner.script
  capabilities = ["implement"]
  access       = "write"
}
agent "judge" {
  runner       = runner.judge
  capabilities = ["review"]
}
gate "unit" {
  kind    = "command"
  run     = "exec PLACE gate"
  network = ["allowed.example"]
}
gate "whole" {
  kind    = "command"
  run     = "exec PLACE whole"
  network = ["allowed.example"]
}
gate "opinion" {
  kind    = "agent"
  agent   = agent.judge
  network = ["allowed.example"]
  prompt  = "Look at it."
}
integration {
  gates = [gate.whole]
}
policy "default" {
  default = true
  step "implement" {
    capabilities = ["implement"]
    gates        = [gate.unit, gate.opinion]
  }
}
`

// placeScript runs the attacker at a place, and notes what came of it and where it was.
const placeScript = `n=1
while [ -e OUT/$1.$n ]; do n=$((n + 1)); done
pwd > OUT/$1.$n.dir
export HOME=ANN PATH=TOOLS/bin:/usr/local/bin:/usr/bin:/bin
exec ATTACKER > OUT/$1.$n 2> OUT/$1.$n.err
`

// attackedRun is a run whose agents, gates and setup are attackers.
type attackedRun struct {
	*sandboxtest.Site
	t        *testing.T
	dir, out string            // the repository, and what places write
	rows     sandboxtest.Table // those that say something here
	level    string            // the table's column
}

// notThroughApply are rows that say nothing here.
var notThroughApply = []string{
	"D04",        // it succeeds: nothing limits memory
	"R21", "W33", // a worktree is not known before it is there: nothing in it can be hidden
	"X11", // the server that stands for a model is on this machine: it is not reached by the proxy
}

func newAttackedRun(t *testing.T, kind wall.Kind) *attackedRun {
	t.Helper()
	s := sandboxtest.Build(t, os.Getuid())
	t.Cleanup(func() { _ = regular.RemoveAllOwn(s.State) }) // caches hold directories without permissions
	r := &attackedRun{Site: s, t: t, dir: filepath.Join(s.State, "project"), out: filepath.Join(s.State, "out")}
	r.rows = slices.DeleteFunc(sandboxtest.Attacks(), func(a sandboxtest.Attack) bool { return slices.Contains(notThroughApply, a.ID) })
	if r.level = string(wall.Namespaces); kind.InPlace() { // bwrap has the same column
		r.level = string(kind)
	}
	argv, pids := s.Program(r.rows.IDs()...), ", pids = 300"
	if os.Getuid() == 0 { // it would not be held to it
		pids = ""
	}
	tmp := ", tmp = \"128MB\""
	if kind.InPlace() { // it would not hold
		tmp = ""
	}
	bin := filepath.Dir(argv[0])
	fill := strings.NewReplacer("PLACE", "sh "+bin+"/place.sh", "BIN", bin, "TMPPIDS", tmp+pids, "TOOLS", s.Tools, "OUT", r.out, "KIND", string(kind), "ANN", s.Home, "ATTACKER", strings.Join(argv, " "))
	for name, text := range map[string]string{
		filepath.Join(bin, "place.sh"):    placeScript,
		filepath.Join(r.dir, "ralph.hcl"): attackedPolicy,
		filepath.Join(r.dir, "plan.md"):   "# Attacked\n\n## Phase 1: All\n\n### Sprint 1.1: Work\n\n**Tasks**:\n- [ ] one\n",
		filepath.Join(r.dir, "README.md"): "# Main\n",
		filepath.Join(r.out, "of-places"): "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(fill.Replace(text)), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r.command("git", "init", "-q", "-b", "main")
	r.command("git", "config", "user.name", "ann")
	r.command("git", "config", "user.email", "ann@example.invalid")
	r.command("ralph", "compile", "plan.md")
	r.command("git", "add", "-A")
	r.command("git", "commit", "-qm", "first")
	s.Adopt(r.dir, filepath.Join(r.dir, ".git", "ralph"))
	return r
}

// command runs a program as the user, whose environment has the secret and whose agents
// have sessions.
func (r *attackedRun) command(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.Home, "GOMODCACHE="+r.Cache, "GOCACHE="+filepath.Join(r.Home, "go", "build"), "GIT_CONFIG_NOSYSTEM=1", asProgram+"=", "TOKEN="+r.Secret)
	b, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, b)
	}
	return string(b)
}

// judge compares what came of the attacks at a place with the table, but for rows that an
// earlier attack in the same home has settled.
func (r *attackedRun) judge(t *testing.T, place string, settled ...string) {
	out, err := os.ReadFile(filepath.Join(r.out, place))
	own, derr := os.ReadFile(filepath.Join(r.out, place+".dir"))
	if err = errors.Join(err, derr); err != nil {
		t.Fatalf("nothing was attacked there: %v", err)
	}
	r.Own = strings.TrimSpace(string(own))
	level := r.level
	if os.Getuid() == 0 {
		level += "-root"
	}
	rows := slices.DeleteFunc(slices.Clone(r.rows), func(a sandboxtest.Attack) bool { return slices.Contains(settled, a.ID) })
	results := slices.DeleteFunc(r.Results(out), func(x sandboxtest.Result) bool { return slices.Contains(settled, x.ID) })
	wrong, silent := rows.Wrong(level, results)
	for _, line := range wrong {
		t.Error(line)
	}
	if len(silent) > 0 {
		t.Logf("blocked by the machine itself: %s", strings.Join(silent, " "))
	}
}

// TestAttacksThroughApply runs the attacker wherever ralph starts a program of a run's:
// none of what a sandbox blocks succeeds there.
func TestAttacksThroughApply(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some hundreds of attacks")
	}
	kinds := []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock}
	switch which, divided := temptest.Turn("", 3); {
	case os.Getenv("RALPH_ATTACKS") == "all":
	case divided:
		kinds = kinds[which : which+1]
	default:
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			attackThroughApply(t, kind)
		})
	}
}

func attackThroughApply(t *testing.T, kind wall.Kind) {
	if err := tried(kind); err != nil {
		if strings.Contains(os.Getenv("RALPH_SANDBOX_REQUIRE"), string(kind)) {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: no sandbox of %s on this machine: %v", kind, err)
	}
	r := newAttackedRun(t, kind)
	r.command("ralph", "apply")
	r.command("ralph", "ask", "1.1", "why?")
	// The gate is tried on the base first.
	for _, place := range []string{"setup.1", "gate.1", "agent.1", "gate.2", "judge.1", "whole.1"} {
		t.Run(place, func(t *testing.T) { r.judge(t, place) })
	}
	// Who is asked goes on in the agent's home: its copy of what C02 deletes is gone. Z01 has the user's.
	t.Run("ask.1", func(t *testing.T) { r.judge(t, "ask.1", "C02") })
}
