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
)

// Join implements executor.Program. While a ralph runs that has the session's
// server, the command attaches to that: what a person writes there is seen. Else it
// opens the session by itself.
func (c *Runner) Join(r executor.AgentRun, session string) []string {
	found, _ := filepath.Glob(filepath.Join(r.Keep, "opencode-*", announceFile))
	for _, f := range found {
		b, err := os.ReadFile(f)
		var a announced
		if err != nil || json.Unmarshal(b, &a) != nil || !alive(a.PID) {
			continue
		}
		at := api{url: a.URL, password: a.Password, dir: r.Dir, http: &http.Client{Timeout: 2 * time.Second}}
		if s, err := at.session(context.Background(), session); err == nil && s.ID == session {
			return []string{filepath.Join(filepath.Dir(f), attachFile), "--dir", r.Dir, "--session", session}
		}
	}
	argv, err := c.Argv(r, "opencode")
	if err != nil {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Runner.Set)) {
		if !strings.Contains(r.Runner.Set[name], "${") {
			out = append(out, name+"="+r.Runner.Set[name])
		}
	}
	if len(out) > 0 {
		out = append([]string{"env"}, out...)
	}
	return append(append(out, argv...), r.Dir, "--session", session)
}

// alive reports whether a process of this number is there.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

// quote makes one word of a text for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
