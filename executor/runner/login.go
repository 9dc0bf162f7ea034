package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Login is how a kind of program is logged in inside sandboxes: by a directory that all
// sandboxes of a runner share. Copies would not do: whoever renews a login ends the others.
type Login struct {
	Args     []string // after the program: logs a person in
	File     string   // what the program keeps of it
	Variable string   // names the program's directory to it, where a person runs it
	Keys     []string // variables that stand for a login

	within string   // as Variable, in a sandbox
	state  string   // variable that names the directory of its databases, which are of one sandbox alone; "" if there are none
	hosts  []string // that it needs to renew a login
	fixed  []string // beside File, read-only inside: what would tell the agents of other sandboxes what to do; "…/" are directories
	own    []string // beside File, of one sandbox alone
}

// Logins are the kinds of programs that can be logged in so. OpenCode cannot: its login lies
// beside the database of all its sessions.
var Logins = map[string]Login{
	"claude": {
		Args: []string{"auth", "login"}, File: ".credentials.json", Variable: "CLAUDE_CONFIG_DIR",
		Keys:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		within: "CLAUDE_SECURESTORAGE_CONFIG_DIR", hosts: []string{"platform.claude.com"}, // settings and sessions stay in the sandbox's home
	},
	"codex": {
		Args: []string{"login"}, File: "auth.json", Variable: "CODEX_HOME",
		Keys:   []string{"CODEX_API_KEY", "CODEX_ACCESS_TOKEN"},
		within: "CODEX_HOME", state: "CODEX_SQLITE_HOME",
		fixed: []string{"config.toml", ".env", "environments.toml", "hooks.json", "AGENTS.md", "AGENTS.override.md", "rules/", "prompts/", "agents/", "plugins/"},
		own:   []string{"sessions/", "archived_sessions/", "shell_snapshots/", "skills/", "memories/", "thread-writer-locks/", "log/", "tmp/", ".tmp/", "history.jsonl", "models_cache.json", "cloud-config-bundle-cache.json"},
	},
}

// LoginDir is the directory of a login below the one that sandboxes share: programs make
// locks beside it.
func LoginDir(shared string) string { return filepath.Join(shared, "login") }

// Ready makes what sandboxes mount beside a login. An error names what is not as ralph made it.
func (l Login) Ready(shared string) error {
	if err := regular.MkdirOwn(LoginDir(shared)); err != nil {
		return err
	}
	for _, name := range slices.Concat(l.fixed, l.own) {
		if err := made(filepath.Join(LoginDir(shared), name), strings.HasSuffix(name, "/")); err != nil {
			return err
		}
	}
	return nil
}

// made makes a directory, or an empty file, that is not there yet.
func made(path string, dir bool) error {
	if dir {
		return regular.MkdirOwn(path)
	}
	if err := regular.Own(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	nothing := ""
	if filepath.Ext(path) == ".json" {
		nothing = "{}\n"
	}
	return regular.WriteOwn(path, []byte(nothing), 0o600)
}

// loggedIn is the sandbox and the environment of a turn with the login of its runner, where
// there is one and nothing in the environment stands for it.
func loggedIn(r executor.AgentRun, env []string) (*wall.Spec, []string) {
	l, known := Logins[r.Runner.Kind]
	if !known || r.Wall == nil || r.Wall.Login == nil || Value(env, slices.Concat(l.Keys, elsewhere)...) != "" {
		return r.Wall, env
	}
	if r.Wall.Kind.InPlace() { // it could be led elsewhere, or written to, for the sandboxes of others
		return r.Wall, env
	}
	w := *r.Wall
	at := LoginDir(w.Login.Dir)
	mounts := []wall.Mount{{From: w.Login.Dir, Write: true}, {From: at, Write: true}} // the second cannot be moved away
	for _, name := range l.fixed {
		mounts = append(mounts, wall.Mount{From: filepath.Join(at, name)})
	}
	for _, name := range l.own {
		from := filepath.Join(w.Login.Own, name)
		_ = made(from, strings.HasSuffix(name, "/")) // what is missing cannot be mounted
		mounts = append(mounts, wall.Mount{From: from, At: filepath.Join(at, name), Write: true})
	}
	env = with(env, l.within, at)
	if l.state != "" {
		dir := filepath.Join(w.Login.Own, "state")
		_ = made(dir, true)
		mounts, env = append(mounts, wall.Mount{From: dir, Write: true}), with(env, l.state, dir)
	}
	w.Mounts = append(mounts, w.Mounts...)
	if w.Egress != nil && slices.Contains(w.Egress.Hosts, Model) {
		e := *w.Egress
		e.Hosts = slices.Concat(e.Hosts, l.hosts)
		w.Egress = &e
	}
	return &w, env
}

// with is an environment in which a variable has one value.
func with(env []string, name, value string) []string {
	return append(lists.Keep(env, func(v string) bool { return !strings.HasPrefix(v, name+"=") }), name+"="+value)
}

// Unauthorized adds to the failure of a login what a person can do about it, where the
// turn was in a sandbox.
func Unauthorized(r executor.AgentRun, err error) error {
	l, known := Logins[r.Runner.Kind]
	if r.Wall == nil || !known || err == nil {
		return err
	}
	if r.Wall.Kind.InPlace() {
		return fmt.Errorf("%w: at landlock a login cannot be shared: set %s", err, l.Keys[0])
	}
	return fmt.Errorf("%w: log in inside ralph's sandboxes with ralph login %s, or set %s", err, r.Runner.Kind, l.Keys[0])
}
