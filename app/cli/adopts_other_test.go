//go:build !linux

package cli

// adopts is false: ralph becomes a subreaper only on Linux.
func adopts() bool { return false }
