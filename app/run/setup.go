package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/app/record"
	"github.com/ralph-compiler/ralph/app/words"
	"github.com/ralph-compiler/ralph/executor/journal"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// agentText is an agent file as it was compiled.
type agentText struct {
	name string
	text []byte
	sum  [sha256.Size]byte
}

// readAgents reads the agent files. A file that differs from the compiled one is refused:
// agents get the reviewed instructions only.
func readAgents(top string, epic *ir.Epic) ([]agentText, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []agentText
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(epic.Agents)) {
		a := epic.Agents[name]
		if a.Path == "" || a.Digest == "" {
			continue
		}
		b, err := regular.ReadIn(root, filepath.FromSlash(a.Path))
		sum := sha256.Sum256(b)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s: %v", name, err))
			continue
		case "sha256:"+hex.EncodeToString(sum[:]) != a.Digest:
			wrong = append(wrong, fmt.Sprintf("%s: %s is not the file that was compiled", name, a.Path))
			continue
		}
		out = append(out, agentText{name, b, sum})
	}
	if len(wrong) > 0 {
		return nil, exit.Inputf("agent files differ from what was compiled:\n  - %s\n  Recompile: ralph compile %s", strings.Join(wrong, "\n  - "), words.QuotePath(epic.Epic.Plan))
	}
	return out, nil
}

// copyAgents copies epic.json and the agent files into the run's state and
// returns the agents' texts.
func copyAgents(state string, files []agentText, raw []byte) (map[string]string, error) {
	if err := atomicfile.WriteOwn(filepath.Join(state, "epic.json"), raw, 0o600); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.name] = record.Body(string(f.text))
		dir := filepath.Join(state, "agents")
		if err := regular.MkdirOwn(dir); err != nil {
			return nil, err
		}
		if err := atomicfile.WriteOwn(filepath.Join(dir, hex.EncodeToString(f.sum[:8])+".md"), f.text, 0o600); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// WhoAmI describes this process to others that find the lock taken.
func WhoAmI() journal.Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return journal.Owner{
		PID: os.Getpid(), Started: time.Now().UTC(), Boot: journal.BootID(), Host: host, User: project.UserName(),
		Command: strings.Join(os.Args, " "), Space: process.Namespace(),
	}
}

// checkSpace refuses to start with less free space than the policy asks for.
func checkSpace(dir string, want int64) error {
	if want <= 0 {
		return nil
	}
	free, err := workspace.FreeSpace(dir)
	if err != nil {
		return exit.Inputf("free space of %s: %w", dir, err)
	}
	if free < want {
		return exit.Unstartedf("%.1f GB are free, but worktree.min_free requires %.1f GB.", float64(free)/1e9, float64(want)/1e9)
	}
	return nil
}
