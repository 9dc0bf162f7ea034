//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

const planOfTwo = "# A plan\n\n## Phase 1: One\n\n### Sprint 1.1: First\n\n- [ ] a\n\n### Sprint 1.2: Second\n\n- [ ] b\n"

// planRepo is a repository with a plan that was compiled; ids are those of its sprints.
func planRepo(t *testing.T) (r *applyRepo, ids []string) {
	t.Helper()
	r = &applyRepo{t: t, dir: filepath.Join(t.TempDir(), "project")}
	if err := os.MkdirAll(filepath.Join(r.dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write("docs/plan.md", planOfTwo)
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "Test User")
	r.git("config", "user.email", "test@example.org")
	r.compile()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	for line := range strings.Lines(r.read("docs/plan.md")) {
		if id, ok := strings.CutPrefix(line, "<!-- beads-ralph: "); ok {
			ids = append(ids, strings.TrimSuffix(strings.TrimSpace(id), " -->"))
		}
	}
	if len(ids) != 2 {
		t.Fatalf("%d ids", len(ids))
	}
	return r, ids
}

func (r *applyRepo) compile() {
	r.t.Helper()
	cmd := exec.Command("ralph", "compile", "docs/plan.md")
	cmd.Dir = r.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("compile: %v\n%s", err, out)
	}
}

func TestABeadLeadsToItsPlaceInThePlan(t *testing.T) { // S0-108, S0-109, S0-110, S0-111
	t.Parallel()
	b := fakeBeads(t)
	r, ids := planRepo(t)
	t.Run("without an editor the place is printed", func(t *testing.T) {
		if out, _ := b.ralph(t, r, 0, "show", ids[1], "--open"); out != "docs/plan.md:11\n" {
			t.Errorf("it said %q", out)
		}
		if out, _ := b.ralph(t, r, 0, "show", "1.2"); !strings.Contains(out, "plan:     docs/plan.md:11\n") || !strings.Contains(out, "### Sprint 1.2: Second") {
			t.Errorf("it said\n%s", out)
		}
	})
	t.Run("the line is looked up now", func(t *testing.T) {
		r.write("docs/plan.md", strings.Replace(r.read("docs/plan.md"), "## Phase 1", "A word before.\n\n## Phase 1", 1))
		if out, _ := b.ralph(t, r, 0, "show", "1.2", "--open"); out != "docs/plan.md:13\n" {
			t.Errorf("it said %q", out)
		}
	})
	t.Run("an editor is opened there", func(t *testing.T) {
		vi := filepath.Join(t.TempDir(), "vi")
		if err := os.WriteFile(vi, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		out, _ := b.ralphWith(t, r, []string{"VISUAL=" + vi + " -n"}, 0, "show", ids[0], "--open")
		dir, err := filepath.EvalSymlinks(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		if want := "-n\n+8\n" + filepath.Join(dir, "docs/plan.md") + "\n"; out != want {
			t.Errorf("the editor was given %q, want %q", out, want)
		}
	})
	t.Run("a bead of no epic here is looked up in beads", func(t *testing.T) {
		b.do(r.dir, "init", "--prefix", "bd")
		b.keepWith(t, r, "bd-gone")
		r.remove("epic.json")
		out, _ := b.ralph(t, r, 0, "show", ids[1]) // by its epic, which the beads keep
		if !strings.Contains(out, "plan:     docs/plan.md:13\n") || !strings.Contains(out, "no run has begun") {
			t.Errorf("it said\n%s", out)
		}
		out, _ = b.ralph(t, r, 0, "show", "bd-gone")
		if !strings.Contains(out, "plan:     docs/old.md\n") || !strings.Contains(out, "## Phase 9 > ### Sprint 9.9: Old") {
			t.Errorf("it said\n%s", out)
		}
		if _, said := b.ralph(t, r, exit.Input, "show", "bd-nowhere"); !strings.Contains(said, "there is no bead bd-nowhere") {
			t.Errorf("it said\n%s", said)
		}
	})
}
