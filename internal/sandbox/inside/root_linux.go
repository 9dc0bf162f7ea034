package inside

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/wall"
)

// A source is something that is going to be attached, held by descriptor: no path of the
// machine is walked twice.
type source struct {
	at  string // absolute path inside
	fd  int    // a mount that is attached nowhere yet
	dir bool
}

// tree is the new root while it is being made.
type tree struct {
	fd   int
	home string // of the program, a path inside
}

// root makes a root of its own for this process and moves into it.
func (o *Order) root() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	has := o.Table()
	sources, err := o.sources(has)
	if err != nil {
		return err
	}
	t, at, err := newRoot()
	if err != nil {
		return err
	}
	t.home = o.Home
	if err := o.furnish(t, has); err != nil {
		return err
	}
	for _, s := range sources {
		if err := t.attach(s); err != nil {
			return err
		}
	}
	if err := o.cover(t); err != nil {
		return err
	}
	return enter(at)
}

// newRoot attaches an empty file system over a directory that every machine has.
func newRoot() (*tree, string, error) {
	at := "/tmp"
	if _, err := os.Stat(at); err != nil {
		at = "/usr"
	}
	fd, err := fresh("tmpfs", 0, "size", "4m", "mode", "0755")
	if err != nil {
		return nil, "", fmt.Errorf("make a root: %w", err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return nil, "", fmt.Errorf("attach the root: %w", err)
	}
	_ = unix.Close(fd)
	fd, err = unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return &tree{fd: fd}, at, err
}

// enter makes the new root the root, lets the old one go, and makes it read-only.
func enter(at string) error {
	if err := os.Chdir(at); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let the old root go: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return protect(unix.AT_FDCWD, "/", 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// fresh makes a file system that is attached nowhere. options are names and values, ""
// for a name alone.
func fresh(kind string, attrs int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fsopen %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for i := 0; i+1 < len(options); i += 2 {
		var err error
		if options[i+1] == "" {
			err = unix.FsconfigSetFlag(fs, options[i])
		} else {
			err = unix.FsconfigSetString(fs, options[i], options[i+1])
		}
		if err != nil {
			return -1, fmt.Errorf("%s: option %s: %w", kind, options[i], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("make a %s: %w", kind, err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attrs|unix.MOUNT_ATTR_NOSUID)
	if err != nil {
		return -1, fmt.Errorf("fsmount %s: %w", kind, err)
	}
	return fd, nil
}

// memory is a file system in memory.
func memory(size int64, mode string) (int, error) {
	return fresh("tmpfs", unix.MOUNT_ATTR_NODEV, "size", strconv.FormatInt(size, 10), "nr_inodes", "1m", "mode", mode)
}

// protect sets attributes of a mount and of all below it.
func protect(dir int, path string, flags uint, attrs uint64) error {
	return unix.MountSetattr(dir, path, flags, &unix.MountAttr{Attr_set: attrs})
}

// direct opens what is at a path of the machine that leads over no link: one that is there now
// was put there since the path was looked at.
func direct(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// open holds what is at a path of the machine, links resolved.
func open(path string, write bool) (fd int, dir bool, err error) {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, false, err
	}
	defer unix.Close(at)
	return cloned(at, write)
}

// cloned holds what is open.
func cloned(at int, write bool) (fd int, dir bool, err error) {
	fd, err = unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, false, err
	}
	attrs := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if !write {
		attrs |= unix.MOUNT_ATTR_RDONLY
	}
	if err := protect(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attrs); err != nil {
		return -1, false, fmt.Errorf("protect: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, false, err
	}
	return fd, st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

// sources holds everything of the machine that the Spec names, in its order.
func (o *Order) sources(has Table) ([]source, error) {
	var out []source
	system, err := o.system(has)
	if err != nil {
		return nil, err
	}
	out = append(out, system...)
	home := source{at: o.Home, dir: true}
	if o.Wall.Home == "" {
		home.fd, err = memory(TmpSize(o.Wall.Limits), "0700")
	} else {
		home.fd, home.dir, err = open(o.Wall.Home, true)
	}
	if err != nil {
		return nil, fmt.Errorf("its home %s: %w", o.Wall.Home, err)
	}
	out = append(out, home)
	if out, err = hold(out, o.First); err != nil {
		return nil, err
	}
	for _, c := range o.Wall.Caches {
		s, err := cache(c)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return hold(out, o.Wall.Mounts)
}

// hold adds what mounts name.
func hold(out []source, mounts []wall.Mount) ([]source, error) {
	for _, m := range mounts {
		if m.Cover {
			continue
		}
		s, err := held(m)
		if err != nil {
			if m.Optional && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)) {
				continue
			}
			return nil, fmt.Errorf("mount %s: %w", m.From, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func held(m wall.Mount) (source, error) {
	s := source{at: cmp.Or(m.At, m.From)}
	at, err := direct(m.From)
	if err != nil {
		return s, err
	}
	defer unix.Close(at)
	s.fd, s.dir, err = cloned(at, m.Write)
	return s, err
}

// cache is the user's directory with what is written kept apart.
func cache(c wall.Cache) (source, error) {
	work := c.Upper + ".work"
	for _, dir := range []string{c.Upper, work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return source{}, err
		}
	}
	if st, err := os.Stat(c.Lower); err != nil || !st.IsDir() { // there is nothing of the user's yet
		fd, _, err := open(c.Upper, true)
		return source{at: c.Lower, fd: fd, dir: true}, err
	}
	fd, err := fresh("overlay", unix.MOUNT_ATTR_NODEV, "lowerdir", escaped(c.Lower), "upperdir", escaped(c.Upper), "workdir", escaped(work), "userxattr", "")
	if err != nil { // the kernel, or the file system of Upper, does not have it
		from := c.Upper
		if c.Downloads {
			from = c.Lower
		}
		fd, _, err = open(from, !c.Downloads)
	}
	if err != nil {
		return source{}, fmt.Errorf("cache %s: %w", c.Lower, err)
	}
	return source{at: c.Lower, fd: fd, dir: true}, nil
}

// escaped writes a path for overlayfs, which separates its layers by colons.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(path)
}

// attach puts a source at its place, which is made if it is not there.
func (t *tree) attach(s source) error {
	to, err := t.place(s.at, s.dir)
	if err == nil {
		err = unix.MoveMount(s.fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
		_ = unix.Close(to)
	}
	if errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("mount %s: a symbolic link is there, or on the way, in the sandbox: name what it leads to", s.at)
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", s.at, err)
	}
	return unix.Close(s.fd)
}

// place opens the file or directory at a path inside. What is missing is made. A link on
// the way is removed in the program's own home, where an earlier one may have planted it,
// and is an error elsewhere: nobody but this process has a reason to put one there.
func (t *tree) place(at string, dir bool) (int, error) {
	at = strings.TrimPrefix(filepath.Clean(at), "/")
	fd, err := t.open(at)
	if err == nil || !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ELOOP) {
		return fd, err
	}
	parent, perr := t.place(filepath.Dir(at), true)
	if perr != nil {
		return -1, perr
	}
	defer unix.Close(parent)
	if errors.Is(err, unix.ELOOP) {
		if !strings.HasPrefix("/"+at, t.home+"/") {
			return -1, err
		}
		if err := unix.Unlinkat(parent, filepath.Base(at), 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return -1, err
		}
	}
	if name := filepath.Base(at); dir {
		err = unix.Mkdirat(parent, name, 0o755)
	} else if fd, err = unix.Openat(parent, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644); err == nil {
		err = unix.Close(fd)
	}
	if err != nil && !errors.Is(err, unix.EEXIST) { // another sandbox that shares its parent made it
		return -1, fmt.Errorf("make /%s: %w", at, err)
	}
	return t.open(at)
}

// open opens what is at a path inside; ELOOP where a link is on the way, or at its end.
func (t *tree) open(at string) (int, error) {
	if at == "" {
		at = "."
	}
	fd, err := unix.Openat2(t.fd, at, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK { // the last name of a path is opened all the same
		_ = unix.Close(fd)
		return -1, unix.ELOOP
	}
	return fd, nil
}
