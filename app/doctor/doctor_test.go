package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// A program that hangs, with a child that keeps its output open, does not hang doctor.
func TestDoctorDoesNotWaitForAProgramThatHangs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	path := filepath.Join(t.TempDir(), "hangs")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsleep 60\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if line := firstLine(ctx, path, "--version"); line != "" {
		t.Errorf("got %q", line)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}
