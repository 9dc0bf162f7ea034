package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// apart runs a command in a network namespace. Its error says why there is none.
func apart(argv []string) (int, error) {
	runtime.LockOSThread() // a child dies with the thread that started it
	const netAdmin = 12    // CAP_NET_ADMIN
	uid, gid := os.Getuid(), os.Getgid()
	var whys []error
	for _, attr := range []*syscall.SysProcAttr{
		{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}, // root may
		{
			Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL, AmbientCaps: []uintptr{netAdmin},
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		},
	} {
		cmd := exec.Command("/proc/self/exe", argv...)
		cmd.Env = append(os.Environ(), insideVar+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			whys = append(whys, err)
			continue
		}
		code := codeOf(cmd.Wait())
		if code != notProved {
			return code, nil
		}
		whys = append(whys, errors.New("see above"))
	}
	return 0, errors.Join(whys...)
}

// inside takes loopback into service, proves that there is nothing else, and becomes
// the command.
func inside(argv []string) error {
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("take loopback into service: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	c, err := net.DialTimeout("tcp", l.Addr().String(), 10*time.Second)
	if err != nil {
		return fmt.Errorf("loopback does not work: %w", err)
	}
	_ = c.Close() // nothing was written
	_ = l.Close()
	for _, address := range []string{"192.0.2.1:443", "[2001:db8::1]:443"} {
		if c, err := net.DialTimeout("tcp", address, 5*time.Second); !errors.Is(err, syscall.ENETUNREACH) && !errors.Is(err, syscall.EAFNOSUPPORT) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			if c != nil {
				_ = c.Close()
			}
			return fmt.Errorf("%s is not out of reach: %v", address, err)
		}
	}
	fmt.Fprintln(os.Stderr, "offline: PROVED: only loopback can be reached by", argv[0])
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := os.Unsetenv(insideVar); err != nil {
		return err
	}
	return syscall.Exec(path, argv, os.Environ())
}

// loopbackUp sets the flag "up" of the interface lo.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	for _, call := range []uintptr{syscall.SIOCGIFFLAGS, syscall.SIOCSIFFLAGS} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
		request.flags |= syscall.IFF_UP | syscall.IFF_RUNNING
	}
	return nil
}
