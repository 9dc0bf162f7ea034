//go:build !unix

package workspace

import "errors"

// FreeSpace returns errors.ErrUnsupported: it is not known here.
func FreeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
