package sandboxtest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long an attack waits for an answer.
const patience = 2 * time.Second

// answered reads the secret from a server.
func (a *arena) answered(c net.Conn, err error) error {
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("?")); err != nil {
		return err
	}
	b := make([]byte, 512)
	n, err := c.Read(b)
	if err != nil {
		return err
	}
	return a.has(b[:n])
}

func abstractSocket(a *arena) error { return a.answered(net.Dial("unix", a.Abstract)) }
func unixSocket(a *arena) error     { return a.answered(net.Dial("unix", a.Unix)) }
func tcp(a *arena) error            { return a.answered(net.Dial("tcp", a.TCP)) }
func udp(a *arena) error            { return a.answered(net.Dial("udp", a.UDP)) }

// metadata and internet send nothing: the kernel says whether there is a route.
func metadata(*arena) error { return route("169.254.169.254:80") }
func internet(*arena) error { return route("192.0.2.53:53") }

func route(to string) error {
	c, err := net.Dial("udp", to)
	if err == nil {
		c.Close()
	}
	return err
}

func mptcp(a *arena) error {
	addr, err := net.ResolveTCPAddr("tcp", a.TCP)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}); err != nil {
		return err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte("?")); err != nil {
		return err
	}
	b := make([]byte, 512)
	n, err := unix.Read(fd, b)
	if err != nil {
		return err
	}
	return a.has(b[:n])
}

// socket makes a socket of a kind.
func socket(family, kind, proto int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func rawSocket(*arena) error    { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }
func packetSocket(*arena) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }
func vsock(*arena) error        { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }

func oddSockets(*arena) error {
	if socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) == nil {
		return nil
	}
	return socket(unix.AF_BLUETOOTH, unix.SOCK_RAW, 1)
}

func netlink(*arena) error {
	var err error
	for _, proto := range []int{unix.NETLINK_NETFILTER, unix.NETLINK_SOCK_DIAG, unix.NETLINK_AUDIT, unix.NETLINK_GENERIC} {
		if err = socket(unix.AF_NETLINK, unix.SOCK_RAW, proto); err == nil {
			return nil
		}
	}
	return err
}

// listen waits for the host, which calls the port all the time.
func listen(a *arena) error {
	l, err := net.Listen("tcp", fmt.Sprintf("0.0.0.0:%d", a.Open))
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	c, err := l.Accept()
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("nobody came")
		}
		return err
	}
	defer c.Close()
	b := make([]byte, len(a.Mark))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != a.Mark {
		return errors.New("somebody else came")
	}
	return nil
}

func port(address string) string {
	_, p, _ := strings.Cut(address, ":")
	return p
}

// dialProxy connects to the proxy that the environment names.
func dialProxy() (net.Conn, error) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if u, err := url.Parse(os.Getenv(name)); err == nil && u.Host != "" {
			c, err := net.Dial("tcp", u.Host)
			if err != nil {
				return nil, err
			}
			return c, c.SetDeadline(time.Now().Add(2 * patience))
		}
	}
	return nil, errors.New("no proxy")
}

// ask sends a request line and a Host, and returns the status code.
func ask(c net.Conn, line, host string) (string, error) {
	if _, err := fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\n\r\n", line, host); err != nil {
		return "", err
	}
	var head []byte
	for x := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")) && len(head) < 64<<10; head = append(head, x[0]) {
		if _, err := io.ReadFull(c, x); err != nil { // no more: what follows belongs to somebody else
			return "", err
		}
	}
	if f := strings.Fields(string(head)); len(f) > 1 && strings.HasPrefix(f[0], "HTTP/1.") {
		return f[1], nil
	}
	return "", errors.New("no HTTP")
}

func proxied(lines ...string) func(*arena) error {
	return func(*arena) error { return connect(lines...) }
}

// connect asks the proxy for connections until it gives one.
func connect(lines ...string) error {
	var no error
	for _, line := range lines {
		c, err := dialProxy()
		if err != nil {
			return err
		}
		code, err := ask(c, line, allowed)
		c.Close()
		switch {
		case err != nil:
			no = err
		case code == "200":
			return nil
		default:
			no = errors.New(code)
		}
	}
	return no
}

func plainOther(*arena) error {
	c, err := dialProxy()
	if err != nil {
		return err
	}
	defer c.Close()
	code, err := ask(c, "GET http://other.example/", allowed)
	if err == nil && code != "200" {
		err = errors.New(code)
	}
	return err
}

// fronting asks for a host that is listed, and talks TLS to another one behind it.
func fronting(a *arena) error {
	c, err := dialProxy()
	if err != nil {
		return err
	}
	defer c.Close()
	code, err := ask(c, "CONNECT "+a.Model, a.Model)
	if err != nil {
		return err
	}
	if code != "200" {
		return errors.New(code)
	}
	err = tls.Client(c, &tls.Config{ServerName: "other.example", InsecureSkipVerify: true}).Handshake()
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return errors.New("TLS alert")
	}
	return err
}
