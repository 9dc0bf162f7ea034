//go:build !unix

package main

import "errors"

// freeSpace is not asked where nothing can be applied.
func freeSpace(string) (int64, error) { return 0, errors.ErrUnsupported }
