//go:build unix

package web

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// exists reports whether there is a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// stuckGit puts a git in front of the real one that waits until release; asked reports whether
// it was called.
func stuckGit(t *testing.T) (asked func() bool, release func()) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n: > '" + bin + "/asked'\nuntil [ -e '" + bin + "/free' ]; do sleep 0.02; done\nexec '" + git + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	release = func() {
		if err := os.WriteFile(filepath.Join(bin, "free"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	return func() bool { return exists(filepath.Join(bin, "asked")) }, release
}

// While an epic is read anew, which takes git, what is known of it is answered.
func TestNobodyWaitsForGit(t *testing.T) {
	s := newSite(t, `echo x > "$RALPH_NODE.txt"`, chain(t))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	s.serve()
	asked, release := stuckGit(t)
	t.Cleanup(release)
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(filepath.Join(s.dir, "epic.json"), later, later); err != nil {
		t.Fatal(err)
	}
	s.until("git is asked", asked)
	for _, path := range []string{"", "/status", "/nodes/1.1", "/log"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.page.Address(), "/")+base+"/epics/"+s.id+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.page.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%q waits for git: %v", path, err)
		} else {
			answer.Body.Close()
		}
		cancel()
	}
}
