//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/sandbox/group"
	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Start implements process.Wall.
func (s *Sandbox) Start(cmd *exec.Cmd, alone bool) (process.Inside, error) {
	if !slices.Contains(wall.Confining, s.spec.Kind) && s.spec.Kind != wall.Landlock {
		return nil, &process.NotStarted{Err: &Unavailable{Kind: s.spec.Kind, Why: "this version of ralph does not make such a sandbox"}}
	}
	order, err := s.order(cmd, alone)
	if err != nil {
		return nil, &process.NotStarted{Err: err}
	}
	var b *bubble // nil: process 1 makes all
	if s.spec.Kind == wall.Bwrap {
		if b, err = inBubble(order); err != nil {
			return nil, lasting(s.named(err), inside.Scarce(err))
		}
		defer b.close()
	}
	g, err := s.group()
	if err != nil {
		return nil, lasting(s.named(err), false)
	}
	var in process.Inside
	if s.spec.Kind == wall.Landlock {
		in, err = s.startFenced(cmd, order, g)
	} else {
		in, err = s.start(cmd, order, parts{bubble: b, group: g})
	}
	if err != nil {
		if g.OutOfMemory() {
			err = lasting(s.named(fmt.Errorf("limits.memory (%d bytes) is too little to start anything", s.spec.Limits.Memory)), false)
		}
		return nil, errors.Join(err, g.Close())
	}
	return in, nil
}

// startFenced starts what an order says behind Landlock.
func (s *Sandbox) startFenced(cmd *exec.Cmd, order *inside.Order, g *group.Group) (in process.Inside, err error) {
	temp, proxy, err := s.fence(order, cmd.Env)
	defer func() {
		if err != nil {
			err = errors.Join(err, temp.remove())
		}
	}()
	if err != nil {
		return nil, lasting(s.named(err), inside.Scarce(err))
	}
	order.Ports = nil // nothing listens inside
	var serve *serving
	if proxy != nil {
		only := &Sandbox{spec: wall.Spec{Name: s.spec.Name, Egress: s.spec.Egress}}
		if serve, err = only.serve([]net.Listener{proxy}); err != nil {
			return nil, errors.Join(err, proxy.Close())
		}
	}
	if in, err = s.start(cmd, order, parts{group: g, serve: serve, temp: temp}); err != nil && serve != nil {
		serve.close()
	}
	return in, err
}

// group makes the group that holds the sandbox; nil if it has none.
func (s *Sandbox) group() (*group.Group, error) {
	l := s.spec.Limits
	if s.spec.Groups != "" {
		l.Pids = inside.Pids(l)
		return group.New(s.spec.Groups, l)
	}
	if l.Memory > 0 || l.CPU > 0 {
		return nil, errors.New("limits.memory and limits.cpu need a group, and it was given none")
	}
	return nil, nil
}

// named is an error that names the sandbox.
func (s *Sandbox) named(err error) error { return fmt.Errorf("sandbox %q: %w", s.spec.Name, err) }

// parts are what a sandbox is started with; each may be nil.
type parts struct {
	bubble *bubble      // starts it
	group  *group.Group // holds it
	serve  *serving     // serves it already
	temp   *temp        // goes with it
}

// start starts what an order says.
func (s *Sandbox) start(cmd *exec.Cmd, order *inside.Order, by parts) (process.Inside, error) {
	b, g, serve := by.bubble, by.group, by.serve
	if _, is := cmd.Stderr.(*os.File); is && b != nil {
		order.Made.Stderr = stderrFD
	}
	file, err := written(order)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	ours, its, err := sockets()
	if err != nil {
		return nil, err
	}
	defer its.Close()
	input, err := apart(cmd)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer input.Close() // nil is nothing
	if b == nil {
		into(cmd, order, its, file)
	} else {
		b.into(cmd, its, file)
	}
	if g != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, g.FD()
	}
	if b == nil {
		err = cmd.Start()
	} else {
		err = b.start(cmd)
	}
	if err != nil {
		if order.Fence == nil {
			err = explain(err)
		}
		return nil, errors.Join(lasting(err, inside.Scarce(err)), ours.Close())
	}
	_ = its.Close() // ours shall end with the other copy
	in := &running{s: s, conn: ours, serve: serve, ended: make(chan struct{})}
	if err := in.await(order); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if errors.Is(err, errSilent) && b != nil {
			err = lasting(s.named(b.why(err)), false)
		}
		return nil, errors.Join(err, in.Close())
	}
	in.group, in.temp = g, by.temp
	go in.hear()
	return in, nil
}

