package inside

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// system holds what every sandbox has of the machine's system.
func (o *Order) system(t Table) ([]source, error) {
	var out []source
	for _, path := range t.System {
		fd, dir, err := open(path, false)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", path, err)
		}
		out = append(out, source{at: path, fd: fd, dir: dir})
	}
	for _, d := range Devices {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+d, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err == nil { // devices stay devices
			err = protect(fd, "", unix.AT_EMPTY_PATH, deviceAttrs)
		}
		if err != nil {
			return nil, fmt.Errorf("mount /dev/%s: %w", d, err)
		}
		out = append(out, source{at: "/dev/" + d, fd: fd})
	}
	return out, nil
}

// deviceAttrs are those of a device's mount. What is read-only is the node, not the device.
const deviceAttrs = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY

// furnish makes what the root itself holds: links, files, file systems in memory. It comes
// before anything of the machine is attached.
func (o *Order) furnish(t *tree, has Table) error {
	for _, m := range append([]Memory{{"/dev", "0755", 1 << 20}}, has.Memory...) {
		fd, err := memory(m.Size, m.Mode)
		if err != nil {
			return err
		}
		if err := t.attach(source{at: m.At, fd: fd, dir: true}); err != nil {
			return err
		}
	}
	if err := o.kernel(t); err != nil {
		return err
	}
	for _, l := range slices.Concat(DeviceLinks, has.Links) {
		if err := t.link(l.To, l.At); err != nil {
			return err
		}
	}
	for _, f := range has.Files {
		if err := t.write(f.At, f.Text); err != nil {
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
	if o.Root {
		if err := t.coverProc(); err != nil {
			return err
		}
	}
	return t.terminals()
}

// terminals attaches an empty /dev/pts.
func (t *tree) terminals() error {
	fd, err := fresh("devpts", unix.MOUNT_ATTR_NOEXEC, "ptmxmode", "0666", "mode", "0620")
	if err != nil {
		return err
	}
	return t.attach(source{at: "/dev/pts", fd: fd, dir: true})
}

// coverProc keeps root from files of root below /proc: they are the kernel's root's,
// whatever the namespace.
func (t *tree) coverProc() error {
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
	return nil
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
	dir, err := t.place(filepath.Dir(at), true)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if err := unix.Symlinkat(to, dir, filepath.Base(at)); err != nil {
		return fmt.Errorf("link %s: %w", at, err)
	}
	return nil
}

func (t *tree) write(at, text string) error {
	dir, err := t.place(filepath.Dir(at), true)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.Openat(dir, filepath.Base(at), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", at, err)
	}
	f := os.NewFile(uintptr(fd), at)
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
