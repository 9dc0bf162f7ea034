package inside

import (
	"fmt"
	"os"
	"path/filepath"
)

// Table is what every sandbox has besides what its Spec names, whatever makes it.
type Table struct {
	Links  []Link
	Memory []Memory // file systems in memory
	Files  []File
	System []string // files and directories of the machine, read-only at their own paths
}

// Link is a symbolic link at an absolute path inside.
type Link struct{ At, To string }

// Memory is a file system in memory.
type Memory struct {
	At, Mode string
	Size     int64 // bytes
}

// File is a file that is written for the sandbox.
type File struct{ At, Text string }

// Table returns what every sandbox has on this machine.
func (o *Order) Table() Table {
	t := Table{Memory: o.memory(), Files: o.files()}
	for _, top := range topLevel() {
		if to, err := os.Readlink(top); err == nil {
			t.Links = append(t.Links, Link{At: top, To: to})
		} else if st, err := os.Stat(top); err == nil && st.IsDir() {
			t.System = append(t.System, top)
		}
	}
	t.Links = append(t.Links, Link{"/var/tmp", "../tmp"}, Link{"/var/run", "../run"})
	for _, pattern := range etc {
		names, _ := filepath.Glob("/etc/" + pattern) // the patterns are good
		for _, name := range names {
			if st, err := os.Stat(name); err == nil && (st.IsDir() || st.Mode().IsRegular()) {
				t.System = append(t.System, name)
			}
		}
	}
	return t
}

func (o *Order) memory() []Memory {
	size := TmpSize(o.Wall.Limits)
	return []Memory{{"/dev/shm", "1777", size}, {"/tmp", "1777", size}, {"/run", "0755", size}}
}

func (o *Order) files() []File {
	return []File{
		{"/etc/passwd", fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n", o.User, o.UID, o.GID, o.Home)},
		{"/etc/group", fmt.Sprintf("%s:x:%d:\nnogroup:x:65534:\n", o.User, o.GID)},
		{"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
		{"/etc/hostname", "sandbox\n"},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
		{"/etc/resolv.conf", "# there is no resolver: the proxy looks names up\n"},
	}
}

// etc are the names of /etc that programs need and that tell nothing.
var etc = []string{
	"alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts", "inputrc", "java*", "jvm*", "ld.so.*",
	"localtime", "lsb-release", "magic*", "maven", "mime.types", "mke2fs.conf", "os-release", "perl", "pki/ca-trust", "pki/nssdb", "pki/tls/cert*",
	"pki/tls/openssl.cnf", "protocols", "python*", "rpc", "services", "shells", "ssl/cert*", "ssl/openssl.cnf", "terminfo", "timezone", "xdg",
}

// Devices are those of /dev, and DeviceLinks lead to them and to others.
var Devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// DeviceLinks see Devices.
var DeviceLinks = []Link{
	{"/dev/ptmx", "pts/ptmx"},
	{"/dev/fd", "/proc/self/fd"},
	{"/dev/stdin", "/proc/self/fd/0"},
	{"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"},
}

// topLevel are /usr and what belongs to it in the root of the machine.
func topLevel() []string {
	out := []string{"/usr", "/bin", "/sbin", "/nix/store", "/gnu/store"}
	libs, _ := filepath.Glob("/lib*") // the pattern is good
	return append(out, libs...)
}
