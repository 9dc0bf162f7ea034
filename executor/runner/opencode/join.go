package opencode

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Join implements executor.Program. While a running ralph has the session's server, the
// command attaches to that, in a sandbox by its relay, and a person's messages there are
// seen. Otherwise it opens the session by itself.
func (c *Runner) Join(r executor.AgentRun, session string) executor.Join {
	dir, a, ok := serving(r.Keep, session, r.Wall != nil)
	to := []string{"--dir", r.Dir, "--session", session}
	if ok && r.Wall == nil {
		return executor.Join{Argv: append([]string{filepath.Join(dir, attachFile)}, to...)}
	}
	argv, err := c.Base.Argv(r, program)
	if err != nil {
		return executor.Join{}
	}
	if at, http := strings.CutPrefix(a.URL, "http://"); ok && http {
		return executor.Join{
			Argv:    append(append(argv, "attach", a.URL), to...),
			Env:     lists.Merged(clientAlone, map[string]string{passwordVar: a.Password, userVar: userName}),
			Forward: []wall.Forward{{At: at, To: at}},
		}
	}
	fixed := lists.Keep(slices.Sorted(maps.Keys(r.Runner.Set)), func(name string) bool { return !strings.Contains(r.Runner.Set[name], "${") })
	out := lists.Map(fixed, func(name string) string { return name + "=" + r.Runner.Set[name] })
	if len(out) > 0 {
		out = append([]string{"env"}, out...)
	}
	return executor.Join{Argv: append(append(out, argv...), r.Dir, "--session", session), Unseen: r.Wall != nil}
}

// clientAlone are variables with which a person's client in a sandbox of their own takes
// nothing that the agent left in its home or worktree, and asks no host for news.
var clientAlone = map[string]string{
	"XDG_CONFIG_HOME": "/tmp/config", "XDG_DATA_HOME": "/tmp/data", "XDG_STATE_HOME": "/tmp/state", "XDG_CACHE_HOME": "/tmp/cache",
	"OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
}

// serving finds the directory of the server that has a session: others know it too,
// since all share the user's database, but do not see what is done to it. inside: it is in
// a sandbox, and the relay to it is meant.
func serving(keep, session string, inside bool) (dir string, a announced, ok bool) {
	if keep == "" {
		return "", announced{}, false // its servers are nowhere to be found
	}
	file := announceFile
	if inside {
		file = filepath.Join(peopleDir, announceFile)
	}
	found, _ := filepath.Glob(filepath.Join(keep, "opencode-*", sessionsDir, session))
	for _, f := range found {
		dir := filepath.Dir(filepath.Dir(f))
		b, err := regular.ReadFile(filepath.Join(dir, file))
		var a announced
		if err != nil || json.Unmarshal(b, &a) != nil || !alive(a.PID) {
			continue
		}
		at := api{url: a.URL, password: a.Password, http: &http.Client{Timeout: 2 * time.Second}}
		if at.healthy(context.Background()) {
			return dir, a, true
		}
	}
	return "", announced{}, false
}

// alive reports whether a process of this number is there.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
