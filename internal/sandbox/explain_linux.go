package sandbox

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// setting is one of the kernel's, "" if it does not have it.
func setting(path string) string {
	b, _ := os.ReadFile("/proc/sys/" + path) // most machines lack most of them
	return strings.TrimSpace(string(b))
}

// explain says what on this machine is in the way of namespaces, and what mends it. Other
// errors are unchanged.
func explain(err error) error {
	off := func(why, mend string) error { return &Unavailable{Kind: wall.Namespaces, Why: why, Mend: mend} }
	said := err.Error()
	switch {
	case setting("kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0:
		return off("user namespaces are off here (kernel.unprivileged_userns_clone = 0)", "sysctl -w kernel.unprivileged_userns_clone=1")
	case setting("user/max_user_namespaces") == "0":
		return off("user namespaces are off here (user.max_user_namespaces = 0)", "sysctl -w user.max_user_namespaces=10000")
	case errors.Is(err, syscall.ENOSPC):
		return off("all user namespaces that this machine allows are in use, or they nest too deeply", "sysctl -w user.max_user_namespaces=10000")
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0:
		return off("AppArmor lets only programs with a profile make user namespaces (Ubuntu 24.04 and later)", "apt install bubblewrap, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
	case strings.Contains(said, "make a proc:"):
		return off("ralph is in a container whose /proc is covered", "start it with --security-opt unmask=all, or with --sandbox none if the container is your sandbox")
	case errors.Is(err, syscall.EPERM):
		return off("this machine, or the container that ralph is in, does not allow user namespaces", "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or --sandbox none if the container is your sandbox")
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), strings.Contains(said, "function not implemented"):
		return off("the kernel lacks what is needed ("+said+")", "use Linux 5.12 or later, with user namespaces")
	}
	return err
}
