package sandboxtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func userNamespace(*arena) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	if cmd.Run() == nil {
		return nil
	}
	cmd = exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}
	return cmd.Run()
}

// setns tries it as root of a user namespace, too, who may.
func setns(*arena) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, roleSetNS)
	cmd.SysProcAttr = rooted()
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWUTS
	if cmd.Run() == nil {
		return nil
	}
	return enterOwn("uts", unix.CLONE_NEWUTS)
}

// enterOwn enters a namespace in which the process is anyway.
func enterOwn(name string, kind int) error {
	fd, err := unix.Open("/proc/self/ns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, kind)
}

func mount(a *arena) error {
	dir := filepath.Join(a.Own, "mounted")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	return unix.Unmount(dir, 0)
}

func chroot(a *arena) error { return unix.Chroot(a.Own) }

// surface says whether the kernel takes a call at all: an error about what was passed is
// one of the call's own.
func surface(no syscall.Errno) error {
	if no == unix.EPERM || no == unix.ENOSYS || no == unix.EACCES {
		return no
	}
	return nil
}

func bpf(a *arena) error {
	path := append([]byte(filepath.Join(a.Own, "no-such-object")), 0)
	attr := struct {
		path       uint64
		fd, flags  uint32
		_          [104]byte
		keepsAlive *byte
	}{path: uint64(uintptr(unsafe.Pointer(&path[0]))), keepsAlive: &path[0]}
	const objGet = 7
	_, _, no := unix.Syscall(unix.SYS_BPF, objGet, uintptr(unsafe.Pointer(&attr)), 16)
	return surface(no)
}

func ioUring(*arena) error {
	var params [120]byte
	fd, _, no := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if no == 0 {
		unix.Close(int(fd))
	}
	return surface(no)
}

func userfault(*arena) error {
	const userModeOnly = 1
	fd, _, no := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
	if no == 0 {
		unix.Close(int(fd))
	}
	return surface(no)
}

func perf(*arena) error {
	fd, err := unix.PerfEventOpen(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Size: unix.PERF_ATTR_SIZE_VER0,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// setuid starts a program that belongs to somebody else, if the test could make one.
func setuid(a *arena) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	if !bytes.Contains(status, []byte("NoNewPrivs:\t0")) {
		return errors.New("no_new_privs")
	}
	if a.SetUID == "" {
		return nil
	}
	out, err := exec.Command(a.SetUID, "-u").Output()
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(out)) == strconv.Itoa(os.Getuid()) {
		return errors.New("nosuid")
	}
	return nil
}

// module loads what is no module: whoever may is told so.
func module(*arena) error {
	junk := []byte("no module")
	args := []byte{0}
	_, _, no := unix.Syscall(unix.SYS_INIT_MODULE, uintptr(unsafe.Pointer(&junk[0])), uintptr(len(junk)), uintptr(unsafe.Pointer(&args[0])))
	return surface(no)
}

func keyring(*arena) error {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true)
	return err
}

// addKey adds a key that goes with the process.
func addKey(a *arena) error {
	_, err := unix.AddKey("user", a.Mark, []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}

func sharedMemory(a *arena) error {
	b, err := unix.SysvShmAttach(a.SysV, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	return errors.Join(a.has(b), unix.SysvShmDetach(b))
}

// capabilities looks for any that is in force, or could be.
func capabilities(*arena) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		for _, set := range []string{"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"} {
			if has, ok := strings.CutPrefix(line, set); ok && strings.Trim(has, "0\t\n") != "" {
				return nil
			}
		}
	}
	return errNone
}

// otherABI makes a system call by the numbers of another ABI: a filter that knows one
// alone would let it through.
func otherABI(*arena) error {
	if runtime.GOARCH != "amd64" {
		return errors.New("no other")
	}
	const x32 = 0x40000000
	if _, _, no := unix.RawSyscall(x32+unix.SYS_GETPID, 0, 0, 0); no != 0 {
		return no
	}
	return nil
}
