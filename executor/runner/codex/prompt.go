package codex

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/text"
)

// maxPrompt is how long a prompt may be, in bytes: Codex takes 1048576 characters.
const maxPrompt = 1 << 20

// stdinExt ends the name of the file that holds what Codex is really told, if that
// is not the prompt alone.
const stdinExt = ".stdin.md"

// openPrompt returns what Codex reads. A file, so that a Codex that never reads it
// blocks nothing.
func openPrompt(r executor.AgentRun) (*os.File, error) {
	prompt := runner.Prompt(r)
	if len(prompt) > maxPrompt {
		first := text.Head(prompt, maxPrompt-64<<10)
		prompt = fmt.Appendf(slices.Clip(first), "\n\n[This is too long for one message. The whole of it is in the file %s: before you begin, read there what comes after byte %d.]\n", runner.Seen(r, runner.PromptExt), len(first))
	}
	prompt = append(slices.Clip(prompt), runner.Conventions(r)...)
	if len(prompt) == len(runner.Prompt(r)) {
		return regular.OpenOwn(runner.File(r, runner.PromptExt))
	}
	name := runner.File(r, stdinExt)
	if err := regular.WriteOwn(name, prompt, 0o600); err != nil {
		return nil, err
	}
	return regular.OpenOwn(name)
}

// tempDir is the turn's own directory of temporary files. Its name is always the
// same for a turn: what a killed one left is found by the next.
func tempDir(r executor.AgentRun) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("ralph-codex-%x", sha256.Sum256([]byte(r.OutcomeFile())))[:len("ralph-codex-")+16])
}

func makeTemp(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}
