package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// TestAProgramThatIsALinkLeadsNowhere: whoever can write where a program is looked for
// could have every file mounted that the link names.
func TestAProgramThatIsALinkLeadsNowhere(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "deploy.sh"), []byte("#!/bin/sh\necho secret\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "deploy.sh"), filepath.Join(dir, "gate.sh")); err != nil {
		t.Fatal(err)
	}
	if out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{"./gate.sh"}, Dir: dir}); strings.Contains(out, "secret") || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestAProgramIsReachedThroughLinks: a directory of PATH can be one, and a program in it, with
// ".." in its target; what npm installed needs its neighbours. A profile of Nix looks so.
func TestAProgramIsReachedThroughLinks(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"real/bin", "real/node_modules/agent", "real/node_modules/beside"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"agent/agent": "#!/bin/sh\n. ${0%/bin/*}/node_modules/beside/said\n", "beside/said": "echo it runs\n"} {
		if err := os.WriteFile(filepath.Join(top, "real/node_modules", name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{
		"real/bin/agent": "../node_modules/agent/agent", "here": "real", "twice": "here/bin/agent",
	} {
		if err := os.Symlink(to, filepath.Join(top, at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
		for _, path := range []string{"real/bin/agent", "here/bin/agent", "twice"} {
			for _, on := range []string{"", filepath.Dir(path)} {
				t.Run(string(kind)+"/"+path+"/"+on, func(t *testing.T) {
					p := process.Spec{Argv: []string{filepath.Join(top, path)}}
					if on != "" {
						p.Env = []string{"PATH=" + filepath.Join(top, on) + ":/usr/bin:/bin"}
					}
					out, _, err := begin(t, wall.Spec{Kind: kind}, p)
					missing(t, err)
					if out != "it runs" && path != "twice" || err != nil { // twice has no neighbours beside it
						t.Errorf("%q, %v", out, err)
					}
				})
			}
		}
	}
}

// TestALinkOfALinkIsFollowedOnlyWhereNobodyWrites: what a program inside may have put there
// would choose what the next one sees.
func TestALinkOfALinkIsFollowedOnlyWhereNobodyWrites(t *testing.T) {
	dir, other, bin := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "deploy.sh"), []byte("#!/bin/sh\necho secret\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for at, to := range map[string]string{filepath.Join(bin, "agent"): filepath.Join(dir, "agent"), filepath.Join(dir, "agent"): filepath.Join(other, "deploy.sh")} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, err := begin(t, wall.Spec{}, process.Spec{Argv: []string{filepath.Join(bin, "agent")}, Dir: dir}); strings.Contains(out, "secret") || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestALinkInItsHomeStopsNothing: a program can plant one where the next one's mounts go.
func TestALinkInItsHomeStopsNothing(t *testing.T) {
	home, at := t.TempDir(), filepath.Join(os.Getenv("HOME"), "planted", "tree")
	s := wall.Spec{Home: home, Mounts: []wall.Mount{{From: t.TempDir(), At: at}}}
	sh(t, s, "cd && mv planted away && ln -s /etc planted")
	if out, _ := sh(t, s, "ls "+at+" && echo there"); out != "there" {
		t.Errorf("got %q", out)
	}
}

// TestACacheCanBeWrittenToBelowAToolchain: ~/go/bin is in PATH, and ~/go/pkg/mod a cache.
func TestACacheCanBeWrittenToBelowAToolchain(t *testing.T) {
	home := t.TempDir()
	mod := filepath.Join(home, "go", "pkg", "mod")
	for _, dir := range []string{mod, filepath.Join(home, "go", "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", filepath.Join(home, "go", "bin")+":"+os.Getenv("PATH"))
	s := wall.Spec{Caches: []wall.Cache{{Lower: mod, Upper: filepath.Join(t.TempDir(), "upper")}}}
	if out, _ := sh(t, s, "touch "+mod+"/x && echo written"); out != "written" {
		t.Errorf("got %q", out)
	}
}

// TestAHiddenFileIsEmpty: it can be read.
func TestAHiddenFileIsEmpty(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ".env")
	if err := os.WriteFile(name, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := wall.Spec{Mounts: []wall.Mount{{From: dir}, {At: name, Cover: true}}}
	if out, _ := sh(t, s, "cat "+name+" && echo empty"); out != "empty" {
		t.Errorf("got %q", out)
	}
}

// TestAHiddenFileStaysHidden: what it lies in can be moved by one program, and read by
// the next.
func TestAHiddenFileStaysHidden(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "deploy", ".env")
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := wall.Spec{Mounts: []wall.Mount{{From: dir, Write: true}, {At: name, Cover: true}}}
	sh(t, s, "mv "+dir+"/deploy "+dir+"/moved")
	if out, _ := sh(t, s, "cat "+dir+"/moved/.env"); strings.Contains(out, "secret") {
		t.Errorf("got %q", out)
	}
}
