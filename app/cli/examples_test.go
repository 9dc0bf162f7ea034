package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/app/exit"
)

// TestExamples compiles every plan of examples/plans in a copy, draws it, and
// compiles it again: nothing changes.
func TestExamples(t *testing.T) {
	plans, err := filepath.Glob("../../examples/plans/*.md")
	if err != nil || len(plans) < 4 {
		t.Fatalf("%d example plans (%v)", len(plans), err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	t.Chdir(dir)
	for _, p := range plans {
		name := filepath.Base(p)
		t.Run(name, func(t *testing.T) {
			plan := filepath.Join("examples", "plans", name)
			must(t, "compile", plan, "-o", "epic.json", "--strict")
			first := read(t, "epic.json")
			annotated := read(t, plan)
			must(t, "compile", plan, "-o", "epic.json")
			if !bytes.Equal(first, read(t, "epic.json")) || !bytes.Equal(annotated, read(t, plan)) {
				t.Error("a second compile changed something")
			}
			must(t, "compile", "--check")
			must(t, "graph")
			must(t, "graph", "--policy")
			must(t, "validate", "epic.json")
		})
	}
}

func must(t *testing.T, args ...string) {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := Main(args, nil, &out, &errOut); code != exit.Done {
		t.Fatalf("ralph %v: exit %d\n%s", args, code, errOut.String())
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
