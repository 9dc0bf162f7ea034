package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// connected prints what a server at a path of the file system says: "connect PATH".
func connected(path string) {
	c, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("no")
		return
	}
	_, _ = io.Copy(os.Stdout, c)
}

// TestWhoseSocketsAreReached: a server of the user's listens in a directory that a sandbox
// shows. That the directory is read-only keeps nobody from connecting, as the documentation says;
// that it is the lower layer of a cache does, and so does landlock.
func TestWhoseSocketsAreReached(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			top, err := os.MkdirTemp("", "s") // the path of a socket is short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(top) })
			at := map[string]string{}
			for _, name := range []string{"worktree", "read", "cache", "downloads", "home", "beside"} {
				dir := filepath.Join(top, name)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				at[name] = filepath.Join(dir, "s")
				greet(t, at[name])
			}
			t.Setenv("HOME", filepath.Join(top, "home"))
			s := wall.Spec{
				Kind: kind, Home: t.TempDir(), Mounts: []wall.Mount{{From: self}, {From: filepath.Join(top, "worktree"), Write: true}, {From: filepath.Join(top, "read")}},
				Caches: []wall.Cache{
					{Lower: filepath.Join(top, "cache"), Upper: filepath.Join(top, "state", "cache")},
					{Lower: filepath.Join(top, "downloads"), Upper: filepath.Join(top, "state", "downloads"), Downloads: true},
				},
			}
			for name, path := range at {
				want := "no"
				switch {
				case kind == wall.Landlock:
				case name == "worktree", name == "read", name == "downloads" && kind == wall.Bwrap: // it has no overlays
					want = "hello"
				}
				if out, _ := sh(t, s, self+" connect "+path); out != want {
					t.Errorf("%s: %q, want %q", name, out, want)
				}
			}
		})
	}
}

// greet says hello to whoever connects to a socket at a path.
func greet(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "hello")
			_ = c.Close()
		}
	}()
}
