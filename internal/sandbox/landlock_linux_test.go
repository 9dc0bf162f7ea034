package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// needsLandlock skips where the kernel does not have it, unless RALPH_SANDBOX_REQUIRE
// names it.
func needsLandlock(t *testing.T) {
	t.Helper()
	if err := landlock(inside.LandlockABI()); err != nil {
		if slices.Contains(strings.Split(os.Getenv("RALPH_SANDBOX_REQUIRE"), ","), "landlock") {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: %v", err)
	}
}

// fencedShell runs a script with landlock, and returns what it printed and how it ended.
func fencedShell(ctx context.Context, t *testing.T, spec wall.Spec, script string, env ...string) (string, process.Result, error) {
	t.Helper()
	needsLandlock(t)
	spec.Name, spec.Kind = "box", wall.Landlock
	out := filepath.Join(t.TempDir(), "out")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	res, rerr := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", script}, Dir: "/", Env: append([]string{"PATH=/usr/bin:/bin", "HOME=" + home}, env...),
		Stdout: out, Stderr: out, Time: time.Minute, Grace: time.Second, Wall: New(spec),
	})
	b, _ := os.ReadFile(out) // there is none if it did not start
	return string(b), res, rerr
}

// A landlock sandbox has a home and a directory for temporary files of its own, which go
// with it.
func TestLandlockHasPlacesOfItsOwn(t *testing.T) {
	home := t.TempDir()
	said, res, err := fencedShell(t.Context(), t, wall.Spec{Home: home}, `echo a > ~/a && echo b > $TMPDIR/b && mkdir $TMPDIR/shut && chmod 0 $TMPDIR/shut && echo $TMPDIR; exit 7`)
	if err != nil || res.Code != 7 {
		t.Fatalf("%v, %+v\n%s", err, res, said)
	}
	if b, err := os.ReadFile(filepath.Join(home, "a")); err != nil || string(b) != "a\n" {
		t.Errorf("its home: %q, %v", b, err)
	}
	if _, err := os.Stat(strings.TrimSpace(said)); !os.IsNotExist(err) {
		t.Errorf("%q is still there: %v", said, err)
	}
}
