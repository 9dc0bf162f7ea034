package runner

import (
	"cmp"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Model stands in a list of hosts for those that the runner's model needs.
const Model = "model"

// models are the hosts of each kind of runner, and the variables that name another one.
var models = map[string]struct{ hosts, variables []string }{
	"claude":   {[]string{"api.anthropic.com"}, []string{"ANTHROPIC_BASE_URL"}},
	"codex":    {[]string{"api.openai.com", "chatgpt.com", "auth.openai.com"}, []string{"OPENAI_BASE_URL"}},
	"opencode": {nil, []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", openCodeConfig}},
	"acp":      {nil, []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", openCodeConfig}},
	"command":  {nil, []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"}},
}

// openCodeConfig is a whole configuration of OpenCode.
const openCodeConfig = "OPENCODE_CONFIG_CONTENT"

var baseURL = lazyregexp.New(`"baseURL"\s*:\s*"[^"]*"`)

// providers are the hosts of those that OpenCode's models are called by: "anthropic/…".
var providers = map[string][]string{
	"anthropic":  {"api.anthropic.com"},
	"openai":     {"api.openai.com"},
	"google":     {"generativelanguage.googleapis.com"},
	"openrouter": {"openrouter.ai"},
	"opencode":   {"opencode.ai"},
}

// usualModels are the hosts of a runner's model where nothing names another one.
func usualModels(r executor.AgentRun) []string {
	provider := r.Alias.Provider
	if provider == "" {
		provider, _, _ = strings.Cut(ModelOf(r), "/")
	}
	if r.Runner.Kind == "opencode" && providers[provider] != nil {
		return providers[provider]
	}
	return models[r.Runner.Kind].hosts
}

// inside completes the sandbox of a turn: its own files, and its hosts. It is nil where there
// is no sandbox.
func inside(r executor.AgentRun, argv, env []string) *wall.Spec {
	if r.Wall == nil {
		return nil
	}
	w := *r.Wall
	w.Mounts = slices.Concat([]wall.Mount{{From: r.Inside(), At: r.Seen(), Write: true}}, w.Mounts)
	return reaching(w, r, argv, env)
}

// reaching is a sandbox with the hosts that "model" stands for.
func reaching(w wall.Spec, r executor.AgentRun, argv, env []string) *wall.Spec {
	if w.Egress == nil || !slices.Contains(w.Egress.Hosts, Model) {
		return &w
	}
	e := *w.Egress
	e.Hosts = slices.DeleteFunc(slices.Clone(e.Hosts), func(h string) bool { return h == Model })
	own := ownModels(r, argv, env)
	if len(own) == 0 {
		e.Hosts = append(e.Hosts, usualModels(r)...)
	}
	w.Forward = slices.Clip(w.Forward)
	for _, at := range own {
		if loopback(at) && !forwarded(&w, at) {
			w.Forward = append(w.Forward, wall.Forward{At: at, To: at})
		} else if !loopback(at) {
			e.Hosts, e.Private = append(e.Hosts, at), append(e.Private, at)
		}
	}
	w.Egress = &e
	return &w
}

// loopback reports whether a server is on this machine.
func loopback(at string) bool {
	a, err := netip.ParseAddrPort(at)
	return err == nil && a.Addr().IsLoopback()
}

// forwarded reports whether an address inside leads out.
func forwarded(w *wall.Spec, at string) bool {
	return slices.ContainsFunc(w.Forward, func(f wall.Forward) bool { return f.At == at })
}

// ownModels are the servers, "host:port", that the runner's settings and environment name
// in place of the usual ones. Arguments that ralph adds are not looked at: they name the
// turn's tools.
func ownModels(r executor.AgentRun, argv, env []string) []string {
	var out []string
	add := func(text string) {
		for _, at := range addresses(text) {
			if !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	for _, name := range models[r.Runner.Kind].variables { // other variables may name servers that are no model's
		if name != openCodeConfig {
			add(Value(env, name))
			continue
		}
		for _, at := range baseURL.FindAllString(Value(env, name), -1) { // it names other servers, too
			add(at)
		}
	}
	for _, a := range argv[:min(len(argv), len(r.Runner.Run))] {
		add(a)
	}
	return out
}

// addresses are the servers of the URLs in a text.
func addresses(text string) []string {
	var out []string
	for _, scheme := range []string{"http://", "https://"} {
		for rest := text; ; {
			i := strings.Index(rest, scheme)
			if i < 0 {
				break
			}
			word := rest[i:]
			if end := strings.IndexAny(word, "\"' \t\n,;}])>"); end >= 0 {
				word = word[:end]
			}
			rest = rest[i+len(scheme):]
			u, err := url.Parse(word)
			if err != nil || u.Hostname() == "" {
				continue
			}
			out = append(out, server(u))
		}
	}
	return out
}

// server is "host:port" of a URL, with this machine by its address.
func server(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// Place is where a file of the turn that its program reads is on the machine; the program
// finds it at Seen.
func Place(r executor.AgentRun, ext string) string {
	if r.Wall == nil {
		return File(r, ext)
	}
	return filepath.Join(r.Inside(), r.Turn()+ext)
}

// Outside is where a path of a turn's programs is on the machine; "" if the sandbox covers it.
// Where the policy mounts nothing, a home directory inside is the sandbox's own.
func Outside(r executor.AgentRun, env []string, path string) string {
	home := filepath.Clean(Value(env, "HOME"))
	if r.Wall == nil || r.Wall.Home == "" || home == "" {
		return path
	}
	rest, inHome := strings.CutPrefix(path, home+"/")
	if !r.Wall.Kind.InPlace() { // where HOME is another, nothing is mounted below it
		for _, m := range slices.Backward(r.Wall.Mounts) {
			at := cmp.Or(m.At, m.From)
			below, in := strings.CutPrefix(path+"/", at+"/")
			switch _, err := os.Stat(m.From); {
			case !in, m.Optional && errors.Is(err, fs.ErrNotExist):
			case m.Cover:
				return ""
			default:
				return filepath.Join(m.From, below)
			}
		}
	}
	if inHome {
		return filepath.Join(r.Wall.Home, rest)
	}
	return path
}

// Inside is the environment that a turn's programs get in its sandbox, with ralph's login
// of the runner if it uses one.
func Inside(r executor.AgentRun, env []string) []string {
	_, env = loggedIn(r, env)
	return env
}
