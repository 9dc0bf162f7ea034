package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestNothingWaits: whatever stands in the place of a file, nothing waits for it.
func TestNothingWaits(t *testing.T) {
	t.Chdir(t.TempDir()) // the name of a socket is short
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(os.Mkdir("dir", 0o700), os.Symlink("fifo", "link"), os.WriteFile("file", []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"fifo", "socket", "dir", "link"} {
			for what, open := range map[string]func() error{
				"ReadFile": func() error { _, err := ReadFile(name); return err },
				"ReadMax":  func() error { _, err := ReadMax(name, 10); return err },
				"ReadIn":   func() error { _, err := ReadIn(root, name); return err },
				"FS":       func() error { _, err := fs.ReadFile(FS(root), name); return err },
				"Open":     func() error { _, err := FS(root).Open(name); return err },
				"ReadDir": func() error {
					if _, err := fs.ReadDir(FS(root), name); err == nil && name != "dir" {
						return nil
					}
					return ErrNot
				},
				"OpenFile": func() error {
					_, err := OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
					return err
				},
			} {
				if err := open(); what == "Open" && name == "dir" {
					if err != nil {
						t.Errorf("FS.Open(dir): %v", err)
					}
				} else if !errors.Is(err, ErrNot) && !errors.Is(err, syscall.EISDIR) {
					t.Errorf("%s(%s): %v, want %v", what, name, err, ErrNot)
				}
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("to open what is no file takes for ever")
	}
	for _, read := range []func() ([]byte, error){
		func() ([]byte, error) { return ReadFile("file") },
		func() ([]byte, error) { return ReadMax("file", 4) },
		func() ([]byte, error) { return ReadIn(root, "file") },
		func() ([]byte, error) { return fs.ReadFile(FS(root), "file") },
	} {
		if b, err := read(); string(b) != "text" || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
	}
	if _, err := ReadMax(filepath.Join(".", "file"), 3); !errors.Is(err, ErrLarge) {
		t.Errorf("ReadMax of a file that is too large: %v", err)
	}
	if _, err := ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of nothing: %v", err)
	}
}
