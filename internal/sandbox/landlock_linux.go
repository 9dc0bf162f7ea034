//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/sandbox/inside"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Versions of Landlock: the least that is used, and the one that holds signals, the last
// whose rights are.
const (
	leastABI   = 4
	signalsABI = 6
)

// landlock says what is in the way of such a sandbox on this machine, nil if nothing is.
func landlock(abi int) error {
	switch {
	case abi == 0:
		return &Unavailable{Kind: wall.Landlock, Why: "the kernel has no Landlock, or it is off (lsm= of the kernel's command line)", Mend: "use Linux 6.7 or later"}
	case abi < leastABI:
		return &Unavailable{Kind: wall.Landlock, Why: fmt.Sprintf("landlock ABI %d cannot hold network to hosts", abi), Mend: "use Linux 6.7 or later"}
	}
	return nil
}

// LandlockABI is the version of Landlock that this kernel has; 0: none.
func LandlockABI() int { return inside.LandlockABI() }

// Weak says what Landlock on this machine does not hold that a later one does; "" if
// nothing, or if it is too old to be used at all.
func Weak() string { return weak(inside.LandlockABI()) }

func weak(abi int) string {
	if abi < leastABI || abi >= signalsABI {
		return ""
	}
	return fmt.Sprintf("landlock ABI %d lets programs inside send signals to all of your processes, and end ralph: Linux 6.12 does not", abi)
}

// fence completes an order for Landlock: everything is used where it is, and what would
// have to be somewhere else is refused. It returns what is for temporary files, also with
// an error if that was made, and with a proxy where that listens.
func (s *Sandbox) fence(o *inside.Order, env []string) (t *temp, proxy net.Listener, err error) {
	abi := inside.LandlockABI()
	if err := landlock(abi); err != nil {
		return nil, nil, err
	}
	if err := s.inPlace(); err != nil {
		return nil, nil, err
	}
	user := o.Home
	f := &inside.Fence{ABI: min(abi, signalsABI), Network: s.spec.Egress != nil || len(s.spec.Forward) > 0}
	if t, err = makeTemp(); err != nil {
		return nil, nil, err
	}
	f.Temp = t.dir
	o.Fence, o.Home = f, s.spec.Home
	if o.Root {
		o.UID, o.GID = os.Geteuid(), os.Getegid() // as nothing maps it
	}
	temp := f.Temp
	if o.Home == "" {
		o.Home, temp = filepath.Join(f.Temp, "home"), filepath.Join(f.Temp, "tmp")
		if err := errors.Join(os.Mkdir(o.Home, 0o700), os.Mkdir(temp, 0o700)); err != nil {
			return t, nil, err
		}
	}
	f.Write = []string{regular.Resolved(f.Temp), regular.Resolved(o.Home)}
	f.Read = append(o.Table().System, "/proc")
	for _, name := range etc {
		f.Read = append(f.Read, "/etc/"+name)
	}
	f.Read = lists.Map(f.Read, regular.Resolved) // what a rule names leads over no link
	places, err := s.places(o, user)
	if err != nil {
		return t, nil, err
	}
	for _, m := range slices.Concat(o.First, o.Wall.Mounts) {
		has := func(dir string) bool { return regular.Within(filepath.Clean(m.From), dir) }
		switch {
		case slices.ContainsFunc(f.Write, has): // it is, and who may write there may have led it elsewhere
			continue
		case absent(m.From) && m.Optional:
			continue
		case absent(m.From):
			return t, nil, fmt.Errorf("show %s: %w", m.From, fs.ErrNotExist)
		case m.Write:
			f.Write = append(f.Write, filepath.Clean(m.From))
		default:
			f.Read = append(f.Read, filepath.Clean(m.From))
		}
		at := filepath.Clean(cmp.Or(m.At, m.From))
		places = append(places, place{at, at})
	}
	f.Read = slices.DeleteFunc(f.Read, absent)
	for _, to := range s.spec.Forward {
		at, _ := netip.ParseAddrPort(to.At) // ports has seen it
		f.Ports = append(f.Ports, int(at.Port()))
	}
	at := ""
	if s.spec.Egress != nil {
		if proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return t, nil, err
		}
		at = proxy.Addr().String()
		f.Ports = append(f.Ports, proxy.Addr().(*net.TCPAddr).Port)
	}
	o.Env = moved(environ(env, at), user, o.Home, temp, places)
	o.Env = append(o.Env, "GIT_CONFIG_NOSYSTEM=1")
	return t, proxy, nil
}

// etc is what programs look for in /etc beside what every sandbox has: they take no for no file,
// and a refusal for an error.
var etc = []string{"passwd", "group", "hosts", "hostname", "host.conf", "gai.conf", "nsswitch.conf", "resolv.conf", "bash.bashrc", "bashrc", "profile", "profile.d"}

