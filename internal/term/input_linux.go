package term

import (
	"os"

	"golang.org/x/sys/unix"
)

func flushInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
