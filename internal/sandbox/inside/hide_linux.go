package inside

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// cover puts something empty over what is not to be seen.
func (o *Order) cover(t *tree) error {
	for _, m := range o.Wall.Mounts {
		if !m.Cover {
			continue
		}
		if err := o.pin(t, m.At); err != nil {
			return fmt.Errorf("hide %s: %w", m.At, err)
		}
		fd, err := t.open(strings.TrimPrefix(filepath.Clean(m.At), "/"))
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fmt.Errorf("hide %s: %w", m.At, err)
		}
		if err := hide(fd); err != nil {
			return fmt.Errorf("hide %s: %w", m.At, err)
		}
	}
	return nil
}

// pin makes a mount of each directory between the mount that holds a path and the path: a
// directory can be moved away, with what it hides, and a mount cannot.
func (o *Order) pin(t *tree, at string) error {
	top := ""
	for _, m := range o.Wall.Mounts {
		if in := cmp.Or(m.At, m.From); !m.Cover && len(in) > len(top) && strings.HasPrefix(at, in+"/") {
			top = in
		}
	}
	if top == "" {
		return nil
	}
	for dir := top; ; {
		rest := strings.TrimPrefix(at, dir+"/")
		next, _, more := strings.Cut(rest, "/")
		if !more {
			return nil
		}
		dir += "/" + next
		fd, err := t.open(strings.TrimPrefix(dir, "/"))
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err == nil {
			err = onto(fd)
		}
		if err != nil {
			return err
		}
	}
}

// onto binds a directory onto itself, and closes it.
func onto(at int) error {
	defer unix.Close(at)
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// hide attaches something empty at a descriptor, and closes it.
func hide(at int) error {
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	var fd int
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		fd, err = fresh("tmpfs", unix.MOUNT_ATTR_RDONLY, "size", "0", "mode", "0755")
	} else {
		fd, err = nothing()
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// nothing is an empty file that is attached nowhere.
func nothing() (int, error) {
	fs, err := fresh("tmpfs", 0, "size", "64k", "mode", "0755")
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	f, err := unix.Openat(fs, "empty", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o444)
	if err != nil {
		return -1, err
	}
	_ = unix.Close(f)
	// Before Linux 6.15 only what is attached somewhere can be cloned.
	if err := unix.MoveMount(fs, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return -1, err
	}
	defer unix.Unmount("/proc", unix.MNT_DETACH) // it would go with this namespace's old root
	fd, err := unix.OpenTree(fs, "empty", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return fd, protect(fd, "", unix.AT_EMPTY_PATH, unix.MOUNT_ATTR_RDONLY)
}
