//go:build !unix

package process

import (
	"context"
	"errors"
)

// Supported says why programs cannot be run here; nil where they can.
func Supported() error {
	return errors.New("agents and gates run on Linux and macOS only; everything but apply works here")
}

// Run refuses: without process groups and signals, survivors could not be ended.
func Run(context.Context, Spec) (Result, error) { return Result{}, &NotStarted{Supported()} }

// Sweep finds nothing where nothing can be started.
func Sweep(string, ...string) int { return 0 }

// SweepDir finds nothing here.
func SweepDir(string, string) int { return 0 }

// Guard has nothing to guard here.
func Guard() error { return nil }

// EndGuard has nothing to end here.
func EndGuard() {}

// OnGuardLost does nothing on this system.
func OnGuardLost(func()) {}

// GuardMark is the environment variable set in every process that ralph starts.
const GuardMark = "RALPH_GUARD"

// ToolMark marks nothing here.
func ToolMark() string { return GuardMark + "=" }

// Survivors finds nothing here.
func Survivors(string, ...string) []Survivor { return nil }
