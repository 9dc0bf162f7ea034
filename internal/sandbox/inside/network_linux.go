package inside

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loopback brings up the one interface there is.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	var r struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(r.name[:], "lo")
	r.flags = unix.IFF_UP | unix.IFF_RUNNING
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return errno
	}
	return nil
}

// listen opens the ports and hands their sockets out.
func (o *Order) listen() error {
	if len(o.Ports) == 0 {
		return nil
	}
	var fds []int
	for _, port := range o.Ports {
		fd, err := listenOn(port)
		if err != nil {
			return fmt.Errorf("listen on %s inside: %w", port, err)
		}
		fds = append(fds, fd)
	}
	report(Report{Stage: Sockets}, fds...)
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	return nil
}

// dialTime bounds how long a connection may take.
const dialTime = 10 * time.Second

// dial makes a connection and hands it out.
func (d Dial) dial() {
	fd, to, err := tcp(d.At)
	if err == nil {
		err = connect(fd, to)
	}
	if err != nil {
		report(Report{Stage: Dialed, ID: d.ID, Reason: err.Error()})
	} else {
		report(Report{Stage: Dialed, ID: d.ID}, fd)
	}
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// connect returns when the connection is made. A signal ends a connect that blocks,
// and the connection is made all the same: so it does not block.
func connect(fd int, to unix.Sockaddr) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		return err
	}
	err := unix.Connect(fd, to)
	if err == nil || !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	for until := time.Now().Add(dialTime); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(max(0, time.Until(until)).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return unix.ETIMEDOUT
		default:
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && code != 0 {
				err = unix.Errno(code)
			}
			return err
		}
	}
}

// tcp is a new socket for an address of the loopback interface; fd is -1 if there is none.
func tcp(addr string) (fd int, to unix.Sockaddr, err error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return -1, nil, err
	}
	if !at.Addr().IsLoopback() {
		return -1, nil, fmt.Errorf("%s is not an address of the loopback interface", addr)
	}
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	if fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, nil, err
	}
	return fd, to, nil
}

func listenOn(port string) (int, error) {
	fd, to, err := tcp(port)
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, to)
	}
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	return fd, err
}
