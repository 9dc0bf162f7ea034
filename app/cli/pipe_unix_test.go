//go:build unix

package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe that nobody writes to is refused: to open it would take for ever.
func TestAPipeIsNoFile(t *testing.T) { // S0-150
	pipe := filepath.Join(t.TempDir(), "pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ralph", "validate", "--as", "bd", pipe).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "pipe.json is not a regular file") {
		t.Errorf("%v: %s", err, out)
	}
}
