//go:build unix

package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Of two directories with one epic one is followed, and stays; the other is said.
func TestTwoDirectoriesWithOneEpic(t *testing.T) {
	s := newSite(t, `echo x > "$RALPH_NODE.txt"`, chain(t))
	if code := s.start()(); code != 0 {
		t.Fatalf("apply: %d", code)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "epic.json"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, at time.Time) string {
		t.Helper()
		file := filepath.Join(s.dir, ".git/ralph", name, "epic.json")
		s.write(filepath.Join(".git/ralph", name, "epic.json"), string(b))
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		return file
	}
	put("another", time.Now().Add(time.Hour))
	h := s.alone().house
	id, repo := h.order[0], h.repos[0]
	stays := func(file, said string) {
		t.Helper()
		first := h.find(id)
		if first.rec.Named() != file {
			t.Errorf("%s is followed, not %s", first.rec.Named(), file)
		}
		for range 3 {
			if h.list(t.Context()) || h.find(id) != first {
				t.Fatal("they take each other's place")
			}
		}
		if got := strings.Join(h.trouble(repo), "\n"); !strings.Contains(got, said) {
			t.Errorf("said: %q", got)
		}
	}
	stays(filepath.Join(s.dir, "epic.json"), "another/epic.json is not shown: it holds the epic bd-epic, as project/epic.json does")

	// Where none is in its place, the more recent one is followed.
	if err := os.Remove(filepath.Join(s.dir, "epic.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, ".git/ralph/bd-epic/epic.json")); err != nil {
		t.Fatal(err)
	}
	recent := put("recent", time.Now().Add(2*time.Hour))
	if !h.list(t.Context()) {
		t.Error("nothing is new")
	}
	stays(recent, "another/epic.json is not shown: it holds the epic bd-epic, as recent/epic.json does")
	if n := len(h.trouble(repo)); n != 1 {
		t.Errorf("%d troubles: %q", n, h.trouble(repo))
	}
}
