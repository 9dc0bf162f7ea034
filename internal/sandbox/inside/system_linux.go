package inside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// etc are the names of /etc that programs need and that tell nothing.
var etc = []string{
	"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts", "inputrc", "java*", "jvm*", "ld.so.*",
	"localtime", "lsb-release", "magic*", "maven", "mime.types", "mke2fs.conf", "os-release", "perl", "pki/ca-trust", "pki/nssdb", "pki/tls/cert*",
	"pki/tls/openssl.cnf", "protocols", "python*", "rpc", "services", "shells", "ssl/cert*", "ssl/openssl.cnf", "terminfo", "timezone", "xdg",
}

// devices are those of /dev.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// system holds what every sandbox has of the machine's system.
func (o *Order) system() ([]source, error) {
	var out []source
	hold := func(path string, write bool) error {
		fd, dir, err := open(path, write)
		if err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
		out = append(out, source{at: path, fd: fd, dir: dir})
		return nil
	}
	for _, top := range topLevel() {
		if st, err := os.Lstat(top); err == nil && st.IsDir() {
			if err := hold(top, false); err != nil {
				return nil, err
			}
		}
	}
	for _, pattern := range etc {
		names, _ := filepath.Glob("/etc/" + pattern) // the patterns are good
		for _, name := range names {
			st, err := os.Stat(name)
			if err != nil || !st.IsDir() && !st.Mode().IsRegular() {
				continue
			}
			if err := hold(name, false); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range devices {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+d, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err == nil { // devices stay devices
			err = protect(fd, "", unix.AT_EMPTY_PATH, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY) // what is read-only is the node, not the device
		}
		if err != nil {
			return nil, fmt.Errorf("mount /dev/%s: %w", d, err)
		}
		out = append(out, source{at: "/dev/" + d, fd: fd})
	}
	return out, nil
}

// topLevel are /usr and what belongs to it in the root of the machine.
func topLevel() []string {
	out := []string{"/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"}
	libs, _ := filepath.Glob("/lib*") // the pattern is good
	return append(out, libs...)
}

// furnish makes what the root itself holds: links, files, file systems in memory. It comes
// before anything of the machine is attached.
func (o *Order) furnish(t *tree) error {
	for _, top := range topLevel() {
		if to, err := os.Readlink(top); err == nil {
			if err := unix.Symlinkat(to, t.fd, strings.TrimPrefix(top, "/")); err != nil {
				return fmt.Errorf("link %s: %w", top, err)
			}
		}
	}
	size := tmpSize(o.Wall.Limits)
	for _, m := range []struct {
		at, mode string
		size     int64
	}{{"/dev", "0755", 1 << 20}, {"/dev/shm", "1777", size}, {"/tmp", "1777", size}, {"/run", "0755", size}} {
		fd, err := memory(m.size, m.mode)
		if err != nil {
			return err
		}
		if err := t.attach(source{at: m.at, fd: fd, dir: true}); err != nil {
			return err
		}
	}
	if err := o.kernel(t); err != nil {
		return err
	}
	for at, to := range map[string]string{
		"var/tmp": "/tmp", "var/run": "/run", "dev/ptmx": "pts/ptmx", "dev/fd": "/proc/self/fd",
		"dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2",
	} {
		if err := t.link(to, at); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"passwd":        fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", o.User, o.UID, o.GID, o.Home),
		"group":         fmt.Sprintf("%s:x:%d:\nnogroup:x:65534:\n", o.User, o.GID),
		"hosts":         "127.0.0.1 localhost\n::1 localhost\n",
		"hostname":      "sandbox\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
		"resolv.conf":   "# there is no resolver: the proxy looks names up\n",
	} {
		if err := t.write("etc/"+name, text); err != nil {
			return err
		}
	}
	return unix.Sethostname([]byte("sandbox"))
}

// kernel attaches a fresh /proc and terminals of its own.
func (o *Order) kernel(t *tree) error {
	fd, err := fresh("proc", unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	if err := t.attach(source{at: "/proc", fd: fd, dir: true}); err != nil {
		return err
	}
	if o.Root { // files of root below /proc are the kernel's root's, whatever the namespace
		for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs"} {
			if err := t.freeze("proc/" + name); err != nil {
				return err
			}
		}
		for _, name := range []string{"kcore", "kallsyms", "kpagecount", "kpageflags", "kpagecgroup", "slabinfo", "timer_list", "vmallocinfo"} {
			if fd, err := t.open("proc/" + name); err == nil {
				if err := hide(fd); err != nil {
					return fmt.Errorf("hide /proc/%s: %w", name, err)
				}
			}
		}
	}
	fd, err = fresh("devpts", unix.MOUNT_ATTR_NOEXEC, "ptmxmode", "0666", "mode", "0620")
	if err != nil {
		return err
	}
	return t.attach(source{at: "/dev/pts", fd: fd, dir: true})
}

// freeze makes what is at a path read-only, if it is there.
func (t *tree) freeze(at string) error {
	to, err := t.open(at)
	if err != nil {
		return nil //nolint:nilerr // this kernel does not have it
	}
	defer unix.Close(to)
	fd, err := unix.OpenTree(to, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err == nil {
		defer unix.Close(fd)
		err = protect(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY)
	}
	if err == nil {
		err = unix.MoveMount(fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	}
	if err != nil {
		return fmt.Errorf("protect /%s: %w", at, err)
	}
	return nil
}

func (t *tree) link(to, at string) error {
	dir, err := t.place(filepath.Dir("/"+at), true)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat(to, dir, filepath.Base(at)); err != nil {
		return fmt.Errorf("link /%s: %w", at, err)
	}
	return nil
}

func (t *tree) write(at, text string) error {
	dir, err := t.place(filepath.Dir("/"+at), true)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, filepath.Base(at), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return fmt.Errorf("write /%s: %w", at, err)
	}
	f := os.NewFile(uintptr(fd), at)
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
