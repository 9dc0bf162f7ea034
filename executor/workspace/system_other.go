//go:build !unix

package workspace

import (
	"math"
	"syscall"
)

// free is not known here: the floor does not apply.
func free(string) (int64, error) { return math.MaxInt64, nil }

func apart() *syscall.SysProcAttr { return nil }
