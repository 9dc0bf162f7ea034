package cli

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/project"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// A program ralph-NAME on PATH is the command ralph NAME, if ralph has none of that name.

const externalPrefix = "ralph-"

// runExternal becomes the program that a command line names; it returns if there is none.
func runExternal(root *cobra.Command, args []string) error {
	if len(args) == 2 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	if len(args) == 0 || !externalName(args[0]) || builtIn(root, args[0]) {
		return nil
	}
	for _, dir := range programDirs() {
		if file := external(dir, args[0]); file != "" {
			// In place of this process: signals, the terminal and the exit code are the program's.
			err := syscall.Exec(file, append([]string{file}, args[1:]...), os.Environ())
			return &exit.Error{Code: exit.Input, Err: fmt.Errorf("start %s: %w", file, err)}
		}
	}
	return nil
}

// externalName reports whether a word can be an external command's name: neither a path nor
// a flag, nor what cobra keeps for itself.
func externalName(name string) bool {
	return name != "" && !strings.ContainsAny(name[:1], "-._") && !strings.ContainsAny(name, `/\`)
}

func builtIn(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
}

// external returns the file in a directory that is a command, or "". One that lies in the
// repository by way of a link is none.
func external(dir, name string) string {
	file, err := exec.LookPath(filepath.Join(dir, externalPrefix+name))
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(file); err != nil || theirs(filepath.Dir(real)) {
		return ""
	}
	return file
}

// programDirs are the directories of PATH in which commands are looked for: a repository
// must not bring commands with it.
func programDirs() []string {
	return lists.Keep(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return filepath.IsAbs(dir) && err == nil && !theirs(real)
	})
}

// theirs reports whether a directory is the current one or in its repository.
func theirs(dir string) bool {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil || dir == here {
		return true
	}
	root := project.GitRoot(here)
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err != nil || filepath.IsLocal(rel)
}

// withExternals makes ralph's own help name the commands that PATH adds.
func withExternals(root *cobra.Command) {
	explain := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		explain(cmd, args)
		if found := externals(root); cmd == root && len(found) > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "\nOn PATH:\n  %s\n", strings.Join(found, "\n  "))
		}
	})
}

// externals lists the external commands, each with its file, by name.
func externals(root *cobra.Command) (lines []string) {
	files := map[string]string{}
	for _, dir := range programDirs() {
		entries, _ := os.ReadDir(dir) // what cannot be read has no commands
		for _, e := range entries {
			name, ok := strings.CutPrefix(e.Name(), externalPrefix)
			if ok && files[name] == "" && externalName(name) && !builtIn(root, name) {
				files[name] = external(dir, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != "" {
			lines = append(lines, reveal.Words(fmt.Sprintf("%-11s %s", name, files[name])))
		}
	}
	return lines
}
