package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// TestALinkInACacheLeadsNowhere: a program leaves links where the cache of the next one is
// written to. That one sees them, and nothing of the user's behind them.
func TestALinkInACacheLeadsNowhere(t *testing.T) {
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
		for _, downloads := range []bool{true, false} {
			t.Run(string(kind)+map[bool]string{true: "/downloads"}[downloads], func(t *testing.T) {
				top := t.TempDir()
				user, cache := filepath.Join(top, "user"), filepath.Join(top, "home", "cache")
				for name, text := range map[string]string{filepath.Join(user, "key"): "secret", filepath.Join(cache, "mod", "key"): "theirs"} {
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				t.Setenv("HOME", filepath.Join(top, "home"))
				s := wall.Spec{Kind: kind, Home: t.TempDir(), Caches: []wall.Cache{{Lower: cache, Upper: filepath.Join(top, "state", "upper"), Downloads: downloads}}}
				sh(t, s, "cd ~/cache && ln -s "+user+" planted; rm -rf mod && ln -s "+user+" mod; ln -s "+user+"/new new; ln -s / root; ls >&2; true")
				out, _ := sh(t, s, "cd ~/cache && cat planted/key mod/key root"+user+"/key; echo planted > planted/x; echo planted > mod/x; echo planted > new; echo done")
				if strings.Contains(out, "secret") || !strings.HasSuffix(out, "done") {
					t.Errorf("%q", out)
				}
				names, err := os.ReadDir(user)
				if b, _ := os.ReadFile(filepath.Join(cache, "mod", "key")); err != nil || len(names) != 1 || string(b) != "theirs" {
					t.Errorf("the user's: %v, %v, %q", names, err, b)
				}
			})
		}
	}
}

// TestALinkInACacheIsNotMountedOn: what lies in the cache is mounted in its own place or not
// at all, whatever a program has put there.
func TestALinkInACacheIsNotMountedOn(t *testing.T) {
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap} {
		t.Run(string(kind), func(t *testing.T) {
			top := t.TempDir()
			cache, tool := filepath.Join(top, "cache"), filepath.Join(top, "tool")
			for _, dir := range []string{filepath.Join(cache, "mod"), tool} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s := wall.Spec{Kind: kind, Caches: []wall.Cache{{Lower: cache, Upper: filepath.Join(top, "state", "upper")}}}
			sh(t, s, "cd "+cache+" && rm -rf mod && ln -s /etc mod")
			s.Mounts = []wall.Mount{{From: tool, At: filepath.Join(cache, "mod", "ssl")}}
			out, _, err := begin(t, s, process.Spec{Argv: []string{"/bin/true"}})
			missing(t, err)
			if err == nil || !strings.Contains(err.Error(), "a symbolic link is there, or on the way") {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// TestWhatACacheSaysOfItselfIsNotBelieved: as long as the user's is not there a program
// writes the layer itself, with attributes that overlayfs would take for its own.
func TestWhatACacheSaysOfItselfIsNotBelieved(t *testing.T) {
	top := t.TempDir()
	cache, upper := filepath.Join(top, "cache"), filepath.Join(top, "state", "upper")
	for name, text := range map[string]string{filepath.Join(top, "user", "key"): "secret", filepath.Join(upper, "mod", "mine"): "mine", filepath.Join(upper, "file"): ""} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for at, attrs := range map[string][]string{"mod": {"redirect", "/../user", "origin", "x"}, "file": {"metacopy", "", "redirect", "/../user/key"}} {
		for a := range slices.Chunk(attrs, 2) {
			if err := unix.Setxattr(filepath.Join(upper, at), "user.overlay."+a[0], []byte(a[1]), 0); err != nil {
				t.Skipf("SKIPPED: no such attributes here: %v", err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(cache, "mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := wall.Spec{Caches: []wall.Cache{{Lower: cache, Upper: upper}}}
	if out, _ := sh(t, s, "cat "+cache+"/mod/* "+cache+"/file 2>/dev/null; echo done"); strings.Contains(out, "secret") || !strings.HasSuffix(out, "done") {
		t.Errorf("%q", out)
	}
}
