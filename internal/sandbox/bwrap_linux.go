//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// bubble is a start of process 1 by bwrap, which makes the namespaces and the mounts. It is
// for machines where that program may do so, and others may not.
type bubble struct {
	path string
	lay  *layout
	own  []*os.File // args, ralph's own program, what bwrap says
	said *os.File
}

// Descriptors of a bubble, after those that every sandbox is started with.
const (
	argsFD = inside.OrderFD + 1 + iota
	ralphFD
	stderrFD
	firstFD
)

// inBubble prepares the start of an order, and adds to it what is left to do inside. The
// caller closes what it returns.
func inBubble(o *inside.Order) (*bubble, error) {
	path, err := bwrap("/usr/bin/bwrap", "/bin/bwrap")
	if err != nil {
		return nil, err
	}
	if err := lowPort(o); err != nil {
		return nil, err
	}
	b := &bubble{path: path}
	if b.lay, err = layOut(o, firstFD); err != nil {
		return nil, err
	}
	args, err := inMemory("args", []byte(strings.Join(append(flags(o), b.lay.args...), "\x00")+"\x00"))
	if err == nil {
		b.own = append(b.own, args)
		b.said, err = inMemory("said", nil)
	}
	var self *os.File
	if err == nil {
		b.own = append(b.own, b.said)
		self, err = itself()
	}
	if err != nil {
		b.close()
		return nil, err
	}
	b.own = []*os.File{args, self, b.said}
	o.Made = &inside.Made{Seen: b.lay.seen}
	return b, nil
}

// itself is ralph's own program, which may have been replaced or deleted since it was started.
func itself() (*os.File, error) {
	fd, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /proc/self/exe: %w", err)
	}
	return os.NewFile(uintptr(fd), "ralph"), nil
}

// close closes files. It may be called on nil.
func (b *bubble) close() {
	if b == nil {
		return
	}
	for _, f := range b.own {
		_ = f.Close()
	}
	b.lay.close()
}

// bwrap is the first of some paths at which there is a program. None is looked for in PATH:
// an agent may write there.
func bwrap(paths ...string) (string, error) {
	off := func(why, mend string) error { return &Unavailable{Kind: wall.Bwrap, Why: why, Mend: mend} }
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			continue
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !ok || sys.Uid != 0 || st.Mode().Perm()&0o022 != 0 {
			return "", off("others than root may write "+path, "apt install --reinstall bubblewrap")
		}
		return path, nil
	}
	return "", off("there is no /usr/bin/bwrap", "apt install bubblewrap (dnf, pacman and zypper have it by that name)")
}

// flags are what bwrap is to make beside mounts. With what it keeps for process 1 as root,
// that protects what belongs to the kernel's root, listens at any port, and gives it up.
func flags(o *inside.Order) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
		"--die-with-parent", "--new-session", "--as-pid-1", "--uid", strconv.Itoa(o.UID), "--gid", strconv.Itoa(o.GID), "--cap-drop", "ALL",
	}
	switch {
	case o.Root: // --disable-userns would put the mounts out of process 1's reach; the filter holds without it, too
		args = append(args, "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_NET_BIND_SERVICE", "--cap-add", "CAP_SETPCAP")
	case !o.Wall.Nest:
		args = append(args, "--disable-userns")
	}
	return args
}

// lowPort refuses a port below 1024, to which bwrap lets no user but root.
func lowPort(o *inside.Order) error {
	for _, p := range o.Ports {
		if at, err := netip.ParseAddrPort(p); err == nil && at.Port() < 1024 && !o.Root {
			return fmt.Errorf("services: with bwrap nothing can be reached at a port below 1024, and %s is one: move the server, or write kind = \"namespaces\"", p)
		}
	}
	return nil
}

// start starts bwrap. It ignores requests to end, which are for process 1: with bwrap all
// that is inside dies.
func (b *bubble) start(cmd *exec.Cmd) error {
	var asked, before unix.Sigset_t
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		asked.Val[0] |= 1 << (s - 1)
	}
	runtime.LockOSThread() // a mask is a thread's, and is inherited
	defer runtime.UnlockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &asked, &before); err != nil {
		return fmt.Errorf("block signals: %w", err)
	}
	err := cmd.Start()
	return errors.Join(err, unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil))
}

// into makes cmd the start of process 1 by bwrap. Descriptors pass through it.
func (b *bubble) into(cmd *exec.Cmd, socket, order *os.File) {
	stderr, ok := cmd.Stderr.(*os.File)
	if ok {
		cmd.Stderr = b.said
	} else {
		stderr = b.said
	}
	cmd.Path = b.path
	cmd.Args = []string{"bwrap", "--args", strconv.Itoa(argsFD), "--", "/proc/self/fd/" + strconv.Itoa(ralphFD), inside.Command}
	cmd.Dir = "/"
	cmd.Env = environInit
	cmd.ExtraFiles = append([]*os.File{socket, order, b.own[0], b.own[1], stderr}, b.lay.files...)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
}

// why is what bwrap said when it ended; err if it said nothing.
func (b *bubble) why(err error) error {
	text, rerr := io.ReadAll(io.NewSectionReader(b.said, 0, 64<<10))
	line := strings.TrimSpace(strings.TrimPrefix(string(text), "bwrap: "))
	if rerr != nil || line == "" {
		return err
	}
	return explainBwrap(line)
}

// explainBwrap says what mends what bwrap complains of.
func explainBwrap(line string) error {
	off := func(why, mend string) error { return &Unavailable{Kind: wall.Bwrap, Why: why, Mend: mend} }
	said := " (bwrap: " + line + ")"
	switch {
	case strings.HasPrefix(line, "Unknown option"):
		return off("it is too old"+said, "bubblewrap 0.8 or later is needed")
	case setting("kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0:
		return off("user namespaces are off here (kernel.unprivileged_userns_clone = 0)", "sysctl -w kernel.unprivileged_userns_clone=1")
	case setting("user/max_user_namespaces") == "0":
		return off("user namespaces are off here (user.max_user_namespaces = 0)", "sysctl -w user.max_user_namespaces=10000")
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0 && strings.Contains(strings.ToLower(line), "permi"):
		return off("AppArmor has no profile for it"+said, "apt install apparmor-profiles && install -m 644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict")
	case strings.Contains(line, "mount proc"):
		return off("ralph is in a container whose /proc is covered"+said, "start it with --security-opt unmask=all, or with --sandbox none if the container is your sandbox")
	case strings.Contains(line, "new namespace"), strings.Contains(line, "reating new"), strings.Contains(line, "uid map"):
		return off("this machine, or the container that ralph is in, does not allow user namespaces"+said, "")
	}
	return errors.New("bwrap: " + line)
}
