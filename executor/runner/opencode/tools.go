package opencode

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-compiler/ralph/executor/runner"
)

// connect gives the directory's sessions the turn's tools, and removes those of
// turns that are over.
func (u *turn) connect(ctx context.Context) error {
	on, err := get[map[string]mcpStatus](ctx, u.api, "/mcp")
	if err != nil {
		return err
	}
	if len(on) > maxServers {
		return tooMuch()
	}
	for name, st := range on {
		if st.Status != "disabled" && !u.server.uses(u.run.Dir, name) {
			if err := u.api.disconnect(ctx, name); err != nil {
				return err
			}
		}
	}
	t := u.run.Tools
	if t == nil {
		return nil
	}
	st, err := u.api.connect(ctx, t.Name, t.URL, t.Token)
	if err != nil {
		return err
	}
	if st.Status != "connected" {
		return runner.Configuration(fmt.Errorf("opencode cannot reach ralph's tools at %s: %s %s", t.URL, st.Status, short(st.Error, 200)))
	}
	u.server.use(u.run.Dir, t.Name, true)
	return nil
}

// disconnect takes the turn's tools away.
func (u *turn) disconnect() {
	if u.run.Tools == nil || u.server.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.t.Context()), 5*time.Second)
	defer cancel()
	u.server.use(u.run.Dir, u.run.Tools.Name, false)
	_ = u.api.disconnect(ctx, u.run.Tools.Name) // its token is worth nothing any more
}

// use notes that a turn in progress has an MCP server of this name.
func (s *server) use(dir, name string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[dir] == nil {
		s.active[dir] = map[string]bool{}
	}
	if on {
		s.active[dir][name] = true
		return
	}
	delete(s.active[dir], name)
	if len(s.active[dir]) == 0 {
		delete(s.active, dir)
	}
}

func (s *server) uses(dir, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active[dir][name]
}
