package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/internal/lists"
	"github.com/ralph-compiler/ralph/internal/reveal"
)

// A program ralph-NAME on PATH is the command ralph NAME, if ralph has none of that name.

const externalPrefix = "ralph-"

// runExternal becomes the program that a command line names; it returns if there is none.
func runExternal(root *cobra.Command, args []string) error {
	if len(args) >= 2 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	if len(args) == 0 || !externalName(args[0]) || builtIn(root, args[0]) {
		return nil
	}
	for _, dir := range programDirs() {
		if file, err := exec.LookPath(filepath.Join(dir, externalPrefix+args[0])); err == nil {
			return become(file, args[1:])
		}
	}
	return nil
}

// become puts a program in the place of this process: signals, the terminal and the exit code
// are the program's. Windows has no such thing: there it is waited for.
func become(file string, args []string) error {
	var err error
	if runtime.GOOS == "windows" {
		cmd := exec.Command(file, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err = cmd.Run(); cmd.ProcessState != nil {
			os.Exit(cmd.ProcessState.ExitCode())
		}
	} else {
		err = syscall.Exec(file, append([]string{file}, args...), os.Environ())
	}
	hint := ""
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOEXEC) {
		hint = ": a script names its interpreter in its first line, such as #!/bin/sh"
	}
	return &exit.Error{Code: exit.Input, Err: fmt.Errorf("start %s: %w%s", file, err, hint)}
}

// externalName reports whether a word can be an external command's name: neither a path nor
// a flag, nor what cobra keeps for itself.
func externalName(name string) bool {
	return name != "" && !strings.ContainsAny(name[:1], "-._") && !strings.ContainsAny(name, `/\`)
}

func builtIn(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) })
}

// programDirs are the directories of PATH in which commands are looked for. What a relative
// entry names depends on where one stands: a repository could bring commands with it.
func programDirs() []string {
	return lists.Keep(filepath.SplitList(os.Getenv("PATH")), filepath.IsAbs)
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
				files[name], _ = exec.LookPath(filepath.Join(dir, e.Name())) // "" if it cannot be run
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
