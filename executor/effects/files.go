package effects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/internal/regular"
	"github.com/ralph-compiler/ralph/ir"
)

// Files is the directory of an attempt's files: prompt, output, logs of gates.
func Files(state string, node ir.NodeID, step string, attempt int) string {
	return filepath.Join(state, "attempts", string(node), fmt.Sprintf("%s-%d", dirName(step), attempt))
}

// plainFiles takes out of an attempt's directory what is neither a file nor a
// directory: behind a link that a program left there ralph would write into
// someone else's file, and at a pipe it would wait for ever.
func (t *Tools) plainFiles(dir string) error {
	there, err := t.noLink(dir)
	if err != nil || !there {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range entries {
		if t := f.Type(); !t.IsRegular() && !t.IsDir() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// files returns the directory of an attempt's files, which whoever writes there
// makes. What a program put in its place is removed: ralph writes behind no link.
func (w *Worker) files(e *executor.Effect) (string, error) {
	dir := Files(w.State, e.Node, e.Step, e.Attempt)
	_, err := w.noLink(dir)
	return dir, err
}

// noLink removes anything that is not a directory from the path of a directory below the
// run's state. The state's own directory must be a directory. It reports whether the
// directory exists.
func (t *Tools) noLink(dir string) (bool, error) {
	if there, err := regular.There(dir); err == nil {
		return there, nil
	}
	if err := regular.NoLinks(t.State); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(t.State, dir)
	if err != nil {
		return false, err
	}
	at := t.State
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		st, err := os.Lstat(at)
		if err == nil && st.IsDir() {
			continue
		}
		if err == nil {
			err = os.Remove(at)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return false, nil // nothing is below it
	}
	return true, nil
}
