package sandboxtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// mark is what an attack leaves in what it writes.
func (w *World) mark(id string) string { return id + "-" + w.Mark }

// write appends to a file, which it creates if it is not there.
func (a *arena) write(id string, path ...string) error {
	f, err := os.OpenFile(filepath.Join(path...), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n# " + a.mark(id) + "\n")
	return errors.Join(err, f.Close())
}

// make is write, with the directories above the file.
func (a *arena) make(id string, path ...string) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Join(path...)), 0o755); err != nil {
		return err
	}
	return a.write(id, path...)
}

// createIn makes a file, and removes it.
func (a *arena) createIn(dir string) error {
	name := filepath.Join(dir, a.Mark)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(name))
}

// openToWrite writes nothing.
func openToWrite(name string) error {
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func gitConfig(a *arena) error {
	cmd := exec.Command("git", "-C", a.Own, "config", "core.fsmonitor", a.mark("W14"))
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return errors.New("refused")
		}
		return err
	}
	return nil
}

func otherGit(a *arena) error {
	git := filepath.Join(a.Own, ".git")
	if err := unix.Rename(git, git+"2"); err != nil {
		return err
	}
	return errors.Join(unix.Mkdir(git, 0o755), unix.Rmdir(git), unix.Rename(git+"2", git))
}

func chmod(a *arena) error { return unix.Chmod(filepath.Join(a.Home, ".ssh"), 0o777) }

func utimes(a *arena) error {
	return os.Chtimes(filepath.Join(a.Home, ".profile"), time.Unix(1e9, 0), time.Unix(1e9, 0))
}

func setxattr(a *arena) error {
	return unix.Setxattr(filepath.Join(a.Home, ".zshrc"), "user.mark", []byte(a.Mark), 0)
}

func truncate(a *arena) error { return unix.Truncate(filepath.Join(a.Home, ".bash_history"), 0) }

func hardLink(a *arena) error {
	return unix.Link(filepath.Join(a.Home, ".ssh/id_ed25519"), filepath.Join(a.Own, "key"))
}

func symlink(a *arena) error {
	link := filepath.Join(a.Own, "link")
	_ = os.Remove(link) // an earlier attacker's
	if err := unix.Symlink(filepath.Join(a.Home, ".bash_login"), link); err != nil {
		return err
	}
	return a.write("W21", link)
}

func renameOut(a *arena) error {
	name := filepath.Join(a.Own, a.mark("W22"))
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		return err
	}
	return unix.Rename(name, filepath.Join(a.Home, a.mark("W22")))
}

// disks opens the disks that are outside, and every block device that is inside, to read.
func disks(a *arena) error {
	names := a.Disks
	inside, _ := filepath.Glob(filepath.Join(a.Dev, "*"))
	for _, name := range inside {
		if fi, err := os.Stat(name); err == nil && fi.Mode()&os.ModeDevice != 0 && fi.Mode()&os.ModeCharDevice == 0 {
			names = append(names, name)
		}
	}
	return anyOpens(names, unix.O_RDONLY)
}

func cgroups(a *arena) error {
	var names []string
	for _, dir := range a.Cgroups {
		names = append(names, filepath.Join(dir, "cgroup.procs"))
	}
	return anyOpens(names, unix.O_WRONLY)
}

// anyOpens opens files until one opens. It says "none" if none is there.
func anyOpens(names []string, how int) error {
	none := errNone
	for _, name := range names {
		fd, err := unix.Open(name, how|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err == nil {
			return unix.Close(fd)
		}
		if err != unix.ENOENT {
			none = err
		}
	}
	return none
}

func mknod(a *arena) error {
	name := filepath.Join(a.Own, "device")
	if err := unix.Mknod(name, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		return err
	}
	return unix.Unlink(name)
}

// replaceDevice moves a device that hardly anybody uses away, and back.
func replaceDevice(a *arena) error {
	full := filepath.Join(a.Dev, "full")
	if err := unix.Rename(full, full+"."+a.Mark); err != nil {
		return err
	}
	return unix.Rename(full+"."+a.Mark, full)
}

// uncover renames a file that may be covered, and back.
func uncover(a *arena) error {
	env := filepath.Join(a.Own, ".env")
	if err := unix.Rename(env, env+"2"); err != nil {
		return err
	}
	return unix.Rename(env+"2", env)
}

// chmodDevice gives a device the mode that it has: whoever may could give it another one.
func chmodDevice(a *arena) error {
	full := filepath.Join(a.Dev, "full")
	var st unix.Stat_t
	if err := unix.Stat(full, &st); err != nil {
		return err
	}
	return unix.Chmod(full, st.Mode&0o7777)
}

func leaveSetUID(a *arena) error {
	name := filepath.Join(a.Own, "set-user-id")
	if err := os.WriteFile(name, nil, 0o755); err != nil {
		return err
	}
	defer os.Remove(name)
	return unix.Chmod(name, 0o4755)
}

func remount(*arena) error {
	return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
}
