//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is asked for its version once, and again when another stands in its place.
func TestTheVersionOfGitIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	says := func(version string) {
		t.Helper()
		script := "#!/bin/sh\necho asked >> " + dir + "/asked\necho git version " + version + "\n"
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
	for range 3 {
		if _, err := findGit(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "asked")); string(b) != "asked\n" {
		t.Errorf("it was asked:\n%s", b)
	}
	says("2.37.0")
	for range 2 { // what does not do is not remembered
		if _, err := findGit(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "2.38 or later is needed") {
			t.Errorf("an old one: %v", err)
		}
	}
}
