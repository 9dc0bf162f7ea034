//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDemo runs make demo: parallel sprints, a conflict that an agent
// resolves, a tester who sends work back, a blind review, one branch at the end.
// The script itself fails when one of them does not happen. S0-56, S0-123, S2-27,
// L0-05, execution §3
func TestTheDemo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs git and go for some seconds")
	}
	ralph, err := exec.LookPath("ralph")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", filepath.Join("..", "..", "examples", "demo", "run.sh"))
	tmp := t.TempDir()
	cmd.Env = append(os.Environ(), "RALPH="+ralph, "TMPDIR="+tmp, "HOME="+userHome)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"wave 2: 1.2a 1.2b", "gate qa: fail", "implement #2: gate qa: pass", "gate blind-review: pass",
		"merge #1: the conflict is resolved", "5 of 5 sprints done", "ok  \texample.org/links", "error wrong token\nok\nok\nok https://go.dev\nok 1 links", "Where to look:",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	// What it points at is there.
	for pattern, want := range map[string]string{"report.html": "One service", "graph.*": "One service", "links/.git/HEAD": "ref: refs/heads/main"} {
		files, _ := filepath.Glob(filepath.Join(tmp, "ralph-demo.*", pattern))
		if len(files) != 1 {
			t.Errorf("%s: %v", pattern, files)
			continue
		}
		if b, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s lacks %q (%v)", pattern, want, err)
		}
	}
}
