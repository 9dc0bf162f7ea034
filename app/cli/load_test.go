package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/app/record"
)

// Who names work of another format where an epic is meant is told what reads it.
func TestAnotherFormatIsRecognized(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"id": "bd-1", "issue_type": "beads-ralph-work", "metadata": {"dev_prompts": ["x"]}}`, "ralph import --as bead "},
		{`{"id": "bd-1", "issue_type": "task"}` + "\n" + `{"id": "bd-2", "issue_type": "task"}` + "\n", "ralph import --as bd "},
		{`[{"id": "t1", "successCriteria": []}]`, "ralph import --as beadsmith "},
		{`{"tasks": [{"id": 1, "testStrategy": "x"}]}`, "ralph import --as taskmaster "},
		{`{"ir": "ralph.ir/v1", "issue_type": 1}`, "x.json: "},
		{"<<<<<<< HEAD\n\"issue_type\"", "x.json: "},
	} {
		file := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := record.Load(file, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.want == "x.json: " && strings.Contains(err.Error(), "looks like") {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
