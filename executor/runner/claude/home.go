package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// settingsFile is where Claude Code keeps in a home what it need not ask again.
const settingsFile = ".claude.json"

// moveIn answers, in a sandbox's new home, what Claude Code would ask a person who joins a
// session there: its theme, and whether it may trust the worktree and use the key.
func moveIn(r executor.AgentRun, env []string) (err error) {
	if r.Wall == nil || r.Wall.Home == "" {
		return nil
	}
	home, err := os.OpenRoot(r.Wall.Home)
	if err != nil {
		return err
	}
	defer home.Close()
	f, err := home.OpenFile(settingsFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	type project struct {
		Trusted bool `json:"hasTrustDialogAccepted"`
	}
	var s struct {
		Onboarded bool   `json:"hasCompletedOnboarding"`
		Theme     string `json:"theme"`
		Keys      struct {
			Approved []string `json:"approved"`
		} `json:"customApiKeyResponses"`
		Projects map[string]project `json:"projects"`
	}
	s.Onboarded, s.Theme, s.Projects = true, "dark", map[string]project{r.Dir: {true}}
	s.Keys.Approved = []string{}
	if key := runner.Value(env, "ANTHROPIC_API_KEY"); key != "" {
		s.Keys.Approved = []string{key[max(0, len(key)-20):]} // as much of it as Claude Code itself notes
	}
	return json.NewEncoder(f).Encode(s)
}
