//go:build !linux

package workspace

import "io/fs"

// identity is not known on this system: a file's size and time have to do.
func identity(fs.FileInfo) (ino uint64, ctime int64) { return 0, 0 }