// inPlace refuses what Landlock cannot do: it gives rights to what is there.
func (s *Sandbox) inPlace() error {
	for _, m := range s.spec.Mounts {
		if m.Cover {
			return fmt.Errorf("with landlock nothing can be hidden: take %s out of hide, and name in read only what may be seen", m.At)
		}
		if m.At != "" && filepath.Clean(m.At) != filepath.Clean(m.From) {
			return fmt.Errorf("with landlock %s cannot be at %s", m.From, m.At)
		}
	}
	for _, f := range s.spec.Forward {
		if f.At != f.To {
			return fmt.Errorf("with landlock %s cannot be at %s", f.To, f.At)
		}
	}
	if s.spec.Nest {
		return errors.New("with landlock programs inside cannot make sandboxes of their own: take nest out")
	}
	return nil
}

// absent reports whether nothing is at a path.
func absent(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// A place is where something of the user's home directory is for a program inside.
type place struct{ from, to string }

// places shows caches: the program finds them in its home, by links, or where a variable
// of its environment names the user's.
func (s *Sandbox) places(o *inside.Order, user string) (out []place, err error) {
	home, err := os.OpenRoot(o.Home)
	if err != nil {
		return nil, fmt.Errorf("its home %s: %w", o.Home, err)
	}
	defer home.Close()
	for _, c := range s.spec.Caches {
		to := c.Upper
		if st, err := os.Stat(c.Lower); err == nil && st.IsDir() && c.Downloads {
			to = c.Lower
			o.Fence.Read = append(o.Fence.Read, regular.Resolved(to))
		} else {
			if err := os.MkdirAll(to, 0o700); err != nil {
				return nil, err
			}
			o.Fence.Write = append(o.Fence.Write, regular.Resolved(to))
		}
		out = append(out, place{filepath.Clean(c.Lower), to})
		if below, ok := strings.CutPrefix(c.Lower, user+"/"); ok {
			if err := linked(home, below, to); err != nil {
				return nil, fmt.Errorf("cache %s: %w", c.Lower, err)
			}
		}
	}
	return out, nil
}

// linked makes a link in a program's home. What is in the way was put there by a program,
// or was mounted on in another kind of sandbox.
func linked(home *os.Root, at, to string) error {
	if is, err := home.Readlink(at); err == nil && is == to {
		return nil
	}
	for i, r := range at {
		if r != '/' {
			continue
		}
		if st, err := home.Lstat(at[:i]); err == nil && !st.IsDir() {
			if err := home.Remove(at[:i]); err != nil {
				return err
			}
		}
	}
	if err := home.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	if err := home.RemoveAll(at); err != nil {
		return err
	}
	return home.Symlink(to, at)
}

// moved is an environment whose variables name what is below the user's home directory
// where the program has it, and temp for /tmp. What is shown is where it was.
func moved(env []string, user, home, temp string, places []place) []string {
	set := map[string]bool{}
	out := make([]string, 0, len(env))
	for _, v := range env {
		name, path, _ := strings.Cut(v, "=")
		set[name] = true
		switch {
		case path == "/tmp" || path == "/var/tmp":
			v = name + "=" + temp
		case name != "PATH" && filepath.IsAbs(path) && !strings.Contains(path, ":"):
			v = name + "=" + elsewhere(filepath.Clean(path), path, user, home, places)
		}
		out = append(out, v)
	}
	for _, t := range slices.Sorted(maps.Keys(homesOf)) {
		if dir := filepath.Join(user, t); !set[homesOf[t]] && !absent(dir) {
			out = append(out, homesOf[t]+"="+dir)
		}
	}
	return append(out, "HOME="+home)
}

// elsewhere is where a path of the user's is inside; as it is written if that is where it was.
func elsewhere(path, written, user, home string, places []place) string {
	var best place
	for _, p := range append([]place{{user, home}}, places...) {
		if regular.Within(path, p.from) && len(p.from) > len(best.from) {
			best = p
		}
	}
	if best.from == best.to {
		return written
	}
	return best.to + strings.TrimPrefix(path, best.from)
}

// homesOf are variables by which programs find toolchains that are in the user's home
// directory, which is not theirs.
var homesOf = map[string]string{
	".rustup": "RUSTUP_HOME", ".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT", ".asdf": "ASDF_DATA_DIR", ".sdkman": "SDKMAN_DIR", ".nvm": "NVM_DIR",
	".volta": "VOLTA_HOME", ".bun": "BUN_INSTALL", ".local/share/mise": "MISE_DATA_DIR", ".local/share/uv/python": "UV_PYTHON_INSTALL_DIR", ".local": "PYTHONUSERBASE",
}
