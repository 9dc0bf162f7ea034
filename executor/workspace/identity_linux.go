package workspace

import (
	"io/fs"
	"syscall"
)

// identity is a file's inode and the time of its last change of any kind, in
// nanoseconds since 1970.
func identity(st fs.FileInfo) (ino uint64, ctime int64) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return sys.Ino, sys.Ctim.Nano()
}
