//go:build !linux

package temptest

// Pin does nothing here.
func Pin(func(func())) {}
