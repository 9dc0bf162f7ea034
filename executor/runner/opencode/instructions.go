package opencode

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
)

// maxInstructions bounds what a project tells all agents, in bytes.
const maxInstructions = 128 << 10

// instructions is what the project tells all agents, from the file that OpenCode
// itself would take. It is given with the message, since OpenCode is told to leave the
// project's own settings alone. Judges are not told: the file may be the work of whom
// they judge. A link is not followed: it could lead to what ralph may read and the agent
// is not to, such as ralph's own environment.
func instructions(r executor.AgentRun) string {
	if r.Raw {
		return ""
	}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md", "CONTEXT.md"} {
		path := filepath.Join(r.Dir, name)
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		f, err := regular.Open(path)
		if err != nil {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(f, maxInstructions))
		if err := f.Close(); err != nil {
			continue
		}
		if text := strings.ToValidUTF8(strings.TrimSpace(string(b)), ""); err == nil && text != "" {
			return "Instructions from: " + path + "\n" + text
		}
	}
	return ""
}
