package web

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processesAt finds the processes that have the end from of a connection on this machine,
// which leads to to.
func processesAt(from, to netip.AddrPort) (pids []int) {
	inode := inodeOf(from, to)
	if inode == "" {
		return nil
	}
	want := "socket:[" + inode + "]"
	all, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		at := filepath.Join("/proc", p.Name(), "fd")
		fds, err := os.ReadDir(at)
		if err != nil {
			continue // of another user
		}
		for _, fd := range fds {
			if to, err := os.Readlink(filepath.Join(at, fd.Name())); err == nil && to == want {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// inodeOf finds the socket of one end of a connection; "" if it is not there any more.
func inodeOf(from, to netip.AddrPort) string {
	for _, table := range []struct {
		file string
		in6  bool
	}{{"/proc/net/tcp", false}, {"/proc/net/tcp6", true}} { // tcp6: of sockets that speak both
		if inode := lookUp(table.file, asInProc(from, table.in6), asInProc(to, table.in6)); inode != "" {
			return inode
		}
	}
	return ""
}

// lookUp finds a socket by the addresses of its ends.
func lookUp(file, local, remote string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if w := strings.Fields(lines.Text()); len(w) > 9 && w[1] == local && w[2] == remote && w[9] != "0" {
			return w[9]
		}
	}
	return ""
}

// asInProc writes an address as proc(5) has it: words of the machine's own byte order.
func asInProc(a netip.AddrPort, in6 bool) string {
	var b strings.Builder
	ip := a.Addr().Unmap()
	bytes := ip.AsSlice()
	if wide := ip.As16(); in6 {
		bytes = wide[:]
	}
	for ; len(bytes) >= 4; bytes = bytes[4:] {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(bytes))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// processName is a program's name and its process id.
func processName(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // "": it is gone
	return fmt.Sprintf("%s %d", cmp.Or(printable(string(b)), "process"), pid)
}
