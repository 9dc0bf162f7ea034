//go:build unix

package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
	"github.com/ralph-compiler/ralph/ir"
)

// A command that opens a repository again and again asks git about it one time; what was
// asked of a tree is remembered, too, and what moves is not.
func TestARepositoryIsFoundOnce(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf '%s ' \"$@\" >> " + dir + "/calls; echo >> " + dir + "/calls; exec " + git + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	calls := func(what string) int {
		b, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), " "+what+" ")
	}
	ctx := Once(t.Context())
	for i, epic := range []ir.NodeID{"bd-a", "bd-b", "bd-c"} {
		e := executortest.Epic(two, func(e *ir.Epic) { e.Epic.ID = epic })
		s, err := Open(ctx, r.dir, e)
		if err != nil {
			t.Fatal(err)
		}
		state, err := StateDir(ctx, r.dir, e.Epic.ID)
		if err != nil || state != s.State() {
			t.Errorf("%s: the state is in %s, and in %s (%v)", epic, state, s.State(), err)
		}
		head, err := s.git.ref(ctx, "HEAD")
		if err != nil || head != r.head() {
			t.Errorf("%s: HEAD is %q (%v), want %s", epic, head, err, r.head())
		}
		files, err := s.files(ctx, head, []string{"README.md", "new.txt"})
		if err != nil || files["README.md"].hash == "" || (files["new.txt"].hash != "") != (i > 0) {
			t.Errorf("%s: files %v (%v)", epic, files, err)
		}
		s.Trees.Release()
		if i == 0 { // somebody commits meanwhile
			r.write("new.txt", "new\n")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "new")
		}
	}
	if found, settings, trees := calls("--show-toplevel"), calls("--get-regexp"), calls("ls-tree"); found != 1 || settings != 1 || trees != 2 {
		t.Errorf("the repository was looked for %d times, its settings %d times, files %d times", found, settings, trees)
	}
	s, err := Open(t.Context(), r.dir, r.epic)
	if err != nil || calls("--show-toplevel") != 2 {
		t.Errorf("another command asks git %d times (%v)", calls("--show-toplevel")-1, err)
	}
	t.Cleanup(s.Trees.Release)
}
