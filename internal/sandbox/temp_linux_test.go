//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A directory that its maker, who was killed, left behind is removed by a later ralph; those
// of sandboxes that live stay, and so does what only has such a name.
func TestWhatLandlockLeftIsSwept(t *testing.T) {
	top, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", top)
	made := func() *temp {
		t.Helper()
		one, err := makeTemp()
		if err == nil {
			err = os.MkdirAll(filepath.Join(one.dir, "closed", "mine"), 0o700)
		}
		if err == nil {
			err = os.Chmod(filepath.Join(one.dir, "closed"), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	lives, left := made(), made()
	if err := errors.Join(
		os.WriteFile(filepath.Join(top, heldTemp+"file"), nil, 0o600),
		os.Symlink(elsewhere, filepath.Join(top, heldTemp+"link")),
		os.WriteFile(filepath.Join(elsewhere, "mine"), nil, 0o600),
		left.free(), // as its death does
	); err != nil {
		t.Fatal(err)
	}
	sweep := func(want ...string) {
		t.Helper()
		if err := SweepTemp(); err != nil {
			t.Error(err)
		}
		all, err := os.ReadDir(top)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range all {
			got = append(got, d.Name())
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	sweep(filepath.Base(lives.dir), heldTemp+"file", heldTemp+"link")
	if err := errors.Join(lives.remove(), lives.free(), left.free()); err != nil {
		t.Error(err)
	}
	sweep(heldTemp+"file", heldTemp+"link")
	if _, err := os.Stat(filepath.Join(elsewhere, "mine")); err != nil {
		t.Error(err)
	}
}
