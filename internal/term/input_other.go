//go:build !unix

package term

import "os"

func flushInput(*os.File) {}

func inputWaits(*os.File) bool { return false }
