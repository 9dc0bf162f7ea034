//go:build unix && !linux

package process

const hasProc = false

func procMounted() bool { return false }

// Supported says why programs cannot be run here; nil where they can.
func Supported() error { return nil }