// order says what the sandbox is to do.
func (s *Sandbox) order(cmd *exec.Cmd, alone bool) (*inside.Order, error) {
	ports, err := s.ports()
	if err != nil {
		return nil, err
	}
	for _, m := range s.spec.Mounts {
		if at := cmp.Or(m.At, m.From); !filepath.IsAbs(at) || filepath.Clean(at) == "/" {
			return nil, fmt.Errorf("sandbox %q: %q cannot be mounted: name a directory or file below /", s.spec.Name, at)
		}
	}
	home := filepath.Clean(value(cmd.Env, "HOME"))
	if !filepath.IsAbs(home) || home == "/" {
		if home, err = os.UserHomeDir(); err != nil {
			return nil, fmt.Errorf("sandbox %q: %w", s.spec.Name, err)
		}
	}
	o := &inside.Order{
		Wall: s.spec, Path: cmd.Path, Args: cmd.Args, Dir: cmp.Or(cmd.Dir, "/"), Env: environ(cmd.Env, map[bool]string{true: ProxyAt}[s.spec.Egress != nil]), Alone: alone,
		UID: os.Geteuid(), GID: os.Getegid(), Home: home, User: "agent", Ports: ports,
	}
	g := groundOf(&s.spec)
	o.First = programs(cmd.Env, home, cmd.Path, g)
	if o.Wall.Mounts, err = g.shown(s.spec.Mounts, s.spec.Kind.InPlace()); err != nil {
		return nil, s.named(err)
	}
	for _, c := range s.spec.Caches {
		if _, err := g.real(c.Lower); errors.Is(err, errPlanted) {
			return nil, s.named(fmt.Errorf("cache %s: %w", c.Lower, err))
		}
	}
	if t := s.terminal; t != nil {
		o.Terminal = &inside.Size{Columns: t.Columns, Rows: t.Rows}
	}
	if u, err := user.Current(); err == nil && !strings.ContainsAny(u.Username, ":\n") {
		o.User = u.Username
	}
	if o.UID == 0 { // agents refuse to be root, and root inside is more than anybody needs
		o.Root, o.UID, o.GID, o.User = true, 1000, 1000, "agent"
	}
	o.Wall.Egress, o.Wall.Groups = nil, "" // ralph's part
	return o, nil
}

// into makes cmd the start of process 1.
func into(cmd *exec.Cmd, o *inside.Order, socket, order *os.File) {
	cmd.Path = "/proc/self/exe"
	cmd.Args = []string{"ralph", inside.Command}
	cmd.Dir = "/"
	cmd.Env = environInit
	cmd.ExtraFiles = []*os.File{socket, order} // inside.SocketFD, inside.OrderFD
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if o.Fence != nil {
		return
	}
	a := cmd.SysProcAttr
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: o.UID, HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: o.GID, HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}
}

// environInit is the environment of process 1.
var environInit = []string{"GOTRACEBACK=none", "GOMAXPROCS=2"}

// errSilent is the error of a sandbox whose process 1 was never there, or is gone.
var errSilent = errors.New("it ended without a word")

// apart gives cmd a copy of what is in a file as its input: a program can open the file that
// it reads once more, to write to it. The caller closes the copy, which may be nil.
func apart(cmd *exec.Cmd) (*os.File, error) {
	f, ok := cmd.Stdin.(*os.File)
	if !ok {
		return nil, nil
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, err
	}
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	own := os.NewFile(uintptr(fd), "input")
	if _, err := io.Copy(own, f); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	if _, err := unix.FcntlInt(own.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	if _, err := own.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	cmd.Stdin = own
	return own, nil
}

// written is a file in memory that holds the order.
func written(o *inside.Order) (*os.File, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return inMemory("order", b)
}

// inMemory is a file in memory, at its start.
func inMemory(name string, b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sockets are the two ends of a connection that keeps messages apart.
func sockets() (ours *net.UnixConn, its *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "sandbox")
	defer f.Close()
	_ = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1) // it says who process 1 is, and never fails
	its = os.NewFile(uintptr(fds[1]), "ralph")
	c, err := net.FileConn(f)
	if err != nil {
		return nil, nil, errors.Join(err, its.Close())
	}
	return c.(*net.UnixConn), its, nil
}

// running is a program inside, and what serves it.
type running struct {
	s     *Sandbox
	conn  *net.UnixConn
	serve *serving
	group *group.Group // nil: none

	first *os.Process   // process 1, as it is seen from here
	ended chan struct{} // closed when nothing more is reported
	last  *inside.Report
	once  sync.Once
	dials dials
	temp  *temp // of a sandbox of landlock; nil in others
}

