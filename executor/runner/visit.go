package runner

import (
	"os"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/wall"
)

// Visit is how a program of a person's runs where those of a turn did: its environment, of
// which also names more variables of the caller's, and its sandbox. What is of one turn
// alone is left out, and so are secrets that this ralph was not given.
func (b Base) Visit(r executor.AgentRun, also ...string) (env []string, w *wall.Spec, err error) {
	r.Runner.Env = slices.Concat(r.Runner.Env, also)
	r.Runner.Secrets = slices.DeleteFunc(slices.Clone(r.Runner.Secrets), func(name string) bool {
		_, given := os.LookupEnv(b.Secrets[name].Env)
		return !given
	})
	argv, env, err := b.Program(r, nil, "its program")
	if err != nil {
		return nil, nil, err
	}
	env = slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == Mark || name == "RALPH_PROMPT" || name == "RALPH_FEEDBACK"
	})
	if r.Wall == nil {
		return env, nil, nil
	}
	r.Wall, env = loggedIn(r, env)
	return env, reaching(*r.Wall, r, argv, env), nil
}
