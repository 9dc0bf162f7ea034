//go:build !unix

package run

import "errors"

// FreeSpace is not asked where nothing can be applied.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
