//go:build unix

package regular

import "syscall"

// noFollow makes an open fail where the last part of the path is a link.
const noFollow = syscall.O_NOFOLLOW
