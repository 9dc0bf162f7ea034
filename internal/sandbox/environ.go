package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
}

// programs are the directories and files, to be mounted read-only, from which programs
// with this environment run: those of PATH, toolchains, and what path really is. None lies in
// one before it: a link there would be in the way, and is enough.
func programs(env []string, home, path string) []string {
	var out []string
	add := func(p string) {
		p = filepath.Clean(p)
		has := func(dir string) bool { return within(p, dir) }
		if !filepath.IsAbs(p) || usual(p) || within(home, p) || slices.ContainsFunc(out, has) {
			return
		}
		if _, err := os.Stat(p); err == nil { // else it is not there, or not for this user: PATH outlives su
			out = append(out, p)
		}
	}
	for _, dir := range filepath.SplitList(value(env, "PATH")) {
		if filepath.IsAbs(dir) {
			for _, p := range toolchain(filepath.Clean(dir), home) {
				add(p)
			}
		}
	}
	for _, t := range toolchains {
		add(filepath.Join(home, t))
	}
	for _, name := range certificates {
		if f := value(env, name); filepath.IsAbs(f) {
			add(f)
		}
	}
	if path == "" {
		return out
	}
	add(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if i := strings.LastIndex(real, "/node_modules/"); i > 0 { // it needs its neighbours
			real = real[:i+len("/node_modules")]
		}
		add(real)
	}
	return out
}

// usual reports whether a path is in every sandbox as it is.
func usual(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/gnu/store"}, func(top string) bool { return within(path, top) })
}

// within reports whether a path is a directory or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
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
	case filepath.Base(dir) != "bin", within(home, parent), parent == filepath.Join(home, ".local"), parent == filepath.Join(home, ".cargo"):
		return []string{dir}
	}
	if st, err := os.Stat(filepath.Join(parent, "src", "runtime")); err == nil && st.IsDir() { // Go's own
		return []string{parent}
	}
	out := make([]string, len(beside))
	for i, name := range beside {
		out[i] = filepath.Join(parent, name)
	}
	return out
}
