//go:build !linux

package temptest

func inMemory() string { return "" }
