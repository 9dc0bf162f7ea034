package cli

import (
	"syscall"
)

const mntDetach = syscall.MNT_DETACH

// mountTmpfs mounts a small disk.
func mountTmpfs(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
}
