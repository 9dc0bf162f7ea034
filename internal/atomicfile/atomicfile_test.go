package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteKeepsPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := Write(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(real); string(got) != "new" {
		t.Errorf("target holds %q, want %q", got, "new")
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, want 0640", info.Mode().Perm())
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteGivesANewFileItsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new")
	if err := Write(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o644 {
		t.Errorf("permissions %v, want 0644", info.Mode().Perm())
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Create(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("theirs"), 0o644); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("second Create: %v, want fs.ErrExist", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("file holds %q", got)
	}
}

func TestBatchChangesNothingWhenOneFileCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	if err := os.WriteFile(first, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Add(first, []byte("new"), 0o644)
	b.Add(filepath.Join(dir, "missing", "second"), []byte("x"), 0o644)
	if err := b.Commit(); err == nil {
		t.Fatal("Commit wrote into a directory that does not exist")
	}
	if got, _ := os.ReadFile(first); string(got) != "old" {
		t.Errorf("the first file holds %q, want the old bytes", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
