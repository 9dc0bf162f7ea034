//go:build !linux

package process

// becomeSubreaper does nothing where there is no such thing.
func becomeSubreaper(int) {}
