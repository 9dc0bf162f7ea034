package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A batch that fails leaves all files as they were, whichever step fails; behind the
// last rename it leaves all of them new.
func TestBatchPutsBackWhatItReplaced(t *testing.T) {
	broken := errors.New("broken")
	nth := func(n int) func() error { // fails once, at the nth call
		return func() error {
			if n--; n == 0 {
				return broken
			}
			return nil
		}
	}
	for _, c := range []struct {
		name         string
		rename, sync int
		replaced     bool
	}{
		{"the first rename", 1, 0, false},
		{"the second rename", 2, 0, false},
		{"the last rename", 3, 0, false},
		{"the first sync", 0, 1, false},
		{"the second sync", 0, 2, false},
		{"the last sync", 0, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func(r func(string, string) error, s func(*os.File) error) { rename, syncDir = r, s }(rename, syncDir)
			realRename, realSync, failRename, failSync := rename, syncDir, nth(c.rename), nth(c.sync)
			rename = func(from, to string) error {
				if err := failRename(); err != nil {
					return err
				}
				return realRename(from, to)
			}
			syncDir = func(f *os.File) error {
				if err := failSync(); err != nil {
					return err
				}
				return realSync(f)
			}
			dir := t.TempDir()
			plan, fresh, epic := filepath.Join(dir, "plan.md"), filepath.Join(dir, "fresh"), filepath.Join(dir, "epic.json")
			for _, name := range []string{plan, epic} {
				if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			var b Batch
			for _, name := range []string{plan, fresh, epic} {
				b.Add(name, []byte("new"), 0o644)
			}
			if err := b.Commit(); !errors.Is(err, broken) {
				t.Fatalf("Commit: %v, want %v", err, broken)
			}
			want, files := map[string]string{plan: "old", fresh: "", epic: "old"}, 2
			if c.replaced {
				want, files = map[string]string{plan: "new", fresh: "new", epic: "new"}, 3
			}
			for name, text := range want {
				if got, _ := os.ReadFile(name); string(got) != text {
					t.Errorf("%s holds %q, want %q", filepath.Base(name), got, text)
				}
			}
			if info, _ := os.Stat(plan); info.Mode().Perm() != 0o640 {
				t.Errorf("permissions %v, want 0640", info.Mode().Perm())
			}
			if left, _ := os.ReadDir(dir); len(left) != files {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A file whose directory can never be synced keeps its new bytes: nothing goes back.
func TestWriteWhereNothingIsSynced(t *testing.T) {
	broken := errors.New("broken")
	defer func(s func(*os.File) error) { syncDir = s }(syncDir)
	syncDir = func(*os.File) error { return broken }
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), 0o644); !errors.Is(err, broken) {
		t.Fatalf("Write: %v, want %v", err, broken)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("it holds %q, want %q", got, "new")
	}
}

// Nothing changes where one of the directories takes no file.
func TestBatchInADirectoryThatTakesNothing(t *testing.T) {
	for name, mode := range map[string]os.FileMode{"unwritable": 0o500, "unreadable": 0o300} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			open, closed := t.TempDir(), t.TempDir()
			plan, epic := filepath.Join(open, "plan.md"), filepath.Join(closed, "epic.json")
			for _, name := range []string{plan, epic} {
				if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(closed, mode); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(closed, 0o700)
			var b Batch
			b.Add(plan, []byte("new"), 0o644)
			b.Add(epic, []byte("new"), 0o644)
			if err := b.Commit(); err == nil {
				t.Error("Commit succeeds")
			}
			for _, name := range []string{plan, epic} {
				if got, _ := os.ReadFile(name); string(got) != "old" {
					t.Errorf("%s holds %q", name, got)
				}
			}
		})
	}
}
