//go:build !linux

package sandboxtest

// Main returns: there are attacks on Linux only.
func Main(levels map[string]Level) {}
