package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-compiler/ralph/app/exit"
	"github.com/ralph-compiler/ralph/app/record"
)

// OpenEditor opens an editor at a place, or says where it is when there is no editor.
func OpenEditor(ctx context.Context, p record.Place, in io.Reader, out, errOut io.Writer) error {
	if !p.There {
		return exit.Inputf("there is no plan to open: %s", p.File)
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if strings.TrimSpace(editor) == "" {
		Sayf(out, "%s\n", p)
		return nil
	}
	// As git does it: the variable may hold arguments, and quotes.
	cmd := exec.CommandContext(ctx, "/bin/sh", slices.Concat([]string{"-c", editor + ` "$@"`, editor}, editorArgs(editor, p.Path, p.Line))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	if err := cmd.Run(); err != nil {
		if _, ran := errors.AsType[*exec.ExitError](err); ran {
			return exit.Inputf("the editor (%s) ended with %v", editor, err)
		}
		return exit.Inputf("the editor (%s) cannot be started: %w", editor, err)
	}
	return nil
}

// editorArgs say to an editor which file to open, and at which line.
func editorArgs(editor, path string, line int) []string {
	if line == 0 {
		return []string{path}
	}
	words := strings.Fields(editor)
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(strings.Trim(words[0], `"'`))), ".exe")
	at := fmt.Sprintf("%s:%d", path, line)
	switch name {
	case "code", "code-insiders", "codium", "vscodium", "cursor", "windsurf":
		return []string{"-g", at}
	case "subl", "sublime_text", "hx", "helix", "zed", "zeditor":
		return []string{at}
	case "idea", "goland", "pycharm", "webstorm", "clion", "rider", "kate", "notepadqq":
		return []string{"--line", fmt.Sprint(line), path}
	case "mate":
		return []string{"-l", fmt.Sprint(line), path}
	case "vi", "vim", "nvim", "gvim", "mvim", "view", "ex", "nano", "pico", "emacs", "emacsclient", "micro", "joe", "jed", "kak", "ne", "mg", "gedit", "mcedit", "less":
		return []string{fmt.Sprintf("+%d", line), path}
	}
	return []string{path} // who knows what it takes a "+14" for
}