// await returns when the program runs.
func (r *running) await(o *inside.Order) error {
	if err := r.conn.SetReadDeadline(time.Now().Add(startTime)); err != nil {
		return err
	}
	for {
		m, files, err := r.receive()
		if err != nil {
			return fmt.Errorf("sandbox %q did not start: %w", r.s.spec.Name, err)
		}
		switch {
		case m.Stage == inside.Failed && m.Absent:
			return lasting(fmt.Errorf("in sandbox %q: %s", r.s.spec.Name, m.Reason), m.Scarce)
		case m.Stage == inside.Failed && o.Fence != nil:
			return lasting(r.s.named(errors.New(m.Reason)), m.Scarce)
		case m.Stage == inside.Failed:
			return lasting(fmt.Errorf("sandbox %q: %w", r.s.spec.Name, explain(errors.New(m.Reason))), m.Scarce)
		case m.Stage == inside.Sockets:
			if err := r.take(files, len(o.Ports)); err != nil {
				return err
			}
		case m.Stage == inside.Terminal:
			if err := r.lead(files); err != nil {
				return err
			}
		case m.Stage == inside.Started:
			return r.conn.SetReadDeadline(time.Time{})
		}
	}
}

// lasting is a start that will not succeed later, either, unless the machine was short of
// something.
func lasting(err error, scarce bool) error {
	if scarce {
		return err
	}
	return &process.NotStarted{Err: err}
}

// take serves the sockets that came out.
func (r *running) take(files []*os.File, want int) error {
	var listeners []net.Listener
	var wrong error
	for _, f := range files {
		l, err := net.FileListener(f)
		wrong = errors.Join(wrong, err, f.Close())
		if err == nil {
			listeners = append(listeners, l)
		}
	}
	if wrong == nil && len(listeners) != want {
		wrong = fmt.Errorf("%d sockets came out of the sandbox, not %d", len(listeners), want)
	}
	if wrong == nil {
		r.serve, wrong = r.s.serve(listeners)
	}
	if wrong != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
	}
	return wrong
}

// lead hands on the leading end of the program's terminal.
func (r *running) lead(files []*os.File) error {
	if len(files) == 1 && r.s.terminal != nil {
		r.s.terminal.Lead(files[0])
		return nil
	}
	for _, f := range files {
		_ = f.Close()
	}
	return errors.New("a terminal came out of the sandbox that nobody asked for")
}

// receive reads one report.
func (r *running) receive() (inside.Report, []*os.File, error) {
	var m inside.Report
	b, oob := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(4*64)+unix.CmsgSpace(unix.SizeofUcred))
	n, noob, _, _, err := r.conn.ReadMsgUnix(b, oob)
	if err != nil && !errors.Is(err, io.EOF) {
		return m, nil, err
	}
	if n == 0 {
		return m, nil, errSilent
	}
	var files []*os.File
	msgs, err := unix.ParseSocketControlMessage(oob[:noob])
	if err != nil {
		return m, nil, err
	}
	for _, c := range msgs {
		if cred, err := unix.ParseUnixCredentials(&c); err == nil && r.first == nil {
			r.first, _ = os.FindProcess(int(cred.Pid)) // it never fails
		}
		fds, err := unix.ParseUnixRights(&c)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "inside"))
		}
	}
	return m, files, json.Unmarshal(b[:n], &m)
}

// Ended implements process.Inside.
func (r *running) Ended() (code int, sig syscall.Signal, known bool) {
	<-r.ended // the socket has closed: its other end was the sandbox's alone
	if r.last == nil {
		return 0, 0, false
	}
	return r.last.Code, syscall.Signal(r.last.Signal), true
}

// Signal implements process.Inside.
func (r *running) Signal(sig syscall.Signal) {
	if r.first != nil {
		_ = r.first.Signal(sig) // it may have ended
	}
}

// Close implements process.Inside.
func (r *running) Close() (err error) {
	defer func() {
		if r.first != nil && r.first.Signal(syscall.Signal(0)) != nil { // the first process is gone, perhaps killed before it had removed it
			err = errors.Join(err, r.temp.remove())
		}
		err = errors.Join(err, r.temp.free())
	}()
	r.once.Do(func() {
		err = r.conn.Close()
		if r.serve != nil {
			r.serve.close()
		}
		if r.group.OutOfMemory() && r.s.spec.OutOfMemory != nil {
			r.s.spec.OutOfMemory()
		}
		err = errors.Join(err, r.group.Close())
	})
	return err
}
