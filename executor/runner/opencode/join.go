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
)

// Join implements executor.Program. While a running ralph has the session's server, the
// command attaches to that, and a person's messages there are seen. Otherwise, and in a
// sandbox, it opens the session by itself.
func (c *Runner) Join(r executor.AgentRun, session string) []string {
	if dir, _, ok := serving(r.Keep, session); ok && r.Wall == nil {
		return []string{filepath.Join(dir, attachFile), "--dir", r.Dir, "--session", session}
	}
	argv, err := c.Base.Argv(r, program)
	if err != nil {
		return nil
	}
	fixed := lists.Keep(slices.Sorted(maps.Keys(r.Runner.Set)), func(name string) bool { return !strings.Contains(r.Runner.Set[name], "${") })
	out := lists.Map(fixed, func(name string) string { return name + "=" + r.Runner.Set[name] })
	if len(out) > 0 {
		out = append([]string{"env"}, out...)
	}
	return append(append(out, argv...), r.Dir, "--session", session)
}

// serving finds the directory of the server that has a session: others know it too,
// since all share the user's database, but do not see what is done to it.
func serving(keep, session string) (dir string, a announced, ok bool) {
	if keep == "" {
		return "", announced{}, false // its servers are nowhere to be found
	}
	found, _ := filepath.Glob(filepath.Join(keep, "opencode-*", sessionsDir, session))
	for _, f := range found {
		dir := filepath.Dir(filepath.Dir(f))
		b, err := regular.ReadFile(filepath.Join(dir, announceFile))
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
