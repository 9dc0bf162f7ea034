package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-compiler/ralph/executor"
)

// S4-73, execution §3: OpenCode loads plugins of the worktree whatever it is told.
func TestCodeThatOpenCodeWouldRunIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		refused    bool
	}{
		"a plugin":                         {".opencode/plugin/p.js", "", true},
		"one in TypeScript":                {".opencode/plugins/p.ts", "", true},
		"no plugin":                        {".opencode/plugins/README.md", "", false},
		"a tool, which is off":             {".opencode/tool/t.ts", "", false},
		"a list of plugins":                {"opencode.json", `{"plugin":["./x.js"]}`, true},
		"one in its own directory":         {".opencode/opencode.jsonc", "{ // so\n \"plugins\": [\"x\"], /* } */ }", true},
		"one that is written otherwise":    {"opencode.json", `{"\u0070lugin":["./x.js"]}`, true},
		"a repository that it would fetch": {"opencode.json", `{"references":{"x":{"repository":"ext::sh"}}}`, true},
		"what nobody can read":             {"opencode.json", `{"plugin":["./x.js"]`, true},
		"settings":                         {"opencode.json", "{\"$schema\":\"https://opencode.ai/config.json\", // \"plugin\"\n\"mcp\":{\"a\":{\"command\":[\"plugin\",],},}, \"plugin\": [ ],}\n", false},
		"an empty file":                    {"opencode.json", "\n", false},
		"a file for a directory":           {".opencode", "plugin", false},
		"another file":                     {"other.json", `{"plugin":["./x.js"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := executor.AgentRun{Dir: t.TempDir()}
			path := filepath.Join(r.Dir, c.file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
				t.Fatal(err)
			}
			err := OpenCodePlanted(r, []string{openCodeProject + "=1"})
			var f *executor.Failure
			if c.refused != (err != nil) || c.refused && (!errors.As(err, &f) || f.Class != executor.FailConfig || !strings.Contains(err.Error(), c.file)) {
				t.Errorf("got %v, want refused: %v", err, c.refused)
			}
			if err := OpenCodePlanted(r, []string{openCodeProject + "=0"}); err != nil {
				t.Errorf("who trusts the project is refused: %v", err)
			}
		})
	}
}

// Links of the worktree are OpenCode's to follow, and not ralph's.
func TestALinkToCodeThatOpenCodeWouldRunIsRefused(t *testing.T) {
	away := t.TempDir()
	if err := os.WriteFile(filepath.Join(away, "p.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".opencode/plugin", ".opencode", "opencode.json"} {
		r := executor.AgentRun{Dir: t.TempDir()}
		path := filepath.Join(r.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(away, path)); err != nil {
			t.Fatal(err)
		}
		if err := OpenCodePlanted(r, nil); err == nil {
			t.Errorf("%s leads out of the worktree, and nothing is said", name)
		}
	}
}
