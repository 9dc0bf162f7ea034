package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// TestNoWayThroughWhatProgramsWriteLeadsOut: a directory or file that the user has named, or
// that PATH has, is a link of the user's into a directory that programs write to, and there
// one of them has put a link of its own.
func TestNoWayThroughWhatProgramsWriteLeadsOut(t *testing.T) {
	const told = "cat key w/key planted/key there/key bin/key bin/agent cur/agent tool/key seen/planted/key real/key user/agent ../user/agent ../user/key 2>&1; true"
	w := []wall.Mount{{From: "w", Write: true}}
	for _, one := range []struct {
		name    string
		links   map[string]string // at, below the top: to
		mounts  []wall.Mount      // below the top
		path    string            // directory of PATH below the top
		program string            // below the top; "" is a shell
	}{
		{"what the policy names is one", map[string]string{"tool": "w/planted", "w/planted": "user"}, []wall.Mount{{From: "w", Write: true}, {From: "tool", Optional: true}}, "", ""},
		{"what may be written is one", map[string]string{"tool": "w/planted", "w/planted": "user"}, []wall.Mount{{From: "w", Write: true}, {From: "tool", Write: true, Optional: true}}, "", ""},
		{"a directory of PATH is one", map[string]string{"bin": "w/planted", "w/planted": "user"}, w, "bin", ""},
		{"a directory of PATH is planted", map[string]string{"w/planted": "user"}, w, "w/planted", ""},
		{"a program's directory is one", map[string]string{"bin": "w/planted", "w/planted": "user"}, w, "", "bin/agent"},
		{"a program's link leads through one", map[string]string{"x/agent": "cur/agent", "cur": "w/planted", "w/planted": "user"}, w, "", "x/agent"},
		{"a program's link has two names", map[string]string{"x/agent": "w/planted/agent", "named": "w", "w/planted": "user"}, []wall.Mount{{From: "named", Write: true}}, "", "x/agent"},
		{"it is elsewhere inside", map[string]string{"x/agent": "w/planted/agent", "w/planted": "user"}, []wall.Mount{{From: "w", At: "seen", Write: true}}, "", "x/agent"},
		{"a loop", map[string]string{"x/agent": "w/a", "w/a": "w/b", "w/b": "w/a"}, w, "", "x/agent"},
		{"the packages beside a program are one", map[string]string{"x/agent": "y/node_modules/p/agent", "y/node_modules": "w/planted", "w/planted": "user/node_modules"}, w, "", "x/agent"},
	} {
		for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
			t.Run(string(kind)+"/"+one.name, func(t *testing.T) {
				top := t.TempDir()
				for _, dir := range []string{"user/node_modules/p", "w", "x", "y"} {
					if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				for name, text := range map[string]string{"key": "secret", "agent": "#!/bin/sh\necho secret\n", "node_modules/p/agent": "#!/bin/sh\necho secret\n"} {
					if err := os.WriteFile(filepath.Join(top, "user", name), []byte(text), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				for at, to := range one.links {
					if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, at)); err != nil {
						t.Fatal(err)
					}
				}
				s := wall.Spec{Kind: kind}
				for _, m := range one.mounts {
					m.From = filepath.Join(top, m.From)
					if m.At != "" {
						m.At = filepath.Join(top, m.At)
					}
					s.Mounts = append(s.Mounts, m)
				}
				p := process.Spec{Argv: []string{"/bin/sh", "-c", "cd " + top + " && " + told}}
				if one.program != "" {
					p.Argv = []string{filepath.Join(top, one.program)}
				}
				if one.path != "" {
					p.Env = []string{"PATH=" + filepath.Join(top, one.path) + ":/usr/bin:/bin"}
				}
				out, _, err := begin(t, s, p)
				missing(t, err)
				if one.program == "" && one.mounts[len(one.mounts)-1].From == "w" && err != nil { // it goes on without
					t.Error(err)
				}
				if strings.Contains(out, "secret") {
					t.Errorf("%q, %v", out, err)
				}
			})
		}
	}
}

// TestLinksOfTheUserAreFollowed: what the policy names can be one, also into what may be written,
// and so can a directory of PATH.
func TestLinksOfTheUserAreFollowed(t *testing.T) {
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			top := t.TempDir()
			for _, dir := range []string{"files/tool", "files/bin", "other"} {
				if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range map[string]string{"files/tool/set": "set ", "other/set": "other ", "files/bin/run": "#!/bin/sh\necho runs\n"} {
				if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for at, to := range map[string]string{"named": "files", "tool": "files/tool", "bin": "named/bin", "there": "other/../other"} {
				if err := os.Symlink(to, filepath.Join(top, at)); err != nil {
					t.Fatal(err)
				}
			}
			s := wall.Spec{Kind: kind, Mounts: []wall.Mount{
				{From: filepath.Join(top, "named"), Write: true},
				{From: filepath.Join(top, "tool")},
				{From: filepath.Join(top, "there"), Optional: true},
				{From: filepath.Join(top, "nothing"), Optional: true},
			}}
			p := process.Spec{
				Argv: []string{"/bin/sh", "-c", "cd " + top + " && cat tool/set there/set && touch named/x && run"},
				Env:  []string{"PATH=" + filepath.Join(top, "bin") + ":/usr/bin:/bin"},
			}
			out, _, err := begin(t, s, p)
			missing(t, err)
			if out != "set other runs" || err != nil {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// TestHomebrewsProgramsRun: each is a link, to what finds the rest beside itself or in opt.
func TestHomebrewsProgramsRun(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"Cellar/tool/1.0/bin/tool": "#!/bin/sh\ncat " + top + "/opt/tool/libexec/said\n", "Cellar/tool/1.0/libexec/said": "it runs",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for at, to := range map[string]string{"bin/tool": "../Cellar/tool/1.0/bin/tool", "opt/tool": "../Cellar/tool/1.0"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(top, at)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(top, "bin")+":"+os.Getenv("PATH"))
	if out, _ := sh(t, wall.Spec{}, "tool"); out != "it runs" {
		t.Errorf("got %q", out)
	}
}

// TestWhatPipInstalledForTheUserIsThere: and which versions asdf takes, and nothing else beside it.
func TestWhatPipInstalledForTheUserIsThere(t *testing.T) {
	for _, kind := range []wall.Kind{wall.Namespaces, wall.Bwrap, wall.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			home := t.TempDir()
			for name, text := range map[string]string{".local/lib/python3.99/site-packages/tool.py": "tool ", ".local/lib/other/key": "secret", ".local/share/key": "secret", ".tool-versions": "versions"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("HOME", home)
			s := wall.Spec{Kind: kind, Home: t.TempDir()}
			if out, _ := sh(t, s, `cat "${PYTHONUSERBASE:-$HOME/.local}"/lib/python3.99/site-packages/tool.py `+home+`/.tool-versions; cat `+home+`/.local/lib/other/key `+home+`/.local/share/key 2>/dev/null; true`); out != "tool versions" {
				t.Errorf("%q", out)
			}
		})
	}
}
