//go:build unix

package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

var cornerData = []cornerCase{
	{
		group: "data", name: "somebody commits meanwhile",
		want: "the base is pinned: what moves during a run is neither lost nor taken up",
		agent: `echo x > out
cd "$TOP/project" && echo mine > mine && git add mine && git commit -q -m mine`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.apply(exit.Done), "1 of 1 sprint done")
			if got := r.git("log", "-1", "--format=%s", "main"); got != "mine" {
				t.Errorf("main ends with %q", got)
			}
			if got := r.git("ls-tree", "--name-only", "ralph/plan/integration", "mine", "out"); got != "out" {
				t.Errorf("the result holds %q, want out", got)
			}
		},
	},
	{
		group: "data", name: "dependencies in a cycle",
		want: "found when compiling, with the whole circle; nothing is written",
		plan: `### Sprint 1.1: First

**Depends on**: 1.2

- [ ] do it

### Sprint 1.2: Second

- [ ] do it
`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.ralph(exit.Input, "compile", "plan.md"), "dependency-cycle", "1.1 → 1.2 → 1.1")
			if r.read("epic.json") != "" {
				t.Error("epic.json was written")
			}
		},
	},
	{
		group: "data", name: "state was damaged",
		want: "an epic edited by hand and a journal with a changed byte are refused, with where",
		check: func(t *testing.T, r *cornerRepo) {
			r.apply(exit.Done)
			whole := r.read("epic.json")
			r.write("epic.json", strings.Replace(whole, `"attempts": 3`, `"attempts": 9`, 1))
			r.has(r.ralph(exit.Input, "apply"), "edited by hand")
			r.write("epic.json", whole)
			path := strings.TrimSpace(r.sh(`ls .git/ralph/*/journal.db`))
			b := r.read(path)
			if strings.Count(b, "implement") == 0 {
				t.Fatal("the journal does not hold what is looked for")
			}
			r.write(path, strings.ReplaceAll(b, `"key":"1.1"`, `"key":"1.7"`))
			if r.read(path) == b {
				t.Fatal("nothing was changed")
			}
			r.has(r.ralph(exit.Input, "apply"), "damaged at event 5") // node.started, after the preflight
			r.has(r.ralph(exit.Input, "journal", "verify"), "event 5")
		},
	},
	{
		group: "data", name: "numbers that are none",
		want: "a heading that is almost a sprint is named when compiling, never dropped in silence",
		plan: cornerPlan + `
### Sprint 1.x: Second

- [ ] do it
`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.ralph(exit.Done, "validate", "plan.md"), "warning[malformed-id]", "Sprint 1.x")
			r.write("plan.md", strings.Replace(r.read("plan.md"), "1.x", "1.99999999999", 1))
			r.has(r.ralph(exit.Input, "compile", "plan.md"), "error[number-too-large]")
		},
	},
	{
		group: "data", name: "an agent file is missing",
		want: "a missing file is an error where the policy is strict; one that changed since it was compiled is refused before anything starts",
		policy: `agent "writer" {
  path         = "agents/writer.md"
  runner       = runner.coder
  capabilities = ["implement"]
  access       = "write"
  priority     = 90
}`,
		check: func(t *testing.T, r *cornerRepo) {
			r.has(r.ralph(exit.Input, "compile", "plan.md", "--strict"), "agents/writer.md")
			r.write("agents/writer.md", "You write.\n")
			r.ralph(exit.Done, "compile", "plan.md")
			r.write("agents/writer.md", "You write what you like.\n")
			r.has(r.ralph(exit.Input, "apply"), "agents/writer.md is not the file that was compiled", "Recompile")
			if err := os.Remove(r.path("agents/writer.md")); err != nil {
				t.Fatal(err)
			}
			r.has(r.ralph(exit.Input, "apply"), "writer")
		},
	},
}

// sh runs a line of shell in the project.
func (r *cornerRepo) sh(line string) string {
	r.t.Helper()
	out, err := r.command("sh", "-c", line).Output()
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}
