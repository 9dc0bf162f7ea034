package inside

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. Arguments are read by their lower half: the kernel
// takes no more of those that are looked at.
const (
	atNumber = 0
	atArch   = 4
	atArg0   = 16
	atArg1   = 24
	atArg2   = 32
	atArg3   = 40
)

const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// closed are refused with EPERM: nothing that builds or tests a program needs them.
var closed = []uint32{
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_FANOTIFY_INIT,
}

// mounting are refused, too, unless programs inside may make sandboxes of their own.
var mounting = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
}

// absent are answered as by a kernel that does not have them: programs then do without.
var absent = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// A filter is a program of the kernel's classic BPF.
type filter []unix.SockFilter

func (f *filter) add(code uint16, k uint32, jt, jf uint8) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (f *filter) load(at uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at, 0, 0) }
func (f *filter) ret(do uint32)  { f.add(unix.BPF_RET|unix.BPF_K, do, 0, 0) }
func fails(with uint32) uint32   { return unix.SECCOMP_RET_ERRNO | with }

// when does something if what was loaded equals k.
func (f *filter) when(k, do uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	f.ret(do)
}

// call judges one system call by its arguments: if none of the rules ends it, it is
// allowed.
func (f *filter) call(number uint32, rules func(*filter)) {
	var body filter
	rules(&body)
	body.ret(unix.SECCOMP_RET_ALLOW)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, uint8(len(body)))
	*f = append(*f, body...)
}

// without refuses a call whose first argument has one of the flags.
func without(flags uint32) func(*filter) {
	return func(f *filter) {
		f.load(atArg0)
		f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, flags, 0, 1)
		f.ret(fails(uint32(unix.EPERM)))
	}
}

// program is the filter. With nest programs may make namespaces and mounts of their own;
// with a fence there are none around them, and it closes what those would hold apart.
func program(nest bool, fence *Fence) filter {
	var f filter
	f.load(atArch)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch, 1, 0)
	f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	f.load(atNumber)
	if x32 != 0 {
		f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32, 0, 1)
		f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	}
	refused := closed
	if !nest {
		refused = append(append([]uint32{}, closed...), mounting...)
	}
	for _, n := range refused {
		f.when(n, fails(uint32(unix.EPERM)))
	}
	for _, n := range absent {
		f.when(n, fails(uint32(unix.ENOSYS)))
	}
	if !nest {
		f.when(unix.SYS_CLONE3, fails(uint32(unix.ENOSYS))) // its flags are in memory; programs take clone instead
		f.call(unix.SYS_CLONE, without(namespaceFlags))
		f.call(unix.SYS_UNSHARE, without(namespaceFlags))
	}
	f.call(unix.SYS_IOCTL, func(f *filter) {
		f.load(atArg1)
		f.when(unix.TIOCSTI, fails(uint32(unix.EPERM)))
		f.when(0x541c, fails(uint32(unix.EPERM))) // TIOCLINUX
	})
	if fence != nil {
		fence.close(&f)
	}
	for _, n := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		f.call(n, sockets)
	}
	f.ret(unix.SECCOMP_RET_ALLOW)
	return f
}

// sockets allows those of this machine's namespace alone: vsock, say, is in none.
func sockets(f *filter) {
	f.load(atArg0)
	f.when(unix.AF_UNIX, unix.SECCOMP_RET_ALLOW)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_NETLINK, 0, 6)
	f.load(atArg2)
	f.when(unix.NETLINK_ROUTE, unix.SECCOMP_RET_ALLOW)
	f.when(unix.NETLINK_KOBJECT_UEVENT, unix.SECCOMP_RET_ALLOW)
	f.ret(fails(uint32(unix.EPROTONOSUPPORT)))
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET, 2, 0)
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET6, 1, 0)
	f.ret(fails(uint32(unix.EAFNOSUPPORT)))
	f.load(atArg2)
	f.when(unix.IPPROTO_MPTCP, fails(uint32(unix.EPROTONOSUPPORT)))
}

// refuse puts the filter before all system calls of all threads and their children.
func refuse(nest bool, fence *Fence) error {
	f := program(nest, fence)
	p := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&p))); errno != 0 || thread != 0 {
		return fmt.Errorf("seccomp: %w (thread %d)", errno, thread)
	}
	return nil
}
