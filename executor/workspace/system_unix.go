//go:build unix

package workspace

import (
	"syscall"
)

// FreeSpace returns how many bytes the user can still write below dir.
func FreeSpace(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
