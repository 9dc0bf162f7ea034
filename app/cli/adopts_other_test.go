//go:build !linux

package cli

// adopts is false: only Linux has subreapers.
func adopts() bool { return false }
