package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/ir"
)

// mostLeft bounds how many files a prompt names.
const mostLeft = 50

// left names the files that agents of earlier steps wrote beside their outcome, for the
// agent of a step. Only steps that are told something of their own are there to find out
// what others need.
func (d *driver) left(n *ir.Node, step *ir.Step) (lines []string, err error) {
	at := slices.IndexFunc(n.Steps, func(s ir.Step) bool { return s.Name == step.Name })
	if at <= 0 || !slices.ContainsFunc(n.Steps[:at], func(s ir.Step) bool { return len(s.Prompt) > 0 }) {
		return nil, nil
	}
	view, _ := d.Run.View(n.ID)
	for k := range n.Steps[:at] {
		if len(n.Steps[k].Prompt) == 0 {
			continue
		}
		for _, a := range slices.Backward(view.Attempts) {
			if a.Step != n.Steps[k].Name || a.Status != executor.AttemptPassed {
				continue
			}
			dir := Files(d.State, n.ID, a.Step, a.Number)
			entries, err := os.ReadDir(dir)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() && !ownFile(e.Name()) && len(lines) < mostLeft {
					lines = append(lines, "- "+filepath.Join(dir, e.Name()))
				}
			}
			break
		}
	}
	return lines, nil
}

// ownFile reports whether ralph, or the runner, writes a file of that name beside an
// agent's outcome.
func ownFile(name string) bool {
	return strings.HasPrefix(name, ".") || slices.ContainsFunc([]string{"agent-", "cut-", "gate-", "red-", "setup"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}
