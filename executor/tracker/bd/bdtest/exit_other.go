//go:build !linux

package bdtest

import "os"

func exit(code int) { os.Exit(code) }
