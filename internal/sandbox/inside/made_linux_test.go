package inside

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What bwrap has mounted is compared with what ralph saw.
func TestWhatIsMountedElsewhereIsNoticed(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := below("/")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(root.fd)
	seen, isDir, ok, err := Look(dir, "a")
	if err != nil || !isDir || !ok {
		t.Fatalf("%v, %v, %v", isDir, ok, err)
	}
	check := func(at string, hidden bool) error {
		s := seen
		s.At, s.Hidden, s.Write = filepath.Join(dir, at), hidden, true
		return root.check(s)
	}
	for _, c := range []struct {
		at     string
		hidden bool
		want   error
	}{{"b", false, unix.EAGAIN}, {"a", true, unix.EAGAIN}, {"link", false, unix.ELOOP}, {"none", false, unix.ENOENT}} {
		if err := check(c.at, c.hidden); !errors.Is(err, c.want) {
			t.Errorf("%s, hidden %v: %v, want %v", c.at, c.hidden, err, c.want)
		}
	}
	s := seen
	s.At = filepath.Join(dir, "a")
	if err := root.check(s); err == nil || !strings.Contains(err.Error(), "did not protect") {
		t.Errorf("it may be written: %v", err)
	}
	if _, _, _, err := Look(dir, "link/x"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link: %v", err)
	}
	if err := Place(dir, "link/x", true, false); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a mount on a link: %v", err)
	}
	if err := Place(dir, "link/x", true, true); err != nil {
		t.Errorf("a mount on a link of its own: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a", "x")); err == nil {
		t.Error("it followed the link")
	}
}
