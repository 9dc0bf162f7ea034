package opencode

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/internal/atomicfile"
	"github.com/ralph-compiler/ralph/internal/process"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/internal/shellword"
)

// shells are those that OpenCode takes for its shell tool.
var shells = []string{"bash", "zsh", "sh", "dash", "ksh"}

// wrap writes the program that OpenCode takes for its shell. A server's environment
// serves many turns: the wrapper adds the variables of the turn in whose directory
// it is started, removes what is the server's own, and becomes the real shell.
func (s *server) wrap(env []string) (path string, err error) {
	var real string
	for _, v := range env {
		if name, value, _ := strings.Cut(v, "="); name == "SHELL" && slices.Contains(shells, filepath.Base(value)) {
			real, _ = process.Look(value, env, s.dir) // else another one
		}
	}
	for _, name := range []string{"bash", "sh"} {
		if real == "" {
			real, _ = process.Look(name, env, s.dir)
		}
	}
	if real == "" {
		real = "/bin/sh"
	}
	path = filepath.Join(s.dir, "bin", filepath.Base(real))
	if err := regular.MkdirOwn(filepath.Dir(path)); err != nil {
		return "", err
	}
	script := "#!/bin/sh\nunset " + passwordVar + " " + contentVar + "\n. " + shellword.Quote(filepath.Join(s.dir, turnsFile)) + "\nexec " + shellword.Quote(real) + " \"$@\"\n"
	if err := regular.WriteOwn(path, []byte(script), 0o700); err != nil {
		return "", err
	}
	return path, s.tell("", nil)
}

// turnsFile holds the variables of the turns in progress, for the wrapper.
const turnsFile = "turns.sh"

// tell gives the shells that start in dir these variables; nil takes them away.
func (s *server) tell(dir string, vars map[string]string) error {
	return s.write(func() error {
		if vars == nil {
			delete(s.turns, dir)
		} else {
			s.turns[dir] = vars
		}
		return atomicfile.WriteOwn(filepath.Join(s.dir, turnsFile), []byte(exports(s.turns)), 0o600)
	})
}

// exports is the text of turnsFile: what each directory's turn exports.
func exports(turns map[string]map[string]string) string {
	dirs := slices.Collect(maps.Keys(turns))
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) }) // the innermost first
	var b strings.Builder
	b.WriteString("case \"$PWD/\" in\n")
	for _, d := range dirs {
		b.WriteString(shellword.Quote(d+"/") + "*")
		if real, err := filepath.EvalSymlinks(d); err == nil && real != d {
			b.WriteString(" | " + shellword.Quote(real+"/") + "*")
		}
		b.WriteString(")\n")
		for _, name := range slices.Sorted(maps.Keys(turns[d])) {
			b.WriteString("export " + name + "=" + shellword.Quote(turns[d][name]) + "\n")
		}
		b.WriteString(";;\n")
	}
	b.WriteString("esac\n")
	return b.String()
}
