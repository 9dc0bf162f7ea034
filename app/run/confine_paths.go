package run

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-compiler/ralph/executor/effects"
	"github.com/ralph-compiler/ralph/executor/workspace"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// absent are notes on paths that sandboxes are to show and that are not there.
func absent(epic *ir.Epic, names []string, home string) (notes []string) {
	for _, name := range names {
		s := epic.Sandboxes[name]
		paths := slices.Concat(s.Read, s.Write)
		for i, at := range effects.Expanded(paths, home) {
			if _, err := os.Stat(at); err != nil {
				notes = append(notes, fmt.Sprintf("sandbox %s shows %s, which is not there", name, paths[i]))
			}
		}
	}
	return notes
}

// holding are warnings of what sandboxes may write in which git keeps the repository.
func holding(epic *ir.Epic, names []string, home string, space *workspace.Space) (warnings []string) {
	git := regular.Resolved(filepath.Dir(filepath.Dir(space.State())))
	for _, name := range names {
		paths := epic.Sandboxes[name].Write
		for i, at := range effects.Expanded(paths, home) {
			if at = regular.Resolved(at); regular.Within(git, at) || regular.Within(at, git) {
				warnings = append(warnings, fmt.Sprintf("sandbox %s may write %s, and with it this repository: its agents can change your branches, hooks and git's settings, and what ralph keeps there", name, paths[i]))
			}
		}
	}
	return warnings
}

// Paths are warnings of, and notes on, the paths that the sandboxes of an epic name on this machine.
func Paths(epic *ir.Epic, space *workspace.Space) (warnings, notes []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, nil // apply says it
	}
	return pathsOf(epic, inUse(epic), home, space)
}

func pathsOf(epic *ir.Epic, names []string, home string, space *workspace.Space) (warnings, notes []string) {
	return slices.Concat(holding(epic, names, home, space), reaching(epic, names, home)), absent(epic, names, home)
}

// How far sockets are looked for below a directory: those of programs that serve others (docker,
// agents of keys, tmux, the desktop) lie near the top, and one in a build's output matters less.
const (
	socketDepth = 3
	socketsSeen = 5000 // files and directories
)

// socketIn is a socket at a path of the machine, or near the top of the directory there; "" if
// there is none.
func socketIn(top string) string {
	if st, err := os.Stat(top); err == nil && st.Mode()&fs.ModeSocket != 0 {
		return top
	}
	seen, level := 0, []string{top}
	for range socketDepth {
		var next []string
		for _, dir := range level {
			entries, _ := os.ReadDir(dir) // what cannot be read cannot be reached
			for _, e := range entries[:min(len(entries), socketsSeen-seen)] {
				switch path := filepath.Join(dir, e.Name()); {
				case e.Type()&fs.ModeSocket != 0:
					return path
				case e.IsDir():
					next = append(next, path)
				}
			}
			seen = min(seen+len(entries), socketsSeen)
		}
		level = next
	}
	return ""
}

// reaching are warnings of sockets that sandboxes show: that a mount is read-only keeps nobody
// from connecting.
func reaching(epic *ir.Epic, names []string, home string) (warnings []string) {
	for _, name := range names {
		s := epic.Sandboxes[name]
		paths := slices.Concat(s.Read, s.Write)
		for i, at := range effects.Expanded(paths, home) {
			if found := socketIn(at); found != "" {
				warnings = append(warnings, fmt.Sprintf("sandbox %s shows %s, and with it a socket: what listens there works for the programs inside, with its own rights (%s)", name, paths[i], found))
			}
		}
	}
	return warnings
}
