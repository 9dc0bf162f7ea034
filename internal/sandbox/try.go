package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Overlays reports whether a sandbox can show a directory of the user with what is written
// kept apart in a directory below dir; without, see wall.Cache.
func Overlays(ctx context.Context, kind wall.Kind, dir string) (has bool, err error) {
	top, err := os.MkdirTemp(dir, "overlay-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	lower := filepath.Join(top, "lower")
	if err := os.MkdirAll(filepath.Join(lower, "theirs"), 0o700); err != nil {
		return false, err
	}
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", `test -d "$1/theirs"`, "sh", lower}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Time: startTime,
		Wall: New(wall.Spec{Name: string(kind), Kind: kind, Caches: []wall.Cache{{Lower: lower, Upper: filepath.Join(top, "upper")}}}),
	})
	if err == nil && res.Code == 0 {
		has = true
	}
	// overlayfs leaves a directory without permissions.
	_ = os.Chmod(filepath.Join(top, "upper.work", "work"), 0o700)
	return has, err
}

// Try makes a sandbox of a kind, runs nothing of use in it, and says how long that took.
// The error says why there is none, an *Unavailable what mends it.
func Try(ctx context.Context, kind wall.Kind) (time.Duration, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	res, err := process.Run(ctx, process.Spec{
		Argv: []string{"/bin/sh", "-c", "exit 42"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home}, Time: startTime,
		Wall: New(wall.Spec{Name: string(kind), Kind: kind}),
	})
	took := time.Since(begun)
	if err == nil && res.Code != 42 {
		err = errors.New("a program in it did not run to its end")
	}
	return took, err
}
