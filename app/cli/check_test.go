package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/ir"
)

// An epic.json from a stranger may name any plan; it is read only inside the project.
func TestPlanOfAnEpicStaysInTheProject(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.md", []byte("# secret\n### Sprint 1.1: secret-token\n"))
	write("in/plan.md", []byte("# P\n### Sprint 1.1: A\n"))
	t.Chdir(filepath.Join(dir, "in"))
	ralph := func(args ...string) (string, int) {
		var out bytes.Buffer
		code := Main(args, strings.NewReader(""), &out, &out)
		return out.String(), code
	}
	if out, code := ralph("compile", "plan.md"); code != 0 {
		t.Fatalf("compile: %d\n%s", code, out)
	}
	b, err := os.ReadFile("epic.json")
	if err != nil {
		t.Fatal(err)
	}
	epic, err := ir.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"../secret.md", filepath.ToSlash(filepath.Join(dir, "secret.md"))} {
		epic.Epic.Plan = plan
		ir.Seal(epic)
		hostile, err := ir.Encode(epic)
		if err != nil {
			t.Fatal(err)
		}
		write("in/hostile.json", hostile)
		for _, args := range [][]string{{"compile", "--check", "-o", "hostile.json"}, {"why", "1.1", "-f", "hostile.json"}, {"graph", "hostile.json"}, {"apply", "hostile.json"}} {
			out, code := ralph(args...)
			if code != exit.Input || !strings.Contains(out, "leaves the project") || strings.Contains(out, "secret-token") {
				t.Errorf("%s with the plan %s: exit %d\n%s", strings.Join(args, " "), plan, code, out)
			}
		}
	}
}
