package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// outside are variables that lead to what is not inside.
var outside = []string{
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	"DOCKER_HOST", "KUBECONFIG", "TMPDIR", "TMP", "TEMP",
	"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
}

// certificates name files by which programs know whom they talk to.
var certificates = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "PIP_CERT",
}

// environ is the environment of a program inside: what leads out is not there, and with a
// proxy, "host:port", all spellings of the variables that name it are.
func environ(env []string, proxy string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(outside, name)
	})
	set := map[string]string{"TMPDIR": "/tmp", "NO_PROXY": "127.0.0.1,localhost,::1", "no_proxy": "127.0.0.1,localhost,::1"}
	if proxy != "" {
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
			set[name] = "http://" + proxy
		}
		set["NODE_USE_ENV_PROXY"] = "1" // Node from 22.21 on
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// value is that of the last setting of a variable; "" if there is none.
func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// toolchains lie below the home directory and hold programs and what these need, and
// nothing of a person.
var toolchains = []string{
	".rustup", ".pyenv", ".rbenv", ".asdf", ".sdkman", ".nvm", ".volta", ".bun", ".deno", ".local/pipx",
	".local/share/mise", ".local/share/uv", ".local/share/claude", ".local/share/pipx", ".local/share/fnm", ".local/share/pnpm",
	".tool-versions", // says which of them asdf and mise take
}

// programs are the directories and files, to be mounted read-only, from which programs
// with this environment run: those of PATH, toolchains, and where path and its links lead. None lies
// in one before it: a link there would be in the way, and is enough. Links in the ground are not
// followed.
func programs(env []string, home, path string, g ground) []wall.Mount {
	var out []wall.Mount
	add := func(from, at string) {
		at = filepath.Clean(at)
		has := func(m wall.Mount) bool { return regular.Within(at, m.At) }
		if !filepath.IsAbs(at) || usual(at) || regular.Within(home, at) || g.covers(at) || slices.ContainsFunc(out, has) {
			return
		}
		if real, err := g.real(from); err == nil { // else it is not there, or not for this user: PATH outlives su
			out = append(out, wall.Mount{From: real, At: at, Optional: true})
		}
	}
	for _, dir := range filepath.SplitList(value(env, "PATH")) {
		if filepath.IsAbs(dir) {
			for _, p := range toolchain(filepath.Clean(dir), home) {
				add(p, p)
			}
		}
	}
	for _, t := range toolchains {
		p := filepath.Join(home, t)
		add(p, p)
	}
	packages, _ := filepath.Glob(filepath.Join(home, ".local", "lib", "python*")) // what pip installs for a user; a home with an odd name has none
	for _, p := range packages {
		add(p, p)
	}
	for _, name := range certificates {
		if f := value(env, name); filepath.IsAbs(f) {
			add(f, f)
		}
	}
	g.follow(path, add)
	return out
}

// follow adds a program, and what each of its links leads to. A directory that is reached by
// a link is one of its own inside, so that a link with ".." in it leads elsewhere there: at is where
// a program inside finds what is at from outside.
func (g ground) follow(path string, add func(from, at string)) {
	var way []wall.Mount
	for from, at := path, path; ; {
		i := strings.LastIndexByte(from, '/')
		if i < 0 || len(way) > maxLinks {
			return
		}
		dir, err := g.real(from[:i+1])
		if err != nil {
			return
		}
		from = filepath.Join(dir, from[i+1:])
		link, is, err := linkAt(from)
		if err != nil || is && g.writes(from) {
			return
		}
		way = append(way, wall.Mount{From: from, At: at})
		if !is {
			way = append(way, wall.Mount{From: from, At: from})
			break
		}
		if filepath.IsAbs(link) {
			from, at = link, link
		} else {
			from, at = dir+"/"+link, filepath.Join(filepath.Dir(at), link)
		}
	}
	for i, m := range way {
		// Of /etc, what links lead to alone: /etc/alternatives and the like are in every sandbox.
		if i == len(way)-1 || !regular.Within(m.At, "/etc") {
			add(neighbours(m.From, m.At))
		}
	}
}

// neighbours are the packages beside one of npm's: it needs them.
func neighbours(from, at string) (string, string) {
	const dir = "/node_modules"
	i := strings.LastIndex(from, dir+"/")
	if i < 0 {
		return from, at
	}
	if rest := from[i+len(dir):]; strings.HasSuffix(at, dir+rest) {
		return strings.TrimSuffix(from, rest), strings.TrimSuffix(at, rest)
	}
	return from, at
}

// usual reports whether a path is in every sandbox as it is.
func usual(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"}, func(top string) bool { return regular.Within(path, top) })
}

// beside are what lies next to "bin" and belongs to it.
var beside = []string{"bin", "lib", "lib64", "libexec", "include", "share", "conf", "jmods", "pyvenv.cfg"}

// toolchain is what is to be mounted for a directory of PATH: itself, and what belongs to
// it beside it. A person's own files may be there, too.
func toolchain(dir, home string) []string {
	parent := filepath.Dir(dir)
	switch {
	case filepath.Base(dir) == "shims": // pyenv's lead to what is there
		return []string{dir, filepath.Join(parent, "versions")}
	case filepath.Base(dir) != "bin", regular.Within(home, parent), parent == filepath.Join(home, ".local"), parent == filepath.Join(home, ".cargo"):
		return []string{dir}
	}
	if st, err := os.Stat(filepath.Join(parent, "src", "runtime")); err == nil && st.IsDir() { // Go's own
		return []string{parent}
	}
	names := beside
	if st, err := os.Stat(filepath.Join(parent, "Cellar")); err == nil && st.IsDir() { // Homebrew's programs are links there
		names = append(slices.Clone(names), "Cellar", "opt")
	}
	return lists.Map(names, func(name string) string { return filepath.Join(parent, name) })
}
