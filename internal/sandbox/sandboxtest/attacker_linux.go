package sandboxtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// arena is what an attack has: its world, and the descriptors that the attacker was started with.
type arena struct {
	*World
	open []descriptor
}

// programs are the attacks, by id. Each returns nil if it succeeded, and otherwise what
// stopped it: an error of the kernel's, or a word that the table has. All of them are
// harmless where they succeed: what they change is the test's own, or is put back.
var programs = map[string]func(a *arena) error{
	"C01": func(a *arena) error { return a.write("C01", a.Cache, "module.go") },
	"C02": func(a *arena) error { return unix.Unlink(filepath.Join(a.Cache, "lost")) },
	"D01": forks, "D02": fillTmp, "D03": bigFile, "D04": memory,
	"I01": abstractSocket, "I02": unixSocket, "I03": sharedMemory, "I04": keyring,
	"K01": userNamespace, "K02": mount, "K03": bpf, "K04": ioUring, "K05": userfault, "K06": perf,
	"K07": setns, "K08": setuid, "K09": chroot, "K10": module, "K11": addKey, "K12": capabilities, "K13": otherABI,
	"N01": tcp, "N02": udp, "N03": metadata, "N04": internet, "N05": mptcp, "N06": rawSocket,
	"N07": packetSocket, "N08": vsock, "N09": oddSockets, "N10": netlink, "N11": listen,
	"P01": kill, "P02": ptrace, "P03": stealDescriptor, "P04": setPriority, "P05": setLimit,
	"P06": stopParent, "P07": writeProc, "P08": typeIn, "P09": outlive, "P10": openTerminal, "P11": traceInit,
	"R01": func(a *arena) error { return a.read(a.Home, ".ssh/id_ed25519") },
	"R02": func(a *arena) error { return a.read(a.Home, ".aws/credentials") },
	"R03": func(a *arena) error { return a.read(a.Other, "notes.md") },
	"R04": func(a *arena) error { return a.read(a.Journal) },
	"R05": func(a *arena) error { return a.read(a.Main, ".git/config") },
	"R06": func(a *arena) error { return a.read(a.Project, "notes.md") },
	"R07": shadow,
	"R08": listHome,
	"R09": func(a *arena) error { return a.read(proc(a.Ralph.PID), "environ") },
	"R10": environs, "R11": roots, "R12": descriptors, "R13": names, "R14": hostPaths, "R15": readMemory, "R16": handles, "R17": kernelLog,
	"R18": func(a *arena) error { return a.read(a.Tmp) },
	"R19": func(a *arena) error { return a.read(a.Shm) },
	"R20": leave,
	"R21": func(a *arena) error { return a.read(a.Own, ".env") },
	"R22": func(a *arena) error { return a.read(a.Tools, ".env") },
	"W01": func(a *arena) error { return a.write("W01", a.Home, ".bashrc") },
	"W02": func(a *arena) error { return a.make("W02", a.Home, ".config/autostart/x.desktop") },
	"W03": func(a *arena) error { return a.write("W03", a.Home, ".gitconfig") },
	"W04": func(a *arena) error { return a.make("W04", a.Home, ".claude/settings.json") },
	"W05": func(a *arena) error { return a.write("W05", a.Other, "notes.md") },
	"W06": func(a *arena) error { return a.write("W06", a.Main, ".git/hooks/post-commit") },
	"W07": func(a *arena) error { return a.write("W07", a.Main, ".git/config") },
	"W08": func(a *arena) error { return a.write("W08", a.Journal) },
	"W09": func(a *arena) error { return a.write("W09", a.Main, ".git/refs/heads/main") },
	"W10": func(a *arena) error { return unix.Unlink(a.Object) },
	"W11": func(a *arena) error { return a.write("W11", a.Main, "README.md") },
	"W12": func(a *arena) error { return a.write("W12", a.Own, ".git/config") },
	"W13": func(a *arena) error { return a.write("W13", a.Own, ".git/hooks/pre-commit") },
	"W14": gitConfig, "W15": otherGit, "W16": chmod, "W17": utimes, "W18": setxattr, "W19": truncate,
	"W20": hardLink, "W21": symlink, "W22": renameOut,
	"W23": func(a *arena) error { return a.createIn(a.Bin) },
	"W24": func(a *arena) error { return a.createIn(a.Cron) },
	"W25": func(a *arena) error { return openToWrite(a.CorePattern) },
	"W26": func(a *arena) error { return openToWrite(a.SysRq) },
	"W27": disks, "W28": mknod, "W29": cgroups, "W30": replaceDevice, "W31": remount,
	"W32": func(a *arena) error { return a.createIn(a.Top) },
	"W33": uncover, "W34": chmodDevice, "W35": leaveSetUID,
	"W36": func(a *arena) error { return a.write("W36", "/proc/self/fd/0") },
	"X01": proxied("CONNECT other.example:443"),
	"X02": func(a *arena) error { return connect("CONNECT 127.0.0.1:" + port(a.Local)) },
	"X03": proxied("CONNECT other.example\x00.allowed.example:443", "CONNECT other.example\x00allowed.example:443"),
	"X04": proxied("CONNECT allowed.example@other.example:443", "CONNECT allowed.example:443@other.example:443"),
	"X05": proxied("CONNECT allowed.example:22"),
	"X06": proxied("CONNECT xallowed.example:443", "CONNECT allowed.example.other.example:443"),
	"X07": func(a *arena) error { return connect("CONNECT " + a.Local) },
	"X08": plainOther,
	"X09": func(a *arena) error {
		return connect("CONNECT 2130706433:"+port(a.Local), "CONNECT 0x7f000001:"+port(a.Local), "CONNECT 0177.1:"+port(a.Local))
	},
	"X10": func(a *arena) error { return connect("CONNECT [::ffff:127.0.0.1]:" + port(a.Local)) },
	"X11": fronting,
}

// aparts are the attacks that change the process in which they succeed.
var aparts = map[string]bool{"D01": true, "D04": true, "K02": true, "K07": true, "K09": true, "K13": true, "W31": true}

// descriptor is an open file, with what /proc says that it is.
type descriptor struct {
	fd int
	to string
}

// inherited are the descriptors above the standard ones that the process was started
// with. What Go's runtime has opened itself is left out.
func inherited() []descriptor {
	const dir = "/proc/self/fd"
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []descriptor
	for _, n := range names {
		fd, _ := strconv.Atoi(n.Name())
		to, err := os.Readlink(filepath.Join(dir, n.Name()))
		if err != nil || fd < 3 || strings.HasPrefix(to, "anon_inode:[event") {
			continue
		}
		out = append(out, descriptor{fd, to})
	}
	return out
}

// errNone says that an attack found nothing of what it looked for.
var errNone = errors.New("none")

func proc(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// processes are the directories of all processes but this one.
func processes() []string {
	all, _ := filepath.Glob("/proc/[0-9]*")
	var others []string
	for _, p := range all {
		if p != proc(os.Getpid()) {
			others = append(others, p)
		}
	}
	return others
}
