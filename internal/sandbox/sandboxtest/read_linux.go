package sandboxtest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// read reads a file that has the secret.
func (a *arena) read(path ...string) error {
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return err
	}
	return a.has(b)
}

func (a *arena) has(b []byte) error {
	if !bytes.Contains(b, []byte(a.Secret)) {
		return errors.New("no secret")
	}
	return nil
}

func shadow(a *arena) error {
	_, err := os.ReadFile(a.Shadow)
	return err
}

func listHome(a *arena) error {
	names, err := os.ReadDir(a.Home)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == "letters" }) {
		return errors.New("none of the real")
	}
	return nil
}

func environs(a *arena) error {
	for _, p := range processes() {
		if a.read(p, "environ") == nil {
			return nil
		}
	}
	return errNone
}

func roots(a *arena) error {
	for _, p := range append(processes(), "/proc/self") {
		if a.read(p, "root", a.Home, ".ssh/id_ed25519") == nil || a.read(p, "cwd", a.Home, ".ssh/id_ed25519") == nil {
			return nil
		}
	}
	return errNone
}

// descriptors looks for any that leads to a file, directory or socket.
func descriptors(a *arena) error {
	for _, d := range a.open {
		if unix.FcntlFlock(uintptr(d.fd), unix.F_GETLK, &unix.Flock_t{}) != unix.EBADF { // the list's own is closed by now
			return nil
		}
	}
	return errNone
}

// leave reads the key by a directory that was left open.
func leave(a *arena) error {
	for _, d := range a.open {
		for _, rel := range []string{".ssh/id_ed25519", "../../../../../.." + a.Home + "/.ssh/id_ed25519"} {
			fd, err := unix.Openat(d.fd, rel, unix.O_RDONLY, 0)
			if err != nil {
				continue
			}
			b := make([]byte, 4096)
			n, err := unix.Read(fd, b)
			unix.Close(fd)
			if err == nil && a.has(b[:n]) == nil {
				return nil
			}
		}
	}
	return errNone
}

func names(a *arena) error {
	for _, p := range processes() {
		b, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if bytes.Contains(b, []byte(roleVictim)) {
			return nil
		}
	}
	return errNone
}

func hostPaths(a *arena) error {
	for _, name := range []string{"cmdline", "environ"} {
		b, _ := os.ReadFile(filepath.Join(a.Init, name))
		if bytes.Contains(b, []byte(a.Root)) {
			return nil
		}
	}
	return errNone
}

func readMemory(a *arena) error {
	b := make([]byte, len(a.Secret))
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	_, err := unix.ProcessVMReadv(a.Ralph.PID, local, []unix.RemoteIovec{{Base: uintptr(a.Ralph.Addr), Len: len(b)}}, 0)
	if err != nil {
		return err
	}
	return a.has(b)
}

func handles(a *arena) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, a.Own, 0)
	if err != nil {
		return err
	}
	at, err := unix.Open(a.Own, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	fd, err := unix.OpenByHandleAt(at, h, unix.O_RDONLY)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func kernelLog(*arena) error {
	const readAll = 3
	_, err := unix.Klogctl(readAll, make([]byte, 64))
	return err
}
