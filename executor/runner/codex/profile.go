package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/lazyregexp"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// profileEnd ends the name of the file of a profile, in Codex' home directory.
const profileEnd = ".config.toml"

// home is Codex' home directory in an environment, "" if there is none.
func home(env []string) string {
	if h := runner.Value(env, "CODEX_HOME"); h != "" {
		return h
	}
	if h := runner.Value(env, "HOME"); h != "" {
		return filepath.Join(h, ".codex")
	}
	return ""
}

// checkProfile reports a slug that names no profile: Codex would run without a word
// as if none was named. In a sandbox a profile is there if its read shows it.
func checkProfile(r executor.AgentRun, env []string) error {
	if r.Slug == "" {
		return nil
	}
	dir := home(runner.Inside(r, env))
	file := filepath.Join(dir, r.Slug+profileEnd)
	if filepath.Base(r.Slug) == r.Slug && dir != "" {
		if st, err := os.Stat(runner.Outside(r, env, file)); err == nil && st.Mode().IsRegular() {
			return nil
		}
	}
	known := ""
	switch {
	case r.Wall != nil && dir != home(env):
		known = "ralph's login of this runner has no profiles: give it a key"
	case r.Wall != nil:
		known = fmt.Sprintf("sandbox %q does not show it: add read = [%q]", r.Wall.Name, file)
	default:
		all, err := profiles(dir)
		if err != nil {
			return runner.Configuration(err)
		}
		known = "there is none"
		if len(all) > 0 {
			known = "there are " + strings.Join(lists.Map(all, func(n executor.Native) string { return n.Name }), ", ")
		}
	}
	return runner.Configuration(fmt.Errorf("agent %s: slug = %q names a profile of Codex, %s, and that is not there (%s)", runner.AgentOf(r), r.Slug, file, known))
}

// Natives implements executor.Program: the profiles of the user, each a file
// NAME.config.toml in Codex' home directory.
func (c Runner) Natives(_ context.Context, r executor.AgentRun) ([]executor.Native, error) {
	env, err := c.Base.Env(r, nil)
	if err != nil {
		return nil, err
	}
	return profiles(home(env))
}

func profiles(dir string) ([]executor.Native, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []executor.Native
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), profileEnd)
		if !ok || name == "" || strings.HasPrefix(name, ".") || !e.Type().IsRegular() {
			continue
		}
		n := executor.Native{Name: name, Path: filepath.Join(dir, e.Name()), Write: true}
		b, err := regular.ReadFile(n.Path)
		if err != nil {
			return nil, err
		}
		n.Model, n.Provider = setting(b, "model"), setting(b, "model_provider")
		out = append(out, n)
	}
	return out, nil
}

// table is where the first table of a TOML file begins, and assigned a text that is
// assigned on one line.
var (
	table    = lazyregexp.New(`(?m)^[ \t]*\[`)
	assigned = lazyregexp.New(`(?m)^[ \t]*([A-Za-z_]+)[ \t]*=[ \t]*(?:"([^"\\\n]*)"|'([^'\n]*)')`)
)

// setting is the text that a profile gives to a name, "" if it says nothing.
func setting(toml []byte, name string) string {
	if at := table.FindIndex(toml); at != nil {
		toml = toml[:at[0]]
	}
	for _, m := range assigned.FindAllSubmatch(toml, -1) {
		if string(m[1]) == name {
			return string(m[2]) + string(m[3])
		}
	}
	return ""
}
