package inside

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, by what a path is for.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	mayUse  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | mayUse // the others are for directories
)

// ruleNetPort is LANDLOCK_RULE_NET_PORT, linux/landlock.h.
const ruleNetPort = 2

// LandlockABI is the version of Landlock that the kernel has, 0 if it has none or it is off.
func LandlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// rules are a set of Landlock's rules in the making.
type rules struct {
	fd  int
	all uint64 // rights that are refused where no rule gives them
}

// restrict puts the fence before this thread and what becomes of it. With terminal the
// program may open its own again.
func (f *Fence) restrict(terminal bool) error {
	set := ruleset{fs: 1<<13 - 1}
	for abi, right := range map[int]uint64{2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV} {
		if f.ABI >= abi {
			set.fs |= right
		}
	}
	if f.ABI >= 4 {
		set.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if f.ABI >= 6 {
		set.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return restrictSelf(&set, func(r *rules) error { return f.fill(r, terminal) })
}

// ruleset is struct landlock_ruleset_attr: what is refused where no rule allows it.
type ruleset struct{ fs, net, scoped uint64 }

// restrictSelf restricts this thread, and what becomes of it, by a set with the rules that
// fill adds; nil: none.
func restrictSelf(set *ruleset, fill func(*rules) error) error {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(set)), unsafe.Sizeof(*set), 0)
	if errno != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	r := &rules{int(fd), set.fs}
	defer unix.Close(r.fd)
	if fill != nil {
		if err := fill(r); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

// fill adds the rules.
func (f *Fence) fill(r *rules, terminal bool) error {
	for _, p := range f.Read {
		if err := r.path(p, mayRead); err != nil {
			return err
		}
	}
	for _, p := range f.Write {
		if err := r.path(p, mayWrite); err != nil {
			return err
		}
	}
	for _, d := range Devices {
		if err := r.path("/dev/"+d, mayUse); err != nil {
			return err
		}
	}
	if terminal {
		if err := r.beneath(0, mayUse); err != nil {
			return fmt.Errorf("allow its terminal: %w", err)
		}
	}
	for _, port := range f.Ports {
		rule := [2]uint64{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("allow port %d: %w", port, errno)
		}
	}
	return nil
}

// path gives rights to a file, or to a directory and what is in it. It leads over no link.
func (r *rules) path(path string, rights uint64) error {
	fd, err := direct(path)
	if err == nil {
		defer unix.Close(fd)
		err = r.beneath(fd, rights)
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	return nil
}

// beneath is path for what is open.
func (r *rules) beneath(fd int, rights uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	var rule [12]byte // packed: rights, descriptor
	*(*uint64)(unsafe.Pointer(&rule[0])) = rights & r.all
	*(*int32)(unsafe.Pointer(&rule[8])) = int32(fd)
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// running is how many processes and threads the user has: without a namespace of its own
// the limit of a sandbox counts them, too.
func running() uint64 {
	uid, n := os.Getuid(), uint64(0)
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, "task"), &st); err != nil {
			continue // it has ended
		}
		status, _ := os.ReadFile(filepath.Join(dir, "status"))
		_, owner, _ := strings.Cut(string(status), "\nUid:")
		var real int
		if _, err := fmt.Sscan(owner, &real); err == nil && real == uid {
			n += cmp.Or(uint64(st.Nlink)-2, 1) //nolint:unconvert // Nlink has another size elsewhere
		}
	}
	return n
}
