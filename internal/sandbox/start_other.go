//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"os/exec"
	"runtime"

	"github.com/ralph-compiler/ralph/internal/process"
)

// Start refuses: there is no sandbox here.
func (s *Sandbox) Start(*exec.Cmd, bool) (process.Inside, error) {
	return nil, &Unavailable{Kind: s.spec.Kind, Why: "there is no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH + " yet"}
}

// LandlockABI is 0: there is none here.
func LandlockABI() int { return 0 }

// Weak is "": see LandlockABI.
func Weak() string { return "" }

// SweepTemp finds nothing: see LandlockABI.
func SweepTemp() error { return nil }
