//go:build !unix

package run

import "errors"

// FreeSpace returns errors.ErrUnsupported: nothing can be applied on this system.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
