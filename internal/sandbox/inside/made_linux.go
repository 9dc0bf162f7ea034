package inside

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// made completes what bwrap has made, and checks it: bwrap goes by paths, and a path may
// lead elsewhere by now.
func (o *Order) made() error {
	// Bwrap is started with signals blocked. This thread is the one that starts the program.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	name, _ := unix.BytePtrFromString("ralph") // it is a descriptor's number otherwise
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	if o.Made.Stderr > 0 {
		if err := unix.Dup3(o.Made.Stderr, 2, 0); err != nil {
			return fmt.Errorf("dup3: %w", err)
		}
	}
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	t := &tree{fd: root}
	for _, s := range o.Made.Seen {
		if err := t.check(s); err != nil {
			return err
		}
	}
	if !o.Root {
		return nil
	}
	for _, d := range Devices {
		if err := protect(unix.AT_FDCWD, "/dev/"+d, 0, deviceAttrs); err != nil {
			return fmt.Errorf("protect /dev/%s: %w", d, err)
		}
	}
	if err := t.coverProc(); err != nil {
		return err
	}
	return t.terminals()
}

// check compares what is at a place with what is to be there.
func (t *tree) check(s Seen) error {
	fd, err := t.open(strings.TrimPrefix(s.At, "/"))
	if err != nil {
		return fmt.Errorf("mount %s: %w", s.At, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("mount %s: %w", s.At, err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return fmt.Errorf("mount %s: %w", s.At, err)
	}
	same := uint64(st.Dev) == s.Dev && st.Ino == s.Ino //nolint:unconvert // Dev has another size elsewhere
	switch {
	case same == s.Hidden:
		return fmt.Errorf("mount %s: it was changed meanwhile: %w", s.At, unix.EAGAIN)
	case !s.Write && fs.Flags&unix.ST_RDONLY == 0, fs.Flags&unix.ST_NOSUID == 0:
		return fmt.Errorf("mount %s: bwrap did not protect it", s.At)
	}
	return nil
}

// Place makes sure that a path below a directory of the machine is one to mount on, without
// following links: it makes what is missing. With own it removes links that are in the way.
func Place(top, at string, dir, own bool) error {
	t, err := below(top)
	if err != nil {
		return err
	}
	defer unix.Close(t.fd)
	if !own {
		t.home = "none" // no path begins with it
	}
	fd, err := t.place(at, dir)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// Look returns what is at a path below a directory of the machine, without following links;
// ok is false if nothing is.
func Look(top, at string) (seen Seen, dir, ok bool, err error) {
	t, err := below(top)
	if err != nil {
		return seen, false, false, err
	}
	defer unix.Close(t.fd)
	fd, err := t.open(strings.TrimPrefix(filepath.Clean("/"+at), "/"))
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return seen, false, false, nil
	}
	if err != nil {
		return seen, false, false, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return seen, false, false, err
	}
	return Seen{Dev: uint64(st.Dev), Ino: st.Ino}, st.Mode&unix.S_IFMT == unix.S_IFDIR, true, nil //nolint:unconvert // as above
}

// below is a directory of the machine as a tree. The caller closes it.
func below(top string) (*tree, error) {
	fd, err := unix.Open(top, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", top, err)
	}
	return &tree{fd: fd}, nil
}
