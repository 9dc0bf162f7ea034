package process

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Basic are the variables of ralph's environment that a program gets which nobody
// trusts with more: who it runs for, and where.
func Basic() []string {
	return []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
}

// Tooling are the variables beside the basic ones that tests, builds and setup
// commands get: where tools, caches and certificates are. None of them is there to
// hold a secret. A name that ends in * is a prefix.
func Tooling() []string {
	return strings.Fields(`
		CI COLORTERM FORCE_COLOR LANGUAGE LC_* NO_COLOR TEMP TMP
		XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
		ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy https_proxy http_proxy no_proxy
		CURL_CA_BUNDLE NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
		AR CC CFLAGS CMAKE_PREFIX_PATH CPATH CPLUS_INCLUDE_PATH CPPFLAGS CXX CXXFLAGS C_INCLUDE_PATH DEVELOPER_DIR DYLD_FALLBACK_LIBRARY_PATH DYLD_LIBRARY_PATH
		LDFLAGS LD_LIBRARY_PATH LIBRARY_PATH MACOSX_DEPLOYMENT_TARGET PKG_CONFIG_PATH SDKROOT CCACHE_DIR SCCACHE_DIR
		CGO_CFLAGS CGO_ENABLED CGO_LDFLAGS GOAMD64 GOARCH GOBIN GOCACHE GOENV GOEXPERIMENT GOFLAGS GOINSECURE GOMAXPROCS GOMEMLIMIT GOMODCACHE GONOPROXY
		GONOSUMDB GOOS GOPATH GOPRIVATE GOPROXY GOROOT GOSUMDB GOTMPDIR GOTOOLCHAIN GOWORK
		CARGO_BUILD_JOBS CARGO_HOME CARGO_INCREMENTAL CARGO_NET_OFFLINE CARGO_TARGET_DIR RUSTC_WRAPPER RUSTFLAGS RUSTUP_HOME RUSTUP_TOOLCHAIN RUST_BACKTRACE
		ANDROID_HOME ANDROID_SDK_ROOT GRADLE_HOME GRADLE_OPTS GRADLE_USER_HOME JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_HOME M2_HOME MAVEN_ARGS MAVEN_HOME
		MAVEN_OPTS SDKMAN_DIR
		BUN_INSTALL CHROME_BIN COREPACK_HOME CYPRESS_CACHE_FOLDER DENO_DIR FNM_DIR FNM_MULTISHELL_PATH NODE_ENV NODE_OPTIONS NODE_PATH NODENV_ROOT
		NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NVM_BIN NVM_DIR PLAYWRIGHT_BROWSERS_PATH PNPM_HOME PUPPETEER_CACHE_DIR PUPPETEER_EXECUTABLE_PATH VOLTA_HOME
		YARN_CACHE_FOLDER npm_config_cache npm_config_prefix
		CONDA_DEFAULT_ENV CONDA_EXE CONDA_PREFIX PIPX_HOME PIP_CACHE_DIR POETRY_CACHE_DIR POETRY_HOME PYENV_ROOT PYENV_VERSION PYTEST_ADDOPTS
		PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONIOENCODING PYTHONPATH PYTHONUNBUFFERED PYTHONUTF8 UV_CACHE_DIR UV_PYTHON UV_PYTHON_INSTALL_DIR VIRTUAL_ENV
		BUNDLE_GEMFILE BUNDLE_PATH CABAL_DIR COMPOSER_CACHE_DIR COMPOSER_HOME DOTNET_CLI_HOME DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_ROOT GEM_HOME GEM_PATH HEX_HOME
		MIX_HOME NUGET_PACKAGES RBENV_ROOT RBENV_VERSION RUBYLIB RUBYOPT STACK_ROOT
		ASDF_DATA_DIR ASDF_DIR HOMEBREW_PREFIX LOCALE_ARCHIVE MISE_DATA_DIR NIX_PATH NIX_PROFILES
		CONTAINER_HOST DOCKER_BUILDKIT DOCKER_CERT_PATH DOCKER_CONFIG DOCKER_CONTEXT DOCKER_HOST DOCKER_TLS_VERIFY`)
}

// Desktop are the variables beside those by which a program speaks to the person at
// the screen.
func Desktop() []string {
	return []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
}

// Environ is the environment of what ralph runs for a policy beside its agents
// (setup, gates, notices): of the caller's only what is basic, what tools need and the
// names in also, and set added.
func Environ(set map[string]string, also ...string) []string {
	return Allowed(slices.Concat(Basic(), Tooling(), also), set)
}

// Hidden lists the variables of the caller's environment that an environ lacks and
// that a text names as a whole word, in their order.
func Hidden(environ []string, text string) []string {
	have := map[string]bool{}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		have[name] = true
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		words[w] = true
	}
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if len(name) > 3 && strings.Contains(name, "_") && words[name] && !have[name] && !steering(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// steering reports whether a variable steers git or ralph itself.
func steering(name string) bool {
	return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "RALPH_")
}

// Allowed is the environment of an agent: of the caller's only the names on the
// list (one that ends in * is a prefix), and set added.
func Allowed(names []string, set map[string]string) []string {
	exact, prefixes := map[string]bool{}, []string(nil)
	for _, n := range names {
		if prefix, open := strings.CutSuffix(n, "*"); open {
			prefixes = append(prefixes, prefix)
		}
		exact[n] = true
	}
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if _, replaced := set[name]; replaced || steering(name) {
			continue
		}
		if exact[name] || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			out = append(out, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// Secrets adds to set the variables, by the name of the secret, that are read from the
// caller's environment. One that is not set is an error that says so.
func Secrets(set, variables map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		v, ok := os.LookupEnv(variables[name])
		if !ok {
			return fmt.Errorf("secret %s: the variable %s is not set", name, variables[name])
		}
		set[variables[name]] = v
	}
	return nil
}
