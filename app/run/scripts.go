package run

import (
	"fmt"

	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/shell"
	"github.com/ralph-compiler/ralph/ir"
)

// usedFile is a relative path that a gate, a runner or a setup command names.
type usedFile struct {
	shell.File
	by string // "gate unit", "runner sh", "setup command 1"
}

// usesOf lists the files that the commands of these nodes name, each once for each
// who names it.
func usesOf(epic *ir.Epic, nodes []*ir.Node) []usedFile {
	var out []usedFile
	seen := map[string]bool{}
	add := func(by string, files []shell.File) {
		seen[by] = true
		out = append(out, lists.Map(files, func(f shell.File) usedFile { return usedFile{f, by} })...)
	}
	agent := func(name string) {
		a := epic.Agents[name]
		if by := "runner " + a.Runner; name != "" && !a.Human && !seen[by] {
			add(by, shell.ArgvFiles(epic.Runners[a.Runner].Run))
		}
	}
	agents := func(name string, fallback []string) {
		agent(name)
		for _, f := range fallback {
			agent(f)
		}
	}
	gate := func(name string) {
		g := epic.Gates[name]
		if by := "gate " + name; g.Kind == "command" && !seen[by] {
			add(by, shell.Files(g.Run))
		}
		agents(g.Agent, g.Fallback)
	}
	for _, n := range nodes {
		for s := range lists.Refs(n.Steps) {
			if n.Kind != ir.GateKind && n.Kind != ir.Manual {
				agents(s.Agent, s.Fallback)
				agent(s.Stall.Agent)
			}
			for _, g := range s.Gates {
				gate(g)
			}
		}
	}
	if len(nodes) > 0 {
		for i, text := range epic.Run.Worktree.Setup {
			add(setupName(i), shell.Files(text))
		}
		agent(epic.Epic.Integration.ConflictAgent)
	}
	return out
}

// setupName is what a setup command is called.
func setupName(i int) string { return fmt.Sprintf("setup command %d", i+1) }
