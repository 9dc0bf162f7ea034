package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-compiler/ralph/internal/regular"
)

// CommonDir returns the git directory that all worktrees of a repository share, for
// the top of a checkout, or "" if there is none that can be found. It reads git's
// own files and starts no process.
func CommonDir(top string) string {
	dir := filepath.Join(top, ".git")
	if b, err := regular.ReadFile(dir); err == nil { // a linked worktree, or a submodule
		to, linked := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !linked {
			return ""
		}
		dir = from(top, to)
	}
	if b, err := regular.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dir = from(dir, strings.TrimSpace(string(b)))
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return ""
	}
	return dir
}

// gitLink is where a .git file leads, "" if it is none.
func gitLink(path string) string {
	b, err := regular.ReadMax(path, maxRef)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	return to
}

// from resolves a path that a file in dir names.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
