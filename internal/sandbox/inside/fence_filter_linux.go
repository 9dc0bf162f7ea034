package inside

import "golang.org/x/sys/unix"

// shared are refused behind a fence: what they make belongs to all of the machine, but for
// a namespace of its own. Whoever listened would be reached from anywhere.
var shared = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_LISTEN,
}

// ofOthers change a process, which is their first argument; 0 is the caller.
var ofOthers = []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR}

// close refuses what is shared with the rest of the machine.
func (f *Fence) close(b *filter) {
	for _, n := range shared {
		b.when(n, fails(uint32(unix.EPERM)))
	}
	for _, n := range ofOthers {
		b.call(n, func(b *filter) { b.only(atArg0, 0, unix.EPERM) })
	}
	b.call(unix.SYS_SETPRIORITY, func(b *filter) {
		b.only(atArg0, unix.PRIO_PROCESS, unix.EPERM)
		b.only(atArg1, 0, unix.EPERM)
	})
	b.call(unix.SYS_IOPRIO_SET, func(b *filter) {
		b.only(atArg0, 1, unix.EPERM) // IOPRIO_WHO_PROCESS
		b.only(atArg1, 0, unix.EPERM)
	})
	for n, flags := range map[uint32]uint32{unix.SYS_SENDTO: atArg3, unix.SYS_SENDMSG: atArg2, unix.SYS_SENDMMSG: atArg3} {
		b.call(n, func(b *filter) { // it connects, and Landlock does not see it
			b.load(flags)
			b.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, unix.MSG_FASTOPEN, 0, 1)
			b.ret(fails(uint32(unix.EOPNOTSUPP)))
		})
	}
	b.call(unix.SYS_SOCKETPAIR, func(b *filter) { // datagrams could be sent to others
		b.only(atArg0, unix.AF_UNIX, unix.EAFNOSUPPORT)
		b.load(atArg1)
		b.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, kindMask, 0, 0)
		b.when(unix.SOCK_STREAM, unix.SECCOMP_RET_ALLOW)
		b.when(unix.SOCK_SEQPACKET, unix.SECCOMP_RET_ALLOW)
		b.ret(fails(uint32(unix.EPROTONOSUPPORT)))
	})
	b.call(unix.SYS_SOCKET, f.sockets)
}

// kindMask are the bits of a socket's kind; the others are flags.
const kindMask = 0xf

// only refuses a call whose argument is not k.
func (b *filter) only(at, k uint32, with unix.Errno) {
	b.load(at)
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 1, 0)
	b.ret(fails(uint32(with)))
}

// sockets allows TCP, if the fence lets it through at all: Landlock knows its ports alone.
// Routes can be asked for.
func (f *Fence) sockets(b *filter) {
	b.load(atArg0)
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_NETLINK, 0, 4)
	b.load(atArg2)
	b.when(unix.NETLINK_ROUTE, unix.SECCOMP_RET_ALLOW)
	b.ret(fails(uint32(unix.EPROTONOSUPPORT)))
	if !f.Network {
		b.ret(fails(uint32(unix.EAFNOSUPPORT)))
		return
	}
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET, 2, 0)
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET6, 1, 0)
	b.ret(fails(uint32(unix.EAFNOSUPPORT)))
	b.load(atArg2)
	b.when(unix.IPPROTO_MPTCP, fails(uint32(unix.EPROTONOSUPPORT)))
	b.load(atArg1)
	b.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, kindMask, 0, 0)
	b.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SOCK_STREAM, 1, 0)
	b.ret(fails(uint32(unix.EPERM)))
	b.load(atArg2)
	b.when(0, unix.SECCOMP_RET_ALLOW)
	b.only(atArg2, unix.IPPROTO_TCP, unix.EPERM)
}
