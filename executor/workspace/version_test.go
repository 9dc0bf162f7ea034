//go:build unix

package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor/executortest"
)

// A program is asked for its version once, and again when another stands in its place.
func TestTheVersionOfGitIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	says := func(version string) {
		t.Helper()
		script := "#!/bin/sh\ncase $* in *version) echo asked >> " + dir + "/asked; echo git version " + version + "; esac\n"
		err := os.WriteFile(filepath.Join(dir, "new"), []byte(script), 0o755)
		if err == nil {
			err = os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "git"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	says("2.40.1")
	ask := func() error {
		g, err := findGit(dir)
		if err == nil {
			_, err = g.line(t.Context(), place{}, "status")
		}
		return err
	}
	for range 3 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "asked")); string(b) != "asked\n" {
		t.Errorf("it was asked:\n%s", b)
	}
	says("2.37.0")
	for range 2 { // what does not do is not remembered
		if err := ask(); err == nil || !strings.Contains(err.Error(), "2.38 or later is needed") {
			t.Errorf("an old one: %v", err)
		}
	}
}

// With an old git one can look at a run, where it answers what ralph asks, and not more.
func TestAnOldGitIsRefused(t *testing.T) {
	r := newRepo(t, executortest.Epic(two))
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		version, old string
		opens        bool
	}{
		"2.37":                  {"2.37.0", "", true},
		"of before path-format": {"2.30.0", `*path-format*) shift; echo --path-format=absolute; echo .git;;`, false},
	} {
		dir := t.TempDir()
		script := "#!/bin/sh\ncase $* in *version) echo git version " + c.version + ";; " + c.old + " *) exec " + git + ` "$@";; esac` + "\n"
		if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		s, err := Open(t.Context(), r.dir, r.epic)
		if err == nil {
			t.Cleanup(s.Trees.Release)
			if !c.opens {
				t.Errorf("%s: it was opened", name)
			}
			_, _, err = s.Bases.Pin(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "2.38 or later is needed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
