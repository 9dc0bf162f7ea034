package bdtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

var (
	databases   = map[string]string{} // by program and prefix: a repository with an empty database
	databasesMu sync.Mutex
)

// InitReal gives the git repository dir an empty database of the real bd, whose ids begin
// with prefix, and hides it from git. bd needs seconds to make one: it makes the first, the
// others are copies.
func InitReal(t T, program, dir, prefix string) {
	t.Helper()
	databasesMu.Lock()
	defer databasesMu.Unlock()
	from, err := databases[program+" "+prefix], error(nil)
	if from == "" {
		from, err = madeDatabase(program, prefix)
	}
	if err != nil {
		t.Fatal(err)
	}
	databases[program+" "+prefix] = from
	to := filepath.Join(dir, ".beads")
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, ".beads"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", dir, "config", "beads.role", "maintainer").CombinedOutput(); err != nil {
		t.Fatalf("git config: %v\n%s", err, out)
	}
	hidden, err := os.ReadFile(filepath.Join(from, ".git/info/exclude"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".git/info/exclude"), hidden, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func madeDatabase(program, prefix string) (string, error) {
	dir, err := os.MkdirTemp("", "bdtest-")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "main"},
		{program, "init", "--prefix", prefix, "--stealth", "--skip-hooks", "--skip-agents", "--non-interactive", "--quiet"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BD_NON_INTERACTIVE=1", "BD_DISABLE_METRICS=1", "BD_BACKUP_ENABLED=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return dir, nil
}
