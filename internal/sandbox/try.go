package sandbox

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/wall"
)

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
