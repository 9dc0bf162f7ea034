package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// openCodeProject turns off what the project says to OpenCode.
const openCodeProject = "OPENCODE_DISABLE_PROJECT_CONFIG"

// OpenCodeAlone are the variables with which OpenCode takes neither settings nor skills
// from the worktree, where they may be an earlier agent's work; they also turn off the
// user's skills for other programs. The runner's block takes precedence.
func OpenCodeAlone() map[string]string {
	return map[string]string{openCodeProject: "1", "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1"}
}

// OpenCodePlanted refuses a worktree with code that OpenCode would run in itself,
// outside of every tool and permission: it loads plugins of the directory of a session
// whatever openCodeProject and --pure say (1.18). They may be an earlier agent's work.
// To override it, set openCodeProject to 0 in the runner's environment.
func OpenCodePlanted(r executor.AgentRun, env []string) error {
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); name == openCodeProject && (value == "0" || strings.EqualFold(value, "false")) {
			return nil
		}
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return Configuration(err)
	}
	defer root.Close()
	for _, name := range []string{"plugin", "plugins"} {
		dir := filepath.Join(".opencode", name)
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil && !absent(err) && !errors.Is(err, fs.ErrPermission) { // what ralph may not read OpenCode may not either
			return wouldRun(dir) // a link that leads out of the worktree, say
		}
		for _, e := range entries {
			if ext := filepath.Ext(e.Name()); ext == ".js" || ext == ".ts" {
				return wouldRun(filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, dir := range []string{"", ".opencode"} {
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			if path := filepath.Join(dir, name); brings(root, path) {
				return wouldRun(path)
			}
		}
	}
	return nil
}

// absent reports whether an error says that a file is not there, nor its directory.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func wouldRun(path string) error {
	return Configuration(fmt.Errorf("the worktree holds %s, and OpenCode would run what it names in itself, whoever wrote it. "+
		"Take it away; if all sprints may be trusted with it, write env = [\"%s=0\"] in the block of the runner: then the project's settings of OpenCode hold", path, openCodeProject))
}

// brings reports whether a configuration names code or repositories that OpenCode
// loads. One that cannot be read as OpenCode may read it does.
func brings(root *os.Root, path string) bool {
	b, err := regular.ReadMaxIn(root, path, 1<<20)
	if absent(err) {
		return false
	}
	b = bytes.TrimSpace(plainJSON(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	if err == nil && len(b) == 0 {
		return false
	}
	var keys map[string]json.RawMessage
	if err != nil || json.Unmarshal(b, &keys) != nil {
		return true
	}
	return slices.ContainsFunc([]string{"plugin", "plugins", "reference", "references"}, func(name string) bool {
		v := bytes.Join(bytes.Fields(keys[name]), nil)
		return len(v) > 0 && string(v) != "[]" && string(v) != "{}" && string(v) != "null"
	})
}

// plainJSON takes comments and commas before an end out of JSON.
func plainJSON(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		rest := b[i:]
		switch {
		case b[i] == '"':
			j := i + 1
			for j < len(b) && b[j] != '"' {
				if b[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j, len(b)-1)
			out = append(out, b[i:j+1]...)
			i = j
		case bytes.HasPrefix(rest, []byte("//")):
			for i+1 < len(b) && b[i+1] != '\n' {
				i++
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 3
		case b[i] == '}' || b[i] == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), b[i])
		default:
			out = append(out, b[i])
		}
	}
	return out
}
