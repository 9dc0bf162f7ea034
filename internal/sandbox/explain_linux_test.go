//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What bwrap complains of comes with what mends it.
func TestWhatBwrapSaysIsExplained(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"Unknown option --size": "0.8 or later",
		"Can't mount proc on /newroot/proc: Operation not permitted":                                                         "unmask=all",
		"No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.": "does not allow user namespaces",
		"Can't find source path /x: No such file or directory":                                                               "bwrap: Can't find source path /x",
	} {
		if err := explainBwrap(line); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A bwrap that others may write could be an agent's.
func TestOnlyRootsBwrapIsTaken(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "bwrap")
	if _, err := bwrap(at); err == nil || !strings.Contains(err.Error(), "apt install bubblewrap") {
		t.Errorf("there is none: %v", err)
	}
	if err := os.WriteFile(at, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	own := os.Geteuid() == 0
	if _, err := bwrap(at); own != (err == nil) {
		t.Errorf("it is this user's: %v", err)
	}
	if err := os.Chmod(at, 0o775); err != nil {
		t.Fatal(err)
	}
	off := (*Unavailable)(nil)
	if _, err := bwrap(at); !errors.As(err, &off) {
		t.Errorf("its group may write it: %v", err)
	}
}
